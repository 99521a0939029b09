"""What a pipeline costs beside its models: adknb next to google-adk, LangGraph and a bare loop, in one process.

Needs google-adk and LangGraph beside adknb (see README.md). Every turn runs inside one live event loop, on scripted
replies; contestants take turns sample by sample, so that a busy moment of the machine meets them alike. Times are medians,
with the smallest and largest sample; ratios are of medians. Exits 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from pipelines import Adknb, AdknbCell, BareLoop, Contestant, GoogleAdk, LangGraph, Sent, Step, chain, ticket

import adknb

EVENTS = 100_000
OWN_IMPORT = "from adknb import LlmAgent, Runner"
PEER_IMPORT = "from google.adk.agents import LlmAgent"
HEAVY = ("pandas", "ipywidgets", "altair", "openai", "google.genai", "google.adk", "xllamacpp")


class Row(NamedTuple):
    """One line of the table. `met` is None for a line that is there for comparison only."""

    what: str
    ours: str
    peer: str
    ratio: str
    target: str = ""
    met: bool | None = None


class Timed(NamedTuple):
    """Samples in milliseconds."""

    samples: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    def __str__(self) -> str:
        return f"{figures(self.median)} ms ({figures(min(self.samples))}–{figures(max(self.samples))})"


def figures(value: float) -> str:
    """Three figures, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"


def times_less(what: str, ours: Timed, peer: str, theirs: Timed, at_least: int | None = None, aim: str = "") -> Row:
    """How many times less than the peer's time ours is."""
    ratio = theirs.median / ours.median
    line = Row(what, str(ours), f"{peer}: {theirs}", f"{ratio:.1f}× less")
    return line if at_least is None else line._replace(target=f"≥ {at_least}×{aim}", met=ratio >= at_least)


def times_as_much(what: str, ours: Timed, peer: str, theirs: Timed, at_most: float | None = None) -> Row:
    """Our time as a multiple of the peer's."""
    ratio = ours.median / theirs.median
    line = Row(what, str(ours), f"{peer}: {theirs}", f"{ratio:.2f}×")
    return line if at_most is None else line._replace(target=f"≤ {at_most:g}×", met=ratio <= at_most)


async def sample(contestants: Mapping[str, tuple[Contestant, int]], repeats: int) -> dict[str, Timed]:
    """`repeats` samples of each contestant, in turn; a sample is the mean of so many turns, after one to warm up."""
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    for contestant, _ in contestants.values():
        await contestant.turn()
    for _ in range(repeats):
        for name, (contestant, turns) in contestants.items():
            gc.collect()
            started = time.perf_counter()
            for _ in range(turns):
                await contestant.turn()
            samples[name].append((time.perf_counter() - started) * 1000 / turns)
    return {name: Timed(values) for name, values in samples.items()}


async def check_same_work(steps: list[Step]) -> None:
    """Stop unless the bare loop built exactly adknb's strings, and google-adk the same prompts.

    google-adk's wording around another agent's reply is longer, so of its history the number of texts and the replies in
    them are compared.
    """
    ours, bare, peer = await Adknb(steps).sent(), await BareLoop(steps).sent(), await GoogleAdk(steps).sent()
    if ours != bare:
        raise SystemExit("the bare loop builds other strings than adknb: the comparison would not be fair")
    if len(ours) != len(peer) or not all(
        same_prompt(mine, theirs, steps) for mine, theirs in zip(ours, peer, strict=True)
    ):
        raise SystemExit("google-adk was sent other prompts than adknb: the comparison would not be fair")


def same_prompt(mine: Sent, theirs: Sent, steps: list[Step]) -> bool:
    """Whether both have the same system text, as many texts of history, and each step's reply in the same places."""
    return (
        mine.system == theirs.system
        and len(mine.texts) == len(theirs.texts)
        and all(step.reply in theirs_text for step, theirs_text in zip(steps, theirs.texts[2::2], strict=False))
    )


