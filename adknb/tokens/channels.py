"""Where a request's tokens go: its text in pieces, each with origin, channel and tokens, and the sums by channel."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from adknb.core.content import Content, Part
from adknb.core.events import USER, Event
from adknb.core.protocols import TokenCounter
from adknb.core.requests import LlmRequest, Segment
from adknb.core.usage import Usage

INSTRUCTION: Final = "instruction"
INJECTED_STATE: Final = "injected_state"
USER_MESSAGE: Final = "user_message"
HISTORY: Final = "history"
TOOLS: Final = "tools"
SCHEMA: Final = "schema"
OVERHEAD: Final = "overhead"
CHANNELS: Final = (INSTRUCTION, INJECTED_STATE, USER_MESSAGE, HISTORY, TOOLS, SCHEMA, OVERHEAD)
"""The channels in the order of every table."""


class Piece(NamedTuple):
    """One stretch of a request, in the order in which it is sent.

    `role` is `system`, a content's own role, `tools` or `schema`; `content` the content's number from 0. `origin` is
    the `Segment`'s for system text; in contents one of the words that `Segment` lists, or `added` for what no event
    said. `source` is the event that a content came from.
    """

    text: str
    origin: str
    channel: str
    tokens: int
    role: str
    key: str | None = None
    content: int | None = None
    source: Event | None = None


@dataclass(frozen=True, slots=True)
class Channels:
    """A request's input tokens by channel. `overhead` is what the model reported beyond them, None without a report.

    `counted_by` names the tokenizer of the counts. The model's own number is never replaced by a count.
    """

    instruction: int
    injected_state: int
    user_message: int
    history: int
    tools: int
    schema: int
    counted_by: str
    overhead: int | None = None

    @property
    def counted(self) -> int:
        """The sum of the channels but `overhead`."""
        return self.instruction + self.injected_state + self.user_message + self.history + self.tools + self.schema

    @property
    def total(self) -> int:
        """The input tokens as reported; as counted where there is no report."""
        return self.counted + (self.overhead or 0)

    @property
    def reported(self) -> bool:
        return self.overhead is not None


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces, non-ASCII as it is; how calls, declarations and schemas are counted."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def part_text(part: Part) -> str:
    """A part as the text that is counted: its own text, or the canonical JSON of what else it is.

    Without the ids of calls: they are random, so the same run would count differently each time.
    """
    if part.text is not None:
        return part.text
    data = part.to_dict()
    for kind in ("function_call", "function_response"):
        if kind in data:
            data[kind].pop("id", None)
    return canonical_json(data)


def pieces(request: LlmRequest, counter: TokenCounter, earlier: Container[str] = ()) -> list[Piece]:
    """The request in pieces: system segments, every part of every content, tool declarations, schema.

    `earlier` holds the ids of earlier turns' events: a user's words among them are history.
    """
    result = [
        Piece(segment.text, segment.origin, _system_channel(segment), tokens, "system", segment.key)
        for segment, tokens in zip(request.system, shares(request.system, counter), strict=True)
    ]
    for number, content in enumerate(request.contents):
        source = request.sources[number] if number < len(request.sources) else None
        said_now = source is not None and source.author == USER and source.id not in earlier
        channel = USER_MESSAGE if said_now else HISTORY
        for part in content.parts:
            text = part_text(part)
            origin = _origin(part, content, source, request.agent)
            result.append(Piece(text, origin, channel, counter.count(text), content.role or "", None, number, source))
    for declaration in request.tools.values():
        text = canonical_json(declaration)
        result.append(Piece(text, TOOLS, TOOLS, counter.count(text), TOOLS))
    schema = request.config.get("response_schema")
    if schema is not None:
        text = canonical_json(schema)
        result.append(Piece(text, SCHEMA, SCHEMA, counter.count(text), SCHEMA))
    return result


def channels(made_of: Iterable[Piece], counted_by: str, usage: Usage | None = None) -> Channels:
    """The sums of a request's pieces; with the model's `usage`, what it reported beyond them too."""
    sums = dict.fromkeys(CHANNELS[:-1], 0)
    for piece in made_of:
        sums[piece.channel] += piece.tokens
    overhead = usage.input_tokens - sum(sums.values()) if usage is not None else None
    return Channels(**sums, counted_by=counted_by, overhead=overhead)


def shares(segments: Sequence[Segment], counter: TokenCounter) -> list[int]:
    """How many of the joined text's tokens start in each segment; they sum to the whole text's count."""
    if len(segments) == 1:
        return [counter.count(segments[0].text)]
    starts = counter.starts("".join([segment.text for segment in segments]))
    result, end, before = [], 0, 0
    for segment in segments:
        end += len(segment.text)
        through = bisect_left(starts, end)
        result.append(through - before)
        before = through
    return result


def sent_twice(made_of: Iterable[Piece], writer: Callable[[str], Event | None]) -> dict[str, int]:
    """The tokens of each inserted state value whose writing event is among the request's contents too, by key.

    `writer` gives the event that had written a key last when the request was built. A user's event never counts: it
    sets state beside its message, not by its words.
    """
    inserted: dict[str, int] = {}
    carried: set[str] = set()
    for piece in made_of:
        if piece.origin == "state" and piece.key is not None:
            inserted[piece.key] = inserted.get(piece.key, 0) + piece.tokens
        elif piece.source is not None and piece.source.author != USER:
            carried.add(piece.source.id)
    writers = {key: writer(key) for key in inserted}
    return {key: inserted[key] for key, event in writers.items() if event is not None and event.id in carried}


def _system_channel(segment: Segment) -> str:
    return INJECTED_STATE if segment.origin in ("state", "artifact") else INSTRUCTION


def _origin(part: Part, content: Content, source: Event | None, agent: str) -> str:
    if source is None:
        return "added"
    if part.function_call is not None:
        return "tool call"
    if part.function_response is not None:
        return "answer" if source.author == USER else "tool response"
    if source.author == USER:
        return "user message"
    return "own reply" if source.author == agent else "other agent"
