"""Context strategies: which history each request carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adknb.core.content import Content
from adknb.core.errors import SpecError, near_names
from adknb.core.events import Event
from adknb.core.protocols import ContextStrategy, History
from adknb.core.specs import IncludeContents, LlmAgent
from adknb.rules.base import Rules, Sourced


class AgentHistory:
    """The events that one agent could see, and what its rules make of them (`protocols.History`)."""

    __slots__ = ("_model", "_rules", "agent", "branch", "events")

    def __init__(self, rules: Rules, agent: LlmAgent, model: str, branch: str | None, events: Sequence[Event]) -> None:
        self._rules = rules
        self._model = model
        self.agent = agent
        self.branch = branch
        self.events = events

    def included(self, include: IncludeContents) -> list[Sourced]:
        return self._rules.contents(self.agent, self._model, self.branch, self.events, include)


class AsWritten:
    """Each agent's own `include_contents`."""

    name = "as_written"

    def contents(self, history: History) -> list[tuple[Content, Event | None]]:
        return history.included(history.agent.include_contents)


class Fixed:
    """One setting for every agent, whatever it says itself."""

    def __init__(self, include: IncludeContents) -> None:
        self.include = include
        self.name = include.value

    def contents(self, history: History) -> list[tuple[Content, Event | None]]:
        return history.included(self.include)


class PerAgent:
    """A strategy for each named agent; the others as they are written."""

    def __init__(self, strategies: Mapping[str, ContextStrategy]) -> None:
        self.strategies = dict(strategies)
        self.name = ", ".join(f"{agent}={strategy.name}" for agent, strategy in self.strategies.items())

    def contents(self, history: History) -> list[tuple[Content, Event | None]]:
        return self.strategies.get(history.agent.name, _AS_WRITTEN).contents(history)


_AS_WRITTEN = AsWritten()
_NAMED: dict[str, ContextStrategy] = {
    "as_written": _AS_WRITTEN,
    "default": Fixed(IncludeContents.DEFAULT),
    "none": Fixed(IncludeContents.NONE),
}


def as_strategy(value: Any) -> ContextStrategy:
    """A strategy from its name, an `IncludeContents`, a map of agent name to these, or a `ContextStrategy` object."""
    if isinstance(value, str):
        name = (value.value if isinstance(value, IncludeContents) else value).lower()
        if name in _NAMED:
            return _NAMED[name]
        raise SpecError(f"there is no context strategy {value!r}.{near_names(name, _NAMED)}")
    if isinstance(value, Mapping):
        return PerAgent({agent: as_strategy(strategy) for agent, strategy in value.items()})
    if callable(getattr(value, "contents", None)) and isinstance(getattr(value, "name", None), str):
        strategy: ContextStrategy = value
        return strategy
    raise SpecError(
        f"a context strategy is a name, a map per agent, or an object with name and contents(); not {value!r}"
    )
