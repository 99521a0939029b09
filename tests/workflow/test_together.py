"""Steps that run together: the same data for each, a limit, nothing lost, the same result at any limit."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from adknb.core.specs import LlmAgent
from adknb.models.scripted import ScriptedModel
from adknb.runtime.callbacks import CallbackContext
from adknb.workflow.data import PipelineData
from adknb.workflow.errors import StepFailedError, WriteConflictError
from adknb.workflow.events import StepEvent
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow
from tests.workflow.flows import adds, left_behind, workflow

pytestmark = pytest.mark.anyio


def five(agents: list[Any], **settings: Any) -> SequentialWorkflow:
    steps = [Step(name=f"s{number}", agent=agent, reads="input") for number, agent in enumerate(agents)]
    return workflow(*steps, Step(name="end", agent=lambda payload: payload), **settings)


async def test_the_payload_after_them_is_a_dict_of_their_outputs() -> None:
    result = await five([adds("a"), adds("b")]).execute("in:", {"tone": "calm"})
    assert result.output == {"s0": "in:a", "s1": "in:b"}
    assert dict(result.data.context) == {
        "tone": "calm", "s0_output": "in:a", "s1_output": "in:b", "end_output": {"s0": "in:a", "s1": "in:b"},
    }  # fmt: skip


@pytest.mark.parametrize("limit", [1, 2, 5, 9])
async def test_at_most_so_many_run_at_once_and_the_result_is_the_same(limit: int) -> None:
    running, most = 0, 0

    async def counting(payload: str) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        running -= 1
        return payload

    result = await five([counting] * 5, max_parallel=limit).execute("in")
    assert most == min(limit, 5)
    assert result.output == {f"s{number}": "in" for number in range(5)}
    assert list(result.output) == [f"s{number}" for number in range(5)]
    assert [outcome.step for outcome in result.outcomes] == ["s0", "s1", "s2", "s3", "s4", "end"]
    waiting = [event.step_name for event in result.events if event.action == "waiting"]
    assert waiting == [f"s{number}" for number in range(limit, 5)]
    assert left_behind() == set()


async def test_their_order_of_ending_changes_nothing_but_the_order_of_the_session_s_events() -> None:
    first_may_end = anyio.Event()

    async def late(payload: str) -> str:
        await first_may_end.wait()
        return f"{payload}late"

    async def early(payload: str) -> str:
        first_may_end.set()
        return f"{payload}early"

    result = await five([late, early], max_parallel=2).execute("in:")
    assert list(result.output.items()) == [("s0", "in:late"), ("s1", "in:early")]
    assert [event.author for event in result.session.events] == ["s1", "s0", "end"]
    assert result.session.state["s0_output"] == "in:late"


async def test_each_starts_from_the_state_before_all_of_them() -> None:
    seen: list[dict[str, Any]] = []

    def look(context: CallbackContext) -> None:
        seen.append(context.state.to_dict())

    agents = [LlmAgent(name=name, output_key=f"{name}_key", before_agent_callback=look) for name in ("x", "y")]
    steps = [Step(name=agent.name, agent=agent, reads="input") for agent in agents]
    result = await SequentialWorkflow(steps, model=ScriptedModel({"x": ["1"], "y": ["2"]})).execute(
        "in", {"tone": "calm"}
    )
    assert seen == [{"tone": "calm"}, {"tone": "calm"}]
    assert result.session.state == {"tone": "calm", "x_key": "1", "x_output": "1", "y_key": "2", "y_output": "2"}
    assert [run.start_state for run in result.session.turns] == [{"tone": "calm"}, {"tone": "calm"}]


async def test_a_key_that_two_wrote_unsaid_is_an_error_not_a_loss() -> None:
    def sneaky(data: PipelineData) -> PipelineData:
        return data.with_context(**{"".join(["k", "ey"]): data.payload})

    flow = five([sneaky, sneaky])
    with pytest.raises(WriteConflictError) as caught:
        await flow.execute("in")
    assert str(caught.value) == (
        "steps 's0' and 's1' ran together, and both wrote 'key': one of the values would be lost. Say so: put 'key' among the "
        "writes of 's0' and the reads of 's1', which then runs after it."
    )
    assert flow.last is not None
    assert [outcome.step for outcome in flow.last.outcomes] == ["s0"]


async def test_only_those_with_an_output_are_in_the_payload() -> None:
    skipped = Step(name="b", agent=adds("b"), reads="input", condition=lambda data: False)
    result = await workflow(Step(name="a", agent=adds("a"), reads="input"), skipped).execute("in:")
    assert result.output == {"a": "in:a"}
    result = await workflow(skipped, skipped.model_copy(update={"name": "c"})).execute("in:")
    assert result.output == "in:"


async def test_of_several_that_fail_the_first_in_the_workflow_s_order_is_told() -> None:
    second_failed = anyio.Event()

    async def late(payload: str) -> str:
        await second_failed.wait()
        raise ValueError("late")

    async def early(payload: str) -> str:
        second_failed.set()
        raise ValueError("early")

    steps = [Step(name="a", agent=late, reads="input"), Step(name="b", agent=early, reads="input")]
    with pytest.raises(StepFailedError, match=r"^step 1 \(a\) failed: ValueError: late$"):
        await workflow(*steps, max_parallel=2).execute("in")


async def test_of_errors_that_are_gone_on_with_the_last_step_s_is_the_data_s() -> None:
    steps = [
        Step(name=name, agent=adds(name, ValueError(name)), reads="input", on_error="continue") for name in ("a", "b")
    ]
    result = await workflow(*steps, max_parallel=2).execute("in:")
    assert [(error.step, error.message) for error in result.data.warnings] == [("a", "a"), ("b", "b")]
    assert result.data.error == result.data.warnings[1]


async def test_their_metadata_is_joined() -> None:
    result = await workflow(
        Step(name="a", agent=adds("a"), reads="input"), Step(name="b", agent=adds("b"), reads="input")
    ).execute("in")
    first, second = (outcome.metadata for outcome in result.outcomes)
    assert result.metadata.step_name == "a, b"
    assert result.metadata.step_id == second.step_id
    assert result.metadata.previous_steps == (*first.previous_steps, first.step_id)


async def test_a_conflict_with_a_step_of_the_checkpoint_is_found_too() -> None:
    kept = anyio.Event()

    class Kept:
        def on_event(self, event: StepEvent) -> None:
            if event.action == "checkpoint":
                kept.set()

    async def late(data: PipelineData) -> PipelineData:
        await kept.wait()
        return data.with_context(tone="loud")

    flow = workflow(
        Step(name="a", agent=lambda data: data.with_context(tone="calm"), reads="input"),
        Step(name="b", agent=late, reads="input"),
        max_parallel=2,
        checkpoint=True,
        observers=[Kept()],
    )
    for again in (False, True):
        with pytest.raises(WriteConflictError, match="steps 'a' and 'b' ran together, and both wrote 'tone'"):
            await (flow.resume_async("run-1") if again else flow.execute("in", run_id="run-1"))


async def test_what_a_step_put_out_is_its_own_whatever_is_done_to_it_later() -> None:
    facts, done = ["bees dance"], anyio.Event()

    async def find(_: str) -> list[str]:
        done.set()
        return facts

    async def spoil(_: str) -> str:
        await done.wait()
        for _turn in range(20):
            await anyio.lowlevel.checkpoint()
        facts.append("bees sing")
        return "spoilt"

    result = await five([find, spoil], max_parallel=2).execute("in")
    assert result.output == {"s0": ["bees dance"], "s1": "spoilt"}
