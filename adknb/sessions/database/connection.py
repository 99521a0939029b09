"""The one connection of a service: opened when first needed, and again when it was lost."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from adknb.core.errors import RunStateError
from adknb.sessions.database.address import Address
from adknb.sessions.database.faults import as_store_error, driver_error, is_lost
from adknb.sessions.database.links import Link, Synchronous, open_link
from adknb.sessions.database.thread import LoopThread, finished

T = TypeVar("T")


class Database:
    """Does one piece of work after the other, each in a transaction. Failures are raised as `SessionStoreError`.

    `wait` is how long to wait for somebody else's lock and for a server that does not answer, in seconds.
    """

    def __init__(self, address: Address, synchronous: Synchronous, wait: float) -> None:
        self.address = address
        self._synchronous = synchronous
        self._wait = wait
        self._thread: LoopThread | None = None
        self._process = os.getpid()
        self._is_closed = False
        self._turn = asyncio.Lock()
        self._link: Link | None = None

    async def write(
        self,
        work: Callable[[Connection], T],
        after: Callable[[T], object] | None = None,
        committed: Callable[[], object] | None = None,
    ) -> T:
        """Do `work` in a transaction and then, when it is durable, `after` with its result.

        A caller that is cancelled meanwhile gets its cancellation after both are done. `committed` is called before other
        work begins, in the thread of the database.
        """
        return await self._do(self._transaction(work, False, committed), after)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """The result of `work`, which sees the database at one moment."""
        return await self._do(self._transaction(work, True), None)

    async def aclose(self) -> None:
        """Finish what is under way and close the connection; nothing can be done any more then."""
        future = self._begin_closing()
        if future is not None:
            await finished(future)
            self._end_thread()

    def close(self) -> None:
        """`aclose` for plain code."""
        future = self._begin_closing()
        if future is not None and self._thread is not None and not self._thread.is_current():
            future.result()
            self._end_thread()

    async def _do(self, transaction: Coroutine[Any, Any, T], after: Callable[[T], object] | None) -> T:
        future = self._submit(transaction)
        cancelled = await finished(future)
        if cancelled is not None and future.exception() is not None:
            raise cancelled from future.exception()
        result = future.result()
        if after is not None:
            after(result)
        if cancelled is not None:
            raise cancelled
        return result

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        problem = None
        if self._is_closed:
            problem = f"the service of {self.address.shown} is closed. Make a new one."
        elif self._process != os.getpid():
            problem = (
                f"the service of {self.address.shown} belongs to process {self._process}. Make one in this process."
            )
        if problem is not None:
            work.close()
            raise RunStateError(problem)
        if self._thread is None:
            self._thread = LoopThread()
        return self._thread.submit(work)

    def _begin_closing(self) -> Future[None] | None:
        """None when there is nothing to close."""
        if self._is_closed or self._thread is None or self._process != os.getpid():
            self._is_closed = True
            return None
        self._is_closed = True
        return self._thread.submit(self._close_connection())

    def _end_thread(self) -> None:
        if self._thread is not None:
            self._thread.stop()

    async def _close_connection(self) -> None:
        async with self._turn:
            await self._disconnect()

    async def _transaction(
        self, work: Callable[[Connection], T], is_read: bool, committed: Callable[[], object] | None = None
    ) -> T:
        async with self._turn:
            result = await self._persistently(work, is_read)
            if committed is not None:
                committed()
            return result

    async def _persistently(self, work: Callable[[Connection], T], is_read: bool) -> T:
        was_open = self._link is not None
        try:
            return await self._attempt(work, is_read)
        except (SQLAlchemyError, OSError) as error:
            if not (was_open and self._link is None):
                raise as_store_error(error, self.address) from driver_error(error)
        try:  # the connection was lost, perhaps long ago: once more on a new one
            return await self._attempt(work, is_read)
        except (SQLAlchemyError, OSError) as error:
            raise as_store_error(error, self.address) from driver_error(error)

    async def _attempt(self, work: Callable[[Connection], T], is_read: bool) -> T:
        if self._link is None:
            self._link = await open_link(self.address, self._synchronous, self._wait)
        try:
            return await self._link.do(work, is_read)
        except Exception as error:
            if self._link.is_lost or is_lost(error):
                await self._disconnect()
            raise

    async def _disconnect(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()
