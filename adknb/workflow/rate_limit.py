"""No more calls in a time than a service allows."""

from __future__ import annotations

import threading
import time
from typing import Final

from adknb.core.errors import SpecError
from adknb.workflow.limits import is_count, is_seconds
from adknb.workflow.middleware import CallNext, StepReply, StepRequest
from adknb.workflow.retry import Clock, Sleep


class RateLimitMiddleware:
    """`rate` calls in `per` seconds: after a first `burst` at once they are spaced evenly, and those that come too soon wait.

    One object may stand before several steps and workflows, in any task and thread: they share the limit. `waited` are the
    seconds that it made callers wait, in all. A caller that is cancelled while it waits has used its turn.

    >>> limit = RateLimitMiddleware(60, per=60.0, clock=lambda: 0.0)
    >>> [limit.turn() for _ in range(3)]
    [0.0, 1.0, 2.0]
    """

    def __init__(
        self,
        rate: int,
        per: float = 60.0,
        burst: int = 1,
        *,
        clock: Clock = time.monotonic,
        sleep: Sleep | None = None,
    ) -> None:
        if not (is_count(rate) and is_seconds(per) and is_count(burst)):
            raise SpecError(
                f"rate and burst are calls from 1, per is seconds above 0; not {rate!r}, {burst!r}, {per!r}"
            )
        self.waited = 0.0
        self._interval: Final = per / rate
        self._tolerance: Final = (burst - 1) * self._interval
        self._clock: Final = clock
        self._sleep: Final = sleep
        self._lock: Final = threading.Lock()
        self._next = float("-inf")

    async def __call__(self, request: StepRequest, call_next: CallNext) -> StepReply:
        wait = self.turn()
        if wait > 0:
            import anyio

            await (self._sleep or anyio.sleep)(wait)
        return await call_next(request)

    def turn(self) -> float:
        """Take the next turn: how many seconds are left until it (the generic cell rate algorithm, ITU-T I.371)."""
        with self._lock:
            now = self._clock()
            due = max(self._next, now)
            self._next = due + self._interval
            wait = max(0.0, due - self._tolerance - now)
            self.waited += wait
            return wait
