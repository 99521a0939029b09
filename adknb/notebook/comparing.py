"""A comparison on the bench: its progress while it goes on, and what is shown when it ends, also when it is stopped."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from typing import Any, Final

from adknb.compare.comparison import Comparison
from adknb.compare.lab import Lab
from adknb.compare.progress import Progress
from adknb.compare.records import TrialRecord
from adknb.compare.store import Store
from adknb.notebook.bench import Bench
from adknb.notebook.cards.progress_card import progress_html
from adknb.notebook.compare_line import lab_of
from adknb.notebook.records import Record
from adknb.notebook.results import Message
from adknb.notebook.shown import display

REDRAW_SECONDS: Final = 0.2
"""At most so often is the progress drawn anew."""


class Comparing:
    """Runs comparisons. The trials of one that was stopped are remembered, and not asked again when its cell is run again."""

    def __init__(self, bench: Bench, shell: Any) -> None:
        self._bench = bench
        self._in_front_end = shell is not None and hasattr(shell, "kernel")
        self._stopped: dict[str, TrialRecord] = {}

    def run(self, options: argparse.Namespace, body: str) -> Comparison:
        """Run what the line and the body ask for, show it, and return it. After Ctrl-C what was done is shown."""
        store = Store(options.store)
        if options.store is None:
            store.keep(self._stopped.values())
        shown = _Shown(self._in_front_end)
        lab = lab_of(options, body, self._bench, store=store, progress=shown.progress)
        stopped: BaseException | None = None
        with self._bench.change(
            f"comparison of {options.pipeline} ({', '.join(variant.name for variant in lab.variants)})"
        ):
            try:
                lab.run()
            except BaseException as error:
                stopped = error
            shown.end()
            comparison = lab.comparison
            if stopped is not None and not comparison.records:
                shown.nothing()
                raise stopped
            self._note(comparison, lab, options)
        self._remember(comparison, options.store, stopped)
        shown.result(comparison)
        if stopped is not None:
            display(Message(_how_to_go_on(comparison, options.store)))
            raise stopped
        return comparison

    def _note(self, comparison: Comparison, lab: Lab, options: argparse.Namespace) -> None:
        last = None
        if lab.kind != "dry" and lab.last_run is not None:
            last = Record(lab.last_run, options.pipeline, variant=lab.last_variant)
        self._bench.note_comparison(comparison, last)
        if options.out is not None:
            self._bench.namespace[options.out] = comparison

    def _remember(self, comparison: Comparison, store: str | None, stopped: BaseException | None) -> None:
        """Keep the trials of a comparison that was stopped, where no file does; forget those of one that is whole."""
        for record in comparison.records:
            if stopped is not None and store is None:
                self._stopped[record.key] = record
            else:
                self._stopped.pop(record.key, None)


class _Shown:
    """What stands under the cell: one output, updated in place. A terminal gets a line of progress and the end."""

    def __init__(self, in_front_end: bool) -> None:
        self._in_front_end = in_front_end
        self._handle: Any = None
        self._drawn = 0.0
        self._line = 0
        self._later: asyncio.TimerHandle | None = None

    def progress(self, progress: Progress) -> None:
        """Draw it, or do so a little later when it was drawn just now: the last that is known is always shown."""
        if self._later is not None:
            return
        wait = self._drawn + REDRAW_SECONDS - time.monotonic()
        if wait <= 0:
            self._draw(progress)
        else:
            self._later = asyncio.get_running_loop().call_later(wait, self._draw, progress)

    def end(self) -> None:
        """Draw no more progress."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if self._line:
            print(f"\r{'':<{self._line}}\r", end="", file=sys.stderr, flush=True)
            self._line = 0

    def nothing(self) -> None:
        """Say in the place of the progress that no trial was done."""
        if self._handle is not None:
            self._handle.update(Message("Stopped before a trial was done."))

    def result(self, comparison: Comparison) -> None:
        """The comparison, in the place of the progress."""
        if self._handle is not None:
            self._handle.update(comparison)
        else:
            display(comparison)

    def _draw(self, progress: Progress) -> None:
        self._later, self._drawn = None, time.monotonic()
        text = str(progress)
        if self._in_front_end:
            data = {"text/html": progress_html(progress), "text/plain": text}
            if self._handle is None:
                self._handle = display(data, raw=True, display_id=True)
            else:
                self._handle.update(data, raw=True)
        elif sys.stderr.isatty():
            print(f"\r{text:<{self._line}}", end="", file=sys.stderr, flush=True)
            self._line = max(self._line, len(text))


def _how_to_go_on(comparison: Comparison, store: str | None) -> str:
    missing = comparison.missing
    left = f"{missing:,} trials are" if missing != 1 else "1 trial is"
    where = f"in {store}" if store is not None else "in this kernel"
    return f"Stopped: {left} missing. What was done is kept {where}: run the cell again, and only the rest is asked."
