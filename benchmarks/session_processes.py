"""What is measured of kept sessions in a process of its own. Each call prints one JSON object; memory is in MiB and counts the
whole process.

`load KIND FILE NAME` reads a session (see `session_stores.file_store`), `keep FILE RUNS` fills a database with a bench's runs,
`open FILE` is a new kernel's `%adk use --db`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memory import peak
from overhead import Row, fresh
from pipelines import MESSAGE, ticket
from session_stores import file_store

NOTEBOOK = "tickets.ipynb"


def separately(*arguments: object) -> dict[str, Any]:
    """What `python session_processes.py …` measures."""
    script = str(Path(__file__))
    measured: dict[str, Any] = json.loads(fresh(script, *map(str, arguments)))
    return measured


def memory_row(what: str, ours: Mapping[str, float], peer: str = "", theirs: Mapping[str, float] | None = None) -> Row:
    """Peaks in MiB, and what they were before the work."""
    if theirs is None:
        return Row(what, mebibytes(ours), "", "")
    added, their_added = (each["peak"] - each["before"] for each in (ours, theirs))
    return Row(what, mebibytes(ours), f"{peer}: {mebibytes(theirs)}", f"{their_added / added:.1f}× less added")


def mebibytes(measured: Mapping[str, float]) -> str:
    return f"{measured['peak']:.0f} MiB ({measured['before']:.0f} before)"


def load(kind: str, file: str, name: str) -> dict[str, Any]:
    return asyncio.run(_load(kind, file, name))


async def _load(kind: str, file: str, name: str) -> dict[str, Any]:
    store = file_store(kind, Path(file))
    await store.ask("PRAGMA synchronous")  # opened
    before = peak()
    events = await store.load(name)
    after = peak()
    await store.close()
    return {"events": events, "before": before, "peak": after}


def keep(file: str, count: str) -> dict[str, Any]:
    """Half of the runs are turns of one session, each other has a session of its own."""
    from adknb import ScriptedModel
    from adknb.notebook.bench import Bench
    from adknb.notebook.pipelines import AgentOptions
    from adknb.notebook.records import TurnRequest

    steps, runs = ticket(), int(count)
    replies = {step.name: step.reply for step in steps}
    bench = Bench({"model": ScriptedModel(lambda request: replies[request.agent])})
    bench.open(f"sqlite:///{file}", NOTEBOOK)
    bench.use(model=bench.namespace["model"])
    for step in steps:
        bench.put_agent("ticket", step.name, step.instruction, AgentOptions(key=step.key), cell=f"cell {step.name}")
    started = time.perf_counter()
    for number in range(runs):
        session = "chat" if number % 2 else None
        bench.run("ticket", TurnRequest(MESSAGE, session=session, cell=f"cell {number}", append=session is not None))
    seconds = time.perf_counter() - started
    bench.open("memory")
    return {"milliseconds": seconds * 1000 / runs, "bytes": Path(file).stat().st_size}


def open_bench(file: str) -> dict[str, Any]:
    from adknb import ScriptedModel
    from adknb.notebook.bench import Bench

    bench = Bench({"model": ScriptedModel({})})
    before = peak()
    started = time.perf_counter()
    remarks = bench.open(f"sqlite:///{file}", NOTEBOOK)
    milliseconds = (time.perf_counter() - started) * 1000
    return {
        "milliseconds": milliseconds, "runs": len(bench.runs), "sessions": len({run.session.id for run in bench.runs}),
        "changes": len(bench.home.undo), "remarks": list(remarks), "before": before, "peak": peak(),
    }  # fmt: skip


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    measured = {"load": load, "keep": keep, "open": open_bench}[what](*arguments)
    print(json.dumps(measured))
