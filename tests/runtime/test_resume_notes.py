"""What resumable mode does that one would hardly expect is said on the run."""

from __future__ import annotations

import pytest

from adknb import (
    CallbackContext,
    FunctionCall,
    LoopAgent,
    Part,
    Runner,
    SequentialAgent,
    ToolContext,
    UnknownCallError,
)
from adknb.runtime.resume_notes import FAILS
from tests.runtime.asking import agent, asks, looped, outputs, replies, runner, three


def set_state(context: CallbackContext) -> None:
    context.state["x"] = 1


def finish(tool_context: ToolContext) -> dict[str, str]:
    """Finish."""
    tool_context.actions.skip_summarization = True
    return {"result": "done"}


FINISHES = Part(function_call=FunctionCall("finish", {}))


def test_a_second_answer() -> None:
    bench = runner()
    bench.run("go")
    bench.answer(None, "yes")
    assert bench.answer("call-1", "no").notes == [
        "the call call-1 of B was answered before: ADK goes on behind it once more and runs every later step again"
    ]


def test_one_answer_of_two() -> None:
    bench = runner(B=[[asks(id="call-1"), asks(id="call-2")]])
    bench.run("go")
    assert bench.answer("call-1", "yes").notes == [
        "1 more call waits (ask of B): ADK goes on without; answered later, that agent and what follows it run once more"
    ]


def test_a_message_that_is_no_answer() -> None:
    bench = runner()
    run = bench.run("go")
    other = bench.run("never mind", session=run.session)
    assert other.notes == [
        "ask of B waits for an answer (call call-1), and this message is none: ADK starts the turn as usual, and the call "
        "stays open"
    ]
    assert outputs(other) == ["A a2", "B b1", "C c1"]


def test_a_loop_is_not_entered_again() -> None:
    bench = runner(looped(), B=[asks()])
    bench.run("go")
    run = bench.answer(None, "yes")
    assert outputs(run) == ["B b1"]
    assert run.notes == [
        "B asks below the loop 'l', which ADK does not enter again: its answer runs B alone, not C, more rounds of l, D"
    ]


def test_a_callback_that_loses_the_place() -> None:
    root = three(before_agent_callback=set_state)
    bench = runner(root)
    bench.run("go")
    lost = (
        "p started over with A instead of going on with B: its before_agent_callback set state, and ADK then no longer finds "
        f"the answer; {FAILS}"
    )
    with pytest.raises(UnknownCallError) as failed:
        bench.answer(None, "yes")
    assert failed.value.run is not None
    assert (failed.value.agent, failed.value.run.notes) == ("A", [lost])
    bench = Runner(root, model=replies(B=[asks()]), strategy="none", resumable=True)
    bench.run("go")
    run = bench.answer(None, "yes")
    assert (outputs(run), run.notes) == (["A a2", "B b1", "C c1"], [lost])


def test_a_callback_costs_nothing_where_the_first_child_asked() -> None:
    root = SequentialAgent(name="p", sub_agents=[agent("B"), agent("C")], before_agent_callback=set_state)
    bench = runner(root, B=[asks()])
    assert bench.run("go").notes == []
    run = bench.answer(None, "yes")
    assert (outputs(run), run.notes) == (["B b1", "C c1"], [])


def test_only_the_outer_sequence_is_said_to_start_over() -> None:
    inner = SequentialAgent(name="q", sub_agents=[agent("A"), agent("B")], before_agent_callback=set_state)
    root = SequentialAgent(name="p", sub_agents=[agent("D"), inner], before_agent_callback=set_state)
    bench = Runner(root, model=replies(B=[asks()]), strategy="none", resumable=True)
    bench.run("go")
    assert [note.partition(" instead")[0] for note in bench.answer(None, "yes").notes] == ["p started over with D"]


def test_a_response_taken_for_an_answer() -> None:
    steps = SequentialAgent(name="q", sub_agents=[agent("A"), agent("B", tools=[finish])])
    run = runner(LoopAgent(name="l", max_iterations=2, sub_agents=[steps]), B=[FINISHES, FINISHES]).run("go")
    assert [step.name for step in run.step_runs] == ["A", "B#1", "B#2"]
    assert run.notes == [
        "q began with B, not with A: the session's newest event is a tool's response, which ADK takes for the answer to B"
    ]


@pytest.mark.parametrize(("limit", "rounds", "notes"), [(0, 1, 1), (1, 1, 0), (2, 2, 0)])
def test_a_loop_without_rounds_runs_once(limit: int, rounds: int, notes: int) -> None:
    run = runner(LoopAgent(name="l", max_iterations=limit, sub_agents=[agent("A")]), B=[]).run("go")
    assert (len(run.step_runs), len(run.notes)) == (rounds, notes)
    assert all(note.startswith("the loop l has max_iterations 0 and ran once") for note in run.notes)


def test_an_agent_that_is_gone() -> None:
    first = runner()
    run = first.run("go")
    other = runner(SequentialAgent(name="p", sub_agents=[agent("A"), agent("C")]), B=[])
    with pytest.raises(UnknownCallError) as failed:
        other.answer("call-1", "yes", session=run.session)
    assert failed.value.run is not None
    assert failed.value.run.notes == [
        f"B, which asked, is not in the pipeline any more: ADK starts over at the root; {FAILS}"
    ]


def test_two_agents_of_one_name() -> None:
    root = SequentialAgent(
        name="p",
        sub_agents=[
            SequentialAgent(name="q", sub_agents=[agent("A"), agent("B")]),
            SequentialAgent(name="r", sub_agents=[agent("B"), agent("C")]),
        ],
    )
    bench = runner(root, B=["b0", asks()])
    bench.run("go")
    run = bench.answer(None, "yes")
    assert run.notes == ["several agents are named B: ADK goes on at the first in the tree, p/q/B"]
    assert [step.name for step in run.step_runs] == ["B#1", "B#2", "C"]


def test_ordinary_mode_says_nothing() -> None:
    bench = runner(looped(), resumable=False, B=[asks()])
    bench.run("go")
    assert bench.answer(None, "yes").notes == []
