"""How durable an acknowledged event is: what the databases were told."""

from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from adknb import DatabaseSessionService, Event, RunStateError
from tests.sessions.conftest import Opener

pytestmark = pytest.mark.anyio


async def asked(service: DatabaseSessionService, *questions: str) -> list[Any]:
    def work(connection: Connection) -> list[Any]:
        return [connection.exec_driver_sql(question).scalar() for question in questions]

    return await service._database.read(work)


@pytest.mark.parametrize(("mode", "number"), [("full", 2), ("normal", 1)])
async def test_sqlite_writes_ahead_and_syncs_as_chosen(tmp_path: Path, opened: Opener, mode: str, number: int) -> None:
    service = opened(f"sqlite:///{tmp_path}/tickets.db", synchronous=mode)
    questions = ("PRAGMA synchronous", "PRAGMA journal_mode", "PRAGMA foreign_keys", "PRAGMA busy_timeout")
    assert await asked(service, *questions) == [number, "wal", 1, 5000]


@pytest.mark.parametrize(("mode", "setting"), [("full", "on"), ("normal", "off")])
async def test_postgresql_commits_as_chosen(postgres: str, opened: Opener, mode: str, setting: str) -> None:
    service = opened(postgres, synchronous=mode, wait=2.5)
    assert await asked(service, "SHOW synchronous_commit", "SHOW lock_timeout") == [setting, "2500ms"]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/tickets.db"


async def test_a_closed_service_leaves_one_file(opened: Opener, tmp_path: Path) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event("A"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tickets.db", "tickets.db-shm", "tickets.db-wal"]
    service.close()
    assert [path.name for path in tmp_path.iterdir()] == ["tickets.db"]
    connection = sqlite3.connect(tmp_path / "tickets.db")
    assert connection.execute("SELECT count(*) FROM adknb_log").fetchone() == (1,)
    connection.close()


async def test_a_database_in_memory_lives_as_long_as_its_service(opened: Opener) -> None:
    service = opened("sqlite://")
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event("A"))
    assert [summary.events for summary in await service.summaries()] == [1]
    assert await opened("sqlite://").summaries() == []


def _use_in_child(service: DatabaseSessionService, answer: Any) -> None:
    import asyncio

    try:
        asyncio.run(service.summaries())
    except RunStateError as error:
        answer.put(str(error))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
async def test_a_forked_process_is_told_to_make_its_own(opened: Opener) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    child = context.Process(target=_use_in_child, args=(service, answer))
    child.start()
    assert "belongs to process" in answer.get(timeout=30)
    child.join()
    await service.append_event(session, Event("A"))
    assert len(session.events) == 1
