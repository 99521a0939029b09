"""The bench's sessions as things of their own: picked up, deleted, pruned, written to files and read from them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from adknb.core.errors import RunStateError, SessionStoreError, near_names
from adknb.core.pending import pending_calls
from adknb.core.run import Session
from adknb.notebook.answers import AnsweringBench
from adknb.notebook.bench_documents import Identity
from adknb.notebook.bench_home import APP, DatabaseHome
from adknb.notebook.sessions_table import KeptSession
from adknb.runtime.adopt import adopt
from adknb.runtime.sync import run_sync
from adknb.sessions.documents import export_session


class SessionsBench(AnsweringBench):
    """A bench that knows which sessions are kept where its own live."""

    def session_names(self) -> dict[Identity, str]:
        """The bench's names of its sessions."""
        return {Identity.of(session): name for name, session in self.sessions.items()}

    def own_sessions(self) -> set[Identity]:
        """The sessions of the bench's runs, and those with a name."""
        return {*self.session_names(), *(Identity.of(record.run.session) for record in self.records)}

    def session_words(self) -> list[str]:
        """The names of sessions that may be said: the bench's own, and the ids of the others that are kept."""
        home = self._home
        if not isinstance(home, DatabaseHome):
            return list(self.sessions)
        with suppress(SessionStoreError):  # nobody who presses Tab wants to hear of it
            return [*self.sessions, *(each.id for each in run_sync(lambda: home.store.list_sessions(app_name=APP)))]
        return list(self.sessions)

    def kept_sessions(self) -> list[KeptSession]:
        """Every session that is kept, of other notebooks too; the last written to first. In memory those with a name."""
        home = self._home
        if not isinstance(home, DatabaseHome):
            return [KeptSession.of(session, "this kernel") for session in self.sessions.values()]
        found = [KeptSession.stored(summary) for summary in run_sync(home.store.summaries)]
        return [self._with_waits(home, each) if each.status == "waiting" else each for each in found]

    def pick_up(self, name: str, user: str | None = None) -> Session:
        """Go on with a kept session: its runs become the bench's. `name` may be the beginning of its id."""
        identity = self._find_kept(name, user)
        known = {Identity.of(session): session for session in self.sessions.values()}
        if identity in known:
            return known[identity]
        session = self._load(identity)
        with self.change(f"session {identity.id} picked up"):
            self._pick_up(self._home, self._free_name(identity), session)
        return session

    def delete_session(self, name: str, user: str | None = None) -> None:
        """Delete a kept session, which must be named in full; undo brings it back."""
        identity = self._find_kept(name, user, in_full=True)
        home = self._home
        deleted = [home.document(identity)] if isinstance(home, DatabaseHome) else []
        with self.change(f"session {name} deleted", deleted=deleted):
            self.records = tuple(record for record in self.records if Identity.of(record.run.session) != identity)
            home.sessions = {known: one for known, one in home.sessions.items() if Identity.of(one) != identity}
            self.newest = self.last
        if isinstance(home, DatabaseHome):  # after the note, which has all of it
            with self.busy():
                home.delete(identity)

    def prune_sessions(self, older_than: float | None, keep: int | None, dry_run: bool = False) -> list[KeptSession]:
        """Delete the sessions that nobody wrote to for so many seconds, but not the `keep` newest; or say which those are.

        Those on this bench stay. It cannot be undone.
        """
        home = self._home
        if not isinstance(home, DatabaseHome):
            raise RunStateError(
                "sessions in memory go with the kernel; those in a database can be pruned: %adk use --db URL"
            )
        with self.busy():
            return [KeptSession.stored(each) for each in home.prune(older_than, keep, self.own_sessions(), dry_run)]

    def session_document(self, name: str, user: str | None = None) -> Mapping[str, Any]:
        """A kept session with its runs as JSON (see `export_session`)."""
        identity = self._find_kept(name, user)
        home = self._home
        return home.document(identity) if isinstance(home, DatabaseHome) else export_session(self._load(identity))

    def take_in(self, session: Session, name: str | None = None, pipeline: str | None = None) -> Session:
        """Keep a session that comes from elsewhere, under its own id or another `name`; its runs become the bench's.

        Where it has events but no turns, as ADK's have, the `pipeline` (the one in use) says what made them. Raises
        `RunStateError` when there is a session of this name already.
        """
        identity = Identity.of(session)._replace(id=name or session.id)
        if self._free_name(identity) != identity.id or identity in {each.identity for each in self.kept_sessions()}:
            raise RunStateError(
                f"there is a session {identity.id!r} already. Take this one under another name: %adk sessions NAME --import FILE"
            )
        if session.events and not session.chain and (pipeline or self.current) is not None:
            session = adopt(session, self.root(pipeline), rules=self.settings.rules)
        kept = self._home.take_in(session, identity.id)
        try:
            with self.change(f"session {identity.id} imported", imported=(identity, len(session.events))):
                self._pick_up(self._home, identity.id, kept)
        except Exception:  # Ctrl-C waits for the change, and comes after it
            with self.busy():
                self._home.leave_out(identity)
            raise
        return kept

    def _load(self, identity: Identity) -> Session:
        home = self._home
        found: Session | None
        if isinstance(home, DatabaseHome):
            found = home.load(identity)
        else:
            found = next((each for each in self.sessions.values() if Identity.of(each) == identity), None)
        if found is None:
            raise RunStateError(f"session {identity.id!r} was deleted meanwhile")
        return found

    def _find_kept(self, name: str, user: str | None, in_full: bool = False) -> Identity:
        """The one kept session of this name on the bench, this id, or an id that begins so unless it must be `in_full`."""
        if user is None and name in self.sessions:
            return Identity.of(self.sessions[name])
        kept = [each.identity for each in self.kept_sessions() if user in (None, each.identity.user)]
        found = [each for each in kept if each.id == name]
        begun = [each for each in kept if each.id.startswith(name)]
        if not found and not in_full:
            found = begun
        if len(found) == 1:
            return found[0]
        if len({each.user for each in found}) > 1:
            users = ", ".join(repr(each.user) for each in found)
            raise RunStateError(f"there are sessions {name!r} of several users: {users}. Say --user ID.")
        if found:
            raise RunStateError(
                f"several sessions begin with {name!r}: {', '.join(each.id for each in found[:5])}. Write more of the id."
            )
        if begun:
            raise RunStateError(f"there is no session {name!r}. Name it in full: {begun[0].id}")
        raise RunStateError(f"there is no session {name!r}.{near_names(name, [each.id for each in kept])}")

    def _free_name(self, identity: Identity) -> str:
        """The session's id as its name on the bench; with its user where another session has that name."""
        known = self.sessions.get(identity.id)
        return identity.id if known is None or Identity.of(known) == identity else f"{identity.user}/{identity.id}"

    def _with_waits(self, home: DatabaseHome, kept: KeptSession) -> KeptSession:
        session = home.load(kept.identity)
        return kept.waiting(pending_calls(session.history)) if session is not None else kept
