"""Drawing a run that goes on: at most so often, and the last change always."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

SECONDS: Final = 0.15


class Redraw:
    """`soon` is called in the run's event loop; it draws now, or a little later when it was drawn just now."""

    def __init__(self, draw: Callable[[], object]) -> None:
        self._draw = draw
        self._drawn = 0.0
        self._later: asyncio.TimerHandle | None = None

    def soon(self) -> None:
        if self._later is not None:
            return
        wait = self._drawn + SECONDS - time.monotonic()
        if wait <= 0:
            self._now()
        else:
            self._later = asyncio.get_running_loop().call_later(wait, self._now)

    def stop(self) -> None:
        """Draw no more: the run is over, and what it came to is drawn by who ran it."""
        self._later = None

    def _now(self) -> None:
        self._later = None
        self._draw()
        self._drawn = time.monotonic()
