"""Where the bench's sessions live: in memory, gone with the kernel, or in a database, with what the bench notes of itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from adknb.core.protocols import SessionService
from adknb.core.run import Session
from adknb.notebook.bench_documents import Identity
from adknb.notebook.bench_notes import BenchNotes
from adknb.notebook.records import Record
from adknb.notebook.sessions_noted import Begun, NotedSessions
from adknb.notebook.undo import Snapshot
from adknb.runtime import turns
from adknb.runtime.sync import run_held, run_sync
from adknb.sessions.memory import InMemorySessionService, SharedValues

if TYPE_CHECKING:
    from adknb.sessions.database import DatabaseSessionService
    from adknb.sessions.database.address import Address
    from adknb.sessions.database.summaries import SessionSummary

MEMORY: Final = "memory"
APP: Final = "adknb"
"""The app of the bench's sessions: a Runner's own."""


class Home:
    """In memory: named sessions share one store, a run without a name gets one of its own.

    `sessions` are those with a name on this bench, `undo` its changes while it was here, `records` its runs while it is
    elsewhere.
    """

    notes: BenchNotes | None = None
    url = shown = MEMORY
    is_durable = False

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.undo: list[Snapshot] = []
        self.records: tuple[Record, ...] = ()
        self._memory = InMemorySessionService()

    def service(self, is_named: bool) -> SessionService | None:
        """What keeps a run's session; None for a store of its own."""
        return self._memory if is_named else None

    def find(self, name: str, user: str) -> Session | None:
        """The session of this name and user, when the bench does not know it yet. What is in memory still was undone."""
        run_sync(lambda: self._memory.delete_session(app_name=APP, user_id=user, session_id=name))
        return None

    def noting(self, begun: Begun) -> AbstractContextManager[None]:
        """While a run begins: note it with its first event, where the bench is kept."""
        return nullcontext()

    def take_in(self, session: Session, name: str) -> Session:
        """Keep a session that comes from elsewhere, under this name."""
        session.id = name
        return session

    def leave_out(self, identity: Identity) -> None:
        """Forget what `take_in` kept."""

    def shared_values(self) -> SharedValues | None:
        """What undo must put back beside the session that it goes back in; None where that is all."""
        return self._memory.shared_values()

    def settle(self, snapshot: Snapshot) -> None:
        """After the bench went back to `snapshot`: let the store do so too."""
        if snapshot.shared is not None:
            self._memory.restore_shared_values(snapshot.shared)


class DatabaseHome(Home):
    """In a database, named or not."""

    def __init__(self, place: Address, notebook: str, namespace: Callable[[], Mapping[str, Any]]) -> None:
        from adknb.sessions.database import DatabaseSessionService

        super().__init__()
        self.url = place.text
        self.store: DatabaseSessionService = DatabaseSessionService(self.url)
        self.shown, self.is_durable = place.shown, not place.is_in_memory
        self.notes = BenchNotes(self.store, notebook, namespace)
        self._noted = NotedSessions(self.store, self.notes)

    def service(self, is_named: bool) -> SessionService | None:
        return self._noted

    def find(self, name: str, user: str) -> Session | None:
        return self.load(Identity(APP, user, name))

    def load(self, identity: Identity) -> Session | None:
        app, user, name = identity
        return run_sync(lambda: self.store.get_session(app_name=app, user_id=user, session_id=name))

    def document(self, identity: Identity) -> dict[str, Any]:
        """The session with all its runs as JSON. Raises `RunStateError` when there is none."""
        app, user, name = identity
        return run_sync(lambda: self.store.export_session(app_name=app, user_id=user, session_id=name))

    def delete(self, identity: Identity) -> None:
        app, user, name = identity
        run_held(lambda: self.store.delete_session(app_name=app, user_id=user, session_id=name))

    def prune(
        self, older_than: float | None, keep: int | None, kept: Collection[Identity], dry_run: bool
    ) -> list[SessionSummary]:
        """What was pruned, or would be with `dry_run`: never what is in `kept`."""
        return run_sync(lambda: self.store.prune(older_than=older_than, keep=keep, spare=kept, dry_run=dry_run))

    def noting(self, begun: Begun) -> AbstractContextManager[None]:
        return self._noted.noting(begun)

    def take_in(self, session: Session, name: str) -> Session:
        return run_sync(lambda: self.store.import_session(session, session_id=name))

    def leave_out(self, identity: Identity) -> None:
        self.delete(identity)

    def shared_values(self) -> SharedValues | None:
        return None

    def settle(self, snapshot: Snapshot) -> None:
        if snapshot.mark is not None:
            self._save(snapshot.mark.session)
        if snapshot.began is not None:
            self._take_back_session(snapshot.began)
        if snapshot.imported is not None:
            identity, events = snapshot.imported
            found = self._now(identity)
            if found is not None and len(found.events) == events:  # else others went on in it
                self.delete(identity)
        for document in snapshot.deleted:
            self._bring_back(document)

    def _take_back_session(self, session: Session) -> None:
        """A session that a change began goes with it, and with it what it wrote for others to share; but when others have
        added turns to it since, it stays."""
        found = self._now(Identity.of(session))
        if found is None or len(found.chain) != 1:
            return
        turns.restore(found, (), found.chain[0].run.start_state)
        self._save(found)
        self.delete(Identity.of(found))

    def _bring_back(self, document: Any) -> None:
        if self._now(Identity(document["app_name"], document["user_id"], document["id"])) is None:
            # an id that no document may bring is one that a session may have been begun with
            nameless = {**document, "id": "deleted"}
            run_held(lambda: self.store.import_session(nameless, session_id=document["id"]))

    def _now(self, identity: Identity) -> Session | None:
        app, user, name = identity
        return run_held(lambda: self.store.get_session(app_name=app, user_id=user, session_id=name))

    def _save(self, session: Session) -> None:
        run_held(lambda: self.store.save(session))
