"""A PostgreSQL server that is gone, comes back, refuses, or is locked by somebody else."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from adknb import Content, Event, EventActions, Session, SessionStoreError
from adknb.core.protocols import Note
from adknb.sessions.database import DatabaseSessionService
from tests.sessions.conftest import Opener, execute
from tests.sessions.postgres import PostgresServer

pytestmark = pytest.mark.anyio


async def read(service: DatabaseSessionService) -> Session:
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert session is not None
    return session


@pytest.fixture
def url(postgres: str) -> str:
    execute(postgres, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return postgres


async def test_a_server_that_goes_and_comes_back(opened: Opener, own_postgres: PostgresServer) -> None:
    service = opened(own_postgres.url, wait=2.0)
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event("A", Content.model("kept"), EventActions({"user:k": 1})))
    own_postgres.kill()
    lost = Event("A", Content.model("lost"), EventActions({"user:k": 2}))
    for _ in range(2):
        with pytest.raises(
            SessionStoreError, match=r"127\.0\.0\.1.*the server does not answer.*What was acknowledged is"
        ):
            await service.append_event(session, lost)
        with pytest.raises(SessionStoreError, match="the server does not answer"):
            await service.get_notes("k")
    assert ([event.text for event in session.events], session.state) == (["kept"], {"user:k": 1})
    own_postgres.start()
    await service.append_event(session, lost)
    own_postgres.kill()
    own_postgres.start()
    await service.append_events(session, [Event("A", Content.model("then"))], [Note("k", "n", 1, 1)])  # nobody notices
    stored = await read(opened(own_postgres.url))
    assert ([event.text for event in stored.events], stored.state) == (["kept", "lost", "then"], {"user:k": 2})


@pytest.mark.parametrize("delta", [{}, {"user:k": 1}], ids=["one row", "two rows"])
async def test_what_was_stored_before_the_connection_was_lost_is_not_stored_twice(
    opened: Opener, monkeypatch: pytest.MonkeyPatch, delta: dict[str, int]
) -> None:
    """The server stored the event and the answer was lost: the same append again finds it."""
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    event = Event("A", Content.model("once"), EventActions(dict(delta)))
    write = service._database.write

    async def lose_the_answer(work: object, after: object = None, committed: object = None) -> None:
        await write(work)  # type: ignore[arg-type]
        raise SessionStoreError("the answer was lost")

    monkeypatch.setattr(service._database, "write", lose_the_answer)
    with pytest.raises(SessionStoreError, match="the answer was lost"):
        await service.append_event(session, event)
    monkeypatch.undo()
    assert session.events == []
    await service.append_event(session, event)
    assert (session.events, session.state) == ([event], delta)
    await service.append_event(session, Event("A", Content.model("then")))
    assert [each.text for each in (await read(opened())).events] == ["once", "then"]
    assert service.conflicts == 0


async def test_refusals_say_what_to_do(opened: Opener, url: str) -> None:
    server, _, database = url.rpartition("/")
    with pytest.raises(SessionStoreError, match=r"/nowhere: there is no such database .* Make it first: createdb"):
        await opened(f"{server}/nowhere").list_sessions(app_name="a")
    name = f"mia_{uuid.uuid4().hex[:8]}"
    as_mia = f"postgresql://{name}:secret@{server.rpartition('@')[2]}/{database}"
    with pytest.raises(
        SessionStoreError, match=rf"{name}:\*\*\*@.*the server refuses the user or the password"
    ) as raised:
        await opened(as_mia).list_sessions(app_name="a")
    assert "secret" not in str(raised.value)
    await asyncio.to_thread(execute, url, f"CREATE ROLE {name} LOGIN")
    with pytest.raises(
        SessionStoreError, match=r"there is no schema that the user may use .* Grant it USAGE and CREATE"
    ):
        await opened(as_mia).create_session(app_name="a", user_id="u")
    await asyncio.to_thread(execute, url, f"GRANT USAGE ON SCHEMA public TO {name}")
    with pytest.raises(SessionStoreError, match=r"the user may not do this .* Grant it CREATE"):
        await opened(as_mia).create_session(app_name="a", user_id="u")
    await asyncio.to_thread(execute, url, f"DROP OWNED BY {name}; DROP ROLE {name}")


async def test_rows_that_somebody_else_has_locked(opened: Opener, url: str) -> None:
    import asyncpg

    service = opened(wait=0.1)
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    other = await asyncpg.connect(url)
    try:
        async with other.transaction():
            await other.execute("LOCK TABLE adknb_log")
            with pytest.raises(SessionStoreError, match=r"another process has it locked.*wait=SECONDS"):
                await service.append_event(session, Event("A"))
    finally:
        await other.close()
    assert session.events == []
    await service.append_event(session, Event("A"))
    assert len((await read(opened())).events) == 1


async def test_other_tables_may_stand_beside(opened: Opener, url: str) -> None:
    await asyncio.to_thread(execute, url, "CREATE TABLE sessions (id TEXT); INSERT INTO sessions VALUES ('x')")
    await opened().create_session(app_name="a", user_id="u", session_id="s")
    assert [session.id for session in await opened().list_sessions(app_name="a")] == ["s"]
