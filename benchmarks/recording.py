"""What record and replay cost: replies a second, and a file of 100 MB that is opened without being read into memory.

Needs adknb alone. The peer is the plain way: every line of the file parsed into a dict. Prints a Markdown table with the
targets and exits 1 when one is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from overhead import Row, Timed, cpu_name, figures, fresh, markdown

import adknb
from adknb.core.content import Content
from adknb.core.errors import CassetteMissError
from adknb.core.requests import LlmRequest, LlmResponse, Segment
from adknb.core.usage import Usage
from adknb.models.cassette_line import to_line
from adknb.models.replay import ReplayModel
from adknb.models.request_key import request_key

MODEL = "gemini-2.5-flash"
SIZE = 100_000_000
REPLIES = 2_000
INSTRUCTION = """You write replies for the support team. Triage result: {"category": "billing", "urgency": 2}
Known customer tier: gold. Draft a reply of at most 120 words. Do not promise refunds.

You are an agent. Your internal name is "DraftAgent". The description about you is "Drafts a reply from the triage result."."""
CONTEXT = "I was charged twice for September, and nobody answered my first letter. "


def request(number: int) -> LlmRequest:
    """A request of the ticket pipeline's size, different for each number."""
    message = f"Ticket {number}: {CONTEXT * 8}"
    contents = [
        Content.user(message),
        Content.user(f'For context: [TriageAgent] said: {{"category": "billing", "ticket": {number}}}'),
    ]
    return LlmRequest("DraftAgent", MODEL, [Segment(INSTRUCTION, "instruction")], contents, [None, None])


def write(path: Path, size: int) -> int:
    """A file of so many bytes; returns how many replies are in it."""
    reply = LlmResponse(Content.model("We are looking into it and will write to you by Friday. " * 4), Usage(412, 58))
    number = written = 0
    with path.open("wb") as file:
        while written < size:
            sent = request(number)
            written += file.write(to_line(request_key(sent), MODEL, MODEL, sent, reply))
            number += 1
    return number


class Rates(NamedTuple):
    """Replies a second, one value a sample: by the clock on the wall, and by what the process itself was given of it."""

    wall: list[float]
    own: list[float]


async def replay(path: Path, samples: int) -> Rates:
    """`REPLIES` different requests a sample, each asked of the model as a step asks it; one sample to warm up."""
    rates = Rates([], [])
    requests = [request(number) for number in range(REPLIES)]
    with ReplayModel(path) as model:
        for _ in range(samples + 1):
            gc.collect()
            wall, own = time.perf_counter(), time.process_time()
            for sent in requests:
                async for _reply in model.generate_content_async(sent):
                    pass
            rates.wall.append(REPLIES / (time.perf_counter() - wall))
            rates.own.append(REPLIES / (time.process_time() - own))
    return Rates(rates.wall[1:], rates.own[1:])


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):,.0f} ({min(values):,.0f}–{max(values):,.0f})"


async def miss(path: Path) -> float:
    """Seconds until a miss in the big file has found the nearest request."""
    with ReplayModel(path) as model:
        sent = request(7)
        sent.append_instructions(["Be brief."])
        started = time.perf_counter()
        try:
            async for _ in model.generate_content_async(sent):
                pass
        except CassetteMissError:
            return time.perf_counter() - started
    raise SystemExit("a request that was not recorded was answered")


def opened(how: str, path: Path) -> dict[str, Any]:
    """What a fresh process measures when it opens the file `how`."""
    result: dict[str, Any] = json.loads(fresh(__file__, "--open", how, str(path)))
    return result


def open_here(how: str, path: Path) -> dict[str, float]:
    """Seconds for opening, and MiB of memory that it took and keeps."""
    ways: dict[str, Callable[[], object]] = {"index": lambda: ReplayModel(path), "parse": lambda: parsed(path)}
    before = resident()
    started = time.perf_counter()
    kept = ways[how]()
    seconds = time.perf_counter() - started
    memory = resident() - before
    del kept
    return {"seconds": seconds, "memory": memory}


def parsed(path: Path) -> dict[str, Any]:
    with path.open(encoding="utf-8") as file:
        return {line["key"]: line for line in map(json.loads, file)}


def resident() -> float:
    """MiB of this process that are in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure(path: Path, quick: bool) -> list[Row]:
    few = 3 if quick else 7
    count = write(path, SIZE)
    index = [opened("index", path) for _ in range(few)]
    plain = [opened("parse", path) for _ in range(1 if quick else 3)]
    ours, peer = Timed([one["seconds"] * 1000 for one in index]), Timed([one["seconds"] * 1000 for one in plain])
    memory, whole = max(one["memory"] for one in index), max(one["memory"] for one in plain)
    rates = asyncio.run(replay(path, 10 if quick else 40))
    rate = statistics.median(rates.wall)
    seconds = asyncio.run(miss(path))
    return [
        Row(
            f"open {SIZE / 1e6:.0f} MB, {count:,} replies", str(ours), f"json.loads: {peer}",
            f"{peer.median / ours.median:.1f}× less", "≤ 1,000 ms", ours.median <= 1000,
        ),
        Row(
            "  memory that it takes", f"{memory:.1f} MiB", f"json.loads: {whole:.0f} MiB",
            f"{whole / memory:.1f}× less", "≤ 25 MiB", memory <= 25,
        ),
        Row("replies a second from it", spread(rates.wall), "", "", "≥ 20,000", rate >= 20_000),
        Row("  by the processor time of the process", spread(rates.own), "", ""),
        Row("a miss in it, nearest request found", f"{figures(seconds * 1000)} ms", "", "", "≤ 2,000 ms", seconds <= 2),
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--open", nargs=2, metavar=("HOW", "FILE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.open:
        print(json.dumps(open_here(arguments.open[0], Path(arguments.open[1]))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder, "tickets.jsonl"), arguments.quick)
    print(f"adknb {adknb.__version__}, Python {platform.python_version()}, {cpu_name()}\n", *markdown(rows), sep="\n")
    return 0 if all(row.met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
