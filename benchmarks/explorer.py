"""What the explorer takes: opening it on a run of 1,000 events, a click in it, and what the browser is sent.

Needs adknb alone, no browser: times are the kernel's, from what the front end says to the last message that answers it.
Prints a Markdown table with the targets and exits 1 when one is missed.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import comm
from comm.base_comm import BaseComm
from dry import EVENTS, one_long_run, ticket_session
from overhead import Row, Timed, cpu_name, figures, markdown

import adknb
from adknb import Run
from adknb.notebook.bench import Bench
from adknb.notebook.explorer.explorer import TABS, Explorer
from adknb.notebook.explorer.opened import Opened
from adknb.notebook.explorer.parts import Part, with_children
from adknb.notebook.explorer.widget import ExplorerWidget
from adknb.tokens.counter import default_counter

OPENING = 300
"""Milliseconds in the kernel, once the texts were counted."""
CLICK = 50
"""Milliseconds."""
LARGEST = 1_000_000
"""Bytes."""


class CountingComm(BaseComm):
    """A line to a browser that nobody listens on; `sent` counts its bytes."""

    sent = 0

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
    ) -> None:
        CountingComm.sent += len(json.dumps([msg_type, data, metadata, keys], default=str).encode())


class Open:
    """The explorer of a run, opened as `%adk explore` does it: the static twin, then the widgets."""

    def __init__(self, run: Run) -> None:
        explorer = Explorer(Bench({"run": run}), run.root.name, run)
        bundle = Opened(explorer)._repr_mimebundle_()
        CountingComm.sent += len(json.dumps(bundle).encode())
        self.run = run
        self.widget = ExplorerWidget(explorer)
        self.strip = next(each for each in with_children(self.widget.box) if isinstance(each, Part))

    def tell(self, what: str, value: str) -> None:
        """What the browser says when something is clicked."""
        data = {"method": "custom", "content": {"what": what, "value": value}}
        self.strip.comm.handle_msg({"content": {"data": data}, "buffers": []})


class Both:
    """Samples by the clock on the wall, and by what the process was given of it."""

    def __init__(self) -> None:
        self.wall, self.own = Timed([]), Timed([])

    def add(self, work: Callable[[], object]) -> None:
        gc.collect()
        wall, own = time.perf_counter(), time.process_time()
        work()
        self.wall.samples.append((time.perf_counter() - wall) * 1000)
        self.own.samples.append((time.process_time() - own) * 1000)

    def rows(self, what: str, at_most: int) -> list[Row]:
        """The target is held against the processor time: nothing here waits, so on a machine with time left both are one."""
        met = self.own.median <= at_most
        return [
            Row(what, str(self.wall), "", ""),
            Row("  by the processor time of the process", str(self.own), "", "", f"≤ {at_most} ms", met),
        ]


def openings(run: Run, repeats: int) -> Both:
    """Each opening reads the run anew."""
    timed = Both()
    for _ in range(repeats):
        timed.add(lambda: Open(run).widget.close())
    return timed


def clicks(open_: Open, repeats: int) -> tuple[Both, Both]:
    """Clicks on steps that nobody has looked at, over the whole run; and on every tab, the middle step selected."""
    steps = open_.run.step_runs
    count = min(repeats, len(steps))
    on_steps, on_tabs = Both(), Both()
    for place in range(count):
        name = steps[place * len(steps) // count].name
        on_steps.add(lambda name=name: open_.tell("select", name))
        if open_.widget.explorer.selected != name:
            raise SystemExit(f"the click on {name} did not select it")
    open_.tell("select", steps[len(steps) // 2].name)
    for _ in range(max(1, repeats // len(TABS))):
        for tab in TABS:
            on_tabs.add(lambda tab=tab: open_.tell("tab", tab))
            if open_.widget.explorer.tab != tab:
                raise SystemExit(f"the click on {tab} did not open it")
    return on_steps, on_tabs


def measured(what: str, run: Run, repeats: int) -> list[Row]:
    """The table's lines of one run. Stops unless its session is as long as the table says."""
    if len(run.session.events) != EVENTS:
        raise SystemExit(f"the session has {len(run.session.events):,} events, not {EVENTS:,}")
    first = Both()
    first.add(lambda: Open(run).widget.close())
    opening = openings(run, repeats)
    CountingComm.sent = 0
    open_ = Open(run)
    at_opening = CountingComm.sent
    on_steps, on_tabs = clicks(open_, repeats)
    looked = CountingComm.sent - at_opening
    count = len(on_steps.wall.samples) + 1 + len(on_tabs.wall.samples)
    return [
        *opening.rows(f"{what}: opening", OPENING),
        Row("  the first one", f"{figures(first.wall.median)} ms", "", ""),
        *on_steps.rows("  a click on a step", CLICK),
        *on_tabs.rows("  a click on a tab", CLICK),
        Row("  bytes for the browser, opening", f"{at_opening:,}", "", "", f"≤ {LARGEST:,}", at_opening <= LARGEST),
        Row("  bytes for the browser, a click", f"{looked // count:,}", "", ""),
    ]


def measure(quick: bool) -> list[Row]:
    repeats = 7 if quick else 35
    default_counter().count("")  # its vocabulary takes up to a second to load, once in a process
    return [
        *measured(f"{EVENTS:,} events, last turn of 250", ticket_session(), repeats),
        *measured(f"{EVENTS:,} events in one run of 999 steps", one_long_run(), repeats),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    comm.create_comm = CountingComm
    rows = measure(parser.parse_args().quick)
    print(f"adknb {adknb.__version__}, Python {platform.python_version()}, {cpu_name()}\n", *markdown(rows), sep="\n")
    return 0 if all(row.met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
