"""Ctrl-C, cancellation and closed streams: the session keeps every event so far, and the next run works."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from adknb import LlmAgent, Run, Runner, SequentialAgent, ToolContext
from adknb.core.content import FunctionCall, Part
from adknb.models.scripted import ScriptedModel
from adknb.runtime.interrupts import Held
from adknb.runtime.sync import run_sync

CALL = [Part(function_call=FunctionCall("slow", {}))]


def last(runner: Runner) -> Run:
    """The run that failed or was interrupted."""
    assert runner.last_run is not None
    return runner.last_run


def two_steps(tool: Callable[..., Any] | None = None) -> SequentialAgent:
    return SequentialAgent(
        name="p",
        sub_agents=[
            LlmAgent(name="A", instruction="a", output_key="a"),
            LlmAgent(name="B", instruction="b {a}", tools=[tool] if tool else [], output_key="b"),
        ],
    )


async def test_a_cancelled_run_keeps_its_events_and_drops_what_no_event_holds() -> None:
    started = asyncio.Event()

    async def slow(tool_context: ToolContext) -> dict[str, Any]:
        """Wait."""
        tool_context.state["half"] = 1
        started.set()
        await asyncio.sleep(60)
        return {}

    runner = Runner(two_steps(slow), model=ScriptedModel({"A": ["a1"], "B": [CALL, "b1"]}))
    task = asyncio.ensure_future(runner.run_async("hi"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    run = last(runner)
    assert (run.status, [step.status for step in run.step_runs]) == ("interrupted", ["completed", "interrupted"])
    assert [event.author for event in run.turn_events] == ["user", "A", "B"]
    assert run.session.state == {"a": "a1"}
    assert [event.id for event in run.session.events] == [event.id for event in run.turn_events]


async def test_a_tool_thread_that_outlives_its_run_changes_nothing() -> None:
    release = threading.Event()
    started = threading.Event()
    done = threading.Event()

    def slow(tool_context: ToolContext) -> dict[str, Any]:
        """Wait in a thread."""
        started.set()
        release.wait(20)
        tool_context.state["late"] = 1
        done.set()
        return {}

    runner = Runner(two_steps(slow), model=ScriptedModel({"A": ["a1"], "B": [CALL, "b1"]}))
    task = asyncio.ensure_future(runner.run_async("hi"))
    await asyncio.to_thread(started.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()
    await asyncio.to_thread(done.wait, 20)
    run = last(runner)
    assert run.session.state == {"a": "a1"}
    assert run.step("B").notes == [
        "tool 'slow' was still running when the run was interrupted; its result is discarded"
    ]


async def test_an_interrupted_run_goes_on_with_continue() -> None:
    async def slow() -> dict[str, Any]:
        """Wait the first time."""
        if not tries:
            tries.append(1)
            await asyncio.sleep(60)
        return {"ok": True}

    tries: list[int] = []
    runner = Runner(two_steps(slow), model=ScriptedModel({"A": ["a1"], "B": [CALL, CALL, "b1"]}))
    task = asyncio.ensure_future(runner.run_async("hi"))
    while not tries:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    run = runner.continue_run(last(runner))
    assert (run.status, [step.output for step in run.step_runs]) == ("completed", ["a1", "b1"])


async def test_a_stream_that_is_not_read_to_its_end() -> None:
    runner = Runner(two_steps(), model=ScriptedModel({"A": ["a1"], "B": ["b1"]}))
    events = runner.stream("hi")
    first = await anext(events)
    assert (first.author, first.text) == ("A", "a1")
    assert last(runner).session.state == {"a": "a1"}
    await events.aclose()
    assert last(runner).status == "interrupted"
    assert [event.text for event in last(runner).turn_events] == ["hi", "a1"]


async def test_a_stream_that_is_left_in_the_middle_of_a_step_leaves_it_undone() -> None:
    runner = Runner(two_steps(), model=ScriptedModel({"A": ["a1"], "B": [CALL, "b1", "b2"]}))
    events = runner.stream("hi")
    async for event in events:
        if event.function_calls:
            break
    await events.aclose()
    assert [step.status for step in last(runner).step_runs] == ["completed", "interrupted"]
    run = await asyncio.to_thread(runner.continue_run, last(runner))
    assert (run.status, [step.output for step in run.step_runs]) == ("completed", ["a1", "b1"])


SCRIPT = textwrap.dedent(
    """
    import sys, time
    from adknb import LlmAgent, Runner
    from adknb.core.content import FunctionCall, Part
    from adknb.models.scripted import ScriptedModel

    def slow() -> dict:
        "Sleep."
        print("started", flush=True)
        time.sleep(60)
        return {}

    runner = Runner(
        LlmAgent(name="A", instruction="a", tools=[slow]),
        model=ScriptedModel({"A": [[Part(function_call=FunctionCall("slow", {}))], "b"]}),
    )
    try:
        runner.run("hi")
    except KeyboardInterrupt:
        run = runner.last_run
        print(run.status, [event.author for event in run.turn_events], flush=True)
    """
)


def test_ctrl_c_in_a_script_ends_it_although_a_tool_sleeps_on() -> None:
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=20)  # the tool would sleep for 60 s
    assert output == "interrupted ['user', 'A']\n"
    assert process.returncode == 0


BUSY = textwrap.dedent(
    """
    from adknb import LlmAgent, ParallelAgent, Runner, ScriptedModel

    def busy(context) -> None:
        context.state["half"] = 1
        print("started", flush=True)
        while True:
            context.state["half"] = 1 - context.state["half"]

    agents = [LlmAgent(name="A", output_key="a"), LlmAgent(name="B", before_agent_callback=busy)]
    runner = Runner(ParallelAgent(name="p", sub_agents=agents), model=ScriptedModel(lambda request: "reply"))
    try:
        runner.run("hi")
    except KeyboardInterrupt:
        run = runner.last_run
        print(run.status, sorted(step.status for step in run.step_runs), run.session.state, flush=True)
    print(Runner(agents[0], model="echo").run("next").output)
    """
)


def test_ctrl_c_in_a_busy_callback_beside_another_agent() -> None:
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", BUSY], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    status, _, answer = output.partition("\n")
    assert status.startswith("interrupted [")
    assert "half" not in status
    assert (answer, errors) == ("next\n", "")


def test_held_ctrl_c_comes_at_the_end_of_the_block() -> None:
    done = []

    def work() -> None:
        with Held():
            with Held():
                signal.raise_signal(signal.SIGINT)
                done.append("inner")
            done.append("never")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["inner"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_ends_code_that_the_first_does_not_reach() -> None:
    async def deaf() -> None:
        signal.raise_signal(signal.SIGINT)
        try:
            await asyncio.sleep(20)
        except asyncio.CancelledError:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run_sync(deaf)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
