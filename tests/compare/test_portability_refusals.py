"""What portability says of errors, of pipelines that an ADK refuses, and of what cannot be told."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import (
    AgentNameError,
    LlmAgent,
    ModelError,
    NotSupported,
    Runner,
    ScriptedModel,
    SequentialAgent,
    SpecError,
    portability,
)
from adknb.compare.portability import Looked
from tests.compare.ported import call, pair, plain, said


def test_a_model_that_fails_fails_under_all_and_js_goes_on() -> None:
    result = pair({"instruction": "a"}, {"instruction": "b"}, {"A": [ModelError("down")], "B": ["2"]})
    assert result.of("go") == []
    a, b = result.of("js")
    assert (a.step, a.others, b.step, b.sentence) == (
        "A", ("error", "events"), "B", "js, B: it ran (error_event: A model that fails)",
    )  # fmt: skip
    assert plain(a.changes[1]) == ("error", "ModelError: agent 'A': down", "")
    assert result.headline == (
        "p: the same under go as under java; js differs in 2 of 2 steps, first in the system instruction of A"
    )


def test_a_key_that_nobody_wrote_is_an_error_in_other_words() -> None:
    result = portability(LlmAgent(name="A", instruction="{nobody}"), "hi", model=ScriptedModel(["ok"]))
    assert said(result, "go") == [("A", "error", ["missing"])]
    (change,) = result.of("go")[0].changes
    assert change.before == "IllegalArgumentException: Context variable not found: `nobody`."
    assert change.after.startswith("*fmt.wrapError: ")


def test_a_null_that_java_does_not_take() -> None:
    result = portability(LlmAgent(name="A", instruction="[{a?}]"), "hi", model=ScriptedModel(["ok"]), state={"a": None})
    assert [(each.step, each.sentence) for each in result.of("go")] == [
        ("A", "go, A: it ran (check_state_value: null as a state value)")
    ]


def test_an_adk_that_refuses_the_names_says_why() -> None:
    sub = SequentialAgent(name="inner", sub_agents=[LlmAgent(name="A", instruction="b")])
    root = SequentialAgent(name="p", sub_agents=[LlmAgent(name="A", instruction="a"), sub])
    result = portability(root, "hi", model=ScriptedModel(lambda request: "ok"))
    assert list(result.refused) == ["go"]
    assert result.headline.startswith("p: go refuses it: ")
    assert "; js differs in 2 of 2 steps" in result.headline
    with pytest.raises(AgentNameError):
        portability(root, "hi", model=ScriptedModel(lambda request: "ok"), rules=["go", "java"])


def test_what_no_adk_does_is_raised() -> None:
    agent = LlmAgent(name="A", instruction="a")
    with pytest.raises(ModelError, match="agent 'A' has no model"):
        portability(agent, "hi")
    with pytest.raises(SpecError) as raised:
        portability(agent, "hi", rules="go")
    assert str(raised.value) == "rules takes two or more different rule sets, such as ['java', 'go', 'js']; not ['go']"
    with pytest.raises(SpecError, match="Did you mean 'java'"):
        portability(agent, "hi", rules=["jawa", "go"])
    result = portability(agent, "hi", model=ScriptedModel(["ok"]))
    with pytest.raises(SpecError, match="'go_fixed' was not looked at"):
        result.of("go_fixed")


def test_a_turn_that_answers_a_call_is_not_repeated() -> None:
    from adknb import FunctionResponse, LongRunningFunctionTool

    def ask(question: str) -> dict[str, Any]:
        """Ask."""
        return {"status": "pending"}

    agent = LlmAgent(name="A", instruction="a", tools=[LongRunningFunctionTool(ask)])
    runner = Runner(agent, model=ScriptedModel([call("ask", question="?"), "waiting", "thanks"]))
    run = runner.run("hi")
    (asked,) = run.turn_events[1].function_calls
    answered = runner.run([FunctionResponse("ask", {"ok": True}, asked.id)], session=run.session)
    with pytest.raises(NotSupported) as raised:
        portability(agent, answered)
    assert str(raised.value) == (
        f"turn 2 of run {answered.id} answers a tool's call; portability repeats turns of text alone. Take a run before it."
    )


def test_a_turn_that_waits_is_not_repeated() -> None:
    from tests.runtime.asking import runner

    run = runner().run("hi")
    with pytest.raises(NotSupported) as raised:
        portability(run.root, run)
    assert str(raised.value) == (
        f"turn 1 of run {run.id} waits at a long-running call, as ADK Java's resumable mode alone does by what is recorded; "
        "portability repeats turns in ordinary mode. Run the pipeline without resumable first."
    )


# what cannot be told


def test_what_differs_from_run_to_run_is_no_deviation() -> None:
    calls: list[int] = []

    def count(context: Any) -> None:
        calls.append(1)
        context.state["n"] = len(calls)

    result = pair(
        {"instruction": "{n}", "before_agent_callback": count},
        {"instruction": "b"},
        {"A": ["1"], "B": ["2"]},
        rules=["java", "go"],
    )
    assert result.unsteady == (Looked("1", 1, "A"),)
    assert result.deviations == ()
    assert result.headline == ("p: the same under go as under java; under java alone A differs from run to run")
    assert "A     differs: from run to run\nB     same" in str(result)
