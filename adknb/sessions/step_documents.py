"""A run's steps, requests and journal as records: the new ones, and of those that were under way what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple, Protocol, TypeAlias

from adknb.core.events import Event
from adknb.core.requests import LlmResponse
from adknb.core.run import JournalEntry, Run, StepRun
from adknb.core.specs import BaseAgent
from adknb.sessions.error_documents import error_document, read_error
from adknb.sessions.request_documents import Contents, Stored, read_reply, read_request, reply_document, sent_document

Record: TypeAlias = dict[str, Any]


class StepMark(NamedTuple):
    """How much of a step is stored."""

    fields: tuple[object, ...] = ()
    events: int = 0
    last: str | None = None
    requests: int = 0
    reply: LlmResponse | None = None
    ms: float = 0.0


class JournalMark(NamedTuple):
    """How much of a journal is stored: its entries, and of the last one its events and steps."""

    entries: int = 0
    events: int = 0
    last: str | None = None
    steps: int = 0


class Place(Protocol):
    """What the records ask of whoever writes the run."""

    @property
    def contents(self) -> Contents: ...

    @property
    def coming(self) -> Sequence[Event]: ...

    def refer(self, event: Event) -> str:
        """The event's id; an event that is in no log is written, too."""
        ...

    def is_placed(self, event: Event) -> bool:
        """Whether it is one of the run's events, those that are coming included."""
        ...

    def refer_agent(self, agent: BaseAgent) -> int | str:
        """The agent's place in the pipeline's tree; for one that is not in it the hash of its document."""
        ...


def step_records(
    run: Run, stored: int, unfinished: Mapping[int, StepMark], place: Place
) -> tuple[list[Record], list[Record], dict[int, StepMark]]:
    """The records of steps and of requests, and the marks of the steps that can change yet.

    The first `stored` steps are known; of these only the `unfinished` ones are looked at.
    """
    steps: list[Record] = []
    requests: list[Record] = []
    marks: dict[int, StepMark] = {}
    for at in [*unfinished, *range(stored, len(run.step_runs))]:
        step = run.step_runs[at]
        mark = unfinished.get(at, StepMark())
        record: Record = {} if at < stored else _first_record(step, place)
        fields = (step.status, step.stop, step.ms, id(step.error), len(step.notes), step.replayed)
        if fields != mark.fields:
            record.update(_fields(step))
        first, events = _new_events(step, mark, run.status != "running", place)
        if events or first != mark.events:
            record["events"] = [first, [place.refer(event) for event in events]]
        if record:
            steps.append({"at": at, **record})
        requests.extend(_request_records(at, step, mark, events, place))
        known = first + len(events)
        if step.status == "running" or known < len(step.events):
            last = step.requests[-1] if step.requests else None
            marks[at] = StepMark(
                fields, known, step.events[known - 1].id if known else None, len(step.requests),
                last.reply if last is not None else None, last.ms if last is not None else 0.0,
            )  # fmt: skip
    return steps, requests, marks


def _first_record(step: StepRun, place: Place) -> Record:
    return {
        "agent": place.refer_agent(step.agent),
        "number": step.number,
        "branch": step.branch,
        "start": step.start,
    }


def _fields(step: StepRun) -> Record:
    return {
        "status": step.status,
        "stop": step.stop,
        "ms": step.ms,
        "error": error_document(step.error),
        "notes": step.notes,
        "replayed": step.replayed,
    }


def _new_events(step: StepRun, mark: StepMark, closing: bool, place: Place) -> tuple[int, list[Event]]:
    """The events that the store does not know of, and the place of their first.

    What a step said and nobody stored yet waits: it may be left unheard. When the run ends, what is left belongs to it.
    """
    first = mark.events
    if first and (first > len(step.events) or step.events[first - 1].id != mark.last):
        first = 0
    events = step.events[first:]
    if not closing:
        events = list(takewhile(place.is_placed, events))
    return first, events


