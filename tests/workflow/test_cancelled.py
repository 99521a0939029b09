"""A cancelled run ends, whatever the steps' own code makes of its cancellation; and one step's is never taken for its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from adknb.workflow.data import PipelineData
from adknb.workflow.errors import WorkflowTimeoutError
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow
from tests.workflow.flows import adds, left_behind, workflow

pytestmark = pytest.mark.anyio


class Stubborn:
    """Waits until it is cancelled, then raises an error of its own, or with `answer` goes on."""

    def __init__(self, answer: str | None = None) -> None:
        self.answer = answer
        self.begun = anyio.Event()

    async def __call__(self, _: object) -> str:
        self.begun.set()
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            if self.answer is not None:
                return self.answer
        raise LookupError("closed badly")


async def cancelled(flow: SequentialWorkflow, step: Stubborn) -> None:
    task = asyncio.create_task(flow.execute("in"))
    await step.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert flow.last is not None
    assert (flow.last.status, flow.last.outcomes) == ("interrupted", ())
    assert left_behind() == set()


@pytest.mark.parametrize("action", ["skip", "continue", "fallback"])
@pytest.mark.parametrize("together", [False, True])
async def test_no_action_goes_on_after_a_cancellation(action: str, together: bool) -> None:
    step, never, later = Stubborn(), adds("!"), adds("b")
    reads = "input" if together else None
    flow = workflow(
        Step(name="a", agent=step, on_error=action, fallback=never if action == "fallback" else None, reads=reads),
        Step(name="b", agent=later, reads=reads),
        Step(name="c", agent=later),
    )
    await cancelled(flow, step)
    assert never.seen == later.seen == []


async def test_no_error_handler_is_asked_about_a_cancellation() -> None:
    step, asked = Stubborn(), []
    await cancelled(workflow(Step(name="a", agent=step), error_handler=lambda *told: asked.append(told)), step)
    assert asked == []


async def test_an_answer_that_came_after_the_cancellation_counts_for_nothing() -> None:
    step, later = Stubborn("late"), adds("b")
    await cancelled(workflow(Step(name="a", agent=step), Step(name="b", agent=later)), step)
    assert later.seen == []


async def test_the_total_timeout_ends_it_too() -> None:
    flow = workflow(Step(name="a", agent=Stubborn(), on_error="skip"), Step(name="b", agent=adds("b")), timeout=0.05)
    with pytest.raises(WorkflowTimeoutError):
        await flow.execute("in")


async def test_the_step_s_own_timeout_is_an_error_like_any_other() -> None:
    flow = workflow(Step(name="a", agent=Stubborn(), on_error="skip", timeout=0.02), Step(name="b", agent=adds("b")))
    result = await flow.execute("in")
    assert (result.output, [outcome.status for outcome in result.outcomes]) == ("inb", ["skipped", "completed"])


def _cancels_itself(_: object) -> Any:
    raise asyncio.CancelledError


def _interrupts(_: object) -> Any:
    raise KeyboardInterrupt


def _exits(_: object) -> Any:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("raises", "kind"),
    [(_cancels_itself, asyncio.CancelledError), (_exits, SystemExit), (_interrupts, KeyboardInterrupt)],
)
async def test_a_step_that_ends_so_beside_others_ends_them_and_the_run(
    raises: Callable[[Any], Any], kind: type[BaseException]
) -> None:
    async def end(data: PipelineData) -> Any:
        await other.begun.wait()
        return raises(data)

    other, later = Stubborn("late"), adds("c")
    flow = workflow(
        Step(name="a", agent=other, reads="input"),
        Step(name="b", agent=adds("b"), condition=end, reads="input"),
        Step(name="c", agent=later),
        max_parallel=2,
    )
    with pytest.raises(kind):
        await flow.execute("in")
    assert later.seen == []
    assert flow.last is not None
    assert flow.last.status == "interrupted"
    assert left_behind() == set()
