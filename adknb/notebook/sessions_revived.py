"""A run that was read from a database has the names of its functions; the notebook has the functions."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from adknb.core.errors import RunStateError
from adknb.core.run import Run
from adknb.core.specs import BaseAgent
from adknb.core.tools import FunctionTool
from adknb.sessions.stand_ins import StoredFunction


def revived(run: Run, namespace: Mapping[str, Any]) -> BaseAgent:
    """The run's agents, with the notebook's functions in the places of those that are known by name only.

    Raises `RunStateError` for a name that the notebook does not define as a function.
    """
    missing: dict[str, None] = {}

    def alive(value: Any) -> Any:
        if isinstance(value, StoredFunction):
            found = namespace.get(value.__name__)
            if callable(found) and not isinstance(found, BaseAgent):
                return found
            missing[value.__name__] = None
            return value
        if isinstance(value, FunctionTool) and isinstance(value.func, StoredFunction):
            tool = copy.copy(value)
            tool.func = alive(value.func)
            return tool
        if isinstance(value, (list, tuple)):
            return type(value)(map(alive, value))
        return tree(value) if isinstance(value, BaseAgent) else value

    def tree(agent: BaseAgent) -> BaseAgent:
        fields = {name: getattr(agent, name) for name in type(agent).model_fields}
        changed = {name: new for name, old in fields.items() if (new := alive(old)) is not old and new != old}
        return agent.model_copy(update=changed) if changed else agent

    root = tree(run.root)
    if missing:
        raise RunStateError(
            f"run {run.id} was read from a database, where functions are kept by name only, and the notebook defines no "
            f"{', '.join(missing)}. Run the cells that define them first."
        )
    return root
