"""A session that is in no database yet, a new or an imported one, as rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, insert
from sqlalchemy.exc import IntegrityError

from adknb.core.errors import RunStateError
from adknb.core.run import Run, Session
from adknb.core.state import TEMP_PREFIX
from adknb.sessions.database.changes import blob_rows, event_text, part_rows
from adknb.sessions.database.reading import Identity
from adknb.sessions.database.shared import ValueChanges, rows_of
from adknb.sessions.database.tables import APP_VALUES, BLOBS, LOG, RUN_PARTS, RUNS, SESSIONS, USER_VALUES
from adknb.sessions.database.texts import as_column, as_json
from adknb.sessions.database.turn_changes import turn_change
from adknb.sessions.database.upsert import insert_missing
from adknb.sessions.documents import runs_of
from adknb.sessions.run_documents import RunDocuments

_CREATE: Final = insert(SESSIONS).returning(SESSIONS.c.number)
_PUT_ASIDE: Final = ""
"""Stands for the run of an event whose run is not known, and that no request sees any more."""


def create(connection: Connection, identity: Identity, session: Session) -> int:
    """The number of the new session. Raises `RunStateError` when its id is taken."""
    try:
        number: int = connection.execute(_CREATE, _start_row(identity, session)).scalar_one()
    except IntegrityError:
        raise RunStateError(
            f"session {identity.id!r} exists already. Choose another id, or go on with that one."
        ) from None
    return number


def take_over(connection: Connection, identity: Identity, session: Session, others: Sequence[Run], writer: str) -> None:
    """Store the session under this identity, with its turns, their runs and `others`. Shared values are taken over where
    there are none of that name yet."""
    number = create(connection, identity, session)
    made_by = {event.id: turn.run.id for turn in session.chain for event in turn.run.turn_events}
    leads = {event.id for turn in session.chain for event in turn.lead}
    seen = {event.id for event in session.history} - leads
    common = {"session": number, "writer": writer, "at": time.time()}
    turns = turn_change([], session.chain)
    log: list[dict[str, object]] = []
    if turns is not None:
        log.append({**common, "run": None, "event": None, "turns": as_json(turns.to_dict())})
    for event in session.events:
        run = made_by.get(event.id, None if event.id in seen else _PUT_ASIDE)
        run_id = as_column(run) if run is not None else None
        log.append({**common, "run": run_id, "event": event_text(event), "turns": None})
    if log:
        connection.execute(insert(LOG), [{**row, "seq": seq} for seq, row in enumerate(log, 1)])
    _take_over_runs(connection, number, runs_of(session, others))
    app: ValueChanges = {key: as_json(value) for key, value in session.scopes.app.items()}
    user: ValueChanges = {key: as_json(value) for key, value in session.scopes.user.items()}
    owner = {"app": as_column(identity.app)}
    insert_missing(connection, APP_VALUES, rows_of(app, owner)[0])
    insert_missing(connection, USER_VALUES, rows_of(user, {**owner, "user": as_column(identity.user)})[0])


def _take_over_runs(connection: Connection, number: int, runs: Sequence[Run]) -> None:
    documents = RunDocuments()
    for place, run in enumerate(runs):
        changes = documents.changes(run)
        documents.stored(run, changes)
        row = {"session": number, "run": as_column(run.id), "status": run.status, "begun": time.time() + place * 1e-6}
        insert_missing(connection, RUNS, [row])
        insert_missing(connection, BLOBS, blob_rows(number, changes.blobs))
        insert_missing(connection, RUN_PARTS, part_rows(number, changes.parts))


def _start_row(identity: Identity, session: Session) -> dict[str, object]:
    """The row of a session. What events change is in its state already, and is changed to the same again when it is read."""
    state = {key: value for key, value in session.state.items() if not key.startswith(TEMP_PREFIX)}
    return {**identity.columns(), "state": as_json(state), "notes": as_json(session.notes), "begun": time.time()}
