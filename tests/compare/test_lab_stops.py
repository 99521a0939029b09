"""Comparisons that are stopped: by Ctrl-C wherever it strikes, by sys.exit, by a cancellation, by a kill."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from adknb import CallbackContext, LlmAgent, LlmRequest, SpecError
from adknb.compare.lab import Lab, compare_variants
from adknb.compare.progress import Progress
from adknb.compare.store import Store
from tests.compare.pipelines import Asked, call, texts

INPUTS = [str(number) for number in range(6)]
SECONDS = 60.0
"""After so long a process counts as hanging."""


def single(**fields: Any) -> LlmAgent:
    return LlmAgent(name="A", **fields)


def stopped(lab: Lab, by: type[BaseException]) -> list[str]:
    """The inputs that were done when `by` ended the comparison."""
    with pytest.raises(by):
        lab.run()
    return [record.input for record in lab.comparison.records]


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


# in this process


async def in_the_model(request: LlmRequest) -> str:
    if texts(request) == ["3"]:
        ctrl_c()
        await asyncio.sleep(SECONDS)
    return "done"


async def beside_the_model(request: LlmRequest) -> str:
    if texts(request) == ["3"]:
        asyncio.get_running_loop().call_later(0.01, ctrl_c)
        await asyncio.sleep(SECONDS)
    return "done"


@pytest.mark.parametrize("answer", [in_the_model, beside_the_model])
def test_ctrl_c_while_a_model_is_asked(answer: Callable[[LlmRequest], Any]) -> None:
    lab = Lab(single(), INPUTS, ["default"], model=Asked(answer), concurrency=1)
    assert stopped(lab, KeyboardInterrupt) == ["1", "2", "3"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_in_a_busy_callback() -> None:
    def busy(context: CallbackContext) -> None:
        if context.user_content.text == "3":
            ctrl_c()
            while True:
                context.state["n"] = 1

    lab = Lab(single(before_agent_callback=busy), INPUTS, ["default"], model=Asked({"A": "done"}), concurrency=1)
    assert stopped(lab, KeyboardInterrupt) == ["1", "2", "3"]


def test_ctrl_c_in_a_tool_s_thread() -> None:
    release: list[bool] = []

    def slow() -> dict[str, Any]:
        """Wait."""
        ctrl_c()
        while not release:
            time.sleep(0.01)
        return {}

    def answer(request: LlmRequest) -> Any:
        return call("slow") if texts(request) == ["3"] else "done"

    lab = Lab(single(tools=[slow]), INPUTS, ["default"], model=Asked(answer), concurrency=1)
    assert stopped(lab, KeyboardInterrupt) == ["1", "2", "3"]
    release.append(True)


def test_ctrl_c_in_a_progress_of_the_user_s() -> None:
    def busy(progress: Progress) -> None:
        if progress.done == 2:
            ctrl_c()

    lab = Lab(single(), INPUTS, ["default"], model=Asked({"A": "done"}), concurrency=1, progress=busy)
    assert stopped(lab, KeyboardInterrupt)[:2] == ["1", "2"]


def test_sys_exit_in_a_callback() -> None:
    def leave(context: CallbackContext) -> None:
        if context.user_content.text == "3":
            sys.exit(7)

    lab = Lab(single(before_agent_callback=leave), INPUTS, ["default"], model=Asked({"A": "done"}), concurrency=1)
    assert stopped(lab, SystemExit) == ["1", "2", "3"]


def test_a_cancellation_of_the_user_s_own() -> None:
    def cancel(context: CallbackContext) -> None:
        if context.user_content.text == "3":
            raise asyncio.CancelledError

    lab = Lab(single(before_agent_callback=cancel), INPUTS, ["default"], model=Asked({"A": "done"}), concurrency=1)
    assert stopped(lab, asyncio.CancelledError) == ["1", "2", "3"]


@pytest.mark.parametrize("kind", ["run", "paired"])
async def test_no_task_is_left_behind(kind: Any) -> None:
    def leave(context: CallbackContext) -> None:
        if context.user_content.text == "3":
            sys.exit(7)

    async def answer(request: LlmRequest) -> str:
        if texts(request)[-1] in "012":
            return "done"
        running.append(request)
        try:
            await asyncio.sleep(SECONDS)
        finally:
            running.remove(request)
        return "never"

    running: list[LlmRequest] = []
    tasks = asyncio.all_tasks()
    lab = Lab(
        single(before_agent_callback=leave),
        INPUTS[::-1],
        ["default", "none"],
        kind=kind,
        model=Asked(answer),
        concurrency=8,
    )
    with pytest.raises(SystemExit):
        await lab.run_async()
    assert (asyncio.all_tasks() - tasks, running) == (set(), [])


async def test_a_deadline_around_a_comparison() -> None:
    async def answer(request: LlmRequest) -> str:
        await asyncio.sleep(SECONDS if texts(request) == ["5"] else 0)
        return "done"

    lab = Lab(single(), INPUTS, ["default"], model=Asked(answer))
    with anyio.move_on_after(1) as scope:
        await lab.run_async()
    assert scope.cancelled_caught
    assert [record.input for record in lab.comparison.records] == ["1", "2", "3", "4", "5"]


def test_what_a_progress_raises_ends_the_comparison_as_it_is() -> None:
    def fail(progress: Progress) -> None:
        if progress.done:
            raise SpecError("no more")

    async def answer(request: LlmRequest) -> str:
        await asyncio.sleep(0.01)
        return "done"

    store, asked = Store(), Asked(answer)
    with pytest.raises(SpecError, match="no more"):
        compare_variants(single(), INPUTS, ["default"], model=asked, progress=fail, store=store, concurrency=1)
    assert len(store) == 1
    assert len(asked.requests) == 2  # the second was under way


def test_trials_that_were_finished_and_not_yet_counted_are_kept() -> None:
    """All end at once, and the first that is counted stops the comparison."""

    def fail(progress: Progress) -> None:
        if progress.done:
            raise SpecError("no more")

    lab = Lab(single(), INPUTS, ["default"], model=Asked({"A": "done"}), progress=fail, concurrency=6)
    with pytest.raises(SpecError, match="no more"):
        lab.run()
    assert [record.input for record in lab.comparison.records] == ["1", "2", "3", "4", "5", "6"]


# in a process of its own


SCRIPT = """
import asyncio, sys
from adknb.compare.lab import Lab
from tests.compare.pipelines import Asked, texts, two_steps

