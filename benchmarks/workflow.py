"""What a step of a SequentialWorkflow costs with its policies on and a checkpoint after it: adknb next to tenacity and sqlite3
by hand, LangGraph with its SQLite checkpointer, and DBOS, in one process.

Needs LangGraph and DBOS beside adknb (see README.md). A step does nothing; each contestant tries it again, limits its time, and
stores what it gave before the next begins, in an SQLite file with a write-ahead log and `synchronous=FULL`. Contestants take
turns sample by sample. Times are of one step; medians, with the smallest and largest sample. Exits 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, TypedDict

from overhead import Row, Timed, cpu_name, markdown, times_as_much, times_less

import adknb
from adknb import CircuitBreaker, DatabaseSessionService, MetricsObserver, RetryPolicy, SequentialWorkflow, Step
from adknb.workflow.middleware import CallNext, StepReply, StepRequest

STEPS = 20
ATTEMPTS = 3
SECONDS = 30.0


class Contestant(Protocol):
    async def turn(self) -> Any:
        """Run `STEPS` steps on a new input; what the last one gives."""
        ...


async def nothing(payload: Any) -> Any:
    """What each step does."""
    return payload


class Adknb:
    """A workflow whose steps have every policy but the cache, which would spare the call."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        breaker = CircuitBreaker()
        steps = [
            Step(
                name=f"step{number}", agent=nothing, condition=lambda data: data.error is None,
                transformer=lambda payload: payload, timeout=SECONDS, retry_policy=RetryPolicy(ATTEMPTS),
                on_error="fallback", fallback=nothing, context_updates={"seen": number}, circuit_breaker=breaker,
            )
            for number in range(STEPS)
        ]  # fmt: skip
        self._service = DatabaseSessionService(f"sqlite:///{folder / 'adknb.db'}")
        self._workflow = SequentialWorkflow(
            steps, middleware=[_hand_on], observers=[MetricsObserver()], token_budget=50_000, timeout=180,
            session_service=self._service, checkpoint=True, **settings,
        )  # fmt: skip

    async def turn(self) -> Any:
        return (await self._workflow.execute("a topic")).output

    async def close(self) -> None:
        await self._service.aclose()


async def _hand_on(request: StepRequest, call_next: CallNext) -> StepReply:
    return await call_next(request)


class ByHand:
    """What one writes without a framework: tenacity, a timeout, and a table of checkpoints."""

    def __init__(self, folder: Path) -> None:
        self._rows = sqlite3.connect(folder / "hand.db", isolation_level=None)
        self._rows.execute("PRAGMA journal_mode = WAL")
        self._rows.execute("PRAGMA synchronous = FULL")
        self._rows.execute("CREATE TABLE steps (run TEXT, step INTEGER, data TEXT, PRIMARY KEY (run, step))")
        self._runs = itertools.count()

    async def turn(self) -> Any:
        from tenacity import AsyncRetrying, stop_after_attempt, wait_exponential

        run = str(next(self._runs))
        data: dict[str, Any] = {"payload": "a topic", "context": {}}
        for number in range(STEPS):
            payload = data["payload"]

            async def call(payload: Any = payload) -> Any:
                async with asyncio.timeout(SECONDS):
                    return await nothing(payload)

            retrying = AsyncRetrying(stop=stop_after_attempt(ATTEMPTS), wait=wait_exponential(), reraise=True)
            said = await retrying(call)
            data = {"payload": said, "context": {**data["context"], f"step{number}_output": said}}
            self._rows.execute("BEGIN IMMEDIATE")
            self._rows.execute("INSERT INTO steps VALUES (?, ?, ?)", (run, number, json.dumps(data)))
            self._rows.execute("COMMIT")
        return data["payload"]

    async def close(self) -> None:
        self._rows.close()


class LangGraph:
    """A chain of nodes with a retry policy, each checkpoint stored before the next node runs."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "langgraph.db"
        self._graph: Any = None
        self._runs = itertools.count()

    async def _open(self) -> None:
        import aiosqlite
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
        from langgraph.graph import END, START, StateGraph
        from langgraph.types import RetryPolicy as Retries

        class State(TypedDict):
            payload: str

        async def node(state: State) -> dict[str, Any]:
            return {"payload": await nothing(state["payload"])}

        graph = StateGraph(State)
        before: str = START
        for number in range(STEPS):
            graph.add_node(f"step{number}", node, retry_policy=Retries(max_attempts=ATTEMPTS))
            graph.add_edge(before, f"step{number}")
            before = f"step{number}"
        graph.add_edge(before, END)
        self._rows = await aiosqlite.connect(self._file)
        await self._rows.execute("PRAGMA synchronous = FULL")
        self._graph = graph.compile(checkpointer=AsyncSqliteSaver(self._rows))

    async def turn(self) -> Any:
        if self._graph is None:
            await self._open()
        config = {"configurable": {"thread_id": str(next(self._runs))}, "recursion_limit": STEPS + 2}
        return (await self._graph.ainvoke({"payload": "a topic"}, config, durability="sync"))["payload"]

    async def close(self) -> None:
        await self._rows.close()


class Dbos:
    """A durable workflow of steps with retries, in DBOS's own SQLite file."""

    def __init__(self, folder: Path) -> None:
        from dbos import DBOS

        url = f"sqlite:///{folder / 'dbos.db'}"
        DBOS(config={"name": "benchmark", "system_database_url": url, "log_level": "ERROR", "run_admin_server": False})

        @DBOS.step(retries_allowed=True, max_attempts=ATTEMPTS)
        async def step(payload: str) -> str:
            return str(await nothing(payload))

        @DBOS.workflow()
        async def flow(payload: str) -> str:
            for _ in range(STEPS):
                payload = await step(payload)
            return payload

        DBOS.launch()
        self._flow: Callable[[str], Awaitable[str]] = flow

    async def turn(self) -> Any:
        return await self._flow("a topic")

    async def close(self) -> None:
        from dbos import DBOS

        DBOS.destroy()


async def sample(contestants: Mapping[str, Contestant], repeats: int) -> dict[str, Timed]:
    """Milliseconds of a step: `repeats` samples of each contestant, in turn, each a turn, after one to warm up."""
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    for name, contestant in contestants.items():
        if await contestant.turn() != "a topic":
            raise SystemExit(f"{name} does other work: the comparison would not be fair")
    for _ in range(repeats):
        for name, contestant in contestants.items():
            gc.collect()
            started = time.perf_counter()
            await contestant.turn()
            samples[name].append((time.perf_counter() - started) * 1000 / STEPS)
    return {name: Timed(values) for name, values in samples.items()}


async def measure(repeats: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        contestants = {
            "adknb": Adknb(folder), "by hand": ByHand(folder), "LangGraph": LangGraph(folder), "DBOS": Dbos(folder),
        }  # fmt: skip
        timed = await sample(contestants, repeats)
        for contestant in contestants.values():
            await contestant.close()
    ours = timed["adknb"]
    return [
        times_as_much("a step, next to one by hand", ours, "by hand", timed["by hand"], 1.5),
        *(
            times_less(f"  next to {peer}", ours, peer, timed[peer], 1)._replace(target="less")
            for peer in ("LangGraph", "DBOS")
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    rows = asyncio.run(measure(15 if parser.parse_args().quick else 60))
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("langgraph", "langgraph-checkpoint-sqlite", "dbos", "tenacity")
    )
    print(f"adknb {adknb.__version__}, {packages}, Python {platform.python_version()}, {cpu_name()}\n")
    print(*markdown(rows), sep="\n")
    return 0 if all(row.met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
