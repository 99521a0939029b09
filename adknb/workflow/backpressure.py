"""Many tasks with bounded queues: whoever produces faster than the tasks run has to wait."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from adknb.core.errors import RunStateError, SpecError
from adknb.workflow.errors import QueueFullError
from adknb.workflow.limits import is_count

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
Item = TypeVar("Item")


class BackpressureController:
    """Runs at most `max_inflight` tasks at once, in the order in which they came, and lets `queue_size` more wait.

    `submit` is for tasks that come one by one, inside `async with`, whose end waits for all of them; left by an error or a
    cancellation it cancels them first. `map` is for many inputs. Neither leaves a task behind.

    >>> import anyio
    >>> async def double(number: int) -> int:
    ...     return 2 * number
    >>> async def main() -> list[int]:
    ...     return [each async for each in BackpressureController(2, queue_size=4).map(double, range(5))]
    >>> anyio.run(main)
    [0, 2, 4, 6, 8]
    """

    def __init__(self, max_inflight: int, queue_size: int = 0) -> None:
        if not (is_count(max_inflight) and is_count(queue_size, least=0)):
            raise SpecError(
                f"max_inflight is 1 or more, queue_size 0 or more tasks; not {max_inflight!r} and {queue_size!r}"
            )
        self.max_inflight = max_inflight
        self.queue_size = queue_size
        self._room: _Room | None = None

    @property
    def in_flight(self) -> int:
        """Tasks that run now, of those that were submitted."""
        return self._room.in_flight if self._room is not None else 0

    @property
    def queued(self) -> int:
        """Tasks that wait, of those that were submitted."""
        return self._room.taken - self._room.in_flight if self._room is not None else 0

    async def __aenter__(self) -> Self:
        if self._room is not None:
            raise RunStateError("this controller is open already; one `async with` at a time")
        self._room = _Room(self.max_inflight, self.queue_size)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        room, self._room = self._room, None
        if room is not None:
            await room.close(cancel=error is not None)

    async def submit(self, task: Callable[[], Awaitable[T]], wait: bool = True) -> asyncio.Task[T]:
        """Take a task, which starts as soon as there is room; awaiting what is returned gives its result or its error.

        On a full queue waits until there is room, or with `wait` false raises `QueueFullError` at once.
        """
        if self._room is None:
            raise RunStateError("submit needs an open controller: async with controller: …")
        return await self._room.submit(task, wait)

    async def map(
        self, function: Callable[[Item], Awaitable[T]], items: Iterable[Item] | AsyncIterable[Item]
    ) -> AsyncGenerator[T]:
        """The results of `function` for each item, in the items' order, as they come.

        At most `max_inflight` + `queue_size` items are taken and not given back yet, however many there are: a slow function,
        or a slow reader of the results, slows the source. An error of the function, or of the source, is raised in its
        place in the order; it ends the map, and what is under way is cancelled.
        """
        import asyncio

        room = _Room(self.max_inflight, self.queue_size)
        window = asyncio.Semaphore(self.max_inflight + self.queue_size)
        begun: asyncio.Queue[asyncio.Task[T] | _End] = asyncio.Queue()
        feeder = asyncio.create_task(_feed(room, window, begun, function, items))
        try:
            while not isinstance(head := await begun.get(), _End):
                result = await head
                window.release()
                yield result
            if head.error is not None:
                raise head.error
        finally:
            await room.close(feeder, cancel=True)
            while not begun.empty():
                _look_at(begun.get_nowait())


class _Room:
    """The tasks of one `async with`, or of one map, in the event loop that runs it."""

    def __init__(self, max_inflight: int, queue_size: int) -> None:
        import asyncio

        self._places: Final = asyncio.Semaphore(max_inflight + queue_size)
        self._slots: Final = asyncio.Semaphore(max_inflight)
        self._bound: Final = (max_inflight, queue_size)
        self._tasks: Final = set[asyncio.Task[Any]]()
        self._is_closed = False
        self.in_flight = 0

    @property
    def taken(self) -> int:
        return len(self._tasks)

    async def submit(self, task: Callable[[], Awaitable[T]], wait: bool = True) -> asyncio.Task[T]:
        if not wait and self._places.locked():
            running, waiting = self._bound
            raise QueueFullError(
                f"the task was not taken: {running} run and {waiting} wait already. Submit with wait=True, or later."
            )
        import asyncio

        await self._places.acquire()
        if self._is_closed:
            self._places.release()  # for the next who waits
            raise RunStateError("the task was not taken: the controller was closed while it waited for room")
        running_task = asyncio.create_task(self._run(task))
        self._tasks.add(running_task)
        running_task.add_done_callback(self._leave)
        return running_task

    async def close(self, *others: asyncio.Task[Any], cancel: bool) -> None:
        """Wait for all tasks and the others, cancelled first where that is asked or where this wait is cancelled."""
        import asyncio

        import anyio

        self._is_closed = True
        try:
            if not cancel and self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            left = [*others, *self._tasks]
            for task in left:
                task.cancel()
            if left:
                with anyio.CancelScope(shield=True):
                    await asyncio.wait(left)

    async def _run(self, task: Callable[[], Awaitable[T]]) -> T:
        async with self._slots:
            self.in_flight += 1
            try:
                return await task()
            finally:
                self.in_flight -= 1

    def _leave(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self._places.release()


@dataclass(frozen=True, slots=True)
class _End:
    """There are no more items; `error` is what the source raised."""

    error: BaseException | None = None


async def _feed(
    room: _Room,
    window: asyncio.Semaphore,
    begun: asyncio.Queue[asyncio.Task[T] | _End],
    function: Callable[[Item], Awaitable[T]],
    items: Iterable[Item] | AsyncIterable[Item],
) -> None:
    end = _End()
    try:
        async with aclosing(_async_iterator(items)) as source:
            while True:
                await window.acquire()
                begun.put_nowait(await room.submit(partial(function, await anext(source))))
    except StopAsyncIteration:
        pass
    except BaseException as error:  # a source that was cancelled has not ended: what is left of it would be lost
        end = _End(error)
        if not isinstance(error, Exception):
            raise
    finally:
        begun.put_nowait(end)


async def _async_iterator(items: Iterable[Item] | AsyncIterable[Item]) -> AsyncGenerator[Item]:
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
        return
    for item in items:
        yield item


def _look_at(task: asyncio.Task[Any] | _End) -> None:
    """Nobody will ask for this error any more: asyncio need not report it."""
    if not isinstance(task, _End) and not task.cancelled():
        task.exception()
