"""The session that a turn is in: by its name, or an object that somebody holds."""

from __future__ import annotations

from adknb.core.errors import RunStateError, near_names
from adknb.core.protocols import SessionService
from adknb.core.run import Session


async def find_session(
    service: SessionService, session: Session | str, app: str, user: str, *, is_kept: bool
) -> Session:
    """The session with the shared values as they are now; one of a new name is made.

    `is_kept` says that other processes may have changed those values. What else they did to a session that somebody holds
    is found when it is appended to.
    """
    if isinstance(session, Session):
        if is_kept:
            await service.get_session(app_name=session.app_name, user_id=session.user_id, session_id=session.id)
        session.scopes.merge_into(session.state)
        return session
    if not isinstance(session, str):
        raise RunStateError(f"session is a Session or its id, not {session!r}")
    found = await service.get_session(app_name=app, user_id=user, session_id=session)
    if found is not None:
        return found
    try:
        return await service.create_session(app_name=app, user_id=user, session_id=session)
    except RunStateError:  # another process was faster
        found = await service.get_session(app_name=app, user_id=user, session_id=session)
        if found is None:
            raise
        return found


async def known_session(service: SessionService, name: str, app: str, user: str) -> Session:
    """Raises `RunStateError` with the near names when there is none."""
    found = await service.get_session(app_name=app, user_id=user, session_id=name)
    if found is None:
        known = [each.id for each in await service.list_sessions(app_name=app, user_id=user)]
        raise RunStateError(f"app {app!r} has no session {name!r} of user {user!r}.{near_names(name, known)}")
    return found
