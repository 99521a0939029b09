"""What is new in a session since it was last stored, as one write."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from adknb.core.errors import RunStateError, StateValueError
from adknb.core.events import Event
from adknb.core.run import Run, Session, Turn
from adknb.core.state import APP_PREFIX, TEMP_PREFIX, USER_PREFIX, apply_delta
from adknb.sessions.database.connection import Database
from adknb.sessions.database.shared import SharedValues
from adknb.sessions.database.texts import as_column, as_json
from adknb.sessions.database.turn_changes import turn_change
from adknb.sessions.database.writes import Row, Write
from adknb.sessions.json_text import event_fault
from adknb.sessions.run_documents import Changes, RunDocuments
from adknb.sessions.run_reader import RunPart


@dataclass(slots=True, eq=False)
class Kept:
    """What a service knows of a session that it gave out: its row, the last place in its log, the turns that are stored, of
    each run the status that is stored and when it began, and the run that was under way when it was stored last.

    `all_runs` are the session's runs by their id, in the order in which they began: those that were put aside and trials
    too. `own` are the keys of the state that it began with.
    """

    database: Database
    number: int
    seq: int
    chain: list[Turn]
    statuses: dict[str, tuple[str, float]]
    all_runs: dict[str, Run]
    documents: RunDocuments
    own: Collection[str]
    under_way: Run | None = None

    @property
    def place(self) -> tuple[int, int]:
        return (self.number, self.seq)


def kept_of(session: Session, database: Database) -> Kept:
    """Raises `RunStateError` for a session that this service did not give out to be written to."""
    kept = session.kept
    if isinstance(kept, Kept) and kept.database is database:
        return kept
    raise RunStateError(
        f"session {session.id!r} is not one that this service can store: it is another service's, or from a list. "
        "Take the one that get_session or create_session gives."
    )


@dataclass(slots=True, eq=False)
class Change:
    """A write, and what to note when it is durable."""

    write: Write
    kept: Kept
    chain: list[Turn]
    under_way: Run | None
    documents: list[tuple[Run, Changes]]
    app: SharedValues
    user: SharedValues

    def store(self, connection: Connection) -> None:
        """In the database's thread. Where the log ends is asked now: another task may have written since the change was made."""
        self.write.execute(connection, self.kept.seq)

    def note_claimed(self) -> None:
        """In the database's thread, before anything else is stored."""
        self.kept.seq += len(self.write.log)

    def note_stored(self) -> None:
        kept = self.kept
        kept.chain = self.chain
        kept.under_way = self.under_way
        for run, changes in self.documents:
            kept.documents.stored(run, changes)
            kept.all_runs[run.id] = run
        kept.statuses.update((row["run"], (row["status"], row["begun"])) for row in self.write.runs)
        self.app.note_stored(self.write.app_values)
        self.user.note_stored(self.write.user_values)


def change_of(
    session: Session, kept: Kept, events: Sequence[Event], writer: str, shared: tuple[SharedValues, SharedValues]
) -> Change:
    """The events, and what else changed in the session: its turns, their runs, shared values that were taken back."""
    app, user = shared
    write = Write(kept.number, session.id, session.app_name, session.user_id, writer)
    if session.is_copy:
        change = Change(write, kept, kept.chain, kept.under_way, [], app, user)
        _add_runs(change, [turn.run for turn in session.chain if turn.run.session is session], None, ())
        return change
    chain = _chain(session)
    change = Change(write, kept, chain, session.under_way, [], app, user)
    deltas = [event.actions.state_delta for event in events if event.actions.state_delta]
    write.log = _log(session, kept, events, chain, writer)
    write.app_values = app.changes(deltas, APP_PREFIX)
    write.user_values = user.changes(deltas, USER_PREFIX)
    _add_runs(change, _touched(session, kept, chain), session.under_way, events)
    return change


def apply_events(session: Session, events: Sequence[Event]) -> None:
    """Let the session object hold what is stored."""
    for event in events:
        delta = event.actions.state_delta
        if delta:
            apply_delta(session.state, delta)
            session.scopes.apply(delta)
        session.events.append(event)
        session.history.append(event)
    session.scopes.merge_into(session.state)  # over what a callback or tool wrote and no event says


def _chain(session: Session) -> list[Turn]:
    """The session's turns, with that of the run whose first event is about to be stored."""
    run = session.under_way
    if run is not None and run.turn == len(session.chain):
        return [*session.chain, Turn(run, run.lead, run.previous)]
    return list(session.chain)


def _log(session: Session, kept: Kept, events: Sequence[Event], chain: list[Turn], writer: str) -> list[Row]:
    run = session.under_way
    run_id = as_column(run.id) if run is not None else None
    common = {"session": kept.number, "writer": writer, "run": run_id, "at": time.time()}
    texts: list[str | None] = [event_text(event) for event in events]
    turns = None if kept.chain == chain else turn_change(kept.chain, chain)
    if turns is not None and not texts:
        texts = [None]
    rows: list[Row] = [{**common, "event": text, "turns": None} for text in texts]
    if turns is not None:
        rows[0]["turns"] = as_json(turns.to_dict())
    return rows


def event_text(event: Event) -> str:
    """The event as it is stored: without `temp:` keys. Raises `StateValueError` for one that holds what is no JSON."""
    data: dict[str, Any] = event.to_dict()
    delta = data["state_delta"]
    if any(key.startswith(TEMP_PREFIX) for key in delta):
        data["state_delta"] = {key: value for key, value in delta.items() if not key.startswith(TEMP_PREFIX)}
    try:
        return as_json(data)
    except StateValueError as error:
        raise StateValueError(
            f"an event of {event.author!r} cannot be stored: {event_fault(event)}. Use text, numbers, lists and dicts, or save "
            "bulk data as an artifact."
        ) from error


def _add_runs(change: Change, runs: Iterable[Run], under_way: Run | None, coming: Sequence[Event]) -> None:
    write, kept = change.write, change.kept
    blobs: dict[str, str] = {}
    for run in runs:
        changes = kept.documents.changes(run, coming if run is under_way else ())
        change.documents.append((run, changes))
        blobs.update(changes.blobs)
        write.parts.extend(part_rows(write.session, changes.parts))
        name = as_column(run.id)
        status, begun = kept.statuses.get(name, ("", time.time()))
        if run.status != status:
            write.runs.append({"session": write.session, "run": name, "status": run.status, "begun": begun})
    write.blobs = blob_rows(write.session, blobs)


def _touched(session: Session, kept: Kept, chain: list[Turn]) -> list[Run]:
    """The runs that may have changed since the session was last stored."""
    runs = {run.id: run for run in (kept.under_way, session.under_way) if run is not None}
    if kept.chain != chain:
        for index, turn in enumerate(chain):
            if index >= len(kept.chain) or kept.chain[index] is not turn:
                runs[turn.run.id] = turn.run
    return list(runs.values())


def part_rows(session: int, parts: Iterable[RunPart]) -> list[Row]:
    return [{"session": session, **part._asdict(), "run": as_column(part.run)} for part in parts]


def blob_rows(session: int, blobs: Mapping[str, str]) -> list[Row]:
    return [{"session": session, "hash": name, "data": data} for name, data in blobs.items()]
