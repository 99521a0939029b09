"""google-adk's own agents as steps."""

from __future__ import annotations

import pytest

from adknb.models.scripted import ScriptedModel
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow

google = pytest.importorskip("google.adk.agents")
pytestmark = pytest.mark.anyio


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
