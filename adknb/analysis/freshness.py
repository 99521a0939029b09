"""Who wrote each state key, who read it, and whether what was read is from this turn."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from adknb.core.events import Event
from adknb.core.requests import Request
from adknb.core.run import Run, StepRun
from adknb.core.state import REMOVED, TEMP_PREFIX, apply_delta

PRESET: Final = "preset"
"""Said of a value that stood in the state before the session's first event."""


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    """One key that one event wrote. `number` counts the events of the history from 1, `turn` its turns from 1.

    `step` is the name of the step that wrote, or the event's author where no step did. `old` is the value before and
    `had` whether there was one; `value` is None and `removed` true when the key was deleted.
    """

    key: str
    value: Any
    old: Any
    had: bool
    removed: bool
    event: Event
    number: int
    turn: int
    step: str


@dataclass(frozen=True, slots=True)
class Read:
    """One state value that a request's instruction inserted. `write` is where it came from, None for a preset one.

    `age` is empty for a value of this turn, or of an earlier step of the same workflow, else `stale: turn 1`, or `preset`.
    """

    key: str
    step: StepRun
    request: int
    write: Write | None
    age: str

    @property
    def stale(self) -> bool:
        """Whether an earlier turn's value was read."""
        return self.write is not None and self.age != ""


class Ledger:
    """Every write and read of a run, and the writes of the turns before it.

    `state` is the state after the run, the turn's `temp:` keys included. `events` is the history up to the run's end;
    the `first` of them were there before the turn, `earlier` holds their ids.
    Reads are those of placeholders: what a tool, a callback or a custom agent reads is not known.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.turn = run.turn + 1
        self.since = self.turn if run.since is None else run.since + 1
        self.events: list[Event] = []
        self.step_of: dict[str, str] = {}
        self.writes: list[Write] = []
        self._positions: dict[str, list[int]] = {}
        self._by_key: dict[str, list[Write]] = {}
        for before, (lead, each) in enumerate(_turns(run)):
            self._take(each, lead, before, {})
            self.first = len(self.events)
            self.state = dict(each.start_state)
            self._take(each, each.turn_events, before + 1, self.state)
        self.earlier = frozenset(event.id for event in self.events[: self.first])
        self.reads = [
            read for step in run.step_runs for number, request in enumerate(step.requests, 1)
            for read in self.reads_of(step, number, request)
        ]  # fmt: skip

    def _take(self, run: Run, events: Sequence[Event], turn: int, state: dict[str, Any]) -> None:
        """Note the writes of `events`, and carry them out on `state`."""
        for step in run.step_runs:
            self.step_of.update(dict.fromkeys([event.id for event in step.events], step.name))
        for event in events:
            self.events.append(event)
            for key, value in event.actions.state_delta.items():
                removed = value is REMOVED
                author = self.step_of.get(event.id, event.author)
                write = Write(
                    key, None if removed else value, state.get(key), key in state, removed, event, len(self.events),
                    turn, author,
                )  # fmt: skip
                self.writes.append(write)
                self._by_key.setdefault(key, []).append(write)
                self._positions.setdefault(key, []).append(len(self.events) - 1)
            apply_delta(state, event.actions.state_delta)

    def reads_of(self, step: StepRun, number: int, request: Request) -> list[Read]:
        """The state values that one request inserted, each key once, in the order of the text."""
        keys = dict.fromkeys(
            segment.key for segment in request.sent.system if segment.origin == "state" and segment.key is not None
        )
        result = []
        for key in keys:
            write = self.last_write(key, request.seen)
            result.append(Read(key, step, number, write, self._age(key, write)))
        return result

    def last_write(self, key: str, seen: int | None = None) -> Write | None:
        """The last write of `key` when the turn had `seen` events (at its end when None)."""
        writes = self._by_key.get(key, [])
        count = len(writes) if seen is None else bisect_left(self._positions.get(key, []), self.first + seen)
        return writes[count - 1] if count else None

    def writer(self, seen: int) -> Callable[[str], Event | None]:
        """A function from a key to the event that had written it last when the turn had `seen` events."""

        def event_of(key: str) -> Event | None:
            write = self.last_write(key, seen)
            return write.event if write is not None else None

        return event_of

    def _age(self, key: str, write: Write | None) -> str:
        if write is None:
            return PRESET
        if write.turn >= self.since:
            return ""
        turn = f"turn {write.turn}" if write.turn else "before turn 1"
        return f"stale: {turn} (a temp: key that should be gone)" if key.startswith(TEMP_PREFIX) else f"stale: {turn}"

    def stale_reads(self, step: StepRun | None = None) -> dict[str, str]:
        """Key to `stale: turn N` for every stale read of the run, or of one step."""
        return {read.key: read.age for read in self.reads if read.stale and step in (None, read.step)}

    def readers(self, key: str) -> list[str]:
        """The steps that read the key in this run, in order, each once."""
        return list(dict.fromkeys(read.step.name for read in self.reads if read.key == key))

    def readers_of(self, step: StepRun, key: str | None = None) -> list[str]:
        """The steps that read what `step` wrote (under `key`, if named), in order, each once."""
        own = {event.id for event in step.events}
        return list(
            dict.fromkeys(
                read.step.name
                for read in self.reads
                if read.write is not None and read.write.event.id in own and key in (None, read.key)
            )
        )

    def freshness(self, key: str) -> str:
        """The key's word in the state table.

        `fresh`, `stale: turn 1`, `preset`, or `turn 1, not read`; `fresh, read stale: turn 1` when a step read the old value
        before another wrote the one that stands.
        """
        stale = self.stale_reads().get(key)
        write = self.last_write(key)
        if write is None:
            return stale or PRESET
        if write.turn >= self.since:
            return "fresh" if stale is None else f"fresh, read {stale}"
        return stale or f"turn {write.turn}, not read"


def _turns(run: Run) -> list[tuple[Sequence[Event], Run]]:
    """Each turn up to the run's own, oldest first: the events that came before it, and its run."""
    turns = [(run.lead, run)]
    turn = run.previous
    while turn is not None:
        turns.append((turn.lead, turn.run))
        turn = turn.previous
    return turns[::-1]
