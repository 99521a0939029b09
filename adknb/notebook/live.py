"""A run's table that fills while it runs, and ends as the run's card."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Any

from adknb.core.run import Run
from adknb.notebook.bench import Bench
from adknb.notebook.failures import mark_shown
from adknb.notebook.shown import display
from adknb.tokens.counter import default_counter

REDRAW_SECONDS = 0.15
"""At most so often is the table drawn anew while the run goes on."""


class LiveRun:
    """Shows the bench's run under the cell, from its first step to its end, also when that is an error.

    In a front end the one output is updated in place; in a terminal only the end is printed.
    """

    def __init__(self, bench: Bench, shell: Any) -> None:
        self._bench = bench
        self._in_front_end = shell is not None and hasattr(shell, "kernel")
        self._handle: Any = None
        self._drawn = 0.0
        self._run: Run | None = None
        self._before: Any = None
        self._later: asyncio.TimerHandle | None = None

    def __enter__(self) -> LiveRun:
        self._before = self._bench.observer
        self._bench.observer = self._changed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bench.observer = self._before
        self._forget_later()
        if self._run is not None and self._run is self._bench.last and kind is not None:
            self.show(self._run)
            if error is self._run.error:
                mark_shown(error)

    def show(self, run: Run) -> None:
        """Draw the run now."""
        if not self._in_front_end:
            if run.status != "running":
                display(run)
            return
        self._forget_later()
        if self._handle is None:
            self._handle = display(run, display_id=True)
            default_counter().count("")  # loads its tables while nobody waits for the end, or for Ctrl-C
        else:
            self._handle.update(run)
        self._drawn = time.monotonic()

    def _changed(self, run: Run) -> None:
        """Draw the run, or do so a little later when it was drawn just now: what changed last is always shown."""
        self._run = run
        if self._before is not None:
            self._before(run)
        if not self._in_front_end or self._later is not None:
            return
        wait = self._drawn + REDRAW_SECONDS - time.monotonic()
        if wait <= 0:
            self.show(run)
        else:
            self._later = asyncio.get_running_loop().call_later(wait, self.show, run)

    def _forget_later(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
