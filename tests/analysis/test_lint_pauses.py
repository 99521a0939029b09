"""Lint of long-running calls: that nothing pauses, and what resumable mode does badly."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import CallbackContext, LlmAgent, LoopAgent, NotSupported, ParallelAgent, SequentialAgent, lint
from tests.analysis.pipelines import found, llm, only, place, steps
from tests.runtime.asking import ASK


def asker(name: str = "B", instruction: str = "", **fields: Any) -> LlmAgent:
    return llm(name, instruction, name.lower(), tools=[ASK], **fields)


def set_state(context: CallbackContext) -> None:
    context.state["x"] = 1


def read_state(context: CallbackContext) -> None:
    context.state.get("x")


@pytest.mark.parametrize(
    ("rules", "whom", "fix"),
    [
        ("java", "runs B alone", " Runner(resumable=True) pauses at the call."),
        ("go", "starts a turn at root", ""),
        ("js", "starts a turn at root", ""),
    ],
)
def test_nothing_pauses_in_ordinary_mode(rules: str, whom: str, fix: str) -> None:
    finding = only(steps(llm("A"), asker(), llm("C"), llm("D")), "nothing-pauses", rules=rules)
    assert (finding.agent, finding.severity) == ("B", "info")
    assert finding.message == (
        f"When B calls ask, nothing waits for the answer: what follows (C, D) runs without, and the answer {whom}."
    )
    assert finding.fix == f"Let B come last, if that is not meant.{fix}"


def test_a_last_step_may_ask() -> None:
    for root in (steps(llm("A"), asker()), asker()):
        assert lint(root).findings == lint(root, resumable=True).findings == ()


def test_a_plain_sequence_is_fine_in_resumable_mode() -> None:
    inner = SequentialAgent(name="q", sub_agents=[asker(), llm("C")], before_agent_callback=read_state)
    assert lint(steps(llm("A"), inner, llm("D")), resumable=True).findings == ()


def test_only_java_is_known() -> None:
    with pytest.raises(NotSupported, match="resumable=True follows ADK Java"):
        lint(asker(), rules="go", resumable=True)


def test_a_loop_is_not_entered_again() -> None:
    root = steps(LoopAgent(name="l", sub_agents=[asker(), llm("C")]), llm("D"))
    finding = only(root, "not-entered-again", resumable=True)
    assert (finding.agent, finding.severity) == ("B", "warning")
    assert finding.message == (
        "B may call ask below the loop l, which ADK does not enter again: the answer runs B alone, not C, more rounds of l, D."
    )
    assert finding.fix == "Put B where only SequentialAgents are around it."


def test_a_sequence_in_a_loop_is_entered_below_it() -> None:
    root = LoopAgent(name="l", sub_agents=[SequentialAgent(name="q", sub_agents=[asker(), llm("C")])])
    assert only(root, "not-entered-again", resumable=True).message.endswith("runs q alone, not more rounds of l.")


def test_neither_is_a_parallel_or_an_agent_that_transfers() -> None:
    fan = ParallelAgent(name="fan", sub_agents=[asker()])
    boss = llm("Boss", sub_agents=[asker("H")])
    messages = [finding.message for finding in found(steps(fan, boss), "not-entered-again", resumable=True)]
    assert messages == [
        "B may call ask below the parallel fan, which ADK does not enter again: the answer runs B alone, not Boss.",
        "H may call ask below the agent Boss, which ADK does not enter again: the answer runs H alone.",
    ]


def test_a_callback_that_sets_state_loses_the_place() -> None:
    root = SequentialAgent(name="root", sub_agents=[llm("A"), asker()], before_agent_callback=set_state)
    finding = only(root, "place-lost", resumable=True)
    assert (finding.agent, finding.severity) == ("root", "warning")
    assert finding.message == (
        "set_state sets state before root, and then ADK no longer finds an answer to ask of B: root starts over with A, and "
        "an agent that is sent its history fails there."
    )
    assert finding.fix == "Set the state before A, as a callback of that agent."
    first = SequentialAgent(name="root", sub_agents=[asker(), llm("C")], before_agent_callback=set_state)
    assert found(first, "place-lost", resumable=True) == []


def test_two_agents_of_one_name() -> None:
    branches = [SequentialAgent(name=name, sub_agents=[asker()]) for name in ("q", "r")]
    finding = only(steps(*branches), "answer-elsewhere", resumable=True)
    assert finding.message == (
        "Two agents are named B. ADK looks up by name who called ask, so the answer goes to root/q/B, not to root/r/B."
    )


@pytest.mark.parametrize(("mark", "error"), [("", ", which ends the run"), ("?", "")])
def test_a_temp_key_does_not_outlive_the_pause(mark: str, error: str) -> None:
    root = steps(llm("A", key="temp:a"), asker(), llm("C", f"Use {{temp:a{mark}}}."))
    finding = only(root, "temp-key-gone", resumable=True)
    assert (finding.agent, finding.severity, place(finding)) == ("C", "warning", (1, 5, f"{{temp:a{mark}}}"))
    assert finding.message == (
        "A writes 'temp:a', and B may call ask before C reads it: the turn ends there, and its temp: keys with it. After the "
        f"answer the key is absent{error}."
    )
    assert finding.fix == "Write 'a' instead."


def test_a_temp_key_of_the_asker_s_own_prompt() -> None:
    own = steps(llm("A", key="temp:a"), asker(instruction="{temp:a}"))
    assert only(own, "temp-key-gone", resumable=True).agent == "B"
    before = steps(llm("A", key="temp:a"), llm("C", "{temp:a}"), asker())
    after = steps(asker(), llm("A", key="temp:a"), llm("C", "{temp:a}"))
    assert found(before, "temp-key-gone", resumable=True) == found(after, "temp-key-gone", resumable=True) == []


def test_a_loop_without_rounds() -> None:
    root = LoopAgent(name="l", max_iterations=0, sub_agents=[llm("A")])
    assert only(root, "loop-runs-once", resumable=True).message == (
        "l has max_iterations 0 and runs once: in resumable mode ADK looks at the limit after a round."
    )
    assert found(root, "loop-runs-once") == []
