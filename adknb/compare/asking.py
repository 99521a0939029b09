"""Many trials at once: in this event loop, or in an executor's workers. What is finished is kept whatever happens then."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from contextlib import suppress
from functools import partial
from io import BytesIO
from pickle import Pickler, PicklingError
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from adknb.compare.records import TrialRecord
from adknb.compare.trial import Resolve, Task, last_run, measured, perform, perform_alone
from adknb.core.errors import AdknbError, SpecError
from adknb.core.run import Run
from adknb.runtime.threads import run_abandonable
from adknb.tokens.counter import default_counter

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from anyio.streams.memory import MemoryObjectReceiveStream

Keep: TypeAlias = Callable[[Task, Sequence[TrialRecord], Run | None], object]
"""Takes a task's records, and its last run where it ran here."""
Finished: TypeAlias = tuple[Task, Callable[[], list[TrialRecord]], Run | None]

HERE: Final = 8
"""Trials under way at once where nobody says how many."""
ELSEWHERE: Final = 256
"""The same with an executor, which has a limit of its own."""


async def ask_all(
    tasks: Sequence[Task], keep: Keep, resolve: Resolve, concurrency: int | None = None, executor: Any = None
) -> None:
    """Do every task and hand its records to `keep`, in the order in which they finish.

    A finished trial's tokens are counted while others wait for their models, and the tables for it are loaded while the
    first do. Cancelled, it ends what runs and still keeps what was finished.
    """
    import anyio

    pool = as_executor(executor) if executor is not None else None
    send, receive = anyio.create_memory_object_stream[Finished](math.inf)
    waiting = iter(tasks)
    ended: list[BaseException] = []

    async def worker(group: TaskGroup) -> None:
        try:
            for task in waiting:
                if pool is None:
                    outcomes = await perform(task, resolve)
                    send.send_nowait((task, partial(measured, task, outcomes), last_run(outcomes)))
                else:
                    records = await _elsewhere(pool, task)
                    send.send_nowait((task, partial(list, records), None))
        except anyio.get_cancelled_exc_class() as error:  # Ctrl-C in a user's function ends this worker alone
            ended.append(error)
            group.cancel_scope.cancel()
            raise
        except BaseException as error:  # left alone, a user's sys.exit would end the event loop
            ended.insert(0, error)
            group.cancel_scope.cancel()

    async def ask() -> None:
        async with send, anyio.create_task_group() as group:
            limit = concurrency or (HERE if pool is None else ELSEWHERE)
            for _ in range(min(limit, len(tasks))):
                group.start_soon(worker, group)

    def take(task: Task, records: Callable[[], list[TrialRecord]], run: Run | None) -> None:
        try:
            keep(task, records(), run)
        except BaseException as error:  # a full disk, or what a user's `progress` raised
            ended.insert(0, error)

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            if pool is None and tasks:
                await run_abandonable(lambda: default_counter().count(""), _nothing_to_undo)
            async for finished in receive:
                take(*finished)
                if ended:
                    group.cancel_scope.cancel()
                    break
    finally:
        for finished in _rest(receive):
            take(*finished)
    if ended:
        raise ended[0]


def as_executor(value: Any) -> Executor:
    """An executor, or a Dask client as one. Raises `SpecError` for anything else."""
    if isinstance(value, Executor):
        return value
    if callable(getattr(value, "get_executor", None)):
        executor: Executor = value.get_executor()
        return executor
    raise SpecError(f"executor is a concurrent.futures.Executor or a Dask client, not {value!r}")


async def _elsewhere(pool: Executor, task: Task) -> list[TrialRecord]:
    import asyncio

    try:
        return await asyncio.wrap_future(pool.submit(perform_alone, task))
    except AdknbError:
        raise
    except Exception as error:
        raise _explained(error, task) from error


def _explained(error: Exception, task: Task) -> AdknbError:
    """Why an executor did not do the task. What goes wrong in a trial itself stands in its record."""
    unreachable = ", ".join(_of_main(task)) if isinstance(error, BrokenExecutor) else ""
    if unreachable:
        reason = f"their modules do not have {unreachable}, which only this program's main module or notebook has"
    elif isinstance(error, (PicklingError, TypeError, AttributeError, ImportError)):
        reason = str(error)
    else:
        return AdknbError(
            f"the executor gave no result of a trial: {type(error).__name__}: {str(error).rstrip('.')}. What was finished is "
            "kept."
        )
    return SpecError(
        f"a trial cannot be sent to the executor's workers: {reason}. Callbacks, tools and models must be such that a "
        "worker can import them: put functions into a module, and name models by a string."
    )


def _of_main(task: Task) -> list[str]:
    """The functions and classes of the main module that pickle would name."""
    found: dict[str, None] = {}

    class Noting(Pickler):
        def reducer_override(self, value: Any) -> Any:
            if getattr(value, "__module__", "") == "__main__" and isinstance(value, (FunctionType, type)):
                found[repr(value.__qualname__)] = None
            return NotImplemented

    Noting(BytesIO()).dump(task)
    return list(found)


def _nothing_to_undo() -> None:
    """The tables may be loaded although nobody waits for them any more."""


def _rest(receive: MemoryObjectReceiveStream[Finished]) -> Iterator[Finished]:
    """What was finished when the comparison was stopped."""
    import anyio

    with receive, suppress(anyio.WouldBlock, anyio.EndOfStream, anyio.ClosedResourceError):
        while True:
            yield receive.receive_nowait()
