"""What happened: an `Event` is one entry of a session, with the state that it changed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from adknb.core.content import Content, FunctionCall, FunctionResponse
from adknb.core.state import REMOVED, REMOVED_TEXT
from adknb.core.usage import Usage

USER = "user"
"""The author of what the person wrote."""
_USUAL: Final = frozenset({"id", "invocation_id", "author", "timestamp", "content", "state_delta", "branch"})
"""The fields of most events as JSON."""


@dataclass(slots=True)
class EventActions:
    """What an event does beside saying something (ADK's `EventActions`).

    `unsaid_delta` is what the rest of the turn reads although the event does not say it (`Rules.strips_temp_keys`).
    """

    state_delta: dict[str, Any] = field(default_factory=dict)
    artifact_delta: dict[str, int] = field(default_factory=dict)
    transfer_to_agent: str | None = None
    escalate: bool = False
    skip_summarization: bool = False
    unsaid_delta: dict[str, Any] | None = None

    def merge(self, other: EventActions, join: Callable[[Any, Any], Any]) -> None:
        """Take in what `other` does, which wins where both say something; `join` makes one value of a key that both set."""
        for key, value in other.state_delta.items():
            self.state_delta[key] = join(self.state_delta[key], value) if key in self.state_delta else value
        self.artifact_delta.update(other.artifact_delta)
        if other.transfer_to_agent is not None:
            self.transfer_to_agent = other.transfer_to_agent
        self.escalate = other.escalate or self.escalate
        self.skip_summarization = other.skip_summarization or self.skip_summarization


def new_id() -> str:
    """32 random hex digits."""
    return os.urandom(16).hex()


@dataclass(slots=True, eq=False)
class Event:
    """One entry of a session.

    `branch` is the dotted path of the parallel agents that it ran under. `timestamp` is in seconds since 1970.
    `readings` caches how the event reads in a request, one entry for each rule set (see `rules.history`).
    """

    author: str
    content: Content | None = None
    actions: EventActions = field(default_factory=EventActions)
    invocation_id: str = ""
    branch: str | None = None
    long_running_tool_ids: frozenset[str] = frozenset()
    partial: bool = False
    usage: Usage | None = None
    error_code: str | None = None
    error_message: str | None = None
    id: str = field(default_factory=new_id)
    timestamp: float = field(default_factory=time.time)
    readings: dict[str, Any] | None = field(default=None, repr=False)

    @property
    def function_calls(self) -> list[FunctionCall]:
        return self.content.function_calls if self.content is not None else []

    @property
    def function_responses(self) -> list[FunctionResponse]:
        return self.content.function_responses if self.content is not None else []

    @property
    def text(self) -> str:
        """The content's text without thoughts; empty when there is none."""
        return self.content.text if self.content is not None else ""

    def is_final_response(self) -> bool:
        """Whether the agent's step ends here (ADK Java `Event.finalResponse`; the Go and JavaScript SDKs agree)."""
        if self.actions.skip_summarization or self.long_running_tool_ids:
            return True
        if self.partial:
            return False
        if self.content is None or not self.content.parts:
            return True
        for part in self.content.parts:
            if part.function_call is not None or part.function_response is not None:
                return False
        return self.content.parts[-1].code_execution_result is None

    def to_dict(self) -> dict[str, Any]:
        """The event as plain JSON; `from_dict` reads it back."""
        data: dict[str, Any] = {
            "id": self.id,
            "invocation_id": self.invocation_id,
            "author": self.author,
            "timestamp": self.timestamp,
            "content": self.content.to_dict() if self.content is not None else None,
            "state_delta": {
                key: REMOVED_TEXT if value is REMOVED else value for key, value in self.actions.state_delta.items()
            },
        }
        optional: dict[str, Any] = {
            "artifact_delta": self.actions.artifact_delta,
            "transfer_to_agent": self.actions.transfer_to_agent,
            "escalate": self.actions.escalate,
            "skip_summarization": self.actions.skip_summarization,
            "branch": self.branch,
            "long_running_tool_ids": sorted(self.long_running_tool_ids),
            "usage": self.usage.to_dict() if self.usage is not None else None,
            "error_code": self.error_code,
            "error_message": self.error_message,
        }
        data.update({name: value for name, value in optional.items() if value})
        return data

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Event:
        """The inverse of `to_dict`."""
        get = data.get
        content = get("content")
        delta = dict(get("state_delta") or ())
        if REMOVED_TEXT in delta.values():
            delta = {key: REMOVED if value == REMOVED_TEXT else value for key, value in delta.items()}
        event = Event(
            data["author"],
            Content.from_dict(content) if content is not None else None,
            EventActions(delta),
            data["invocation_id"],
            get("branch"),
            id=data["id"],
            timestamp=data["timestamp"],
        )
        if not data.keys() <= _USUAL:
            event._take_optional(data)
        return event

    def _take_optional(self, data: Mapping[str, Any]) -> None:
        actions = self.actions
        actions.artifact_delta = dict(data.get("artifact_delta") or {})
        actions.transfer_to_agent = data.get("transfer_to_agent")
        actions.escalate = bool(data.get("escalate", False))
        actions.skip_summarization = bool(data.get("skip_summarization", False))
        self.long_running_tool_ids = frozenset(data.get("long_running_tool_ids") or ())
        self.usage = Usage.from_dict(data["usage"]) if data.get("usage") else None
        self.error_code = data.get("error_code")
        self.error_message = data.get("error_message")


def final_text(events: Sequence[Event]) -> str:
    """The text of the last final event that has one; "" without any."""
    return next((event.text for event in reversed(events) if event.is_final_response() and event.text), "")


def written(events: Iterable[Event]) -> dict[str, Any]:
    """Every key that the events wrote, with its last value."""
    delta: dict[str, Any] = {}
    for event in events:
        delta.update(event.actions.state_delta)
    return delta
