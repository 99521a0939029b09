"""Runs as documents: what a run wrote since the last time, as JSON that a store keeps beside the session's events.

Pure: nothing here reads or writes a store. A run consists of parts, told apart by name and number:

- `head` 0: what does not change once the run began (agents, message, state before it, the turn before it).
- `state` 0: status, error and the like; written anew when one of them changes.
- `events` n: `[k, [ids]]`, the run's events from place k on are these of the session's log.
- `own` n: events that are not in the log: those of a trial, and those that no store took.
- `more` n: steps, requests and journal entries, or what changed of them.

Everything long (contents, prompts, declarations, agents, states) stands in blobs, which are named by their hash.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from adknb.core.events import Event
from adknb.core.run import Run, Session, Turn
from adknb.core.specs import BaseAgent
from adknb.core.state import TEMP_PREFIX
from adknb.sessions.agent_documents import agent_document
from adknb.sessions.error_documents import error_document
from adknb.sessions.json_text import to_text
from adknb.sessions.request_documents import Contents
from adknb.sessions.run_reader import RunPart, RunReader
from adknb.sessions.step_documents import JournalMark, StepMark, journal_records, step_records


@dataclass(slots=True)
class _Mark:
    """How much of a run is stored."""

    number: int = 0
    state: tuple[object, ...] | None = None
    events: int = 0
    last: str | None = None
    steps: int = 0
    unfinished: dict[int, StepMark] = field(default_factory=dict)
    journal: JournalMark = field(default_factory=JournalMark)
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """What is to be stored: rows that take the place of those with the same key, and blobs, which never change.

    A blob belongs to the session: the same hash in another session is another blob.
    """

    parts: list[RunPart]
    blobs: dict[str, str]
    mark: _Mark = field(default_factory=_Mark, repr=False)
    placed: frozenset[str] = field(default=frozenset(), repr=False)

    def __bool__(self) -> bool:
        return bool(self.parts or self.blobs)


class _Kept:
    """What was written of a session. It holds no run, so that a session that nobody holds is let go."""

    def __init__(self) -> None:
        self.contents = Contents()
        self.turns: WeakKeyDictionary[Turn, str] = WeakKeyDictionary()
        self.agents: dict[int, tuple[BaseAgent, str]] = {}
        self.marks: WeakKeyDictionary[Run, _Mark] = WeakKeyDictionary()
        self.placed: WeakKeyDictionary[Run, set[str]] = WeakKeyDictionary()
        self._places: dict[int, tuple[BaseAgent, dict[int, int]]] = {}
        self._logged: set[str] = set()
        self._seen = 0

    def places_in(self, root: BaseAgent) -> dict[int, int]:
        """The place in the tree of each agent, by the agent's `id`."""
        known = self._places.get(id(root))
        if known is None:
            places: dict[int, int] = {}
            for place, agent in enumerate(root.walk()):
                places.setdefault(id(agent), place)
            known = self._places[id(root)] = (root, places)
        return known[1]

    def logged(self, session: Session) -> set[str]:
        """The ids of the session's events."""
        for event in session.events[self._seen :]:
            self._logged.add(event.id)
        self._seen = len(session.events)
        return self._logged


class RunDocuments:
    """Knows what of each run is stored already, so that only what is new is written. One for each store."""

    def __init__(self) -> None:
        self._sessions: WeakKeyDictionary[Session, _Kept] = WeakKeyDictionary()

    def changes(self, run: Run, coming: Sequence[Event] = ()) -> Changes:
        """What is new since `stored`. `coming` are events that are being stored with it and will be the run's next.

        It takes as long as what is new is big, however long the run and the session are; a run that ended and is
        stored costs a comparison of its status.
        """
        kept = self._kept(run.session)
        mark = kept.marks.get(run, _Mark())
        state = _state_key(run)
        if mark.is_closed and mark.state == state:
            return Changes([], {}, mark)
        return _Writing(run, coming, kept, mark).changes(state)

    def stored(self, run: Run, changes: Changes) -> None:
        """Say that the changes are durable. Without it, the next `changes` holds them again."""
        kept = self._kept(run.session)
        kept.marks[run] = changes.mark
        kept.placed.setdefault(run, set()).update(changes.placed)
        kept.contents.stored.update(changes.blobs)
        for name in changes.blobs:
            kept.contents.waiting.pop(name, None)

    def read_runs(
        self, parts: Iterable[RunPart], blobs: Mapping[str, str], session: Session, events: Mapping[str, Event]
    ) -> dict[str, Run]:
        """`read_runs`, and remember what is stored of them."""
        kept = self._kept(session)
        kept.contents.stored.update(blobs)
        reader = RunReader(parts, blobs, session, events)
        runs = reader.runs()
        for run in runs.values():
            state = None if reader.was_running(run.id) else _state_key(run)
            self._kept(run.session).marks[run] = _Mark(state=state, is_closed=True)
        return runs

    def _kept(self, session: Session) -> _Kept:
        kept = self._sessions.get(session)
        if kept is None:
            kept = self._sessions[session] = _Kept()
        return kept


def read_runs(
    parts: Iterable[RunPart], blobs: Mapping[str, str], session: Session, events: Mapping[str, Event]
) -> dict[str, Run]:
    """The runs by their id, in the order in which their parts come; steps and requests are read when they are asked for.

    `blobs` holds at least the session's, `events` its log by id. A run that was going on is read as interrupted. Trials
    get a copy of the session. Raises `SessionStoreError` for documents that are damaged, also later, when what they hold
    is asked for.
    """
    return RunReader(parts, blobs, session, events).runs()