def _request_records(at: int, step: StepRun, mark: StepMark, said: Sequence[Event], place: Place) -> Iterator[Record]:
    for number in range(max(mark.requests - 1, 0), len(step.requests)):
        request = step.requests[number]
        record: Record = {"step": at, "at": number}
        if number >= mark.requests:
            record["sent"] = sent_document(request.sent, place.contents, place.refer)
            record["seen"] = request.seen
        elif request.reply is mark.reply and request.ms == mark.ms:
            continue
        record["reply"] = reply_document(request.reply, place.contents, said, place.refer)
        record["ms"] = request.ms
        yield record


def journal_records(run: Run, mark: JournalMark, place: Place) -> tuple[list[Record], JournalMark]:
    """The records of the entries that are new or grew; only the last one of a journal grows."""
    records: list[Record] = []
    for at in range(max(mark.entries - 1, 0), len(run.journal)):
        entry = run.journal[at]
        known = mark if at == mark.entries - 1 else JournalMark()
        is_last = at == len(run.journal) - 1
        events = [*entry.events, *place.coming] if is_last else entry.events
        first = known.events
        if first and (first > len(events) or events[first - 1].id != known.last):
            first = 0
        record: Record = {} if at < mark.entries else {"path": entry.path, "moment": entry.moment}
        if len(events) > first or first != known.events:
            record["events"] = [first, [place.refer(event) for event in events[first:]]]
        if len(entry.steps) > known.steps:
            record["steps"] = [known.steps, [_place_of(step, run) for step in entry.steps[known.steps :]]]
        if record:
            records.append({"at": at, **record})
        if is_last:
            mark = JournalMark(len(run.journal), len(events), events[-1].id if events else None, len(entry.steps))
    return records, mark


def _place_of(step: StepRun, run: Run) -> int:
    """Looked for from the end, where the newest steps are."""
    return next(place for place in reversed(range(len(run.step_runs))) if run.step_runs[place] is step)


def read_steps(
    documents: Iterable[Mapping[str, list[Record]]], stored: Stored, agent: Callable[[int | str], BaseAgent]
) -> tuple[list[StepRun], list[JournalEntry]]:
    """The steps and the journal that the records tell of, in the order in which they were written.

    A step that was under way is read as interrupted. Raises what Python raises for documents that are damaged.
    """
    steps: list[StepRun] = []
    journal: list[JournalEntry] = []
    for document in documents:
        for record in document.get("steps", ()):
            if record["at"] == len(steps):
                found = agent(record["agent"])
                steps.append(StepRun(found, record["number"], record["branch"], record["start"]))
            _update_step(steps[record["at"]], record, stored)
        for record in document.get("requests", ()):
            requests = steps[record["step"]].requests
            if record["at"] == len(requests):
                requests.append(read_request(record, stored))
            requests[record["at"]].reply = read_reply(record["reply"], stored)
            requests[record["at"]].ms = record["ms"]
        for record in document.get("journal", ()):
            if record["at"] == len(journal):
                journal.append(JournalEntry(record["path"], record["moment"]))
            _update_entry(journal[record["at"]], record, steps, stored)
    again = {step.agent.name for step in steps if step.number > 1}
    for step in steps:
        step.repeated = step.agent.name in again
        step.status = "interrupted" if step.status == "running" else step.status
    return steps, journal


def _update_step(step: StepRun, record: Record, stored: Stored) -> None:
    if "status" in record:
        step.status, step.stop, step.ms = record["status"], record["stop"], record["ms"]
        step.error, step.notes, step.replayed = read_error(record["error"]), record["notes"], record["replayed"]
    if "events" in record:
        first, ids = record["events"]
        step.events[first:] = [stored.event(name) for name in ids]


def _update_entry(entry: JournalEntry, record: Record, steps: Sequence[StepRun], stored: Stored) -> None:
    if "events" in record:
        first, ids = record["events"]
        entry.events[first:] = [stored.event(name) for name in ids]
    if "steps" in record:
        first, places = record["steps"]
        entry.steps[first:] = [steps[place] for place in places]
