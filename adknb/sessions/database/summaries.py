"""What there is in a database, a row a session, without reading the sessions; and what is pruned of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, LargeBinary, Row, Select, Table, cast, delete, func, select

from adknb.sessions.database.tables import BLOBS, LOG, RUN_PARTS, RUNS, SESSIONS
from adknb.sessions.database.texts import as_column, from_column
from adknb.sessions.database.turn_changes import TurnChange, TurnNames


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session at a glance. `writes` counts the rows of its log, of which not every one is an event; `size` is that of all
    its rows in bytes; `begun` and `last_write` are seconds since 1970.

    `status` is that of the last turn's run, None without turns. `running` may also mean that the process that ran it is gone.
    """

    id: str
    app_name: str
    user_id: str
    turns: int
    events: int
    writes: int
    size: int
    begun: float
    last_write: float
    last_writer: str | None
    status: str | None


def summaries(connection: Connection, app: str | None, user: str | None) -> list[SessionSummary]:
    """By the last write, the newest first."""
    counted = select(
        LOG.c.session,
        func.count(LOG.c.event).label("events"),
        func.max(LOG.c.at).label("at"),
        func.max(LOG.c.seq).label("seq"),
        func.sum(_bytes(connection, LOG.c.event)).label("size"),
    ).group_by(LOG.c.session)
    log = counted.subquery()
    statement = (
        select(SESSIONS, log.c.events, log.c.seq, log.c.at, log.c.size, LOG.c.writer)
        .outerjoin(log, log.c.session == SESSIONS.c.number)
        .outerjoin(LOG, (LOG.c.session == SESSIONS.c.number) & (LOG.c.seq == log.c.seq))
    )
    rows = connection.execute(_of(statement, app, user)).all()
    turns = _turns(connection, app, user)
    kept = [_sizes(connection, table, app, user) for table in (RUN_PARTS, BLOBS)]
    runs = select(RUNS.c.session, RUNS.c.run, RUNS.c.status).join(SESSIONS)
    statuses = {(number, run): status for number, run, status in connection.execute(_of(runs, app, user))}
    found = [
        _summary(row, turns.get(row.number, []), [each.get(row.number, 0) for each in kept], statuses) for row in rows
    ]
    return sorted(found, key=lambda summary: (-summary.last_write, summary.id))


def delete_unwritten(connection: Connection, sessions: Sequence[SessionSummary]) -> list[SessionSummary]:
    """Delete these sessions, but not those that somebody wrote to since they were looked at; returns those that are gone."""
    gone = []
    for session in sessions:
        same = (
            SESSIONS.c.app == as_column(session.app_name),
            SESSIONS.c.user == as_column(session.user_id),
            SESSIONS.c.id == as_column(session.id),
            SESSIONS.c.begun == session.begun,
        )
        written = select(LOG.c.seq).where(LOG.c.session == SESSIONS.c.number, LOG.c.seq > session.writes).exists()
        # PostgreSQL's DELETE would wait for a write that is under way, and not look again whether there is one
        connection.execute(select(SESSIONS.c.number).where(*same).with_for_update())
        if connection.execute(delete(SESSIONS).where(*same, ~written)).rowcount:
            gone.append(session)
    return gone


def _of(statement: Select[Any], app: str | None, user: str | None) -> Select[Any]:
    if app is not None:
        statement = statement.where(SESSIONS.c.app == as_column(app))
    if user is not None:
        statement = statement.where(SESSIONS.c.user == as_column(user))
    return statement


def _bytes(connection: Connection, column: Column[Any]) -> ColumnElement[int]:
    if connection.dialect.name == "sqlite":
        return func.length(cast(column, LargeBinary))
    return func.octet_length(column)


def _sizes(connection: Connection, table: Table, app: str | None, user: str | None) -> dict[int, int]:
    """The bytes of each session in `table`."""
    statement = select(table.c.session, func.sum(_bytes(connection, table.c.data))).join(SESSIONS)
    grouped = _of(statement, app, user).group_by(table.c.session)
    return {number: int(size) for number, size in connection.execute(grouped)}


def _turns(connection: Connection, app: str | None, user: str | None) -> dict[int, list[TurnNames]]:
    changes = select(LOG.c.session, LOG.c.turns).join(SESSIONS).where(LOG.c.turns.is_not(None))
    turns: dict[int, list[TurnNames]] = {}
    for number, change in connection.execute(_of(changes, app, user).order_by(LOG.c.session, LOG.c.seq)):
        TurnChange.from_dict(json.loads(change)).apply(turns.setdefault(number, []))
    return turns


def _summary(
    row: Row[Any], turns: list[TurnNames], kept: list[int], statuses: dict[tuple[int, str], str]
) -> SessionSummary:
    return SessionSummary(
        id=from_column(row.id), app_name=from_column(row.app), user_id=from_column(row.user),
        turns=len(turns), events=row.events or 0, writes=row.seq or 0, size=len(row.state) + int(row.size or 0) + sum(kept),
        begun=row.begun, last_write=row.at or row.begun, last_writer=row.writer,
        status=statuses.get((row.number, turns[-1].run)) if turns else None,
    )  # fmt: skip
