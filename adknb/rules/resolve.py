"""Rule sets by name."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Final, cast

from adknb.core.errors import SpecError, near_names
from adknb.rules.base import Rules

_CLASSES: Final = {
    "java": "adknb.rules.java.JavaRules",
    "go": "adknb.rules.go.GoRules",
    "go_fixed": "adknb.rules.go.GoFixedRules",
    "js": "adknb.rules.js.JsRules",
    "python": "adknb.rules.python.PythonRules",
}

NAMES: Final = tuple(_CLASSES)
"""The rule sets that there are."""


def resolve_rules(value: str | Rules) -> Rules:
    """The rule set of this name; a rule set as it is. Raises `SpecError` with the names that there are."""
    if isinstance(value, Rules):
        return value
    if value not in _CLASSES:
        raise SpecError(f"there is no rule set {value!r}.{near_names(str(value), NAMES)}")
    return _made(value)


@lru_cache
def _made(name: str) -> Rules:
    """The rule set, of which there is one in a process; a run under one does not import the others."""
    module, _, kind = _CLASSES[name].rpartition(".")
    return cast("Rules", getattr(import_module(module), kind)())
