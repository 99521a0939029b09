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
    """The URL of a running server: the one that the environment names, or one for these tests alone."""
    named = os.environ.get(VARIABLE)
    if named:
        pytest.importorskip("asyncpg", reason="asyncpg is not installed (extra postgres)")
        yield named
        return
    with postgres_server(is_durable=False) as server:
        yield server.url


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
    return empty_database(request.getfixturevalue("postgres"))


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


def empty_database(server: str) -> str:
    """The URL of a new database on a server."""
    import asyncpg

    name = f"adknb_{uuid.uuid4().hex[:12]}"

    async def create() -> None:
        connection = await asyncpg.connect(server)
        try:
            await connection.execute(f"CREATE DATABASE {name}")
        finally:
            await connection.close()

    asyncio.run(create())
    return f"{server.rpartition('/')[0]}/{name}"
