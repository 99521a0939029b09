"""Blocking functions beside the event loop.

anyio's and asyncio's worker threads are not used because the interpreter waits for them at exit: after Ctrl-C a script would
hang until a slow tool ends. These threads are daemons.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


async def run_abandonable(function: Callable[[], T], abandoned: Callable[[], None]) -> T:
    """Run `function` in a thread of its own. When the caller is cancelled, call `abandoned` and let the thread be."""
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def finish(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # None is a T where the function returns it

    def work() -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = context.run(function)
        except StopIteration as stop:  # a future cannot carry it
            error = RuntimeError(f"StopIteration: {stop}")
        except BaseException as raised:
            error = raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(finish, result, error)

    threading.Thread(target=work, name="adknb tool", daemon=True).start()
    try:
        return await future
    except asyncio.CancelledError:
        abandoned()
        raise
