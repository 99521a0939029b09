"""Tasks that run until they are let go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import anyio


class Crowd:
    """Tasks that wait until they are let go; counts how many run, and in what order they began."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.began: list[object] = []
        self.cancelled: list[object] = []
        self.gates: dict[object, anyio.Event] = {}

    def task(self, name: object) -> Callable[[], Coroutine[Any, Any, object]]:
        return lambda: self.run(name)

    async def run(self, name: object) -> object:
        self.began.append(name)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.gates.setdefault(name, anyio.Event()).wait()
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise
        finally:
            self.now -= 1
        if isinstance(name, Exception):
            raise name
        return f"did {name}"

    async def let_go(self, *names: object) -> None:
        for name in names:
            self.gates.setdefault(name, anyio.Event()).set()
        await anyio.wait_all_tasks_blocked()
