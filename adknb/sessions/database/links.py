"""An open connection of either kind, with the tables ready: the work that is given to it is the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Literal, Protocol, TypeVar

from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from adknb.core.errors import SessionStoreError
from adknb.sessions.database.address import Address
from adknb.sessions.database.opening import check_place, prepare

T = TypeVar("T")
Synchronous = Literal["full", "normal"]

_SLOWEST: Final = 60.0
"""Seconds that a PostgreSQL server has for one statement."""
_BEGIN_READING: Final = {
    "sqlite": "BEGIN",
    "postgresql": "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
}


class Link(Protocol):
    async def do(self, work: Callable[[Connection], T], is_read: bool) -> T:
        """The result of `work`, done in a transaction."""
        ...

    @property
    def is_lost(self) -> bool: ...

    async def close(self) -> None: ...


async def open_link(address: Address, synchronous: Synchronous, wait: float) -> Link:
    """Raises `SessionStoreError` for a database that is not ours, SQLAlchemy's errors and `OSError` for one that cannot be
    opened."""
    if address.is_sqlite:
        return _open_file(address, synchronous, wait)
    return await _open_server(address, synchronous, wait)


class _FileLink:
    """SQLite, worked on in the service's own thread: with aiosqlite each statement would go through a second thread and
    back, which costs more than the statement.

    A file that was deleted or moved stays open and takes what is written, which is then nowhere: so it is looked at each
    time.
    """

    def __init__(self, connection: Connection, path: str | None) -> None:
        self._connection = connection
        self._path = path
        self._file = _file_at(path)
        self.is_lost = False

    async def do(self, work: Callable[[Connection], T], is_read: bool) -> T:
        there = _file_at(self._path)
        if there != self._file:
            self.is_lost = True
            if there is None:
                self._make_whole()
            raise SessionStoreError(
                f"{self._path}: the file was deleted, moved or replaced while it was open. Nothing was stored by this call. "
                "What stands there now is opened next time; to go on with the old one, put it back first, or name it where it "
                "is."
            )
        return _in_transaction(self._connection, work, is_read)

    async def close(self) -> None:
        if not self.is_lost and self._file is not None and _file_at(self._path) is None:
            self._make_whole()
        self._connection.close()

    def _make_whole(self) -> None:
        """SQLite leaves what a moved file lacks in the log at the old place, where the file's next reader misses it, and a
        new file of the old name finds what is not its own. Only where no other file is: with that one the log may be in
        use."""
        with suppress(SQLAlchemyError):  # who reads the file meanwhile keeps the log as it is
            self._connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


class _ServerLink:
    """PostgreSQL, by asyncpg."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def do(self, work: Callable[[Connection], T], is_read: bool) -> T:
        return await self._connection.run_sync(_in_transaction, work, is_read)

    @property
    def is_lost(self) -> bool:
        return self._connection.invalidated

    async def close(self) -> None:
        if not self.is_lost:
            await self._connection.close()


def _open_file(address: Address, synchronous: Synchronous, wait: float) -> Link:
    check_place(address)
    # Python's sqlite3 then begins a transaction with the first INSERT, UPDATE or DELETE: one statement less
    arguments = {"isolation_level": "IMMEDIATE", "timeout": wait}
    connection = create_engine(address.url, connect_args=arguments, poolclass=NullPool).connect()
    try:
        prepare(connection, address, synchronous, wait)
    except BaseException:
        connection.close()
        raise
    return _FileLink(connection, address.path)


def _file_at(path: str | None) -> tuple[int, int] | None:
    """What tells a file from one that takes its place; None where there is none."""
    try:
        found = os.stat(path) if path is not None else None
    except FileNotFoundError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


async def _open_server(address: Address, synchronous: Synchronous, wait: float) -> Link:
    settings = {
        "synchronous_commit": "on" if synchronous == "full" else "off",
        "lock_timeout": f"{max(1, round(wait * 1000))}ms",
    }
    arguments = {"timeout": wait, "command_timeout": max(wait, _SLOWEST), "server_settings": settings}
    connection = await create_async_engine(address.url, connect_args=arguments, poolclass=NullPool).connect()
    try:
        await connection.run_sync(prepare, address, synchronous, wait)
    except BaseException:
        await connection.close()
        raise
    return _ServerLink(connection)


def _in_transaction(connection: Connection, work: Callable[[Connection], T], is_read: bool) -> T:
    if is_read:
        connection.exec_driver_sql(_BEGIN_READING[connection.dialect.name])
    try:
        result = work(connection)
        if not is_read:
            connection.commit()
    finally:
        connection.rollback()
    return result
