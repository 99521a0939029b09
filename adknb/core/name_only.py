"""What of an agent is known by its name only: in a run that was read back, functions, model objects and users' own classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adknb.core.specs import BaseAgent
from adknb.core.tools import FunctionTool


class NameOnly:
    """Stands for what no store keeps. It cannot run."""

    @property
    def in_words(self) -> str:
        """Kind and name: `function 'guard'`."""
        raise NotImplementedError


def names_only(agent: BaseAgent) -> Iterator[tuple[str, NameOnly]]:
    """The agent's fields that hold such a thing, with what they hold; `agent` for the agent itself. Not those below it."""
    if isinstance(agent, NameOnly):
        yield "agent", agent
    for field in type(agent).model_fields:
        if field != "sub_agents":
            yield from ((field, found) for found in _in(getattr(agent, field)))


def _in(value: Any) -> Iterator[NameOnly]:
    if isinstance(value, FunctionTool):
        value = value.func
    if isinstance(value, NameOnly):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _in(each)
