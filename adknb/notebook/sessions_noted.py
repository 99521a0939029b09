"""The sessions of a database as the bench's runs use them: a run's first event and the bench's note of the run are stored
together, so that a run which the kernel did not survive is on the bench of the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adknb.core.events import Event
from adknb.core.run import Run, Session
from adknb.notebook.bench_documents import HasContents
from adknb.notebook.bench_notes import BenchNotes
from adknb.notebook.undo import Snapshot

if TYPE_CHECKING:
    from adknb.sessions.database import DatabaseSessionService


@dataclass(slots=True)
class Begun:
    """A run that is about to begin: the bench before it and after it, once its Run is there; `is_noted` once that is noted."""

    change: Callable[[Run], tuple[Snapshot, HasContents]]
    is_noted: bool = False


class NotedSessions:
    """Passes everything on. While `noting`, the first event of the run that is under way takes the note along."""

    def __init__(self, store: DatabaseSessionService, notes: BenchNotes) -> None:
        self._store = store
        self._notes = notes
        self._begun: Begun | None = None

    @contextmanager
    def noting(self, begun: Begun) -> Iterator[None]:
        self._begun = begun
        try:
            yield
        finally:
            self._begun = None

    async def append_event(self, session: Session, event: Event) -> Event:
        run, begun = session.under_way, self._begun
        if begun is None or begun.is_noted or run is None or session.is_copy:
            return await self._store.append_event(session, event)
        await self._notes.log.check()
        change = self._notes.change(*begun.change(run))
        try:
            await self._store.append_events(session, [event], self._notes.log.notes(change))
        finally:  # also when it was cancelled meanwhile
            if session.holds(event):
                self._notes.log.stored(change)
                begun.is_noted = True
        return event

    async def create_session(
        self, *, app_name: str, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        return await self._store.create_session(app_name=app_name, user_id=user_id, state=state, session_id=session_id)

    async def get_session(self, *, app_name: str, user_id: str, session_id: str) -> Session | None:
        return await self._store.get_session(app_name=app_name, user_id=user_id, session_id=session_id)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> list[Session]:
        return await self._store.list_sessions(app_name=app_name, user_id=user_id)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        await self._store.delete_session(app_name=app_name, user_id=user_id, session_id=session_id)

    async def save(self, session: Session) -> None:
        await self._store.save(session)