async def turns_of(steps: list[Step], repeats: int, at_least: int, aim: int, at_most: int | None = None) -> list[Row]:
    """A whole pipeline under DEFAULT: `at_least` times less than google-adk, `at_most` so many times the bare loop."""
    await check_same_work(steps)
    turns = 600 // len(steps)
    timed = await sample(
        {
            "adknb": (Adknb(steps), turns),
            "google-adk": (GoogleAdk(steps), max(1, turns // 10)),
            "Workflow": (GoogleAdk(steps, workflow=True), max(1, turns // 10)),
            "LangGraph": (LangGraph(steps), max(1, turns // 10)),
            "bare loop": (BareLoop(steps), turns),
        },
        repeats,
    )
    ours = timed["adknb"]
    what = f"{len(steps)} steps, DEFAULT"
    return [
        times_less(what, ours, "google-adk", timed["google-adk"], at_least, f" (aim {aim}×)"),
        times_less("  next to google-adk's Workflow, no history", ours, "Workflow", timed["Workflow"]),
        times_less("  next to a chain without prompts", ours, "LangGraph", timed["LangGraph"]),
        times_as_much("  next to a loop that builds the same strings", ours, "bare loop", timed["bare loop"], at_most),
    ]


async def step_among_a_thousand(repeats: int) -> Row:
    """Under NONE: what the 1,000th step of a run costs next to its 10th, read off the events' own timestamps."""
    contestant = Adknb(chain(1000), include="none")
    early: list[float] = []
    late: list[float] = []
    for _ in range(repeats):
        gc.collect()
        run = await contestant.run()
        stamps = [event.timestamp * 1000 for event in run.turn_events]
        gaps = [after - before for before, after in itertools.pairwise(stamps)]
        early.append(statistics.median(gaps[5:16]))
        late.append(statistics.median(gaps[-11:]))
    return times_as_much("a step at 1,000 steps, NONE", Timed(late), "a step at 10", Timed(early), 2)


def imports(repeats: int) -> list[Row]:
    """Both imports in fresh interpreters, in turn; the first of each, which may write bytecode, is not counted."""
    ours: list[float] = []
    peer: list[float] = []
    loaded: list[str] = []
    for _ in range(repeats + 1):
        milliseconds, loaded = import_once(OWN_IMPORT)
        ours.append(milliseconds)
        peer.append(import_once(PEER_IMPORT)[0])
    return [
        times_as_much(OWN_IMPORT, Timed(ours[1:]), "google-adk", Timed(peer[1:]), 0.2),
        Row("  heavy modules that it loads", ", ".join(loaded) or "none", "", "", "none", not loaded),
    ]


def import_once(statement: str) -> tuple[float, list[str]]:
    """Milliseconds that a statement takes in a fresh interpreter, and which of `HEAVY` are loaded then."""
    script = (
        f"import time; started = time.perf_counter()\n{statement}\nmilliseconds = (time.perf_counter() - started) * 1000\n"
        f"import sys; print(milliseconds, *(name for name in {HEAVY!r} if name in sys.modules))"
    )
    milliseconds, *loaded = fresh("-c", script).split()
    return float(milliseconds), loaded


def fresh(*arguments: str) -> str:
    """What a new interpreter prints. It may write bytecode, or a source tree would be compiled at every import."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment)
    if process.returncode != 0:
        raise SystemExit(f"python {arguments[0]} … failed:\n{process.stderr}")
    return process.stdout


def memory() -> list[Row]:
    """A session of 100,000 events: the events alone, and a whole conversation with its runs."""
    alone, talk = memory_of("append"), memory_of("conversation")
    return [
        fits(f"{alone['events']:,} events in a session", alone["peak"]),
        fits(f"  as a conversation, {talk['runs']:,} runs kept, NONE", talk["peak"]),
        times_as_much("  one of its last 100 turns", Timed(talk["late"]), "one of its first 100", Timed(talk["early"])),
    ]


def fits(what: str, peak: float) -> Row:
    return Row(what, f"{peak:.0f} MiB", "", "", "≤ 1024 MiB", peak <= 1024)


def memory_of(kind: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(fresh(str(Path(__file__).with_name("memory.py")), kind, str(EVENTS)))
    return result


async def in_a_cell(repeats: int) -> Row:
    """`Runner.run` in a running loop. Last, since it patches asyncio for the whole process."""
    steps = ticket()
    before = await sample({"google-adk": (GoogleAdk(steps), 10)}, repeats)
    after = await sample({"adknb": (AdknbCell(steps), 100)}, repeats)
    return times_less(
        "3 steps, Runner.run in a notebook cell", after["adknb"], "google-adk, awaited", before["google-adk"]
    )


async def measure(quick: bool) -> list[Row]:
    few = 3 if quick else 5
    many = 10 if quick else 40
    rows = await turns_of(ticket(), many, at_least=20, aim=30)
    rows += await turns_of(chain(300), few, at_least=90, aim=150, at_most=3)
    rows.append(await step_among_a_thousand(many))
    rows += imports(many // 2)
    rows += memory()
    rows.append(await in_a_cell(many // 2))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    rows = asyncio.run(measure(parser.parse_args().quick))
    print(environment(), *markdown(rows), sep="\n")
    return 0 if all(row.met is not False for row in rows) else 1


def environment() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("google-adk", "langgraph", "pydantic"))
    return f"adknb {adknb.__version__}, {packages}, Python {platform.python_version()}, {cpu_name()}\n"


def cpu_name() -> str:
    cpu = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name"))
    return cpu.partition(": ")[2]


def markdown(rows: list[Row]) -> list[str]:
    cells = [["what", "adknb", "peer", "ratio", "target", "met"]]
    cells += [[*row[:5], {True: "yes", False: "NO", None: ""}[row.met]] for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(6)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return lines


if __name__ == "__main__":
    sys.exit(main())
