"""A session from its rows."""

from __future__ import annotations

import gc
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from adknb.core.errors import SessionStoreError
from adknb.core.events import Event, written
from adknb.core.run import Run, Session, Turn
from adknb.core.state import APP_PREFIX, USER_PREFIX, Scopes, apply_delta
from adknb.sessions.database.tables import APP_VALUES, BLOBS, LOG, RUN_PARTS, RUNS, SESSIONS, USER_VALUES
from adknb.sessions.database.texts import as_column, from_column
from adknb.sessions.database.turn_changes import TurnChange, TurnNames
from adknb.sessions.run_documents import RunDocuments
from adknb.sessions.run_reader import RunPart


class Identity(NamedTuple):
    app: str
    user: str
    id: str

    def columns(self) -> dict[str, str]:
        return {"app": as_column(self.app), "user": as_column(self.user), "id": as_column(self.id)}


class Position(NamedTuple):
    """Where a session stands: its row's number, and the last place in its log (0 for none)."""

    number: int
    seq: int


class SharedRows(NamedTuple):
    app: Sequence[tuple[str, str]]
    user: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class SessionRows:
    """What is stored of a session."""

    state: str
    notes: str
    log: Sequence[tuple[str | None, str | None, str | None]]
    runs: Mapping[str, tuple[str, float]]
    parts: Sequence[RunPart]
    blobs: Mapping[str, str]


def position(connection: Connection, identity: Identity) -> Position | None:
    app, user, name = identity.columns().values()
    last = func.coalesce(select(func.max(LOG.c.seq)).where(LOG.c.session == SESSIONS.c.number).scalar_subquery(), 0)
    statement = select(SESSIONS.c.number, last).where(
        SESSIONS.c.app == app, SESSIONS.c.user == user, SESSIONS.c.id == name
    )
    row = connection.execute(statement).one_or_none()
    return None if row is None else Position(*row)


def read_rows(connection: Connection, place: Position) -> SessionRows:
    number = place.number
    begun_with = select(SESSIONS.c.state, SESSIONS.c.notes).where(SESSIONS.c.number == number)
    state, notes = connection.execute(begun_with).one()
    log = select(LOG.c.run, LOG.c.event, LOG.c.turns).where(LOG.c.session == number).order_by(LOG.c.seq)
    runs = select(RUNS.c.run, RUNS.c.status, RUNS.c.begun).where(RUNS.c.session == number).order_by(RUNS.c.begun)
    parts = (
        select(RUN_PARTS.c.run, RUN_PARTS.c.part, RUN_PARTS.c.number, RUN_PARTS.c.data)
        .join(RUNS, (RUNS.c.session == RUN_PARTS.c.session) & (RUNS.c.run == RUN_PARTS.c.run))
        .where(RUN_PARTS.c.session == number)
        .order_by(RUNS.c.begun, RUN_PARTS.c.run, RUN_PARTS.c.part, RUN_PARTS.c.number)
    )
    blobs = select(BLOBS.c.hash, BLOBS.c.data).where(BLOBS.c.session == number)
    return SessionRows(
        state,
        notes,
        [tuple(row) for row in connection.execute(log)],
        {run: (status, begun) for run, status, begun in connection.execute(runs)},
        [RunPart(from_column(run), *rest) for run, *rest in connection.execute(parts)],
        dict(tuple(row) for row in connection.execute(blobs)),
    )


def read_shared(connection: Connection, app: str, user: str) -> SharedRows:
    of_app = select(APP_VALUES.c.key, APP_VALUES.c.value).where(APP_VALUES.c.app == as_column(app))
    of_user = select(USER_VALUES.c.key, USER_VALUES.c.value).where(
        USER_VALUES.c.app == as_column(app), USER_VALUES.c.user == as_column(user)
    )
    return SharedRows(
        [tuple(row) for row in connection.execute(of_app)], [tuple(row) for row in connection.execute(of_user)]
    )


def build(
    identity: Identity, rows: SessionRows, scopes: Scopes, documents: RunDocuments
) -> tuple[Session, dict[str, Run], set[str]]:
    """The session, every run that was kept of it, and the keys that it began with. Raises `SessionStoreError` for rows that
    hold no session."""
    session = Session(identity.id, identity.app, identity.user, scopes=scopes)
    try:
        with _no_collections():
            begun_with = json.loads(rows.state)
            return session, _fill(session, rows, begun_with, documents), set(begun_with)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SessionStoreError(
            f"session {identity.id!r} cannot be read: its rows are damaged ({type(error).__name__}: {error}). They were left "
            "as they are; the other sessions can be read."
        ) from error


def _fill(session: Session, rows: SessionRows, begun_with: dict[str, Any], documents: RunDocuments) -> dict[str, Run]:
    texts = [event for _, event, _ in rows.log if event is not None]
    session.events = [Event.from_dict(data) for data in json.loads(f"[{','.join(texts)}]")]
    by_id = {event.id: event for event in session.events}
    names, tail = _turns(rows, iter(session.events))
    runs = documents.read_runs(rows.parts, rows.blobs, session, by_id)
    for name in names:
        run = runs[name.run]
        lead = [by_id[event] for event in name.lead]
        session.history.extend(lead)
        run.start = len(session.history)
        session.history.extend(run.turn_events)
        relinked = session.chain[-1] if session.chain and run.stale else run.previous  # as `turns` leaves it
        session.chain.append(Turn(run, lead, relinked))
    session.history.extend(tail)
    session.notes = json.loads(rows.notes)
    session.state = _state(begun_with, session)
    return runs


def _turns(rows: SessionRows, events: Iterator[Event]) -> tuple[list[TurnNames], list[Event]]:
    """The turns as they are now, and the events since that no run made."""
    names: list[TurnNames] = []
    tail: list[Event] = []
    for run, event, turns in rows.log:
        if turns is not None:
            TurnChange.from_dict(json.loads(turns)).apply(names)
            tail = []  # what stood there is in a turn's lead now, or was put aside
        if event is not None:
            stored = next(events)
            if run is None:
                tail.append(stored)
    return names, tail


def _state(begun_with: dict[str, Any], session: Session) -> dict[str, Any]:
    """The state after the events that count, as `turns` leaves it: from the last turn on that is not stale.

    What an event wrote for everybody is what the others made of it since.
    """
    said = written(session.history)
    state, events = dict(begun_with), session.history
    current = next((turn.run for turn in reversed(session.chain) if not turn.run.stale), None)
    if current is not None:
        state, events = dict(current.start_state), session.history[current.start :]
    apply_delta(state, written(events))
    for key in [key for key in shared_keys(state) if key in said or key not in begun_with]:
        del state[key]
    session.scopes.merge_into(state)
    return state


def shared_keys(state: Iterable[str]) -> list[str]:
    return [key for key in state if key.startswith((APP_PREFIX, USER_PREFIX))]


def see_shared(session: Session, begun_with: Collection[str]) -> None:
    """Let the session's state hold the shared values as they are now. Its own of what it began with stay, as in `_state`."""
    now = {*(APP_PREFIX + key for key in session.scopes.app), *(USER_PREFIX + key for key in session.scopes.user)}
    gone = [key for key in shared_keys(session.state) if key not in now]
    said = written(session.history) if gone else {}
    for key in gone:
        if key in said or key not in begun_with:
            del session.state[key]
    session.scopes.merge_into(session.state)


@contextmanager
def _no_collections() -> Iterator[None]:
    """Ten thousand events are garbage to nobody, but the collector would look at all of them several times: a third of the
    time that reading takes."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