class _Writing:
    """One call of `RunDocuments.changes`."""

    def __init__(self, run: Run, coming: Sequence[Event], kept: _Kept, mark: _Mark) -> None:
        self.contents = kept.contents
        self.coming = coming
        self._run = run
        self._kept = kept
        self._mark = mark
        self._logged = kept.logged(run.session)
        self._placed = kept.placed.get(run, set())
        self._new_placed: set[str] = set()
        self._own: dict[str, Event] = {}
        self._parts: list[RunPart] = []

    def changes(self, state: tuple[object, ...]) -> Changes:
        run, mark = self._run, self._mark
        if mark.state is None and not mark.is_closed:
            self._add("head", 0, self._head())
        if mark.state != state:
            self._add("state", 0, self._state_document())
        if mark.is_closed:  # read back, or stored as it ended: nothing but its state changes any more
            return Changes(self._parts, dict(self.contents.waiting), replace(mark, state=state))
        events, last = self._events()
        steps, requests, unfinished = step_records(run, mark.steps, mark.unfinished, self)
        journal, journal_mark = journal_records(run, mark.journal, self)
        more = {"steps": steps, "requests": requests, "journal": journal}
        if any(more.values()):
            self._add("more", mark.number, {name: records for name, records in more.items() if records})
        if self._own:
            self._add("own", mark.number, [_event_document(event) for event in self._own.values()])
        new = _Mark(
            mark.number + 1, state, events, last, len(run.step_runs), unfinished, journal_mark, run.status != "running"
        )
        return Changes(self._parts, dict(self.contents.waiting), new, frozenset(self._new_placed))

    def refer(self, event: Event) -> str:
        """The event's id; one that is in no log is written among the run's own."""
        if not self.is_placed(event) and event.id not in self._logged:
            self._own[event.id] = event
            self._new_placed.add(event.id)
        return event.id

    def is_placed(self, event: Event) -> bool:
        return event.id in self._placed or event.id in self._new_placed

    def refer_agent(self, agent: BaseAgent) -> int | str:
        """Its place in the pipeline's tree; for one that is not in it the hash of its document."""
        place = self._kept.places_in(self._run.root).get(id(agent))
        return place if place is not None else self._put_agent(agent)

    def _put_agent(self, agent: BaseAgent) -> str:
        known = self._kept.agents.get(id(agent))
        if known is None:
            known = self._kept.agents[id(agent)] = (agent, self.contents.put(agent_document(agent)))
        return known[1]

    def _add(self, part: str, number: int, data: Any) -> None:
        self._parts.append(RunPart(self._run.id, part, number, to_text(data)))

    def _head(self) -> dict[str, Any]:
        run = self._run
        return {
            "root": self._put_agent(run.root),
            "message": run.message.to_dict(),
            "start_state": self.contents.put(
                {key: value for key, value in run.start_state.items() if not key.startswith(TEMP_PREFIX)}
            ),
            "turn": run.turn,
            "previous": self._turn(run.previous),
            "lead": [event.id for event in run.lead],
            "asked": dict(run.asked),
            "rules": run.rules,
            "strategy": run.strategy,
            "temp_keys": run.temp_keys,
            "config": {"max_llm_calls": run.config.max_llm_calls, "streaming": run.config.streaming},
            "user_id": run.user_id,
            "parent": run.parent.id if run.parent is not None else None,
            "invocation_id": run.invocation_id,
            "trial": run.session.is_copy,
        }

    def _state_document(self) -> dict[str, Any]:
        run = self._run
        return {
            "status": run.status,
            "error": error_document(run.error),
            "label": run.label,
            "stale": run.stale,
            "start": run.start,
            "since": run.since,
            "ms": run.ms,
            "notes": run.notes,
        }

    def _events(self) -> tuple[int, str | None]:
        """Write the run's new ones; how many there are then, and the last one's id."""
        stored, known = self._run.turn_events, self._mark.events
        first = known
        if known and (known > len(stored) or stored[known - 1].id != self._mark.last):
            first = 0  # what was said to come was not the run's
        events = [*stored[first:], *self.coming]
        if not events and first == known:
            return known, self._mark.last
        for event in events:
            self._new_placed.add(event.id)
            if self._run.session.is_copy:  # no log has them
                self._own[event.id] = event
        self._add("events", self._mark.number, [first, [event.id for event in events]])
        return first + len(events), events[-1].id if events else None

    def _turn(self, turn: Turn | None) -> str | None:
        """The hash of a turn, which holds the hash of the turn before it."""
        chain: list[Turn] = []
        while turn is not None and turn not in self._kept.turns:
            chain.append(turn)
            turn = turn.previous
        name = self._kept.turns[turn] if turn is not None else None
        for each in reversed(chain):
            name = self.contents.put([each.run.id, [event.id for event in each.lead], name])
            self._kept.turns[each] = name
        return name


def _state_key(run: Run) -> tuple[object, ...]:
    return (run.status, id(run.error), run.label, run.stale, run.start, run.since, run.ms, len(run.notes))


def _event_document(event: Event) -> dict[str, Any]:
    data = event.to_dict()
    data["state_delta"] = {key: value for key, value in data["state_delta"].items() if not key.startswith(TEMP_PREFIX)}
    return data
