"""Sessions in memory: as fast as a list, gone with the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adknb.core.errors import RunStateError
from adknb.core.events import Event, new_id
from adknb.core.json_values import copied
from adknb.core.protocols import Note
from adknb.core.run import Session
from adknb.core.state import Scopes, apply_delta


@dataclass(frozen=True, slots=True)
class SharedValues:
    """The `app:` values of each app and the `user:` values of each of its users, at one moment."""

    app: Mapping[str, Mapping[str, Any]]
    user: Mapping[tuple[str, str], Mapping[str, Any]]


class InMemorySessionService:
    """Keeps sessions as long as the process (ADK's `InMemorySessionService`).

    `app:` values are shared by all sessions of an app, `user:` values by those of one user.
    """

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str, str], Session] = {}
        self._app: dict[str, dict[str, Any]] = {}
        self._user: dict[tuple[str, str], dict[str, Any]] = {}
        self._notes: dict[tuple[str, str, int], Note] = {}

    async def create_session(
        self, *, app_name: str, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """A new session that starts with `state`. Raises `RunStateError` when the id is taken."""
        identity = (app_name, user_id, session_id or new_id())
        if identity in self._sessions:
            raise RunStateError(f"session {session_id!r} exists already. Choose another id, or go on with that one.")
        scopes = Scopes(self._app.setdefault(app_name, {}), self._user.setdefault((app_name, user_id), {}))
        session = Session(identity[2], app_name, user_id, dict(state or {}), scopes=scopes)
        scopes.merge_into(session.state)
        self._sessions[identity] = session
        return session

    async def get_session(self, *, app_name: str, user_id: str, session_id: str) -> Session | None:
        """The session, with the shared values as they are now; None when there is none."""
        session = self._sessions.get((app_name, user_id, session_id))
        if session is not None:
            session.scopes.merge_into(session.state)
        return session

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> list[Session]:
        return [
            session for (app, user, _), session in self._sessions.items() if app == app_name and user_id in (None, user)
        ]

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        self._sessions.pop((app_name, user_id, session_id), None)

    def shared_values(self) -> SharedValues:
        return SharedValues(
            {app: dict(values) for app, values in self._app.items()},
            {user: dict(values) for user, values in self._user.items()},
        )

    def restore_shared_values(self, shared: SharedValues) -> None:
        """Put the shared values back; sessions see them when they are next used."""
        for app, values in self._app.items():
            _replace(values, shared.app.get(app, {}))
        for user, values in self._user.items():
            _replace(values, shared.user.get(user, {}))

    async def append_event(self, session: Session, event: Event) -> Event:
        delta = event.actions.state_delta
        if delta:
            apply_delta(session.state, delta)
            session.scopes.apply(delta)
        session.scopes.merge_into(session.state)  # over what a callback or tool wrote and no event says
        session.events.append(event)
        session.history.append(event)
        return event

    async def append_events(self, session: Session, events: Sequence[Event], notes: Sequence[Note] = ()) -> None:
        for event in events:
            await self.append_event(session, event)
        await self.put_notes(notes)

    async def put_notes(self, notes: Sequence[Note]) -> None:
        for note in notes:
            self._notes[note.kind, note.name, note.number] = note._replace(data=copied(note.data))

    async def get_notes(self, kind: str, name: str | None = None) -> list[Note]:
        found = [note for note in self._notes.values() if note.kind == kind and name in (None, note.name)]
        return [note._replace(data=copied(note.data)) for note in sorted(found, key=lambda note: note[:3])]

    async def delete_notes(self, kind: str, name: str, first: int = 0) -> None:
        for key in [key for key in self._notes if key[:2] == (kind, name) and key[2] >= first]:
            del self._notes[key]


def _replace(values: dict[str, Any], new: Mapping[str, Any]) -> None:
    values.clear()
    values.update(new)
