"""A run's table that fills while it runs, and ends as the run's card."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from adknb.core.run import Run
from adknb.notebook.bench import Bench
from adknb.notebook.shown import display

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

    def __enter__(self) -> LiveRun:
        self._before = self._bench.observer
        self._bench.observer = self._changed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bench.observer = self._before
        if self._run is not None and kind is not None:
            self.show(self._run)

    def show(self, run: Run) -> None:
        """Draw the run now."""
        if not self._in_front_end:
            if run.status != "running":
                display(run)
            return
        if self._handle is None:
            self._handle = display(run, display_id=True)
        else:
            self._handle.update(run)
        self._drawn = time.monotonic()

    def _changed(self, run: Run) -> None:
        self._run = run
        if self._in_front_end and time.monotonic() - self._drawn >= REDRAW_SECONDS:
            self.show(run)
