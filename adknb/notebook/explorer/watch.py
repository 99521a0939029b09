"""Who wants to know of the runs of a bench while they go on."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from adknb.core.run import Run
from adknb.notebook.bench import Bench
from adknb.runtime.interrupts import canceller

Watcher = Callable[[Run, Callable[[], object] | None], object]
"""Called in the run's own thread with the run and what cancels it."""


class Watchers:
    """The bench's observer that tells several. A watcher is told as long as somebody else holds its object."""

    def __init__(self, before: Callable[[Run], object] | None) -> None:
        self._before = before
        self._watchers: list[weakref.WeakMethod[Watcher]] = []

    def __call__(self, run: Run) -> None:
        if self._before is not None:
            self._before(run)
        for reference in list(self._watchers):
            watcher = reference()
            if watcher is None:
                self._watchers.remove(reference)
            else:
                watcher(run, canceller())

    def add(self, watcher: Watcher) -> None:
        self._watchers.append(weakref.WeakMethod(watcher))


def watch(bench: Bench, watcher: Watcher) -> None:
    """Tell `watcher`, a bound method, of every change in a run of the bench."""
    if not isinstance(bench.observer, Watchers):
        bench.observer = Watchers(bench.observer)
    bench.observer.add(watcher)
