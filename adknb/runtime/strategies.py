"""Context strategies: which history each request carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from adknb.core.content import Content
from adknb.core.errors import SpecError, near_names
from adknb.core.events import USER, Event
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

    def of(self, events: Sequence[Event]) -> AgentHistory:
        return AgentHistory(self._rules, self.agent, self._model, self.branch, events)


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


class StateOnly:
    """No other agent's words: this turn's user message, and what the agent itself said and was answered since.

    Not an ADK setting. It is what users of ADK build from NONE, which loses the user's message once another agent has
    replied, by putting that message into the state.
    """

    name = "state_only"

    def contents(self, history: History) -> list[tuple[Content, Event | None]]:
        agent, events = history.agent.name, history.events
        turn = next((at for at in range(len(events) - 1, -1, -1) if _begins_turn(events[at])), len(events))
        own = [event for event in events[turn:] if event.author in (USER, agent)]
        return history.of(own).included(IncludeContents.DEFAULT)


def _begins_turn(event: Event) -> bool:
    """Whether it is the user's message, and not their answer to a long-running call."""
    return event.author == USER and not event.function_responses


class PerAgent:
    """A strategy for each named agent; the others as they are written."""

    def __init__(self, strategies: Mapping[str, ContextStrategy]) -> None:
        self.strategies = dict(strategies)
        self.name = ", ".join(f"{agent}={strategy.name}" for agent, strategy in self.strategies.items())

    def contents(self, history: History) -> list[tuple[Content, Event | None]]:
        return self.strategies.get(history.agent.name, _AS_WRITTEN).contents(history)


def is_built_in(strategy: ContextStrategy) -> bool:
    """Whether the strategy is one of these here, whose pairs need no looking at."""
    if isinstance(strategy, PerAgent):
        return all(map(is_built_in, strategy.strategies.values()))
    return isinstance(strategy, (AsWritten, Fixed, StateOnly))


_AS_WRITTEN = AsWritten()
_NAMED: dict[str, ContextStrategy] = {
    "as_written": _AS_WRITTEN,
    "default": Fixed(IncludeContents.DEFAULT),
    "none": Fixed(IncludeContents.NONE),
    "state_only": StateOnly(),
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


NAMES: Final = tuple(_NAMED)
"""The strategies that have a name."""
