"""Ctrl-C while a pipeline runs: it ends the user's code at once, and everything else between two moves, never half-way.

Left alone, Python raises KeyboardInterrupt wherever it happens to be: in the event loop, which then forgets a task of the
kernel's, or between the two halves of storing an event. So whoever runs a pipeline takes the signal.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from contextvars import ContextVar
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    import asyncio  # half of what `import adknb` would take

T = TypeVar("T")

PATIENCE: Final = 0.3
"""Seconds that the user's code has to clean up after Ctrl-C; then the run ends without it."""

_EVENT_LOOP: Final = ("asyncio", "nest_asyncio2", "selectors")


class Held:
    """Ctrl-C waits for the end of the block, which must be short."""

    def __enter__(self) -> Held:
        self._noted = False
        self._before = _take_signal(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        _give_signal_back(self._before)
        if self._noted:
            raise KeyboardInterrupt

    def _note(self, signum: int, frame: FrameType | None) -> None:
        self._noted = True


class Watch:
    """Takes Ctrl-C while one coroutine runs. `requested` says that it came.

    In code marked by `UsersCode` it is raised; anywhere else it cancels the coroutine. A second Ctrl-C is raised wherever
    it strikes.
    """

    def __init__(self) -> None:
        self.requested = False
        self.raised: SystemExit | None = None
        self._task: asyncio.Task[Any] | None = None

    def __enter__(self) -> Watch:
        self._before = _take_signal(self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        _give_signal_back(self._before)

    async def over(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T | None]:
        """Run `work` to its end, or after Ctrl-C until `PATIENCE` is over; returns its task."""
        import asyncio

        _watch.set(self)
        self._loop = asyncio.get_running_loop()
        self._ended = self._loop.create_future()
        task = self._loop.create_task(self._caught(work))
        task.add_done_callback(self._end)
        self._task = task
        if self.requested:
            self.cancel()
        await self._ended
        return task

    async def _caught(self, work: Coroutine[Any, Any, T]) -> T | None:
        """`work`, whose SystemExit or KeyboardInterrupt would end the event loop and leave its other tasks unfinished."""
        try:
            return await work
        except SystemExit as exit_request:
            self.raised = exit_request
        except KeyboardInterrupt:  # a second Ctrl-C
            self.requested = True
        return None

    def cancel(self) -> None:
        """Make `over` end soon."""
        self.requested = True
        if self._task is not None:
            self._task.cancel()
            self._loop.call_later(PATIENCE, self._end)

    def cancel_soon(self) -> None:
        """`cancel`, from any thread."""
        self._loop.call_soon_threadsafe(self.cancel)

    def _end(self, task: object = None) -> None:
        if not self._ended.done():
            self._ended.set_result(None)

    def _on_signal(self, signum: int, frame: FrameType | None) -> None:
        again, self.requested = self.requested, True
        if again or (_in_users_code.get() and not _is_event_loop(frame)):
            raise KeyboardInterrupt
        if self._task is not None:
            self._loop.call_soon_threadsafe(self.cancel)


_watch: ContextVar[Watch | None] = ContextVar("adknb_watch", default=None)
_in_users_code: ContextVar[bool] = ContextVar("adknb_in_users_code", default=False)


def canceller() -> Callable[[], object] | None:
    """What ends the run that this code is part of as Ctrl-C does, called from any thread; None where nobody watches."""
    watch = _watch.get()
    return watch.cancel_soon if watch is not None else None


class UsersCode:
    """Around a call of a user's function. Ctrl-C ends it at once, as a cancellation, so that what stands above it sees only one
    kind of end."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = _in_users_code.set(True)
        watch = _watch.get()
        if watch is not None and watch.requested:
            _in_users_code.reset(self._token)
            raise _cancelled()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _in_users_code.reset(self._token)
        watch = _watch.get()
        if kind is KeyboardInterrupt and watch is not None:
            watch.requested = True
            raise _cancelled() from None


def _cancelled() -> asyncio.CancelledError:
    import asyncio

    return asyncio.CancelledError()


def users_items(items: AsyncGenerator[T]) -> AsyncGenerator[T]:
    """What a user's async generator yields; marked where somebody watches for Ctrl-C."""
    return items if _watch.get() is None else _marked(items)


async def _marked(items: AsyncIterator[T]) -> AsyncGenerator[T]:
    async with aclosing(items):  # type: ignore[type-var]
        while True:
            with UsersCode():
                try:
                    item = await anext(items)
                except StopAsyncIteration:
                    return
            yield item


async def own_items(items: AsyncIterator[T]) -> AsyncGenerator[T]:
    """What adknb yields to a user's async generator: no part of the user's code."""
    async with aclosing(items):  # type: ignore[type-var]
        while True:
            token = _in_users_code.set(False)
            try:
                item = await anext(items)
            except StopAsyncIteration:
                return
            finally:
                _in_users_code.reset(token)
            yield item


def _take_signal(handler: Callable[[int, FrameType | None], None]) -> Any:
    """Handle Ctrl-C with `handler`; returns what did before. None where Ctrl-C does not arrive: other threads, or ignored."""
    if threading.current_thread() is not threading.main_thread():
        return None
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):
        return None
    signal.signal(signal.SIGINT, handler)
    return before


def _give_signal_back(before: Any) -> None:
    if before is not None:
        signal.signal(signal.SIGINT, before)


def _is_event_loop(frame: FrameType | None) -> bool:
    """Whether the event loop is at work: it runs a task's steps in the task's context."""
    module = "" if frame is None else str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] in _EVENT_LOOP
