"""Two services of one database whose transactions meet."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection

from adknb import Content, Event, EventActions, Session
from adknb.core.state import REMOVED
from adknb.sessions.database import DatabaseSessionService
from tests.sessions.conftest import Opener, execute

pytestmark = pytest.mark.anyio


@pytest.fixture
def url(postgres: str) -> str:
    """SQLite lets one write at a time: this is of PostgreSQL."""
    execute(postgres, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return postgres


async def test_shared_values_that_are_written_in_different_orders_do_not_lock_each_other_out(opened: Opener) -> None:
    keys = [f"user:{number}" for number in range(200)]

    async def append(service: DatabaseSessionService, session: Session, keys: list[str], odd: int) -> None:
        for number in range(10):
            delta = {key: REMOVED if place % 2 == odd else number for place, key in enumerate(keys)}
            await service.append_event(session, Event("A", actions=EventActions(delta)))

    services = [opened(), opened()]
    sessions = [await service.create_session(app_name="a", user_id="u") for service in services]
    await asyncio.gather(append(services[0], sessions[0], keys, 0), append(services[1], sessions[1], keys[::-1], 0))
    for session in sessions:
        stored = await opened().get_session(app_name="a", user_id="u", session_id=session.id)
        assert stored is not None
        assert len(stored.events) == 10


async def test_prune_waits_for_a_write_that_is_under_way_and_leaves_its_session(opened: Opener) -> None:
    one, two = opened(), opened()
    session = await one.create_session(app_name="a", user_id="u", session_id="s")
    old = Event("A", Content.model("old"))
    await one.append_event(session, old)
    written, go_on = asyncio.Event(), threading.Event()
    loop, write = asyncio.get_running_loop(), one._database.write

    async def slow_write(work: Callable[[Connection], Any], *rest: Any) -> Any:
        def slowly(connection: Connection) -> None:
            work(connection)
            loop.call_soon_threadsafe(written.set)
            assert go_on.wait(20)

        return await write(slowly, *rest)

    one._database.write = slow_write  # type: ignore[assignment, method-assign]
    event = Event("A", Content.model("new"), EventActions({"user:k": 1}))  # more than one row: a transaction
    append = asyncio.ensure_future(one.append_event(session, event))
    await written.wait()
    prune = asyncio.ensure_future(two.prune(older_than=0.0))
    await asyncio.sleep(0.3)  # so that it waits for the lock
    assert not prune.done()
    go_on.set()
    await append
    assert await prune == []
    stored = await opened().get_session(app_name="a", user_id="u", session_id="s")
    assert stored is not None
    assert [each.text for each in stored.events] == ["old", "new"]
