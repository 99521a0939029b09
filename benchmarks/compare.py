"""What a comparison costs beside its models: 400 trials next to the time that their models alone take, and 10,000 rows.

Needs adknb alone. With `--promptfoo FOLDER` (where `npm install promptfoo node@22` was run) the same trials run through
promptfoo too. Prints a Markdown table with the targets and exits 1 when one is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from overhead import Row, Timed, cpu_name, figures, fresh, markdown

import adknb
from adknb import LlmAgent, LlmRequest, ScriptedModel, SequentialAgent, Store
from adknb.compare.comparison import Comparison
from adknb.compare.lab import Lab
from adknb.examples.ticket import ticket_pipeline

INPUTS = 200
VARIANTS = ("default", "none")
STEPS = 3
AT_ONCE = 32
WAIT = 0.05
"""Seconds that a model takes."""
FLOOR = math.ceil(INPUTS * len(VARIANTS) / AT_ONCE) * STEPS * WAIT * 1000
"""Milliseconds that the models alone take, 32 trials at once: 13 rounds of 150 ms."""
PAIRED = math.ceil(INPUTS / AT_ONCE) * len(VARIANTS) * STEPS * WAIT * 1000
"""The same where an input's variants are asked in one trial: 7 rounds of 300 ms."""
TARGET = 1.15
ROWS = 10_000
MEMORY = 500
"""MiB at most, the process and everything that is looked at included."""
PROMPT = (
    "You write replies for the support team of a telephone company. Read what was found out about the case, keep to the "
    "rules, and say in plain words what happens next. "
)
RULE = "Rule {0}: do not promise what another team decides, and name the team that does. "
PROVIDER = """
const fs = require('fs');
module.exports = class {
  id() { return 'waiting'; }
  async callApi(prompt) {
    const started = Date.now();
    for (let step = 0; step < STEPS; step++) await new Promise((resolve) => setTimeout(resolve, WAIT));
    fs.appendFileSync(process.env.TIMES, `${started} ${Date.now()}\\n`);
    return { output: 'APPROVE' };
  }
};
"""


class Waiting:
    """A model that takes its time, answers each request differently, and counts how many ask it at once."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self.now = self.most = 0
        self.model = ScriptedModel(self.reply)

    async def reply(self, request: LlmRequest) -> str:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(WAIT)
        self.now -= 1
        case = next(self._numbers)
        if request.agent == "TriageAgent":
            return f'{{"category": "billing", "urgency": 2, "summary": "Charged twice for September, case {case}."}}'
        if request.agent == "DraftAgent":
            return f"We are sorry about the double charge. Billing is looking into case {case} and will write to you today."
        return "APPROVE"


class Measured(NamedTuple):
    """Milliseconds by the clock on the wall, and of the process's own time."""

    wall: list[float]
    own: list[float]


def compared(tickets: Iterator[int], **options: Any) -> Comparison:
    """One comparison of new tickets, checked: all trials done, and as many at once as there may be."""
    model = Waiting()
    messages = [f"Ticket {next(tickets)}: I was charged twice for September." for _ in range(INPUTS)]
    comparison = Lab(ticket_pipeline(), messages, VARIANTS, model=model.model, concurrency=AT_ONCE, **options).run()
    if comparison.missing or any(record.error for record in comparison.records) or model.most != AT_ONCE:
        raise SystemExit("the comparison is not what is to be measured")
    return comparison


async def waiting_alone() -> None:
    """What no program can be faster than: the same waits, as many at once."""
    trials = iter(range(INPUTS * len(VARIANTS)))

    async def worker() -> None:
        for _ in trials:
            for _ in range(STEPS):
                await asyncio.sleep(WAIT)

    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))


def timed(works: dict[str, Callable[[], object]], samples: int) -> dict[str, Measured]:
    """So many samples of each, in turn."""
    found = {name: Measured([], []) for name in works}
    for _ in range(samples):
        for name, work in works.items():
            gc.collect()
            wall, own = time.perf_counter(), time.process_time()
            work()
            found[name].wall.append((time.perf_counter() - wall) * 1000)
            found[name].own.append((time.process_time() - own) * 1000)
    return found


def times_floor(what: str, timed: Timed, peer: str = "", floor: float = FLOOR) -> Row:
    return Row(what, str(timed), peer, f"{timed.median / floor:.2f}×")


def trials(samples: int) -> list[Row]:
    tickets = itertools.count()
    first = timed({"first": lambda: compared(tickets)}, 1)["first"]
    with tempfile.TemporaryDirectory() as folder:
        files = (Path(folder) / f"{number}.jsonl" for number in itertools.count())
        found = timed(
            {
                "alone": lambda: asyncio.run(waiting_alone()),
                "run": lambda: compared(tickets),
                "paired": lambda: compared(tickets, kind="paired"),
                "stored": lambda: compared(tickets, store=Store(next(files))),
            },
            samples,
        )
    ours, alone = Timed(found["run"].wall), Timed(found["alone"].wall)
    count = INPUTS * len(VARIANTS)
    what = f"{count} trials of {STEPS} × {WAIT * 1000:.0f} ms, {AT_ONCE} at once"
    floor = f"a loop that waits: {alone}"
    return [
        times_floor(what, ours, floor)._replace(target=f"≤ {TARGET}×", met=ours.median <= TARGET * FLOOR),
        times_floor("  the first comparison of a process", Timed(first.wall)),
        times_floor("  each kept in a file", Timed(found["stored"].wall)),
        times_floor("  paired", Timed(found["paired"].wall), floor=PAIRED),
        Row("  a trial, by the process's own time", f"{Timed(found['run'].own).median / count:.2f} ms", "", ""),
    ]


