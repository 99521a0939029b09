"""Two kernels on one database: nothing that was acknowledged is lost or doubled."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adknb import Session
from adknb.sessions.database import DatabaseSessionService
from tests.sessions.conftest import Opener

pytestmark = pytest.mark.anyio
APPENDER = Path(__file__).with_name("appender.py")


async def read(service: DatabaseSessionService, name: str) -> Session:
    session = await service.get_session(app_name="a", user_id="u", session_id=name)
    assert session is not None
    return session


def append_in_two_processes(url: str, sessions: tuple[str, str], count: int) -> list[dict[str, Any]]:
    """What each was told: the ids of its events, and how many conflicts there were."""
    processes = [
        subprocess.Popen(
            [sys.executable, str(APPENDER), url, session, name, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, session in zip(("one", "two"), sessions, strict=True)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    results = [json.loads(process.communicate()[0]) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    return results


@pytest.mark.parametrize("appends", [1_000, pytest.param(10_000, marks=pytest.mark.soak)])
async def test_on_a_session_each(opened: Opener, url: str, appends: int) -> None:
    count = appends if url.startswith("sqlite") else appends // 4
    service = opened()
    for name in ("s", "t"):
        await service.create_session(app_name="a", user_id="u", session_id=name)
    results = await asyncio.to_thread(append_in_two_processes, url, ("s", "t"), count)
    for name, key, result in zip(("s", "t"), ("one", "two"), results, strict=True):
        session = await read(service, name)
        assert [event.id for event in session.events] == result["acknowledged"]
        assert result["conflicts"] == 0
        last = count - 1
        shared = {
            f"{scope}:{each}": value for each in ("one", "two") for scope, value in (("app", last), ("user", [last]))
        }
        assert session.state == {key: last, **shared}


@pytest.mark.parametrize("appends", [1_000, pytest.param(10_000, marks=pytest.mark.soak)])
async def test_on_one_session(opened: Opener, url: str, appends: int) -> None:
    count = appends if url.startswith("sqlite") else appends // 4
    service = opened()
    await service.create_session(app_name="a", user_id="u", session_id="s")
    results = await asyncio.to_thread(append_in_two_processes, url, ("s", "s"), count)
    session = await read(service, "s")
    for name, result in zip(("one", "two"), results, strict=True):
        assert [event.id for event in session.events if event.author == name] == result["acknowledged"]
    assert len(session.events) == 2 * count
    assert sum(result["conflicts"] for result in results) > 0
    last = count - 1
    shared = {f"{scope}:{each}": value for each in ("one", "two") for scope, value in (("app", last), ("user", [last]))}
    assert session.state == {"one": last, "two": last, **shared}
