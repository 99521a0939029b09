"""What of an agent is known by its name only: in a run that was read back, functions, model objects and users' own classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from adknb.core.specs import BaseAgent, IncludeContents
from adknb.core.tools import FunctionTool

_PLAIN: Final = frozenset({str, bool, int, type(None), IncludeContents})


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
    for field, value in vars(agent).items():
        if value.__class__ in _PLAIN or (value.__class__ is tuple and not value) or field == "sub_agents":
            continue
        for found in _in(value):
            yield field, found


def _in(value: Any) -> Iterator[NameOnly]:
    for each in value if isinstance(value, (list, tuple)) else (value,):
        held = each.func if isinstance(each, FunctionTool) else each
        if isinstance(held, NameOnly):
            yield held
