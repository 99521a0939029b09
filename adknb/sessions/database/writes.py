"""One write to a session: everything that becomes durable together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Connection, Table, bindparam, delete, insert, select
from sqlalchemy.exc import IntegrityError

from adknb.core.errors import StaleSessionError
from adknb.sessions.database.shared import ValueChanges, rows_of
from adknb.sessions.database.tables import APP_VALUES, BLOBS, LOG, NOTES, RUN_PARTS, RUNS, SESSIONS, USER_VALUES
from adknb.sessions.database.texts import as_column
from adknb.sessions.database.upsert import insert_missing, upsert

Row = dict[str, Any]
_INSERT: Final = insert(LOG)


@dataclass(slots=True)
class Write:
    """The rows of one transaction. `log` claims the next places in the session's log."""

    session: int
    session_id: str
    app: str
    user: str
    writer: str
    log: list[Row] = field(default_factory=list)
    runs: list[Row] = field(default_factory=list)
    parts: list[Row] = field(default_factory=list)
    blobs: list[Row] = field(default_factory=list)
    app_values: ValueChanges = field(default_factory=dict)
    user_values: ValueChanges = field(default_factory=dict)
    notes: list[Row] = field(default_factory=list)

    def is_empty(self) -> bool:
        return not (
            self.log or self.runs or self.parts or self.blobs or self.app_values or self.user_values or self.notes
        )

    def execute(self, connection: Connection, last: int) -> None:
        """Store the rows, those of the log after the place `last`. Raises `StaleSessionError` when somebody else wrote to the
        session, or deleted it."""
        for seq, row in enumerate(self.log, last + 1):
            row["seq"] = seq
        if self._is_one_row() and connection.dialect.name == "postgresql":
            with _without_transaction(connection):
                self._claim(connection)
            return
        if self.log and not self._claim(connection):
            return
        try:
            self._put(connection)
        except IntegrityError:  # the session's row is all that can be missing
            connection.rollback()
            raise self._stale(connection) from None

    def _put(self, connection: Connection) -> None:
        insert_missing(connection, BLOBS, self.blobs)
        upsert(connection, RUN_PARTS, self.parts)
        upsert(connection, RUNS, self.runs)
        app = {"app": as_column(self.app)}
        _change(connection, APP_VALUES, self.app_values, app)
        _change(connection, USER_VALUES, self.user_values, {**app, "user": as_column(self.user)})
        upsert(connection, NOTES, self.notes)

    def _is_one_row(self) -> bool:
        others = (self.runs, self.parts, self.blobs, self.app_values, self.user_values, self.notes)
        return len(self.log) == 1 and not any(others)

    def _claim(self, connection: Connection) -> bool:
        """False when this very write is there already: it was stored, but the connection was lost before we heard it."""
        try:
            connection.execute(_INSERT, self.log)
        except IntegrityError:
            connection.rollback()
            if self._is_stored(connection):
                return False
            raise self._stale(connection) from None
        return True

    def _is_stored(self, connection: Connection) -> bool:
        first = self.log[0]
        there = select(LOG.c.writer, LOG.c.event, LOG.c.turns).where(
            LOG.c.session == self.session, LOG.c.seq == first["seq"]
        )
        row = connection.execute(there).one_or_none()
        return row is not None and tuple(row) == (first["writer"], first["event"], first["turns"])

    def _stale(self, connection: Connection) -> StaleSessionError:
        found = connection.execute(select(SESSIONS.c.id).where(SESSIONS.c.number == self.session)).one_or_none()
        if found is None:
            return StaleSessionError(
                f"session {self.session_id!r} was deleted since it was read. Nothing was stored by {self.writer}: make a "
                "session anew (create_session)."
            )
        last = select(LOG.c.writer).where(LOG.c.session == self.session).order_by(LOG.c.seq.desc()).limit(1)
        other = connection.execute(last).scalar_one()
        return StaleSessionError(
            f"session {self.session_id!r} was written to by {other} since it was read here, by {self.writer}. Nothing was "
            "stored: read it again (get_session), and go on from what stands there now."
        )


@contextmanager
def _without_transaction(connection: Connection) -> Iterator[None]:
    """A statement by itself is all or nothing too, and BEGIN and COMMIT would each wait for the server."""
    connection.execution_options(isolation_level="AUTOCOMMIT")
    try:
        yield
    finally:
        connection.rollback()
        if not connection.invalidated:  # else it would be opened again for this
            connection.execution_options(isolation_level=connection.default_isolation_level)


def _change(connection: Connection, table: Table, changes: ValueChanges, owner: dict[str, str]) -> None:
    # both kinds in the order of the keys: writers that lock rows in another order than others do wait for each other
    for _, same in groupby(sorted(changes.items()), key=lambda change: change[1] is None):
        put, gone = rows_of(dict(same), owner)
        upsert(connection, table, put)
        if gone:
            statement = delete(table).where(*(table.c[name] == bindparam(f"the_{name}") for name in gone[0]))
            connection.execute(statement, [{f"the_{name}": value for name, value in row.items()} for row in gone])
