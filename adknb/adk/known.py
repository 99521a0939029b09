"""An agent of google-adk, recognised without importing it."""

from __future__ import annotations

from typing import Any, Final

_CLASSES: Final = {
    ("google.adk.agents.base_agent", "BaseAgent"),
    ("google.adk.apps.app", "App"),
    ("google.adk.workflow._base_node", "BaseNode"),
}


def is_google(value: Any) -> bool:
    """Whether `value` is an agent, a workflow or an app of google-adk."""
    return any((cls.__module__, cls.__name__) in _CLASSES for cls in type(value).__mro__)
