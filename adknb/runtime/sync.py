"""Async work from plain code: in a script, and in a cell of a live kernel, whose event loop is already running."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar, cast

from adknb.runtime.interrupts import Watch

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


def run_sync(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run the coroutine that `work` makes to its end and return its result.

    Ctrl-C cancels it, lets it close what it has open, and is raised; so is the user's own `sys.exit`.
    """
    with Watch() as watch:
        task = _run(work, watch)
    if watch.requested:
        if task.done() and not task.cancelled():
            task.exception()  # seen, so asyncio need not complain that nobody looked
        raise KeyboardInterrupt
    if watch.raised is not None:
        raise watch.raised
    return cast("T", task.result())


def run_held(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """`run_sync` for short work within `Held`: Ctrl-C waits until it is done, so that what was stored is known to be."""
    return cast("T", _run(work, Watch()).result())


def _run(work: Callable[[], Coroutine[Any, Any, T]], watch: Watch) -> asyncio.Task[T | None]:
    import asyncio

    loop = _running_loop()
    if loop is None:
        with asyncio.Runner() as loop_runner:  # asyncio.run would leave its loop open once nest_asyncio2 is applied
            return loop_runner.run(watch.over(work()))
    import nest_asyncio2  # patches asyncio, so only where a loop is running already

    nest_asyncio2.apply(loop)
    over = loop.create_task(watch.over(work()))
    try:
        return loop.run_until_complete(over)
    except KeyboardInterrupt:  # a second Ctrl-C, in the event loop itself
        watch.cancel()
        return loop.run_until_complete(over)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