async def answer(request):
    if asked.requests[0] is request:
        print("started", flush=True)
    await asyncio.sleep(60 if "5" in texts(request) else 0.02)
    return request.agent.lower()

asked = Asked(answer)
lab = Lab(two_steps(), [str(number) for number in range(8)], ["default"], model=asked, store=sys.argv[1], concurrency=1)
try:
    lab.run()
except KeyboardInterrupt:
    print(len(lab.comparison.records), lab.comparison.missing, len(asked.requests), flush=True)
"""


def started(path: Path) -> subprocess.Popen[str]:
    """A comparison of eight inputs that hangs at the sixth."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(SCRIPT), str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def wait_for_lines(path: Path, count: int) -> None:
    deadline = time.monotonic() + SECONDS
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def taken_up(path: Path) -> int:
    """How many requests are made when the comparison goes on."""
    from tests.compare.pipelines import two_steps

    asked = Asked({"A": "a", "B": "b"})
    inputs = [str(number) for number in range(8)]
    comparison = compare_variants(two_steps(), inputs, ["default"], model=asked, store=path)
    assert (len(comparison.records), comparison.missing) == (8, 0)
    assert [row["answer"] for row in comparison.rows] == ["a", "b"] * 8
    return len(asked.requests)


def test_ctrl_c_in_a_script_and_taken_up_by_another(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    with started(path) as process:
        wait_for_lines(path, 5)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=SECONDS)
    assert (output, errors, process.returncode) == ("started\n5 3 11\n", "", 0)
    assert taken_up(path) == 6


def test_a_killed_process_and_taken_up_by_another(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    with started(path) as process:
        wait_for_lines(path, 5)
        with pytest.raises(SpecError, match="another comparison writes into"):
            taken_up(path)
        process.kill()
        process.communicate(timeout=SECONDS)
    assert process.returncode == -signal.SIGKILL
    assert taken_up(path) == 6
