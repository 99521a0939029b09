"""A middleware may ask the step's agent more than once: each time it is a question of its own."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from adknb.core.specs import LlmAgent
from adknb.models.scripted import ScriptedModel
from adknb.workflow.cache import ResultCache
from adknb.workflow.middleware import CacheMiddleware, CallNext, Middleware, StepReply, StepRequest
from adknb.workflow.result import WorkflowResult
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow

pytestmark = pytest.mark.anyio

WRITER = LlmAgent(name="writer", instruction="Write.", output_key="draft")


async def ask_with(*middleware: Middleware) -> WorkflowResult:
    model = ScriptedModel({"writer": ["one", "two", "three"]})
    return await SequentialWorkflow(
        [Step(name="writing", agent=WRITER)], model=model, middleware=list(middleware)
    ).execute("bees")


def contents(result: WorkflowResult) -> list[list[str]]:
    """The texts that each request had."""
    asked = [run.step("writer").requests[0] for run in result.runs["writing"]]
    return [[content.text for content in each.sent.contents] for each in asked]


async def test_one_after_the_other_the_second_sees_nothing_of_the_first() -> None:
    async def twice(request: StepRequest, call_next: CallNext) -> StepReply:
        await call_next(request)
        return await call_next(request)

    result = await ask_with(twice)
    assert (result.output, result.session.state["draft"]) == ("two", "two")
    assert contents(result) == [["bees"], ["bees"]]
    assert [turn.run for turn in result.session.chain] == [result.runs["writing"][1]]


async def test_at_once() -> None:
    async def hedge(request: StepRequest, call_next: CallNext) -> StepReply:
        replies: list[StepReply] = []

        async def ask(payload: str) -> None:
            replies.append(await call_next(request.with_payload(payload)))

        async with anyio.create_task_group() as group:
            group.start_soon(ask, "bees")
            group.start_soon(ask, "wasps")
        return replies[0]

    result = await ask_with(hedge)
    assert sorted(contents(result)) == [["bees"], ["wasps"]]
    assert len(result.session.chain) == 1
    assert result.session.state["draft"] == result.output


async def test_data_that_is_replaced_is_another_question_too() -> None:
    cache, keys = ResultCache(), []

    async def edit(request: StepRequest, call_next: CallNext) -> StepReply:
        edited = replace(request, data=request.data.with_context(tone="calm"))
        keys.extend([request.key, edited.key])
        return await call_next(edited)

    await ask_with(edit, CacheMiddleware(cache))
    assert keys[0] is not None
    assert keys[1] is not None
    assert keys[0] != keys[1]
