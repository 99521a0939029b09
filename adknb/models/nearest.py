"""Which recorded request is nearest to one that has no reply, and where the two first differ."""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from adknb.core.escape import visible
from adknb.core.requests import LlmRequest
from adknb.models.cassette_line import LineStart, agent_mark, line_start
from adknb.models.request_key import request_data

Lines = Callable[[], Iterable[tuple[int, bytes]]]
"""Begins anew to give each line with its number."""

_CANDIDATES: Final = 200
_BYTES: Final = 20_000_000
_COMPARED: Final = 4_000
"""Characters of each part by which similarity is judged. The three limits keep a miss quick in a big file."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first part in which two requests differ, and the character there, from 0. A text is None where the request has
    no such part."""

    part: str
    position: int
    asked: str | None
    recorded: str | None

    def __str__(self) -> str:
        return (
            f"in {self.part}, at character {self.position}:\n"
            f"  asked:    {self._cut(self.asked)}\n"
            f"  recorded: {self._cut(self.recorded)}"
        )

    def _cut(self, text: str | None) -> str:
        if text is None:
            return "(no such part)"
        start, end = max(0, self.position - 25), self.position + 45
        quoted = visible(json.dumps(text[start:end], ensure_ascii=False))
        return f"{'…' if start else ''}{quoted}{'…' if end < len(text) else ''}"


@dataclass(frozen=True, slots=True)
class Nearest:
    """A recorded request, by the number of its line, and where it differs from the one that was asked (None: nowhere)."""

    line: int
    agent: str
    start: LineStart
    difference: Difference | None


def nearest(lines: Lines, request: LlmRequest, name: str, identity: str) -> Nearest | None:
    """The nearest recorded request: of the same agent and ordinal if there is one, else of the same agent; among those the
    most similar. None when nothing is recorded.

    Two passes over the lines, in which one line at a time is in memory.
    """
    asked = request_parts(request_data(request), name, identity)
    chosen = _chosen(_ranked(lines(), request))
    best: tuple[float, Nearest] | None = None
    for number, line in lines():
        start = line_start(line) if number in chosen else None
        if start is None:
            continue
        try:
            data = json.loads(line)["request"]
            recorded = request_parts(data, start.name, start.identity)
            agent = str(data["agent"])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue  # what cannot be read is not near
        score = _similarity(asked, recorded)
        if best is None or score > best[0]:
            best = score, Nearest(number, agent, start, first_difference(asked, recorded))
    return best[1] if best is not None else None


def request_parts(data: Mapping[str, Any], model: str, identity: str) -> dict[str, str]:
    """The request (`request_data`) cut into named parts, in the order in which they are compared."""
    parts = {"the model": model}
    if identity != model:
        parts["the model's file"] = identity
    if data["system_instruction"] is not None:
        parts["the system instruction"] = data["system_instruction"]
    for number, content in enumerate(data["contents"], 1):
        place = f"content {number} ({content['role']})"
        for index, part in enumerate(content["parts"], 1):
            name = place if len(content["parts"]) == 1 else f"{place}, part {index}"
            parts[name] = part["text"] if part.keys() == {"text"} else json.dumps(part, ensure_ascii=False, default=str)
    for number, tool in enumerate(data["tools"], 1):
        parts[f"tool {number}"] = json.dumps(tool, ensure_ascii=False, default=str)
    for name, value in data["config"].items():
        parts[f"the config's {name}"] = json.dumps(value, ensure_ascii=False, default=str)
    return {visible(name): text for name, text in parts.items()}


def first_difference(asked: Mapping[str, str], recorded: Mapping[str, str]) -> Difference | None:
    """Where two requests' parts first differ, or None."""
    for name in [*asked, *(name for name in recorded if name not in asked)]:
        mine, theirs = asked.get(name), recorded.get(name)
        if mine != theirs:
            return Difference(name, _first_character(mine or "", theirs or ""), mine, theirs)
    return None


def _first_character(mine: str, theirs: str) -> int:
    pairs = enumerate(zip(mine, theirs, strict=False))
    return next((position for position, (one, other) in pairs if one != other), min(len(mine), len(theirs)))


def _ranked(lines: Iterable[tuple[int, bytes]], request: LlmRequest) -> Iterator[tuple[tuple[bool, bool], int, int]]:
    """Each line's rank (the lower the nearer), number and size."""
    mark = agent_mark(request.agent)
    for number, line in lines:
        start = line_start(line)
        if start is not None:
            yield (mark not in line, start.ordinal != request.ordinal), number, len(line)


def _chosen(ranked: Iterable[tuple[tuple[bool, bool], int, int]]) -> set[int]:
    """The numbers of the lines of the best rank, as many as can be compared."""
    candidates = heapq.nsmallest(_CANDIDATES, ranked)
    chosen: set[int] = set()
    size = 0
    for rank, number, length in candidates:
        size += length
        if chosen and (rank != candidates[0][0] or size > _BYTES):
            break
        chosen.add(number)
    return chosen


def _similarity(asked: Mapping[str, str], recorded: Mapping[str, str]) -> float:
    """From 0 to 1: how much of the text of both is the same, part by part."""
    from rapidfuzz import fuzz

    same = total = 0.0
    for name in {**asked, **recorded}:
        mine, theirs = asked.get(name, ""), recorded.get(name, "")
        size = max(len(mine), len(theirs))
        total += size
        same += size if mine == theirs else size * fuzz.ratio(mine[:_COMPARED], theirs[:_COMPARED]) / 100
    return same / total if total else 1.0
