from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from adknb import DatabaseSessionService
from tests.sessions.postgres import VARIABLE, PostgresServer, postgres_server

Opener = Callable[..., DatabaseSessionService]


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a database for these tests: on the server that the environment names, or on one for them alone."""
    named = os.environ.get(VARIABLE)
    if named:
        pytest.importorskip("asyncpg", reason="asyncpg is not installed (extra postgres)")
        yield new_database(named)
        return
    with postgres_server() as server:
        yield new_database(server.url)


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server that the test may kill and start again."""
    with postgres_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, in SQLite and in PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/sessions.db"
    database: str = request.getfixturevalue("postgres")
    execute(database, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return database


@pytest.fixture
async def opened(url: str) -> AsyncIterator[Opener]:
    """Opens services on `url`, or on another; they are closed when the test ends."""
    services: list[DatabaseSessionService] = []

    def opener(other: str | None = None, **options: object) -> DatabaseSessionService:
        services.append(DatabaseSessionService(other or url, **options))  # type: ignore[arg-type]
        return services[-1]

    yield opener
    for service in services:
        await service.aclose()


def new_database(server: str) -> str:
    """The URL of a new database on a server."""
    name = f"adknb_{uuid.uuid4().hex[:12]}"
    execute(server, f"CREATE DATABASE {name}")
    return f"{server.rpartition('/')[0]}/{name}"


def execute(url: str, statements: str) -> None:
    import asyncpg

    async def work() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(statements)
        finally:
            await connection.close()

    asyncio.run(work())
