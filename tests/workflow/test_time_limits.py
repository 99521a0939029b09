"""Timeouts of a step and of a whole run, waits, and Ctrl-C: nothing goes on that was ended."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from typing import Any

import anyio
import pytest

from adknb.workflow.circuit import CircuitBreaker
from adknb.workflow.data import PipelineData
from adknb.workflow.errors import StepFailedError, StepTimeoutError, WorkflowTimeoutError
from adknb.workflow.retry import RetryPolicy
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow
from tests.workflow.flows import Time, adds, broken, left_behind, told, workflow

pytestmark = pytest.mark.anyio

MAIN = threading.main_thread().ident or 0

TWICE = RetryPolicy(max_attempts=2, backoff=lambda attempt: 1.0)


async def forever(payload: str) -> str:
    await anyio.sleep_forever()
    return payload


async def test_a_step_s_timeout_counts_for_each_attempt_and_is_tried_again() -> None:
    flow = workflow(Step(name="a", agent=forever, timeout=0.01, retry_policy=TWICE))
    with pytest.raises(StepFailedError) as caught:
        await flow.execute("in")
    assert isinstance(caught.value.__cause__, StepTimeoutError)
    assert str(caught.value) == (
        "step 1 (a) failed after 2 attempts: StepTimeoutError: step 'a' took longer than its 0.01 s. Give it longer "
        "(timeout=…), or less to do."
    )
    assert caught.value.result is not None
    assert told(caught.value.result) == ["a started 1", "a retry 1", "a started 2", "a failed 2"]
    assert left_behind() == set()


async def test_a_step_that_ends_in_time_is_not_ended() -> None:
    assert (await workflow(Step(name="a", agent=adds("a"), timeout=60)).execute("in:")).output == "in:a"


async def test_a_function_in_a_thread_is_left_behind_and_named() -> None:
    release = threading.Event()
    flow = workflow(Step(name="a", agent=lambda payload: str(release.wait(10)), timeout=0.01, on_error="skip"))
    try:
        result = await flow.execute("in")
    finally:
        release.set()
    assert result.output == "in"
    assert result.runs["a"][0].notes == [
        "function 'a' was still running when its step was over; its result is discarded"
    ]


async def test_a_run_s_timeout_ends_it_whatever_the_step_s_action_is() -> None:
    flow = SequentialWorkflow(
        [Step(name="a", agent=adds("a")), Step(name="b", agent=forever, on_error="continue")], timeout=0.05
    )
    with pytest.raises(WorkflowTimeoutError) as caught:
        await flow.execute("in:")
    assert str(caught.value) == (
        "workflow 'workflow' took longer than its 0.05 s at step 2 (b). Give it longer (timeout=…); with checkpoint=True a run "
        "can be resumed."
    )
    result = caught.value.result
    assert result is not None
    assert (result.status, result.output) == ("failed", "in:a")
    assert [run.status for run in result.runs["b"]] == ["interrupted"]
    assert left_behind() == set()


async def test_no_step_begins_after_the_run_s_time() -> None:
    clock, late = Time(), adds("b")

    def slow(payload: str) -> str:
        clock.now += 11
        return payload

    flow = SequentialWorkflow([Step(name="a", agent=slow), Step(name="b", agent=late)], timeout=10, clock=clock)
    with pytest.raises(WorkflowTimeoutError, match=r"at step 2 \(b\)"):
        await flow.execute("in")
    assert late.seen == []


async def test_no_attempt_begins_whose_wait_would_pass_the_run_s_time() -> None:
    clock = Time()
    policy = RetryPolicy(max_attempts=10, backoff=lambda attempt: 4.0)
    function = adds("a", *[ConnectionError("refused")] * 9)
    flow = SequentialWorkflow(
        [Step(name="a", agent=function, retry_policy=policy)], timeout=10, clock=clock, sleep=clock.sleep
    )
    with pytest.raises(StepFailedError, match="failed after 3 attempts: ConnectionError: refused"):
        await flow.execute("in")
    assert (clock.slept, len(function.seen)) == ([4.0, 4.0], 3)


async def test_waits_are_the_policy_s_and_are_told() -> None:
    clock = Time()
    policy = RetryPolicy(max_attempts=3, backoff=lambda attempt: float(attempt))
    function = adds("a", ConnectionError("x"), ConnectionError("y"))
    flow = SequentialWorkflow([Step(name="a", agent=function)], retry_policy=policy, clock=clock, sleep=clock.sleep)
    result = await flow.execute("in:")
    assert clock.slept == [1.0, 2.0]
    assert [event.wait for event in result.events if event.action == "retry"] == [1.0, 2.0]


async def test_the_step_s_own_policy_counts_before_the_workflow_s() -> None:
    flow = workflow(
        Step(name="a", agent=adds("a", ConnectionError("x")), retry_policy=RetryPolicy()), retry_policy=TWICE
    )
    with pytest.raises(StepFailedError, match=r"^step 1 \(a\) failed: ConnectionError: x$"):
        await flow.execute("in")


async def test_a_cancelled_run_ends_at_once_and_is_not_tried_again() -> None:
    calls: list[str] = []

    async def hang(payload: str) -> str:
        calls.append(payload)
        await anyio.sleep_forever()
        return payload

    steps = [Step(name=name, agent=hang, reads="input", retry_policy=TWICE, on_error="skip") for name in "abc"]
    flow = workflow(*steps, max_parallel=2)
    task = asyncio.ensure_future(flow.execute("in"))
    while len(calls) < 2:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert flow.last is not None
    assert (flow.last.status, flow.last.outcomes, calls) == ("interrupted", (), ["in", "in"])
    assert flow.last.events[-1].detail == "interrupted"
    assert left_behind() == set()


@pytest.mark.parametrize("is_in_a_cell", [False, True])
def test_ctrl_c_ends_a_run_which_can_be_resumed(is_in_a_cell: bool) -> None:
    hits: list[str] = []

    def stop(payload: str) -> str:
        hits.append(payload)
        if len(hits) == 1:
            signal.pthread_kill(MAIN, signal.SIGINT)  # from a timer it would come too late on a busy machine
            time.sleep(0.2)
        return f"{payload}b"

    first = adds("a")
    flow = workflow(Step(name="a", agent=first), Step(name="b", agent=stop), checkpoint=True)

    def interrupted() -> None:
        with pytest.raises(KeyboardInterrupt):
            flow.run("in:", run_id="run-1")

    async def cell() -> set[str]:
        interrupted()
        return left_behind()

    if is_in_a_cell:
        assert asyncio.run(cell()) == set()
    else:
        interrupted()
    assert flow.last is not None
    assert flow.last.status == "interrupted"
    assert [(each.run_id, each.done, each.next_steps) for each in flow.checkpoints()] == [("run-1", ("a",), ("b",))]
    assert flow.resume("run-1").output == "in:ab"
    assert first.seen == ["in:"]


async def test_run_is_for_plain_code_and_for_a_running_loop_alike() -> None:
    flow = workflow(Step(name="a", agent=adds("a")))
    assert flow.run("in:").output == "in:a"
    assert (await flow.execute("in:")).output == "in:a"


async def test_a_circuit_breaker_refuses_calls_that_count_for_nothing_more() -> None:
    clock = Time()
    breaker = CircuitBreaker(threshold=2, reset_timeout=100, clock=clock)
    function = adds("a", *[ConnectionError("down")] * 5)
    step = Step(name="a", agent=function, circuit_breaker=breaker, on_error="skip")
    flow = SequentialWorkflow([step], clock=clock, sleep=clock.sleep)
    errors = []
    for _ in range(3):
        result = await flow.execute("in")
        error = result.outcomes[0].error
        assert error is not None
        errors.append(error.code)
    assert errors == ["ConnectionError", "ConnectionError", "CircuitOpenError"]
    assert len(function.seen) == 2


async def test_an_error_handler_decides_before_the_step_s_action() -> None:
    asked = []

    def handle(step: Step, data: PipelineData, error: Exception, classification: Any) -> Any:
        asked.append((step.name, data.payload, str(error), classification.category.value))
        return {"a": "skip", "b": PipelineData("handled", context={"why": "b"}), "c": None}[step.name]

    def fail(payload: str) -> str:
        raise ValueError("invalid")

    steps = [Step(name=name, agent=fail, on_error="continue" if name == "c" else "fail") for name in "abc"]
    result = await workflow(*steps, error_handler=handle).execute("in")
    assert [outcome.status for outcome in result.outcomes] == ["skipped", "fallback", "continued"]
    assert asked == [
        ("a", "in", "invalid", "validation"),
        ("b", "in", "invalid", "validation"),
        ("c", "handled", "invalid", "validation"),
    ]
    assert result.data.context["b_output"] == "handled"
    assert result.data.context["why"] == "b"


async def test_an_error_handler_that_answers_nonsense_is_an_error() -> None:
    flow = workflow(Step(name="a", agent=adds("a", ValueError("x"))), error_handler=lambda *arguments: "fallback")
    with pytest.raises(Exception, match="the error handler answered 'fallback' about step 'a'"):
        await flow.execute("in")


async def test_an_error_handler_that_raises_ends_the_run_with_its_own_error() -> None:
    first, second = LookupError("gone"), RuntimeError("no idea")

    def handle(*_: object) -> None:
        raise second

    flow = workflow(Step(name="a", agent=broken(first), on_error="skip"), error_handler=handle)
    with pytest.raises(StepFailedError) as caught:
        await flow.execute("in")
    assert str(caught.value) == "step 1 (a) failed and its error handler too: RuntimeError: no idea"
    assert caught.value.__cause__ is second
    assert second.__cause__ is first
    assert caught.value.result is not None
    assert caught.value.result.status == "failed"
