"""What is kept is kept by all that it depends on: whatever is edited gets no old answer."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from adknb.core.content import Content
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.specs import LlmAgent
from adknb.models.scripted import ScriptedModel
from adknb.workflow.cache import ResultCache
from adknb.workflow.data import PipelineData
from adknb.workflow.middleware import CacheMiddleware
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow
from tests.workflow.flows import broken, workflow

pytestmark = pytest.mark.anyio


async def test_a_function_s_answer_is_kept_by_its_code_and_what_it_is_given() -> None:
    calls: list[str] = []

    def function(payload: str) -> str:
        calls.append(payload)
        return f"{payload}!"

    def other(payload: str) -> str:
        return f"{payload}?"

    with ResultCache() as cache:
        step = Step(name="a", agent=function, cache=cache)
        outputs = [
            (await workflow(each).execute(payload)).output
            for each, payload in [
                (step, "in"),
                (step, "in"),
                (step, "on"),
                (step.model_copy(update={"agent": other}), "in"),
            ]
        ]
    assert outputs == ["in!", "in!", "on!", "in?"]
    assert calls == ["in", "on"]


def judge(data: PipelineData) -> str:
    return f"{len(data.warnings)} warnings, {'an error' if data.error else 'no error'}"


@pytest.mark.parametrize("by_middleware", [False, True])
async def test_a_function_s_answer_is_kept_by_the_errors_that_travel_with_the_data(by_middleware: bool) -> None:
    with ResultCache() as cache:
        settings: dict[str, Any] = {"middleware": [CacheMiddleware(cache)]} if by_middleware else {}
        last = Step(name="b", agent=judge, cache=None if by_middleware else cache)

        async def ask(action: str) -> Any:
            first = Step(name="a", agent=broken(LookupError("gone")), on_error=action)
            return (await workflow(first, last, **settings).execute("in")).output

        assert [await ask("skip"), await ask("continue"), await ask("skip")] == [
            "0 warnings, no error", "1 warnings, an error", "0 warnings, no error",
        ]  # fmt: skip


class Shape(BaseModel):
    text: str


def look_up(topic: str) -> str:
    """Look something up."""
    return topic


def refuse(topic: str) -> str:
    """Look nothing up."""
    return topic


def note(callback_context: Any) -> None:
    """Leave no trace."""


AGENT: dict[str, Any] = {"name": "a", "instruction": "Write.", "generate_content_config": {"temperature": 0.1}}
EDITS: list[dict[str, Any]] = [
    {},
    {"instruction": "Write!"},
    {"generate_content_config": {"temperature": 0.2}},
    {"tools": [look_up]},
    {"tools": [refuse]},
    {"output_schema": Shape},
]
"""Each is another request to the model."""


@pytest.mark.parametrize("by_middleware", [False, True])
async def test_an_edited_agent_gets_no_old_answer(by_middleware: bool) -> None:
    asked: list[LlmRequest] = []

    def answer(request: LlmRequest) -> LlmResponse:
        asked.append(request)
        return LlmResponse(Content.model('{"text": "x"}'))

    edits = [*EDITS, {"before_agent_callback": note}] if by_middleware else EDITS
    with ResultCache() as cache:
        for edit in [*edits, *edits]:
            agent = LlmAgent(**{**AGENT, **edit})
            await SequentialWorkflow(
                [Step(name="a", agent=agent, cache=None if by_middleware else cache)],
                model=ScriptedModel(answer),
                middleware=[CacheMiddleware(cache)] if by_middleware else [],
            ).execute("in")
        assert (len(asked), cache.hits) == (len(edits), len(edits))


async def test_a_user_s_answer_is_not_another_s() -> None:
    agent = LlmAgent(name="a", instruction="Write.")
    model = ScriptedModel(["x"])
    with ResultCache() as cache:
        flow = SequentialWorkflow([Step(name="a", agent=agent)], model=model, middleware=[CacheMiddleware(cache)])
        for user in ("ann", "bob", "ann"):
            await flow.execute("in", user_id=user)
        assert (cache.misses, cache.hits) == (2, 1)


PROMPT = "Write."


def written_prompt(_: Any) -> str:
    return PROMPT


async def test_what_a_function_of_an_agent_names_is_looked_at_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with ResultCache() as cache:
        agent = LlmAgent(name="a", instruction=written_prompt)
        middleware = [CacheMiddleware(cache)]
        flow = SequentialWorkflow([Step(name="a", agent=agent)], model=ScriptedModel(["x"]), middleware=middleware)
        await flow.execute("in")
        monkeypatch.setattr(f"{__name__}.PROMPT", "Write!")
        await flow.execute("in")
        assert (cache.misses, cache.hits) == (2, 0)
