"""The measured session stores: adknb's and google-adk's, each with one session that events of the same texts go into."""

from __future__ import annotations

import gc
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from adknb import Content, DatabaseSessionService, Event, EventActions, InMemorySessionService

NAMES = {"app_name": "bench", "user_id": "user"}
"""Whose the sessions are."""


class Said(NamedTuple):
    """What a session holds: the texts of its events, and its state."""

    texts: list[str]
    state: dict[str, Any]


class Store(Protocol):
    async def begin(self, name: str) -> None:
        """A new session, into which `append` writes from now on."""
        ...

    def event(self, number: int) -> Any:
        """An event with a text of about 60 characters, which it writes to the state too."""
        ...

    async def append(self, event: Any) -> None: ...

    def forget(self) -> None:
        """Drop the session object, so that `load` has to read it."""
        ...

    async def load(self, name: str) -> int:
        """Read a session; how many events it has."""
        ...

    def said(self) -> Said: ...

    async def ask(self, statement: str) -> str:
        """The one value that a statement gives on the connection that events are written with."""
        ...

    async def close(self) -> None: ...


def text_of(number: int) -> str:
    return f"Part {number} is done, and nothing was out of the ordinary."


class Adknb:
    """adknb's own."""

    def __init__(self, service: DatabaseSessionService | InMemorySessionService) -> None:
        self.service = service
        self._session: Any = None

    async def begin(self, name: str) -> None:
        self._session = await self.service.create_session(**NAMES, session_id=name)

    def event(self, number: int) -> Event:
        text = text_of(number)
        return Event("Step", Content.model(text), EventActions({"part": text}))

    async def append(self, event: Event) -> None:
        await self.service.append_event(self._session, event)

    def forget(self) -> None:
        self._session = None

    async def load(self, name: str) -> int:
        self._session = await self.service.get_session(**NAMES, session_id=name)
        return len(self._session.events)

    def said(self) -> Said:
        return Said([event.text for event in self._session.events], dict(self._session.state))

    async def ask(self, statement: str) -> str:
        assert isinstance(self.service, DatabaseSessionService)
        database = self.service._database
        return str(await database.read(lambda connection: connection.exec_driver_sql(statement).scalar()))

    async def close(self) -> None:
        if isinstance(self.service, DatabaseSessionService):
            await self.service.aclose()


class GoogleAdk:
    """One of google-adk's."""

    def __init__(self, service: Any, ask: Callable[[str], Awaitable[Any]] | None = None) -> None:
        self.service = service
        self._session: Any = None
        self._ask = ask

    async def begin(self, name: str) -> None:
        self._session = await self.service.create_session(**NAMES, session_id=name)

    def event(self, number: int) -> Any:
        from google.adk.events import Event, EventActions
        from google.genai import types

        text = text_of(number)
        return Event(author="Step", content=types.ModelContent(text), actions=EventActions(state_delta={"part": text}))

    async def append(self, event: Any) -> None:
        await self.service.append_event(self._session, event)

    def forget(self) -> None:
        self._session = None

    async def load(self, name: str) -> int:
        self._session = await self.service.get_session(**NAMES, session_id=name)
        return len(self._session.events)

    def said(self) -> Said:
        return Said([event.content.parts[0].text for event in self._session.events], dict(self._session.state))

    async def ask(self, statement: str) -> str:
        assert self._ask is not None
        return str(await self._ask(statement))

    async def close(self) -> None:
        if hasattr(self.service, "close"):
            await self.service.close()


def google_database(url: str) -> GoogleAdk:
    """google-adk's `DatabaseSessionService`; `url` names the asynchronous driver."""
    from google.adk.sessions import DatabaseSessionService as GoogleService

    service = GoogleService(url)

    async def ask(statement: str) -> Any:
        async with service.db_engine.connect() as connection:
            return (await connection.exec_driver_sql(statement)).scalar()

    return GoogleAdk(service, ask)


def google_sqlite(path: Path) -> GoogleAdk:
    """google-adk's `SqliteSessionService`, which opens the file for each call."""
    from google.adk.sessions.sqlite_session_service import SqliteSessionService

    service = SqliteSessionService(str(path))

    async def ask(statement: str) -> Any:
        async with service._get_db_connection() as connection, connection.execute(statement) as cursor:
            return (await cursor.fetchone())[0]

    return GoogleAdk(service, ask)


def google_memory() -> GoogleAdk:
    from google.adk.sessions import InMemorySessionService as GoogleService

    return GoogleAdk(GoogleService())


def file_store(kind: str, path: Path) -> Store:
    """The store of a kind on an SQLite file: `adknb`, and google-adk's `database` and `sqlite`."""
    if kind == "adknb":
        return Adknb(DatabaseSessionService(f"sqlite:///{path}"))
    return google_database(f"sqlite+aiosqlite:///{path}") if kind == "database" else google_sqlite(path)


async def timed_load(load: Callable[[], Awaitable[int]], count: int) -> tuple[float, float]:
    """Milliseconds by the clock on the wall, and of the processor's time. Stops unless the session has `count` events."""
    gc.collect()
    wall, own = time.perf_counter(), time.process_time()
    found = await load()
    milliseconds = (time.perf_counter() - wall) * 1000, (time.process_time() - own) * 1000
    if found != count:
        raise SystemExit(f"the session has {found:,} events, not {count:,}")
    return milliseconds
