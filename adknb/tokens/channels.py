"""Where a request's tokens go: its text in pieces, each with origin, channel and tokens, and the sums by channel."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
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


_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces, non-ASCII as it is; how calls, declarations and schemas are counted."""
    return _CANONICAL.encode(value)


def part_text(part: Part) -> str:
    """A part as the text that is counted: its own text, or the canonical JSON of what else it is.

    Without the ids of calls: they are random, so the same run would count differently each time.
    """
    return part.text if part.text is not None else _json_of(_Same(part))


class _Same:
    """A part as the key of a cache: equal to itself alone, because the arguments in it cannot be hashed."""

    __slots__ = ("part",)

    def __init__(self, part: Part) -> None:
        self.part = part

    def __hash__(self) -> int:
        return id(self.part)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.part is self.part


@lru_cache(maxsize=4096)
def _json_of(same: _Same) -> str:
    data = same.part.to_dict()
    for kind in ("function_call", "function_response"):
        if kind in data:
            data[kind].pop("id", None)
    return canonical_json(data)


class Cutter:
    """Cuts requests into pieces. What several requests share is looked at once, and its pieces are the same objects.

    `earlier` holds the ids of earlier turns' events: a user's words among them are history.
    """

    def __init__(self, counter: TokenCounter, earlier: Container[str] = ()) -> None:
        self._counter = counter
        self._earlier = earlier
        self._systems: dict[tuple[Segment, ...], list[Piece]] = {}
        self._contents: dict[tuple[int, int, int, bool], tuple[Content, Event | None, list[Piece]]] = {}

    def pieces(self, request: LlmRequest) -> list[Piece]:
        """The request in pieces: system segments, every part of every content, tool declarations, schema."""
        result = list(self._system(tuple(request.system)))
        known, agent = self._contents, request.agent
        sourced = zip(request.contents, chain(request.sources, repeat(None)), strict=False)
        for number, (content, source) in enumerate(sourced):
            is_own = source is not None and source.author == agent
            place = (id(content), id(source), number, is_own)
            cut = known.get(place)
            if cut is None:  # it holds both objects, or another could get the id of one that is gone
                cut = known[place] = (content, source, self._content(content, number, source, is_own))
            result += cut[2]
        for declaration in request.tools.values():
            result.append(self._json(declaration, TOOLS))
        schema = request.config.get("response_schema")
        if schema is not None:
            result.append(self._json(schema, SCHEMA))
        return result

    def _system(self, segments: tuple[Segment, ...]) -> list[Piece]:
        if segments not in self._systems:
            self._systems[segments] = [
                Piece(segment.text, segment.origin, _system_channel(segment), tokens, "system", segment.key)
                for segment, tokens in zip(segments, shares(segments, self._counter), strict=True)
            ]
        return self._systems[segments]

    def _content(self, content: Content, number: int, source: Event | None, is_own: bool) -> list[Piece]:
        speaker = _speaker(source, is_own)
        said_now = source is not None and source.author == USER and source.id not in self._earlier
        channel = USER_MESSAGE if said_now else HISTORY
        role, count = content.role or "", self._counter.count
        result = []
        for part in content.parts:
            text, origin = (part.text, speaker) if part.text is not None else (part_text(part), _origin(part, speaker))
            result.append(Piece(text, origin, channel, count(text), role, None, number, source))
        return result

    def _json(self, value: Any, channel: str) -> Piece:
        text = canonical_json(value)
        return Piece(text, channel, channel, self._counter.count(text), channel)


def pieces(request: LlmRequest, counter: TokenCounter, earlier: Container[str] = ()) -> list[Piece]:
    """One request in pieces (see `Cutter`)."""
    return Cutter(counter, earlier).pieces(request)


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


def sent_twice(made_of: Sequence[Piece], writer: Callable[[str], Event | None]) -> dict[str, int]:
    """The tokens of each inserted state value whose writing event is among the request's contents too, by key.

    `writer` gives the event that had written a key last when the request was built. A user's event never counts: it
    sets state beside its message, not by its words. A value that counts no token, as an empty one does, costs nothing and
    is left out.
    """
    inserted: dict[str, int] = {}
    for piece in made_of:
        if piece.origin == "state" and piece.key is not None:
            inserted[piece.key] = inserted.get(piece.key, 0) + piece.tokens
    wrote = {key: event.id for key in inserted if (event := writer(key)) is not None and event.author != USER}
    carried = {piece.source.id for piece in made_of if piece.source is not None} if wrote else set()
    return {key: inserted[key] for key, event_id in wrote.items() if event_id in carried and inserted[key]}


def _system_channel(segment: Segment) -> str:
    return INJECTED_STATE if segment.origin in ("state", "artifact") else INSTRUCTION


def _speaker(source: Event | None, is_own: bool) -> str:
    """The origin of a content's text."""
    if source is None:
        return "added"
    if source.author == USER:
        return "user message"
    return "own reply" if is_own else "other agent"


def _origin(part: Part, speaker: str) -> str:
    """The origin of a part that is no text."""
    if speaker == "added":
        return speaker
    if part.function_call is not None:
        return "tool call"
    if part.function_response is not None:
        return "answer" if speaker == "user message" else "tool response"
    return speaker
