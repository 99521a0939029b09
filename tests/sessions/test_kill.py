"""`kill -9` at random moments of random pipelines: no acknowledged event is lost or doubled, and the run goes on."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from adknb import DatabaseSessionService, InMemorySessionService, Session
from adknb.runtime.turns import fold
from tests.sessions.conftest import new_database
from tests.sessions.postgres import PostgresServer
from tests.sessions.random_pipelines import end, finish

NURSERY = Path(__file__).with_name("kill_nursery.py")


class Nursery:
    """Starts processes that run a pipeline, and kills them."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(NURSERY)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(
        self, url: str, seed: int, events: int, strike: Callable[[int], object], pause: float = 0.0
    ) -> tuple[list[str], str]:
        """Call `strike` with the process's id when it was acknowledged so many events; the ids of all that it was, and the
        error when its store failed. `pause` makes it wait so many seconds after each."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"url": url, "seed": seed, "pause": pause}) + "\n")
        self._process.stdin.flush()
        acknowledged: list[str] = []
        pid, error = 0, ""
        for line in self._process.stdout:
            word = line.strip()
            if not word.startswith("{"):
                acknowledged.append(word)
            elif "pid" in (told := json.loads(word)):
                pid = told["pid"]
            elif "error" in told:
                error = told["error"]
                continue
            else:
                assert told["ended"] in (0, signal.SIGKILL), told
                return acknowledged, error
            if len(acknowledged) == events:
                strike(pid)
        raise AssertionError("the nursery ended")

    def close(self) -> None:
        self._process.communicate()
        assert self._process.returncode == 0


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.mark.parametrize("seed", range(25))
def test_killed(seed: int, nursery: Nursery, tmp_path: Path) -> None:
    kill_and_finish(seed, nursery, tmp_path)


@pytest.mark.soak
def test_killed_often(nursery: Nursery, tmp_path: Path) -> None:
    kills = 0
    for seed in range(1_000, 1_500):
        folder = tmp_path / str(seed)
        folder.mkdir()
        kills += kill_and_finish(seed, nursery, folder)
    print(f"500 pipelines, {kills} processes killed in the middle")
    assert kills > 500


def test_the_postgresql_server_is_killed(nursery: Nursery, own_postgres: PostgresServer) -> None:
    """The run fails with an error that says so; when the server is back, all that was acknowledged is there."""
    for seed in range(10):
        url = new_database(own_postgres.url)
        whole = finish(seed, InMemorySessionService())
        events = random.Random(seed).randint(1, len(whole.events) - 1)
        acknowledged, error = nursery.run(url, seed, events, lambda _: own_postgres.kill(), pause=0.02)
        own_postgres.start()
        assert "the server" in error
        known = check(read(url), acknowledged)
        check_end(url, seed, whole, known)


def kill_and_finish(seed: int, nursery: Nursery, folder: Path) -> int:
    """One to three processes are killed, one after the other, then the rest is done here. How many left something to do."""
    chance = random.Random(seed)
    url = f"sqlite:///{folder}/sessions.db"
    whole = finish(seed, InMemorySessionService())
    known: list[str] = []
    killed = 0
    for _ in range(chance.randint(1, 3)):
        events = chance.randint(0, max(len(whole.events) - len(known), 0))
        seconds = chance.random() * (0.004 if events else 0.05)

        def kill(pid: int, seconds: float = seconds) -> None:
            time.sleep(seconds)
            with suppress(ProcessLookupError):  # it was done before
                os.kill(pid, signal.SIGKILL)

        acknowledged, error = nursery.run(url, seed, events, kill)
        assert error == ""
        session = read(url)
        known = check(session, [*known, *acknowledged])
        killed += session is None or not is_done(session)
    check_end(url, seed, whole, known)
    return killed


def check_end(url: str, seed: int, whole: Session, known: list[str]) -> None:
    """What is left to do gets here to the same end, and that is what others read."""
    service = DatabaseSessionService(url)
    assert end(finish(seed, service)) == end(whole)
    service.close()
    again = read(url)
    assert again is not None
    assert end(again) == end(whole)
    assert [event.id for event in again.events[: len(known)]] == known


def is_done(session: Session) -> bool:
    return [run.status for run in session.turns] == ["completed", "completed"]


def read(url: str) -> Session | None:
    """The session as another process finds it."""
    service = DatabaseSessionService(url)
    session = asyncio.run(service.get_session(app_name="adknb", user_id="user", session_id="s"))
    service.close()
    return session


def check(session: Session | None, acknowledged: list[str]) -> list[str]:
    """The ids of the log: those that were acknowledged, in order, and perhaps one that was stored just before the kill."""
    if session is None:
        assert acknowledged == []
        return []
    log = [event.id for event in session.events]
    assert log[: len(acknowledged)] == acknowledged
    assert len(log) - len(acknowledged) in (0, 1)
    assert len(set(log)) == len(log)
    assert session.state == fold({}, [event for run in session.turns for event in run.turn_events])
    return log
