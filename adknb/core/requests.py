"""What a model is sent and what it answers, with the origin of every piece of the text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from adknb.core.content import Content
from adknb.core.events import Event
from adknb.core.usage import Usage


class Segment(NamedTuple):
    """A stretch of a request's text that has one origin.

    `origin` is one of: `instruction`, `global instruction`, `identity`, `transfer`, `schema note`, `separator`,
    `state` (an inserted state value, `key` names it), `artifact`, `callback` (a before-model callback rewrote it); and in
    contents `user message`, `own reply`, `other agent`, `tool call`, `tool response`, `answer`.
    """

    text: str
    origin: str
    key: str | None = None


@dataclass(slots=True)
class LlmRequest:
    """What a model is asked (ADK's `LlmRequest`). A before-model callback gets its own copy and may change it.

    `sources` holds, for each content, the event that it came from (None for one that the SDK or a callback made up).
    `tools` maps names to declarations as they are sent. `config` holds temperature, response_schema and the like.
    `ordinal` counts the agent's earlier requests in the session: 0 for its first. It is not sent; scripted and
    recorded replies are found by it, so that a step run again gets the same reply again. `repeat` counts the repeats of
    a comparison that asks the same several times, from 0; it is not sent either, and keeps their replies apart.
    """

    agent: str
    model: str
    system: list[Segment] = field(default_factory=list)
    contents: list[Content] = field(default_factory=list)
    sources: list[Event | None] = field(default_factory=list)
    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    ordinal: int = 0
    repeat: int = 0

    @property
    def system_instruction(self) -> str | None:
        """The system text as sent, or None when there is none."""
        return "".join([segment.text for segment in self.system]) if self.system else None

    @system_instruction.setter
    def system_instruction(self, text: str | None) -> None:
        if text != self.system_instruction:
            self.system = [Segment(text, "callback")] if text is not None else []

    def append_instructions(self, texts: Iterable[str]) -> None:
        """Add texts to the end of the system instruction, each after a blank line (ADK's `append_instructions`)."""
        for text in texts:
            lead = [Segment("\n\n", "separator")] if self.system else []
            self.system = [*self.system, *lead, Segment(text, "callback")]

    def copy(self) -> LlmRequest:
        """A copy whose lists and dicts can be changed without touching this one."""
        return LlmRequest(
            self.agent, self.model, list(self.system), list(self.contents), list(self.sources),
            dict(self.tools), dict(self.config), self.ordinal, self.repeat,
        )  # fmt: skip


@dataclass(slots=True)
class LlmResponse:
    """What a model answered (ADK's `LlmResponse`). `partial` marks a piece of a streamed answer, which is shown and
    never stored. `note` says in a few words where the answer came from, when that is not a model ("scripted")."""

    content: Content | None = None
    usage: Usage | None = None
    partial: bool = False
    finish_reason: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    note: str | None = None


@dataclass(slots=True, eq=False)
class Request:
    """One call of a model inside a step, as it was made.

    `seen` counts the events of the run (`Run.turn_events`) that existed when it was built. `ms` is the call's wall time in
    milliseconds. `reply` is None when the call failed or was interrupted.
    """

    sent: LlmRequest
    seen: int
    reply: LlmResponse | None = None
    ms: float = 0.0

    @property
    def usage(self) -> Usage | None:
        """What the model reported, or None."""
        return self.reply.usage if self.reply is not None else None
