"""Each error action has the outcome that the table of `ErrorAction` says, alone and beside other steps."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from adknb.workflow.data import PipelineData, PipelineError
from adknb.workflow.errors import StepFailedError
from adknb.workflow.result import WorkflowResult
from adknb.workflow.retry import RetryPolicy
from adknb.workflow.step import Step
from tests.workflow.flows import adds, broken, told, workflow

pytestmark = pytest.mark.anyio

FAULT = LookupError("no such source")
PROBLEM = PipelineError("LookupError", "no such source", "b", False, "tool", "high")


async def run_with(**policies: Any) -> WorkflowResult:
    """Three steps, the second of which fails for good."""
    flow = workflow(
        Step(name="a", agent=adds("a")),
        Step(name="b", agent=broken(FAULT), **policies),
        Step(name="c", agent=adds("c")),
    )
    return await flow.execute("in:")


async def failed(**policies: Any) -> StepFailedError:
    with pytest.raises(StepFailedError) as caught:
        await run_with(**policies)
    return caught.value


async def test_fail_ends_the_run_with_the_step_s_error_as_the_cause() -> None:
    error = await failed(on_error="fail")
    assert str(error) == "step 2 (b) failed: LookupError: no such source"
    assert error.step == "b"
    assert error.__cause__ is FAULT
    result = error.result
    assert result is not None
    assert (result.status, result.output, result.error) == ("failed", "in:a", error)
    assert [outcome.step for outcome in result.outcomes] == ["a"]
    assert told(result) == ["a started 1", "a completed 1", "b started 1", "b failed 1"]
    assert [event.action for event in result.events if not event.step_name] == ["run_started", "run_failed"]


async def test_fail_is_what_happens_unless_something_else_is_said() -> None:
    assert str(await failed()) == "step 2 (b) failed: LookupError: no such source"


async def test_skip_goes_on_as_if_the_step_had_not_been() -> None:
    result = await run_with(on_error="skip")
    assert result.output == "in:ac"
    assert dict(result.data.context) == {"a_output": "in:a", "c_output": "in:ac"}
    assert (result.data.error, result.data.warnings) == (None, ())
    assert (result.outcomes[1].status, result.outcomes[1].error) == ("skipped", PROBLEM)
    assert told(result)[2:5] == ["b started 1", "b failed 1", "b skipped 1"]


async def test_retry_without_a_policy_makes_three_attempts_and_then_fails() -> None:
    down = ConnectionError("refused")
    flow = workflow(Step(name="b", agent=(function := broken(down)), on_error="retry"))
    with pytest.raises(StepFailedError) as caught:
        await flow.execute("in")
    assert str(caught.value) == "step 1 (b) failed after 3 attempts: ConnectionError: refused"
    assert function.seen == ["in"] * 3


async def test_retry_does_not_repeat_what_the_classifier_says_is_in_vain() -> None:
    assert str(await failed(on_error="retry")) == "step 2 (b) failed: LookupError: no such source"


async def test_fallback_puts_its_output_in_the_place_of_the_step_s() -> None:
    result = await run_with(on_error="fallback", fallback=adds("!"))
    assert result.output == "in:a!c"
    assert result.data.context["b_output"] == "in:a!"
    assert result.data.error is None
    assert result.data.warnings == (PROBLEM,)
    assert (result.outcomes[1].status, result.outcomes[1].error) == ("fallback", PROBLEM)
    assert told(result)[2:5] == ["b started 1", "b failed 1", "b fallback 1"]


async def test_a_fallback_is_handed_the_step_s_input_not_what_its_transformer_made() -> None:
    result = await run_with(on_error="fallback", fallback=adds("!"), transformer=lambda payload: f"<{payload}>")
    assert result.data.context["b_output"] == "in:a!"


async def test_a_fallback_that_fails_ends_the_run_with_its_own_error() -> None:
    second = RuntimeError("no plan B")
    error = await failed(on_error="fallback", fallback=broken(second))
    assert str(error) == "step 2 (b) failed and its fallback too: RuntimeError: no plan B"
    assert error.__cause__ is second
    assert second.__cause__ is FAULT


async def test_continue_goes_on_with_the_error_in_the_data() -> None:
    seen: list[PipelineData] = []

    def decide(data: PipelineData) -> bool:
        seen.append(data)
        return data.error is not None

    flow = workflow(
        Step(name="a", agent=adds("a")),
        Step(name="b", agent=broken(FAULT), on_error="continue"),
        Step(name="c", agent=adds("c"), condition=decide),
    )
    result = await flow.execute("in:")
    assert result.output == "in:ac"
    assert "b_output" not in result.data.context
    assert (result.data.error, result.data.warnings) == (PROBLEM, (PROBLEM,))
    assert seen[0].error == PROBLEM
    assert told(result)[2:5] == ["b started 1", "b failed 1", "b continued 1"]


async def test_a_later_error_takes_the_place_of_an_earlier_one_and_warnings_are_all() -> None:
    result = await workflow(
        Step(name="a", agent=broken(FAULT), on_error="continue"),
        Step(name="b", agent=broken(RuntimeError("odd")), on_error="continue"),
        Step(name="c", agent=adds("c")),
    ).execute("in:")
    assert [warning.step for warning in result.data.warnings] == ["a", "b"]
    assert result.data.error is not None
    assert result.data.error.step == "b"


@pytest.mark.parametrize("action", ["fail", "skip", "retry", "fallback", "continue"])
async def test_a_policy_s_attempts_come_before_every_action(action: str) -> None:
    function = broken(ConnectionError("refused"))
    fallback = adds("!") if action == "fallback" else None
    step = Step(name="b", agent=function, on_error=action, fallback=fallback, retry_policy=RetryPolicy(max_attempts=2))
    flow = workflow(step)
    if action in ("fail", "retry"):
        with pytest.raises(StepFailedError, match="after 2 attempts"):
            await flow.execute("in")
    else:
        result = await flow.execute("in")
        assert result.output == ("in!" if action == "fallback" else "in")
        assert result.outcomes[0].attempts == 2
    assert function.seen == ["in", "in"]


async def run_together(**policies: Any) -> WorkflowResult:
    """Three steps at once, the second of which fails for good, and one that gets what they said."""
    flow = workflow(
        Step(name="a", agent=adds("a"), reads="input"),
        Step(name="b", agent=broken(FAULT), reads="input", **policies),
        Step(name="c", agent=adds("c"), reads="input"),
        Step(name="d", agent=lambda payload: payload),
        max_parallel=3,
    )
    return await flow.execute("in:")


@pytest.mark.parametrize(
    ("action", "fallback", "output", "error", "warnings"),
    [
        ("skip", None, {"a": "in:a", "c": "in:c"}, None, ()),
        ("fallback", adds("!"), {"a": "in:a", "b": "in:!", "c": "in:c"}, None, (PROBLEM,)),
        ("continue", None, {"a": "in:a", "c": "in:c"}, PROBLEM, (PROBLEM,)),
    ],
)
async def test_actions_have_the_same_outcomes_beside_other_steps(
    action: str, fallback: Any, output: Any, error: Any, warnings: Any
) -> None:
    result = await run_together(on_error=action, fallback=fallback)
    assert result.output == output
    assert list(result.output) == list(output)
    assert (result.data.error, result.data.warnings) == (error, warnings)
    assert ("b_output" in result.data.context) == (action == "fallback")


@pytest.mark.parametrize("action", ["fail", "retry"])
async def test_a_failure_beside_other_steps_lets_them_end_begins_no_other_and_ends_the_run(action: str) -> None:
    begun, failed = anyio.Event(), anyio.Event()

    async def fail(_: str) -> str:
        await begun.wait()
        failed.set()
        raise FAULT

    async def slow(payload: str) -> str:
        begun.set()
        await failed.wait()
        return f"{payload}a"

    never = adds("c")
    flow = workflow(
        Step(name="b", agent=fail, reads="input", on_error=action),
        Step(name="a", agent=slow, reads="input"),
        Step(name="c", agent=never, reads="input"),
        max_parallel=2,
    )
    with pytest.raises(StepFailedError, match=r"^step 1 \(b\) failed: LookupError: no such source$") as caught:
        await flow.execute("in:")
    result = caught.value.result
    assert result is not None
    assert [(outcome.step, outcome.payload) for outcome in result.outcomes] == [("a", "in:a")]
    assert (result.output, never.seen) == ("in:", [])
