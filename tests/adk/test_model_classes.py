"""google-adk looks at a model's class where it builds a request: what it sends through adknb is what it sends alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: pip install 'adknb[adk]'")
pytest.importorskip("openai", reason="openai is not installed: pip install 'adknb[openai]'")

from google.adk.agents import LlmAgent, SequentialAgent
from google.adk.integrations.openai._openai_responses_llm import OpenAIResponsesLlm
from google.adk.models import LLMRegistry
from google.adk.models._capabilities import LlmCapabilities
from google.adk.models.registry import _llm_registry_dict
from pydantic import BaseModel

import adknb
from adknb import Runner, ScriptedModel
from adknb.core.content import FunctionCall, Part
from tests.adk.asked import Answering, OfGemini, Plain, alone, replying, without_chance

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:(Sequential|Parallel|Loop)Agent is deprecated"),
    pytest.mark.filterwarnings("ignore:.*relies on name-based detection:FutureWarning"),
]


class OfOpenAI(Answering, OpenAIResponsesLlm):  # type: ignore[misc,unused-ignore]
    """Pairs calls and answers by their ids, so google-adk sends those that it made up."""

    @classmethod
    def supported_models(cls) -> list[str]:
        return ["paired-.*"]


class Able(Answering):
    """Says itself what it can."""

    @property
    def capabilities(self) -> LlmCapabilities:
        return LlmCapabilities(output_schema_and_tools=self.model.endswith("able"))


class Verdict(BaseModel):
    late: bool


def look_up(order: str) -> dict[str, str]:
    """Look an order up."""
    return {"status": f"{order} is late"}


def call(order: str) -> list[dict[str, Any]]:
    return [{"function_call": {"name": "look_up", "args": {"order": order}}}]


def said(text: str) -> list[dict[str, Any]]:
    return [{"text": text}]


def desk(model: Any) -> SequentialAgent:
    """Calls of its own, of another agent, of an earlier turn; a schema together with a tool; a model from an ancestor."""
    return SequentialAgent(
        name="root",
        sub_agents=[
            LlmAgent(
                name="Desk", model=model, instruction="Help.", tools=[look_up], output_key="found",
                sub_agents=[LlmAgent(name="Night", instruction="By night.", description="Works by night.")],
            ),
            LlmAgent(name="Judge", model=model, instruction="Judge {found}.", tools=[look_up], output_schema=Verdict),
        ],
    )  # fmt: skip


REPLIES = {
    "Desk": [call("7"), call("8"), said("both late"), call("9"), said("late, too")],
    "Judge": [call("7"), said('{"late": true}'), said('{"late": true}')],
}


@pytest.mark.parametrize(
    ("of", "name", "keeps_ids"),
    [
        (Plain, "some-model", False),
        (OfGemini, "gemini-2.5-flash", False),
        (OfOpenAI, "gpt-5", True),
        (Able, "able", False),
        (Able, "not so", False),
    ],
)
async def test_requests_are_those_of_google_adk_alone(of: type[Any], name: str, keeps_ids: bool) -> None:
    model = replying(of, REPLIES, name)
    await alone(desk(model), "where?", "and 9?")
    expected = without_chance(model._log)
    model = replying(of, REPLIES, name)
    runner = Runner(desk(model))
    first = await runner.run_async("where?", session="s")
    await runner.run_async("and 9?", session=first.session)
    assert without_chance(model._log) == expected
    assert len(expected) == 8
    assert ("adk-" in str(expected)) is keeps_ids
    sent = first.step("Desk").requests[1].sent
    assert [part.function_call.id is not None for part in sent.contents[1].parts if part.function_call] == [keeps_ids]


async def test_parts_of_a_run_send_them_too() -> None:
    model = replying(OfOpenAI, REPLIES)
    await alone(desk(model), "where?")
    expected = without_chance(model._log)
    model = replying(OfOpenAI, REPLIES)
    runner = Runner(desk(model))
    run = await runner.run_async("where?", pause=True)
    while run.status != "completed":
        run = await runner.step_async(run)
    assert without_chance(model._log) == expected


@pytest.fixture
def registered() -> Iterator[None]:
    before = dict(_llm_registry_dict)
    LLMRegistry.register(OfOpenAI)
    yield
    _llm_registry_dict.clear()
    _llm_registry_dict.update(before)
    LLMRegistry.resolve.cache_clear()


@pytest.mark.parametrize(
    ("name", "keeps_ids"), [("paired-1", True), ("nobody's-1", False), ("gemini-2.5-flash", False)]
)
async def test_a_stand_in_is_sent_what_the_model_in_its_place_would_be(
    registered: None, name: str, keeps_ids: bool
) -> None:
    replies = [[Part(function_call=FunctionCall("look_up", {"order": "7"}))], "late"]
    agent = LlmAgent(name="A", model=name, instruction="Help.", tools=[look_up])
    run = await Runner(agent, model=ScriptedModel({"A": replies})).run_async("where?")
    sent = run.step("A").requests[1].sent
    call = sent.contents[1].parts[0].function_call
    assert call is not None
    assert (call.id is not None, sent.model) == (keeps_ids, name)
    assert run.step("A").notes == [f"scripted answered in place of {name}"]


async def test_a_stand_in_for_a_model_object() -> None:
    agent = LlmAgent(name="A", model=replying(OfOpenAI, {}, "gpt-5"), instruction="Help.", tools=[look_up])
    replies = [[Part(function_call=FunctionCall("look_up", {"order": "7"}))], "late"]
    run = await Runner(agent, models=ScriptedModel({"A": replies})).run_async("where?")
    sent = run.step("A").requests[1].sent
    call = sent.contents[1].parts[0].function_call
    assert call is not None
    assert call.id is not None
    assert (sent.model, run.output) == ("gpt-5", "late")


@pytest.mark.parametrize("option", ["model", "models"])
async def test_a_model_object_of_google_adk_for_all_agents(option: str) -> None:
    """It answers; also where the agent names another one, and agents of adknb."""
    model = replying(Plain, {"A": [said("one"), said("two")]})
    for agent in (LlmAgent(name="A", model="gemini-2.5-flash"), adknb.LlmAgent(name="A", instruction="x")):
        run = await Runner(agent, rules="python", **{option: model}).run_async("hi")
        assert run.step("A").requests[0].sent.model == "some-model"
    assert run.output == "two"


async def test_the_users_object_answers_and_is_not_changed() -> None:
    class Counting(Plain):
        calls: int = 0

        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
            self.calls += 1
            async for response in super().generate_content_async(llm_request, stream):
                yield response

    seen: list[Any] = []
    model = replying(Counting, {"A": [said("one")]})

    def look(callback_context: Any, llm_request: Any) -> None:
        asked = callback_context._invocation_context.agent.canonical_model
        seen.append((isinstance(asked, Counting), type(asked).__name__, asked.calls))

    await Runner(LlmAgent(name="A", model=model, before_model_callback=look)).run_async("hi")
    assert seen == [(True, "Counting", 0)]
    assert model.calls == 1
    assert type(model) is Counting
    assert set(vars(model)) == {"model", "calls"}
