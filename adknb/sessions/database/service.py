"""`DatabaseSessionService`: sessions that last."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Connection, delete, select

from adknb.core.errors import RunStateError, StaleSessionError, near_names
from adknb.core.events import Event, new_id
from adknb.core.protocols import Note
from adknb.core.run import Run, Session
from adknb.core.state import Scopes
from adknb.sessions.database import reading
from adknb.sessions.database.address import address
from adknb.sessions.database.changes import Change, Kept, apply_events, change_of, kept_of
from adknb.sessions.database.connection import Database
from adknb.sessions.database.links import Synchronous
from adknb.sessions.database.notes import delete_notes, note_row, read_notes
from adknb.sessions.database.reading import Identity, Position, SessionRows, SharedRows
from adknb.sessions.database.shared import SharedValues
from adknb.sessions.database.summaries import SessionSummary, delete_unwritten, summaries
from adknb.sessions.database.tables import NOTES, SESSIONS
from adknb.sessions.database.taking_over import create, take_over
from adknb.sessions.database.texts import from_column
from adknb.sessions.database.upsert import upsert
from adknb.sessions.database.writers import writer_name
from adknb.sessions.documents import export_session, read_session
from adknb.sessions.run_documents import RunDocuments


class DatabaseSessionService:
    """Keeps sessions in an SQLite file (`sqlite:///tickets.db`) or in PostgreSQL (`postgresql://user@host/database`).

    An event is durable when `append_event` returns: it, the state that it changed, what it tells of the run and its shared
    values are one transaction. `synchronous="full"` says that this holds when the power fails; with `"normal"`, which is
    faster, the last moments before that may be lost, and nothing when only the process dies. `wait` is how many seconds
    to wait for another process that holds a lock, and for a server that does not answer.

    Any number of services and processes may use one database. Who appends to a session that somebody else wrote to since
    it was read gets a `StaleSessionError` that names both; `conflicts` counts them. Failures are `SessionStoreError`s.
    `close` or `aclose` ends the service's thread and its connection.
    """

    def __init__(self, url: str, *, synchronous: Synchronous = "full", wait: float = 5.0) -> None:
        if synchronous not in ("full", "normal"):
            raise RunStateError(f"synchronous is 'full' or 'normal', not {synchronous!r}")
        self.conflicts = 0
        self.writer = writer_name()
        self._database = Database(address(url), synchronous, wait)
        self._live: weakref.WeakValueDictionary[Identity, Session] = weakref.WeakValueDictionary()
        self._app: dict[str, SharedValues] = {}
        self._user: dict[tuple[str, str], SharedValues] = {}
        weakref.finalize(self, self._database.close)

    def __repr__(self) -> str:
        return f"DatabaseSessionService({self._database.address.shown!r})"

    async def create_session(
        self, *, app_name: str, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """A new session that starts with `state`. Raises `RunStateError` when the id is taken."""
        identity = Identity(app_name, user_id, session_id or new_id())
        session = Session(identity.id, app_name, user_id, dict(state or {}))

        def work(connection: Connection) -> tuple[int, SharedRows]:
            return create(connection, identity, session), reading.read_shared(connection, app_name, user_id)

        number, shared = await self._database.write(work)
        session.scopes = self._refreshed(identity, shared)
        kept = Kept(self._database, number, 0, [], {}, {}, RunDocuments(), set(session.state))
        session.scopes.merge_into(session.state)
        return self._keep(identity, session, kept)

    async def get_session(self, *, app_name: str, user_id: str, session_id: str) -> Session | None:
        """The session as it is stored now; None when there is none.

        As long as nobody else wrote to it, this is the same object each time. Else it is a new one, and the old one can
        be looked at but not appended to.
        """
        identity = Identity(app_name, user_id, session_id)
        live = self._live.get(identity)
        known = live.kept if live is not None and isinstance(live.kept, Kept) else None

        def read(connection: Connection) -> tuple[Position, SessionRows | None, SharedRows] | None:
            place = reading.position(connection, identity)
            if place is None:
                return None
            rows = None if known is not None and place == known.place else reading.read_rows(connection, place)
            return place, rows, reading.read_shared(connection, app_name, user_id)

        found = await self._database.read(read)
        if found is None:
            return None
        place, rows, shared = found
        scopes = self._refreshed(identity, shared)
        if rows is None or (known is not None and place == known.place):
            session = cast("Session", live)  # nobody wrote to it, or this service alone while this was read
            reading.see_shared(session, cast("Kept", known).own)
            return session
        documents = RunDocuments()
        session, runs, own = reading.build(identity, rows, scopes, documents)
        kept = Kept(self._database, *place, list(session.chain), dict(rows.runs), runs, documents, own)
        return self._keep(identity, session, kept)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> list[Session]:
        """The sessions without state and events, by the time they began: `get_session` reads those of one."""
        identity = Identity(app_name, user_id or "", "").columns()
        statement = select(SESSIONS.c.user, SESSIONS.c.id).where(SESSIONS.c.app == identity["app"])
        if user_id is not None:
            statement = statement.where(SESSIONS.c.user == identity["user"])
        ordered = statement.order_by(SESSIONS.c.begun, SESSIONS.c.number)
        rows = await self._database.read(lambda connection: connection.execute(ordered).all())
        return [Session(from_column(name), app_name, from_column(user)) for user, name in rows]

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Forget the session and its runs. Shared values and notes stay."""
        identity = Identity(app_name, user_id, session_id)
        same = [SESSIONS.c[name] == value for name, value in identity.columns().items()]
        await self._database.write(lambda connection: connection.execute(delete(SESSIONS).where(*same)).rowcount)
        self._live.pop(identity, None)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Raises `StaleSessionError` when the session was written to since it was read; then nothing has changed."""
        await self.append_events(session, [event])
        return event

    async def append_events(self, session: Session, events: Sequence[Event], notes: Sequence[Note] = ()) -> None:
        if session.is_copy:
            apply_events(session, events)
            await self.put_notes(notes)
            return
        kept = kept_of(session, self._database)
        change = self._change(session, kept, events)
        change.write.notes = [note_row(note) for note in notes]
        await self._store(change, lambda: apply_events(session, events))

    async def save(self, session: Session) -> None:
        """Make durable what changed in the session beside its events; nothing when nothing did. Of a copy to try things on
        it stores the run."""
        change = self._change(session, kept_of(session, self._database), [])
        if not change.write.is_empty():
            await self._store(change, lambda: None)

    def runs(self, session: Session) -> list[Run]:
        """Every run that is kept of the session, in the order in which they began: those that were put aside and trials
        too."""
        return list(kept_of(session, self._database).all_runs.values())

    async def summaries(self, *, app_name: str | None = None, user_id: str | None = None) -> list[SessionSummary]:
        """The sessions at a glance, the last written to first."""
        return await self._database.read(lambda connection: summaries(connection, app_name, user_id))

    async def prune(
        self,
        *,
        older_than: float | None = None,
        keep: int | None = None,
        app_name: str | None = None,
        user_id: str | None = None,
        spare: Collection[tuple[str, str, str]] = (),
        dry_run: bool = False,
    ) -> list[SessionSummary]:
        """Delete the sessions that nobody wrote to for `older_than` seconds, but not the `keep` that were written to last;
        with `keep` alone all others. Those in `spare` (app, user, id) stay. Returns what was deleted, or with `dry_run` what
        would be.

        Raises `RunStateError` when neither is said, or less than 0. A session that is written to meanwhile stays. An SQLite
        file keeps its size: the room is used again.
        """
        if older_than is None and keep is None:
            raise RunStateError(
                "say which sessions to prune: older_than (seconds), keep (how many of the newest), or both"
            )
        if min(older_than or 0, keep or 0) < 0:
            raise RunStateError("older_than (seconds) and keep (how many) are 0 or more")
        since = time.time() - (older_than or 0)
        found = (await self.summaries(app_name=app_name, user_id=user_id))[keep or 0 :]
        old = [
            each for each in found if each.last_write <= since and (each.app_name, each.user_id, each.id) not in spare
        ]
        if dry_run:
            return old
        return await self._database.write(lambda connection: delete_unwritten(connection, old))

    async def export_session(self, *, app_name: str, user_id: str, session_id: str) -> dict[str, Any]:
        """The session with all its `runs` as one JSON document (see `documents.export_session`). Raises `RunStateError` when
        there is none."""
        session = await self.get_session(app_name=app_name, user_id=user_id, session_id=session_id)
        if session is None:
            known = [each.id for each in await self.list_sessions(app_name=app_name, user_id=user_id)]
            raise RunStateError(
                f"there is no session {session_id!r} of user {user_id!r}.{near_names(session_id, known)}"
            )
        return export_session(session, self.runs(session))

    async def import_session(
        self,
        document: Session | Any,
        *,
        app_name: str | None = None,
        user_id: str | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Store a session that is in no database: one that was read from elsewhere, or a document (see
        `documents.import_session`), under its own names or those given.

        Shared values come with it where there are none of that name yet. Raises `SessionFormatError` for a document that
        holds none, `RunStateError` when the id is taken; then nothing was stored.
        """
        session, others = (document, []) if isinstance(document, Session) else read_session(document)
        names = (app_name or session.app_name, user_id or session.user_id, session_id or session.id)
        identity = Identity(*names)
        await self._database.write(lambda connection: take_over(connection, identity, session, others, self.writer))
        stored = await self.get_session(app_name=identity.app, user_id=identity.user, session_id=identity.id)
        return cast("Session", stored)

    async def put_notes(self, notes: Sequence[Note]) -> None:
        rows = [note_row(note) for note in notes]
        await self._database.write(lambda connection: upsert(connection, NOTES, rows))

    async def get_notes(self, kind: str, name: str | None = None) -> list[Note]:
        return await self._database.read(lambda connection: read_notes(connection, kind, name))

    async def delete_notes(self, kind: str, name: str, first: int = 0) -> None:
        await self._database.write(lambda connection: delete_notes(connection, kind, name, first))

    async def aclose(self) -> None:
        await self._database.aclose()

    def close(self) -> None:
        self._database.close()

    def _change(self, session: Session, kept: Kept, events: Sequence[Event]) -> Change:
        return change_of(session, kept, events, self.writer, self._shared(session.app_name, session.user_id))

    async def _store(self, change: Change, after: Callable[[], None]) -> None:
        def store(connection: Connection) -> None:
            try:
                change.store(connection)
            except StaleSessionError:
                self.conflicts += 1
                raise

        def stored(_: None) -> None:
            after()
            change.note_stored()

        await self._database.write(store, stored, change.note_claimed)

    def _keep(self, identity: Identity, session: Session, kept: Kept) -> Session:
        session.kept = kept
        self._live[identity] = session
        return session

    def _shared(self, app: str, user: str) -> tuple[SharedValues, SharedValues]:
        return self._app.setdefault(app, SharedValues()), self._user.setdefault((app, user), SharedValues())

    def _refreshed(self, identity: Identity, rows: SharedRows) -> Scopes:
        app, user = self._shared(identity.app, identity.user)
        app.refresh(rows.app)
        user.refresh(rows.user)
        return Scopes(app.values, user.values)
