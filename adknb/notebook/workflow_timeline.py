"""What a workflow's events say, put in order: a stretch of time for each attempt, wait and skip, and the tokens used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from adknb.notebook.cards.words import counted, duration
from adknb.workflow.data import PipelineData, PipelineError
from adknb.workflow.events import StepEvent

Kind: TypeAlias = Literal[
    "completed",
    "failed",
    "running",
    "waiting",
    "cache",
    "skipped",
    "fallback",
    "continued",
    "resumed",
    "stopped",
    "note",
]

SIGNS: Final[dict[Kind, str]] = {
    "completed": "✓", "failed": "✗", "running": "…", "waiting": "‖", "cache": "=", "skipped": "↷", "fallback": "⤷",
    "continued": "!", "resumed": "↻", "stopped": "■", "note": "·",
}  # fmt: skip
_KINDS: Final[dict[str, Kind]] = {
    "completed": "completed", "failed": "failed", "retry": "failed", "cache_hit": "cache", "skipped": "skipped",
    "fallback": "fallback", "continued": "continued", "resumed": "resumed", "budget": "note",
}  # fmt: skip
_WORDS: Final[dict[Kind, str]] = {
    "cache": "from the cache", "skipped": "skipped", "fallback": "the fallback answered",
    "continued": "goes on with the error as a warning", "resumed": "read from its checkpoint", "note": "token budget",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stretch:
    """One attempt, wait, skip or the like of a step, which has the `place` in its workflow (from 0).

    Times are in milliseconds from the workflow's start; `end` is None while it goes on, and the start where it took no time.
    `label` says all of it in one line. `sent`, `wrote` and `error` are the texts behind it, None where there is none.
    """

    step: str
    place: int
    kind: Kind
    label: str
    start: float
    end: float | None
    attempt: int = 0
    tokens: int = 0
    sent: str | None = None
    wrote: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """A workflow's run as it is drawn.

    `stretches` stand by step, those of one step in the order of time. `ms` is the run's length so far. `spent` holds each
    time at which tokens were used, with all that were used until then; `limit` is the token budget, None without one.
    """

    stretches: tuple[Stretch, ...]
    ms: float
    spent: tuple[tuple[float, int], ...] = ()
    limit: int | None = None
    checkpoints: int = 0

    @property
    def tokens(self) -> int:
        """What was used in all."""
        return self.spent[-1][1] if self.spent else 0


def timeline(events: Sequence[StepEvent], limit: int | None = None, now: datetime | None = None) -> Timeline:
    """The timeline of a run's events. `now` is the time of a run that still goes on; without it the run is over."""
    if not events:
        return Timeline((), 0.0, (), limit)
    begin = min(event.at for event in events)
    reading = _Reading(begin)
    for event in events:
        reading.take(event)
    end = max(max(event.at for event in events), now or begin)
    length = (end - begin) / timedelta(milliseconds=1)
    done = sorted(reading.closed(length, is_over=now is None), key=lambda each: (each.place, each.start))
    return Timeline(tuple(done), length, tuple(reading.spent), limit, reading.checkpoints)


class _Reading:
    """Reads events one by one. An attempt is open from its start to the event that ends it, a wait to the next attempt."""

    def __init__(self, begin: datetime) -> None:
        self._begin = begin
        self._done: list[Stretch] = []
        self._attempts: dict[int, Stretch] = {}
        self._waits: dict[int, Stretch] = {}
        self._ended: dict[int, float] = {}
        self.spent: list[tuple[float, int]] = []
        self.checkpoints = 0

    def take(self, event: StepEvent) -> None:
        place, at = event.step_index, (event.at - self._begin) / timedelta(milliseconds=1)
        if place < 0:  # of the run as a whole, whose times and tokens are its steps'
            return
        if event.tokens:
            used = self.spent[-1][1] if self.spent else 0
            self.spent.append((at, used + event.tokens))
        if event.action == "checkpoint":
            self.checkpoints += 1
        elif event.action == "waiting":
            self._wait(event, at)
        elif event.action == "started":
            self._end_wait(place, at)
            self._attempts[place] = _stretch(event, "running", at, None)
        else:
            self._end(event, at)
            if event.action == "retry":
                self._wait(event, at)

    def _end(self, event: StepEvent, at: float) -> None:
        """The event ends the open attempt, or tells of something else that the step did since its last attempt."""
        place, kind = event.step_index, _KINDS[event.action]
        self._end_wait(place, at)
        begun = None if kind == "note" else self._attempts.pop(place, None)
        if begun is not None:
            made = _stretch(event, kind, begun.start, at, begun.sent)
        else:
            took_time = (
                kind in ("fallback", "failed") and place in self._ended
            )  # a fallback that answered, or failed too
            made = _stretch(event, kind, self._ended[place] if took_time else at, at)
        self._done.append(made)
        self._ended[place] = at

    def _wait(self, event: StepEvent, at: float) -> None:
        label = f"waits {duration(event.wait * 1000)}" if event.wait else "waits"
        why = f": {event.detail}" if event.detail else ""
        self._waits[event.step_index] = Stretch(
            event.step_name, event.step_index, "waiting", f"{SIGNS['waiting']} {label}{why}", at, None
        )

    def _end_wait(self, place: int, at: float) -> None:
        wait = self._waits.pop(place, None)
        if wait is not None:
            self._done.append(replace(wait, end=at))

    def closed(self, length: float, is_over: bool) -> list[Stretch]:
        """All stretches. What is open at the end of a run that is over was stopped."""
        still: list[Stretch] = [*self._waits.values()]
        for attempt in self._attempts.values():
            stopped = replace(attempt, kind="stopped", label=f"{SIGNS['stopped']} attempt {attempt.attempt} · stopped")
            still.append(stopped if is_over else attempt)
        return [*self._done, *(replace(each, end=length) if is_over else each for each in still)]


def _stretch(event: StepEvent, kind: Kind, start: float, end: float | None, sent: str | None = None) -> Stretch:
    said = [_WORDS.get(kind, f"attempt {event.attempt}" if event.attempt else "before any attempt")]
    if kind in ("completed", "failed"):
        said.append(duration((end or start) - start))
    if event.tokens:
        said.append(counted(event.tokens, "token"))
    told = kind in ("failed", "stopped")  # what is done about an error follows its own stretch
    why = "; ".join(filter(None, (event.detail, _short(event.error) if told else "")))
    if why:
        said.append(why)
    begins = event.action == "started"
    return Stretch(
        event.step_name, event.step_index, kind, f"{SIGNS[kind]} {' · '.join(said)}", start, end, event.attempt, event.tokens,
        sent=_text(event.data) if begins else sent,
        wrote=None if begins else _text(event.data),
        error=str(event.error) if event.error is not None else None,
    )  # fmt: skip


def _text(data: PipelineData | None) -> str | None:
    return data.text if data is not None else None


def _short(error: PipelineError | None) -> str:
    """The error's category, where it was classified, and its words."""
    if error is None:
        return ""
    return f"{error.category}: {error.message}" if error.category else str(error)
