"""Kills processes that run a workflow, at random moments, until one comes to the end; prints what each trial came to as JSON.

Run as `python -m tests.workflow.killing FOLDER TRIALS SEED`. The processes are forked by one that never opens the database.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from adknb.core.specs import LlmAgent
from adknb.models.scripted import ScriptedModel
from adknb.sessions.database.service import DatabaseSessionService
from adknb.tokens.counter import default_counter
from adknb.workflow.data import PipelineData
from adknb.workflow.errors import CheckpointError
from adknb.workflow.retry import RetryPolicy
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow

MOST = 5
"""Deaths in a trial; then the processes are let live."""


def flow(folder: Path) -> SequentialWorkflow:
    """Eight steps: functions and agents, some together, one that fails first and one that is gone on without."""

    def note(line: str) -> None:
        with (folder / "calls").open("a") as calls:
            calls.write(f"{line}\n")

    def function(name: str) -> Any:
        async def add(payload: Any) -> str:
            note(name)
            return f"{payload}{name}"

        return add

    async def fails(payload: Any) -> str:
        note("e")
        raise ConnectionError("refused")

    def look(data: PipelineData) -> str:
        note("h")
        return f"{data.payload} {data.context['g_output']} {[str(warning) for warning in data.warnings]}"

    def wait(attempt: int) -> float:
        return 0.001

    def asks(name: str) -> LlmAgent:
        return LlmAgent(
            name=name,
            instruction="{a_output}",
            output_key=f"{name}_key",
            before_agent_callback=lambda context: note(name),
        )

    return SequentialWorkflow(
        [
            Step(name="a", agent=function("a")),
            Step(name="b", agent=asks("b")),
            Step(name="c", agent=function("c"), reads="input"),
            Step(name="d", agent=function("d"), reads="input"),
            Step(name="e", agent=fails, on_error="continue", retry_policy=RetryPolicy(2, wait)),
            Step(name="f", agent=function("f"), condition=lambda data: data.error is None),
            Step(name="g", agent=asks("g")),
            Step(name="h", agent=look),
        ],
        model=ScriptedModel({"b": ["said b"], "g": ["said g"]}),
        session_service=DatabaseSessionService(f"sqlite:///{folder / 'runs.db'}"), checkpoint=True, max_parallel=3,
    )  # fmt: skip


def process(folder: Path, run_id: str, begins: bool) -> None:
    """Begin or resume the run and write down how it ended."""
    workflow = flow(folder)
    found = next((each for each in workflow.checkpoints() if each.run_id == run_id), None)
    with (folder / "calls").open("a") as calls:
        calls.write(f"done {' '.join(found.done) if found is not None else ''}\n")
    try:
        result = workflow.run("in:", run_id=run_id) if begins else workflow.resume(run_id)
    except CheckpointError:
        (folder / "ended").write_text("never begun")
        return
    ended = {
        "output": result.output, "context": dict(result.data.context), "state": result.session.state,
        "warnings": [warning.step for warning in result.data.warnings], "events": len(result.session.events),
        "steps": [f"{outcome.step} {outcome.status}" for outcome in result.outcomes],
    }  # fmt: skip
    (folder / "ended").write_text(json.dumps(ended))


def forked(folder: Path, run_id: str, begins: bool, kill_after: float | None) -> bool:
    """Whether the process came to its end; it is killed after so many seconds."""
    child = os.fork()
    if child == 0:
        try:
            process(folder, run_id, begins)
        except BaseException as error:
            (folder / "ended").write_text(f"{type(error).__name__}: {error}")
        os._exit(0)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFEXITED(status)


def trial(folder: Path, chance: random.Random, longest: float) -> dict[str, Any]:
    """One run through any number of deaths."""
    folder.mkdir()
    deaths, again = 0, []
    run_id, begins = "run-0", True
    while True:
        is_whole = forked(folder, run_id, begins, chance.uniform(0, longest) if deaths < MOST else None)
        ended = (folder / "ended").read_text() if (folder / "ended").exists() else ""
        (folder / "ended").unlink(missing_ok=True)
        if not is_whole:
            deaths, begins = deaths + 1, False
        elif ended == "never begun":  # died before anything was stored: that is a run of its own
            run_id, begins = f"run-{deaths}", True
        else:
            break
    calls = (folder / "calls").read_text().split("\n") if (folder / "calls").exists() else []
    done: set[str] = set()
    for line in calls:
        if line.startswith("done"):
            done = set(line.split()[1:])
        elif line in done:
            again.append(line)
    return {"deaths": deaths, "called again": again, "ended": json.loads(ended) if ended.startswith("{") else ended}


def main() -> None:
    folder, trials, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for module in ("anyio", "tenacity.asyncio", "sqlalchemy.dialects.sqlite.pysqlite"):
        import_module(module)  # once, not in each process
    default_counter().count("loaded")
    chance = random.Random(seed)
    (folder / "whole").mkdir()
    started = time.perf_counter()
    forked(folder / "whole", "run-0", True, None)
    longest = (time.perf_counter() - started) * 1.1
    whole = json.loads((folder / "whole" / "ended").read_text())
    found = [trial(folder / str(number), chance, longest) for number in range(trials)]
    print(json.dumps({"whole": whole, "trials": found}))


if __name__ == "__main__":
    main()
