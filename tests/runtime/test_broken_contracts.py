"""What breaks its contract is named: tools' results, custom agents, models, strategies, specs."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import (
    AgentError,
    BaseAgent,
    Content,
    LlmAgent,
    Part,
    Run,
    Runner,
    ScriptedModel,
    SpecError,
    StateValueError,
)
from adknb.core.content import FunctionCall


def call(name: str, **args: Any) -> list[Part]:
    return [Part(function_call=FunctionCall(name, args))]


def last(runner: Runner) -> Run:
    """The run that failed or was interrupted."""
    assert runner.last_run is not None
    return runner.last_run


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "agent 'A': tool 'odd' returned what a model cannot be sent, 'result': a object cannot be stored."),
        ({"a": [1, {2}]}, "'result.a[1]': a set cannot be stored."),
        ({1: 2}, "'result': the object's key 1 must be text."),
        ({"a": float("nan")}, "'result.a': nan is not a JSON number."),
        (iter([1]), "'result': a list_iterator cannot be stored."),
    ],
)
def test_a_tool_that_returns_no_json_is_named(value: object, message: str) -> None:
    def odd() -> Any:
        """Return it."""
        return value

    odd.__annotations__["return"] = dict  # what it declares; what it returns is another matter
    with pytest.raises(AgentError) as caught:
        Runner(LlmAgent(name="A", tools=[odd]), model=ScriptedModel({"A": [call("odd"), "done"]})).run("hi")
    assert message in str(caught.value)


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(StateValueError, match=r"it is nested deeper than 200 levels, or holds itself"):
        Runner(LlmAgent(name="A"), model="echo").run("hi", state={"k": value})


def test_custom_agents_are_told_what_they_did_wrong() -> None:
    class Raises(BaseAgent):
        async def _run_async_impl(self, ctx):  # type: ignore[no-untyped-def]
            yield ctx.event(Content.model("so far"))
            raise ValueError("boom")

    class YieldsText(BaseAgent):
        async def _run_async_impl(self, ctx):  # type: ignore[no-untyped-def]
            yield "text"

    with pytest.raises(AgentError, match="agent 'r' raised ValueError: boom") as caught:
        Runner(Raises(name="r")).run("hi")
    assert caught.value.run is not None
    assert [event.text for event in caught.value.run.turn_events] == ["hi", "so far"]
    with pytest.raises(SpecError, match=r"agent 'y' yielded 'text', which is no Event\. Yield ctx\.event"):
        Runner(YieldsText(name="y")).run("hi")


def test_an_error_of_a_model_names_agent_and_run() -> None:
    with pytest.raises(RuntimeError, match="down") as caught:
        Runner(LlmAgent(name="A"), model=ScriptedModel({"A": [RuntimeError("down")]})).run("hi")
    assert caught.value.__notes__ == ["agent 'A', step A"]
    assert caught.value.run.status == "failed"  # type: ignore[attr-defined]
    assert caught.value.__context__ is None


def test_sys_exit_in_a_tool_ends_the_run_and_nothing_else() -> None:
    def leave() -> dict[str, Any]:
        """Leave."""
        raise SystemExit(2)

    runner = Runner(LlmAgent(name="A", tools=[leave]), model=ScriptedModel({"A": [call("leave"), "done"]}))
    with pytest.raises(SystemExit) as caught:
        runner.run("hi")
    assert (caught.value.code, last(runner).status) == (2, "interrupted")


def test_another_model_answers_under_the_named_models_rules() -> None:
    agent = LlmAgent(
        name="A",
        model="gemini-2.5-flash",
        tools=[echo],
        output_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
    )
    run = Runner(agent, models=ScriptedModel({"A": ['{"n": 1}']})).run("hi")
    assert "set_model_response" in run.step("A").requests[0].sent.tools
    assert run.step("A").requests[0].sent.model == "gemini-2.5-flash"
    assert run.step("A").notes == ["scripted answered in place of gemini-2.5-flash"]


def echo(text: str) -> dict[str, Any]:
    """Echo the text."""
    return {"echo": text}


def test_copies_of_agents_are_checked_and_agents_stay_as_they_are() -> None:
    agent = LlmAgent(name="A", instruction="a")
    assert agent.model_copy(update={"instruction": "b"}).instruction == "b"
    with pytest.raises(SpecError, match="LlmAgent 'A': there is no field 'instructon'"):
        agent.model_copy(update={"instructon": "b"})
    with pytest.raises(SpecError, match=r"LlmAgent 'A' cannot be changed\. Make a changed copy: agent\.model_copy"):
        agent.instruction = "b"
    with pytest.raises(SpecError, match="before_agent_callback: a callback must be a function, not 3"):
        LlmAgent(name="A", before_agent_callback=3)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="instruction: an instruction is text or a function, not None"):
        LlmAgent(name="A", instruction=None)  # type: ignore[arg-type]


def test_a_strategy_for_an_agent_that_there_is_not() -> None:
    with pytest.raises(SpecError, match=r"the strategy names the agent 'B', which is not in 'A'\. There is: 'A'\."):
        Runner(LlmAgent(name="A"), strategy={"B": "none"})
