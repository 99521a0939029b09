"""A thread with an event loop of its own, on which a database connection lives.

A connection belongs to one loop, and `run_sync` makes another in each call of a script. anyio's blocking portal is not used
because the interpreter waits for its thread at exit: a script that does not close its service would hang.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for any loop and thread of this process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="adknb database", daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin the work. It cannot be cancelled, and so costs half of what `run_coroutine_threadsafe` does."""
        future: Future[T] = Future()
        self._loop.call_soon_threadsafe(self._begin, work, future)
        return future

    def _begin(self, work: Coroutine[Any, Any, T], future: Future[T]) -> None:
        self._loop.create_task(work).add_done_callback(partial(_hand_over, future))

    def is_current(self) -> bool:
        """Whether the caller is this thread, as when the last reference to a service goes there."""
        return threading.current_thread() is self._thread

    def stop(self) -> None:
        """End the thread once what it does now is done."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _hand_over(future: Future[T], task: asyncio.Task[T]) -> None:
    if task.cancelled():
        future.cancel()
    elif (error := task.exception()) is not None:
        future.set_exception(error)
    else:
        future.set_result(task.result())


async def finished(future: Future[T]) -> asyncio.CancelledError | None:
    """Wait until the work is done, even when the waiting task is cancelled; the cancellation is returned, to be raised
    when what follows from the work is done too."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def wake(_: Future[T]) -> None:
        if not loop.is_closed():  # closed: it was given up while it waited
            loop.call_soon_threadsafe(done.set_result, None)

    future.add_done_callback(wake)
    cancelled: asyncio.CancelledError | None = None
    while not done.done():
        try:
            await asyncio.shield(done)
        except asyncio.CancelledError as error:
            cancelled = error
    return cancelled
