"""A thousand workflows whose calls fail with 30 %, of all categories: each comes to what its policies say."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from adknb.workflow.data import PipelineError
from adknb.workflow.errors import StepFailedError
from adknb.workflow.result import WorkflowResult
from adknb.workflow.retry import RetryPolicy
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow
from tests.workflow import policy_model
from tests.workflow.flows import Time, left_behind
from tests.workflow.policy_model import FAULTS, Expected, ModelStep, said

pytestmark = pytest.mark.anyio

WORKFLOWS = 1000


def policy(attempts: int | None) -> RetryPolicy | None:
    return None if attempts is None else RetryPolicy(attempts, backoff=lambda attempt: 1.0)


def step_of(step: ModelStep, calls: Counter[str]) -> Step:
    """The step as the engine takes it; its n-th call comes to the n-th of `step.calls`."""

    async def function(payload: Any) -> str:
        fault = step.calls[calls[step.name]] if calls[step.name] < len(step.calls) else None
        calls[step.name] += 1
        await asyncio.sleep(0)
        if fault is not None:
            raise FAULTS[fault].make()
        return said(step.name, payload)

    async def fallback(payload: Any) -> str:
        if step.fallback_fails:
            raise RuntimeError("no plan B")
        return said(f"{step.name}!", payload)

    return Step(
        name=step.name, agent=function, on_error=step.action, retry_policy=policy(step.attempts),
        fallback=fallback if step.action == "fallback" else None, reads="input" if step.is_beside else None,
    )  # fmt: skip


def category(error: PipelineError | None) -> str | None:
    return None if error is None else error.category


def seen(result: WorkflowResult) -> dict[str, Any]:
    return {
        "ended": {outcome.step: outcome.status for outcome in result.outcomes},
        "errors": {outcome.step: category(outcome.error) for outcome in result.outcomes},
    }


def expected_of(state: Expected) -> dict[str, Any]:
    return {"ended": state.ended, "errors": {name: state.kept[name][1] for name in state.ended}}


async def test_every_outcome_is_what_its_policy_says() -> None:
    outcomes: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    for seed in range(WORKFLOWS):
        limit = 1 if seed % 2 else 6
        steps, attempts = policy_model.draw(seed)
        calls: Counter[str] = Counter()
        time = Time()
        flow = SequentialWorkflow(
            [step_of(step, calls) for step in steps], retry_policy=policy(attempts), checkpoint=True, clock=time,
            sleep=time.sleep, max_parallel=limit,
        )  # fmt: skip
        state = Expected("in", "in")
        for attempt in range(8):  # resumed as long as it fails
            state = policy_model.run(steps, attempts, state, at_once=limit > 1)
            result, failed = await run(flow, f"run-{seed}", is_new=attempt == 0)
            assert (failed, seen(result)) == (state.failed, expected_of(state)), seed
            assert calls == {step.name: step.made for step in steps if step.made}, seed
            outcomes.update(outcome.status for outcome in result.outcomes)
            outcomes[result.status] += 1
            wanted.update(state.ended.values())
            wanted["failed" if state.failed else "completed"] += 1
            if not failed:
                break
        if not state.failed:
            assert result.output == state.payload, seed
            assert dict(result.data.context) == state.context == result.session.state, seed
            assert category(result.data.error) == state.error, seed
            assert [warning.category for warning in result.data.warnings] == state.warnings, seed
            assert not await flow.checkpoints_async(), seed
    assert outcomes == wanted
    assert min(outcomes[name] for name in ("completed", "skipped", "fallback", "continued", "failed")) > 100
    assert left_behind() == set()


async def run(flow: SequentialWorkflow, run_id: str, *, is_new: bool) -> tuple[WorkflowResult, str | None]:
    """The run, begun or resumed, and the step that ended it."""
    try:
        return await (flow.execute("in", run_id=run_id) if is_new else flow.resume_async(run_id)), None
    except StepFailedError as error:
        if error.result is None:
            pytest.fail("a failed run has no result")
        return error.result, error.step
