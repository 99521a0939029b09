"""Later steps read a step's answer under its agent's output_key, whoever gave it."""

from __future__ import annotations

from typing import Any

import pytest

from adknb.core.specs import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adknb.models.scripted import ScriptedModel
from adknb.workflow.cache import ResultCache
from adknb.workflow.data import PipelineData
from adknb.workflow.keys import answer_key
from adknb.workflow.middleware import CacheMiddleware, CallNext, StepReply, StepRequest
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow
from tests.workflow.flows import adds

pytestmark = pytest.mark.anyio

WRITER = LlmAgent(name="writer", instruction="Write.", output_key="draft")
EDITOR = LlmAgent(name="editor", instruction="Edit {draft}.")
DOWN = ConnectionError("refused")


def news(replies: list[Any], agent: Any = WRITER, **settings: Any) -> SequentialWorkflow:
    step = {"fallback": settings.pop("fallback"), "on_error": "fallback"} if "fallback" in settings else {}
    model = ScriptedModel({"writer": replies, "editor": ["edited"], "intern": ["by the intern"]})
    return SequentialWorkflow(
        [Step(name="writing", agent=agent, **step), Step(name="editing", agent=EDITOR)], model=model, **settings
    )


async def draft(workflow: SequentialWorkflow) -> Any:
    result = await workflow.execute("bees")
    assert result.data.context["writing_output"] == result.outcomes[0].payload
    return result.session.state["draft"]


async def test_a_fallback_s_answer() -> None:
    assert await draft(news([DOWN], fallback=adds(", by hand"))) == "bees, by hand"


async def test_a_fallback_that_is_an_agent_and_keeps_its_own_key() -> None:
    intern = LlmAgent(name="intern", instruction="Write.", output_key="notes")
    result = await news([DOWN], fallback=intern).execute("bees")
    assert (result.session.state["notes"], result.session.state["draft"]) == ("by the intern", "by the intern")


async def test_a_fallback_that_writes_the_key_itself_has_the_last_word() -> None:
    def by_hand(data: PipelineData) -> PipelineData:
        return data.with_(payload="short").with_context(draft="long")

    assert await draft(news([DOWN], fallback=by_hand)) == "long"


async def test_an_error_handler_s_data() -> None:
    assert await draft(news([DOWN], error_handler=lambda step, data, *_: data.with_(payload="spare"))) == "spare"


async def test_a_middleware_s_answer_in_the_agent_s_place() -> None:
    async def refuse(request: StepRequest, call_next: CallNext) -> StepReply:
        return StepReply("no") if request.step_name == "writing" else await call_next(request)

    assert await draft(news([], middleware=[refuse])) == "no"


async def test_what_a_middleware_made_of_the_agent_s_answer() -> None:
    async def shout(request: StepRequest, call_next: CallNext) -> StepReply:
        reply = await call_next(request)
        return reply.with_payload(reply.payload.upper())

    assert await draft(news(["one"], middleware=[shout])) == "ONE"


async def test_a_kept_answer_and_all_else_that_the_agents_wrote() -> None:
    pair = SequentialAgent(
        name="pair", sub_agents=[LlmAgent(name="intern", instruction="Look.", output_key="notes"), WRITER]
    )
    workflow = news(["one", "two"], pair, middleware=[CacheMiddleware(ResultCache())])
    first, second = await workflow.execute("bees"), await workflow.execute("bees")
    assert second.outcomes[0].cached
    assert dict(second.session.state) == dict(first.session.state)
    assert (second.session.state["notes"], second.session.state["draft"]) == ("by the intern", "one")


async def test_a_kept_answer_that_is_changed_on_its_way_out() -> None:
    async def number(request: StepRequest, call_next: CallNext) -> StepReply:
        reply = await call_next(request)
        return reply.with_payload(f"{reply.payload}!")

    workflow = news(["one"], middleware=[number, CacheMiddleware(ResultCache())])
    assert [await draft(workflow), await draft(workflow)] == ["one!", "one!"]


def test_the_key_is_that_of_the_agent_with_the_last_word() -> None:
    def of(agent: BaseAgent) -> str | None:
        return answer_key(agent)

    assert of(WRITER) == "draft"
    assert of(EDITOR) is None
    inner = LoopAgent(name="loop", sub_agents=[WRITER], max_iterations=2)
    assert of(SequentialAgent(name="all", sub_agents=[EDITOR, inner])) == "draft"
    assert of(ParallelAgent(name="both", sub_agents=[WRITER, EDITOR])) is None
