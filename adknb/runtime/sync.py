"""Async work from plain code: in a script, and in a cell of a live kernel, whose event loop is already running."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end and return its result. Ctrl-C cancels it, lets it close what it has open, and is raised."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    import nest_asyncio2  # patches asyncio, so only where a loop is running already

    nest_asyncio2.apply(loop)
    task = loop.create_task(work)
    try:
        return loop.run_until_complete(task)
    except KeyboardInterrupt:
        if not task.done():
            task.cancel()
            loop.run_until_complete(asyncio.wait([task], timeout=0.4))
        raise
