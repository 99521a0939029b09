"""google-adk's own agents as steps."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from adknb.models.scripted import ScriptedModel
from adknb.workflow.errors import StepFailedError
from adknb.workflow.retry import RetryPolicy
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow

google = pytest.importorskip("google.adk.agents")
pytestmark = pytest.mark.anyio


def own_model(tokens: int, *errors: Exception) -> type[Any]:
    """A model class of google-adk's that raises the errors, one a call, and then says `said` for so many tokens."""
    from google.adk.models import BaseLlm, LlmResponse
    from google.genai import types

    left = list(errors)
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=tokens - 1, candidates_token_count=1)

    class Own(BaseLlm):  # type: ignore[misc]  # google-adk may be missing
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[Any]:
            if left:
                raise left.pop(0)
            yield LlmResponse(
                content=types.Content(role="model", parts=[types.Part(text="said")]), usage_metadata=usage
            )

    return Own


async def test_google_s_agents_are_steps_with_a_fresh_history_and_the_context_in_their_state() -> None:
    first = google.LlmAgent(name="first", instruction="In a {tone} tone.", output_key="found")
    second = google.LlmAgent(name="second", instruction="See {found} and {b_output}.")
    flow = SequentialWorkflow(
        [Step(name="a", agent=first), Step(name="b", agent=lambda payload: f"{payload}!"), Step(name="c", agent=second)],
        model=ScriptedModel({"first": ["one"], "second": ["two"]}), token_budget=1000,
    )  # fmt: skip
    result = await flow.execute("in", {"tone": "calm"})
    sent = result.run_of("c").step("second").requests[0].sent
    assert sent.system_instruction is not None
    assert sent.system_instruction.startswith("See one and one!.")
    assert [content.text for content in sent.contents] == ["one!"]
    assert result.output == "two"
    assert result.session.state == {
        "tone": "calm", "found": "one", "a_output": "one", "b_output": "one!", "c_output": "two",
    }  # fmt: skip
    assert result.token_used == sum(outcome.tokens for outcome in result.outcomes) > 0


async def test_google_s_own_models_are_asked_within_the_budget() -> None:
    own, prompts = own_model(80), []

    class Counted(own):  # type: ignore[misc, valid-type]  # google-adk may be missing
        async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[Any]:
            prompts.append(llm_request.config.system_instruction)
            async for reply in super().generate_content_async(llm_request, stream):
                yield reply

    steps = [
        Step(name=name, agent=google.LlmAgent(name=name, model=Counted(model="own"), instruction="Write."))
        for name in ("a", "b", "c")
    ]
    flow = SequentialWorkflow(steps, token_budget=150)
    with pytest.raises(
        StepFailedError, match=r"BudgetExceededError: .*, and 0 are left of the budget of 150"
    ) as caught:
        await flow.execute("in")
    assert (caught.value.step, len(prompts)) == ("c", 2)
    assert caught.value.result is not None
    assert caught.value.result.token_used == 160


async def test_a_call_of_google_s_own_model_that_failed_costs_nothing() -> None:
    agent = google.LlmAgent(
        name="a", model=own_model(80, ConnectionError("refused"))(model="own"), instruction="Write."
    )
    policy = RetryPolicy(2, backoff=lambda attempt: 0.0)
    result = await SequentialWorkflow([Step(name="a", agent=agent, retry_policy=policy)], token_budget=150).execute(
        "in"
    )
    assert (result.output, result.token_used, result.outcomes[0].attempts) == ("said", 80, 2)
