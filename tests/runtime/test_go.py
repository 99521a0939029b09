"""What runs differently under ADK Go's rules, seen through the Runner."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import Content, LlmAgent, LoopAgent, Part, Runner, ScriptedModel, SequentialAgent
from adknb.core.errors import AdknbError, AgentNameError, NotSupported
from adknb.core.run import Run, RunConfig
from adknb.rules.go_history import is_on_branch
from adknb.runtime.callbacks import CallbackContext, ToolContext


def call(name: str, **args: Any) -> Content:
    return Content("model", (Part.from_function_call(name, args),))


def read_state(key: str, tool_context: ToolContext) -> dict[str, Any]:
    """Read a value from session state by key."""
    return {"value": tool_context.state.get(key)}


def clobbered(rules: str) -> Run:
    """A writer and a reader that share an output_key, the reader with a tool that reads it."""
    root = SequentialAgent(
        name="pipeline",
        sub_agents=(
            LlmAgent(
                name="writer",
                model=ScriptedModel(["SECRET_42"]),
                instruction="Always respond with exactly: SECRET_42",
                output_key="shared_key",
            ),
            LlmAgent(
                name="reader",
                model=ScriptedModel([call("read_state", key="shared_key"), "Done."]),
                instruction="Use read_state with key 'shared_key' and repeat the value.",
                output_key="shared_key",
                tools=(read_state,),
            ),
        ),
    )
    return Runner(root, rules=rules).run("Go!")


@pytest.mark.parametrize(
    ("rules", "read", "written"),
    [
        ("go", "", ["SECRET_42", "", "", "Done."]),
        ("go_fixed", "SECRET_42", ["SECRET_42", None, None, "Done."]),
        ("java", "SECRET_42", ["SECRET_42", None, None, "Done."]),
    ],
)
def test_go_clobbers_a_shared_key_with_every_event(rules: str, read: str, written: list[str | None]) -> None:
    run = clobbered(rules)
    assert run.rules == rules
    assert [answer.response for event in run.turn_events for answer in event.function_responses] == [{"value": read}]
    assert [event.actions.state_delta.get("shared_key") for event in run.turn_events[1:]] == written
    assert run.session.state == {"shared_key": "Done."}


def test_go_fixed_differs_in_the_output_key_alone() -> None:
    runs = [clobbered(rules) for rules in ("go", "go_fixed")]
    told = [
        [
            (step.name, request.sent.system_instruction, request.sent.tools)
            for step in run.step_runs
            for request in step.requests
        ]
        for run in runs
    ]
    assert told[0] == told[1]


def test_a_thought_alone_asks_the_model_again() -> None:
    thought = Content("model", (Part(text="hm", thought=True),))
    agent = LlmAgent(name="A", model=ScriptedModel([thought, "answer"]), instruction="Think.", output_key="k")
    run = Runner(agent, rules="go").run("hi")
    assert [event.text for event in run.turn_events[1:]] == ["", "answer"]
    assert run.session.state == {"k": "answer"}
    assert [content.text for content in run.step_runs[0].requests[1].sent.contents] == [
        "hi",
        "",
        "Continue processing previous requests as instructed. Exit or provide a summary if no more outputs are needed.",
    ]
    assert run.step_runs[0].requests[1].sent.sources[2] is None


def test_temp_values_that_a_session_was_made_with_come_back() -> None:
    def overwrite(context: CallbackContext) -> None:
        context.state["temp:given"] = "new"
        context.state["temp:own"] = "own"

    agent = LlmAgent(
        name="A",
        model=ScriptedModel(["1", "2"]),
        instruction="[{temp:given}] [{temp:own}]",
        before_agent_callback=overwrite,
    )
    runner = Runner(agent, rules="go")
    first = runner.run("hi", state={"temp:given": "old"})
    assert first.step_runs[0].requests[0].sent.system_instruction == (
        '[new] [own]\n\nYou are an agent. Your internal name is "A".'
    )
    assert first.session.state == {"temp:given": "old"}
    assert dict(zip(first.state["key"], first.state["fresh"], strict=True)) == {
        "temp:given": "discarded after the turn",
        "temp:own": "discarded after the turn",
    }
    second = runner.run("again", session=first.session)
    assert second.start_state == {"temp:given": "old"}
    assert second.session.state == {"temp:given": "old"}


def test_state_that_no_event_says_is_gone_after_the_turn() -> None:
    def write(context: CallbackContext) -> None:
        context.state["k"] = "written"
        raise ValueError("boom")

    agent = LlmAgent(name="A", model=ScriptedModel(["never"]), instruction="Go.", before_agent_callback=write)
    states = []
    for rules in ("java", "go"):
        with pytest.raises(AdknbError) as raised:
            Runner(agent, rules=rules).run("hi")
        assert raised.value.run is not None
        states.append(raised.value.run.session.state)
    assert states == [{"k": "written"}, {}]


def test_a_loop_of_no_iterations_has_no_limit() -> None:
    agent = LoopAgent(
        name="loop",
        max_iterations=0,
        sub_agents=(LlmAgent(name="A", model=ScriptedModel(["again"] * 9), instruction="Go."),),
    )
    assert len(Runner(agent, rules="java").run("hi").step_runs) == 0
    with pytest.raises(AdknbError, match="asked its models 4 times"):
        Runner(agent, rules="go").run("hi", config=RunConfig(max_llm_calls=4))


def test_a_transfer_back_below_a_workflow_agent_is_not_guessed() -> None:
    helper = LlmAgent(
        name="Helper", model=ScriptedModel([call("transfer_to_agent", agent_name="Boss")]), instruction="Help."
    )
    boss = LlmAgent(
        name="Boss",
        model=ScriptedModel([call("transfer_to_agent", agent_name="Helper"), "end"]),
        instruction="Route.",
        sub_agents=(helper,),
    )
    with pytest.raises(
        NotSupported, match=r"a transfer back to 'Boss', below the workflow agent 'p': ADK Go turns it into"
    ):
        Runner(SequentialAgent(name="p", sub_agents=(boss,)), rules="go").run("hi")


def test_names() -> None:
    def tree(*names: str) -> SequentialAgent:
        return SequentialAgent(name="p", sub_agents=tuple(LlmAgent(name=name, instruction="Go.") for name in names))

    Runner(tree("user", "a b  c", "<x>"), rules="go")
    with pytest.raises(
        AgentNameError, match=r"two agents of 'p' are named 'A': ADK Go wants every name once"
    ) as raised:
        Runner(
            SequentialAgent(
                name="p", sub_agents=(SequentialAgent(name="q", sub_agents=tree("A").sub_agents), *tree("A").sub_agents)
            ),
            rules="go",
        )
    assert raised.value.adk_type == "*fmt.wrapError"
    assert raised.value.adk_message == (
        'failed to create agent tree: agent names must be unique in the agent tree, found duplicate: "A"'
    )
    with pytest.raises(NotSupported, match="an agent without a name"):
        Runner(tree(""), rules="go")


@pytest.mark.parametrize(
    ("event_branch", "branch", "seen"),
    [
        ("fan.A", "fan.AB", False),
        ("fan.A", "fan.A", True),
        ("fan.A", "fan.A.inner.B", True),
        ("fan.A.inner.B", "fan.A", False),
        (None, "fan.A", True),
        ("fan.A", None, True),
    ],
)
def test_branches_are_compared_by_whole_names(event_branch: str | None, branch: str | None, seen: bool) -> None:
    assert is_on_branch(event_branch, branch) is seen