def promptfoo(folder: Path, samples: int) -> Row:
    """The same trials through promptfoo, from the first call of its provider to the end of the last."""
    program = folder / "node_modules" / ".bin" / "promptfoo"
    if not program.exists():
        raise SystemExit(f"there is no promptfoo in {folder}: npm install promptfoo node@22")
    wall = []
    with tempfile.TemporaryDirectory() as place:
        times = Path(place) / "times"
        source = PROVIDER.replace("STEPS", str(STEPS)).replace("WAIT", f"{WAIT * 1000:.0f}")
        (Path(place) / "provider.cjs").write_text(source)
        config = {
            "prompts": ["first: {{message}}", "second: {{message}}"],
            "providers": ["file://provider.cjs"],
            "tests": [{"vars": {"message": f"Ticket {number}"}} for number in range(INPUTS)],
        }
        (Path(place) / "config.json").write_text(json.dumps(config))
        environment = {
            **os.environ,
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "PROMPTFOO_CONFIG_DIR": place,
            "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1",
            "TIMES": str(times),
        }
        command = [
            program,
            "eval",
            "-c",
            "config.json",
            "-j",
            str(AT_ONCE),
            "--no-cache",
            "--no-progress-bar",
            "--no-table",
            "--no-write",
        ]
        for _ in range(samples):
            times.unlink(missing_ok=True)
            process = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
            spans = [tuple(map(int, line.split())) for line in times.read_text().splitlines()] if times.exists() else []
            if len(spans) != INPUTS * len(VARIANTS):
                raise SystemExit(f"promptfoo made {len(spans)} calls:\n{process.stdout}{process.stderr}")
            wall.append(float(max(end for _, end in spans) - min(start for start, _ in spans)))
        version = subprocess.run(
            [program, "--version"], env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()
    timed = Timed(wall)
    return Row("  the same through promptfoo", "", f"promptfoo {version}: {timed}", f"{timed.median / FLOOR:.2f}×")


def long_pipeline() -> SequentialAgent:
    """Three steps whose prompts are of 2,000 characters."""
    rules = "".join(RULE.format(number) for number in range(16))
    steps = [("Triage", "", "triage"), ("Draft", "{triage}", "draft"), ("Check", "{triage} {draft}", "verdict")]
    agents = [LlmAgent(name=name, instruction=f"{PROMPT}{rules}{read}", output_key=key) for name, read, key in steps]
    return SequentialAgent(name="long", sub_agents=agents)


def many_rows() -> dict[str, float]:
    """10,000 rows in this process: seconds for each thing that is looked at, and MiB at the highest."""
    numbers = itertools.count()

    def reply(request: LlmRequest) -> str:
        number = next(numbers)
        return (
            ("APPROVE" if number % 9 else "REJECT")
            + f" case {number}: "
            + "The second charge is paid back by Friday. " * 6
        )

    messages = [f"Ticket {number}: I was charged twice for September. " * 4 for number in range(math.ceil(ROWS / 6))]
    comparison = Lab(long_pipeline(), messages, VARIANTS, model=ScriptedModel(reply)).run()
    seconds: dict[str, float] = {}
    looks: dict[str, Callable[[], object]] = {
        "rows": lambda: comparison.rows,
        "findings": lambda: comparison.findings,
        "to_frame": comparison.to_frame,
        "summary": lambda: comparison.summary,
        "by_input": lambda: comparison.by_input,
    }
    for name, look in looks.items():
        seconds[name] = seconds_of(look)
    peak = highest()
    seconds["to_html"] = seconds_of(comparison.to_html)
    prompts = [prompt for record in comparison.records for step in record.steps for prompt in step.prompts]
    characters = sum(len(piece.text) for prompt in prompts for piece in prompt) / len(prompts)
    return {**seconds, "count": len(comparison.rows), "characters": characters, "peak": peak, "page": highest()}


def seconds_of(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def highest() -> float:
    """MiB that this process had at most so far (`ru_maxrss` would count its parent's too)."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM:")).split()[1]) / 1024


def rows() -> list[Row]:
    found: dict[str, float] = json.loads(fresh(__file__, "--rows"))
    return [
        Row(
            f"{found['count']:,.0f} rows, prompts of {found['characters']:,.0f} characters", f"{found['peak']:.0f} MiB", "", "",
            f"≤ {MEMORY} MiB", found["peak"] <= MEMORY,
        ),
        *(
            Row(f"  {what}", f"{figures(found[name] * 1000)} ms", "", "")
            for what, name in (
                ("measured", "rows"), ("what follows: intervals and tests", "findings"), ("to_frame()", "to_frame"),
                ("summary", "summary"), ("by_input", "by_input"), ("to_html()", "to_html"),
            )
        ),
        Row("  memory with the page and its charts", f"{found['page']:.0f} MiB", "", ""),
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--promptfoo", metavar="FOLDER", type=Path, help="where promptfoo was installed")
    parser.add_argument("--rows", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rows:
        print(json.dumps(many_rows()))
        return 0
    samples = 2 if options.quick else 7
    found = trials(samples)
    if options.promptfoo is not None:
        found.insert(1, promptfoo(options.promptfoo, samples))
    found += rows()
    print(f"adknb {adknb.__version__}, Python {platform.python_version()}, {cpu_name()}\n")
    print(*markdown(found), sep="\n")
    if options.promptfoo is None:
        print("\npromptfoo was not asked: name the folder that has it with --promptfoo")
    return 0 if all(row.met is not False for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
