"""Resumable mode: a run ends waiting, says for what, and an answer goes on; steps of such runs are replayed as they were."""

from __future__ import annotations

import pytest

from adknb import (
    CallbackContext,
    LlmAgent,
    ModelError,
    NotSupported,
    Part,
    Runner,
    RunStateError,
    ScriptedModel,
    SequentialAgent,
    UnknownCallError,
)
from adknb.core.pending import asked_calls, pending_calls
from tests.runtime.asking import asks, looped, outputs, runner, three


def test_a_run_waits_and_its_answer_goes_on_at_the_step_that_asked() -> None:
    bench = runner()
    waiting = bench.run("go")
    assert (waiting.status, outputs(waiting), waiting.notes) == ("waiting", ["A a1", "B"], [])
    assert [step.status for step in waiting.step_runs] == ["completed", "waiting"]
    assert waiting.session.state == {"a": "a1"}
    done = bench.answer("call-1", {"answer": "yes"})
    assert (done.status, outputs(done), done.notes) == ("completed", ["B b1", "C c1"], [])
    assert done.session.state == {"a": "a1", "b": "b1", "c": "c1"}
    assert waiting.status == "waiting"
    assert len(done.pending) == 0


def test_without_it_nothing_pauses() -> None:
    run = runner(resumable=False).run("go")
    assert (run.status, outputs(run)) == ("completed", ["A a1", "B b1", "C c1"])
    assert list(run.pending["call"]) == ["call-1"]


@pytest.mark.parametrize("rules", ["go", "go_fixed", "js", "python"])
def test_only_java_is_recorded(rules: str) -> None:
    if rules == "python":
        pytest.importorskip("google.adk")
    with pytest.raises(NotSupported, match=f"resumable=True follows ADK Java.*rules='{rules}' there is no recorded"):
        Runner(LlmAgent(name="A"), rules=rules, resumable=True)


def test_what_waits_is_read_off_the_events() -> None:
    bench = runner(B=[[asks("first?", "call-1"), asks("second?", "call-2")]])
    run = bench.run("go")
    event = run.turn_events[2]
    assert [(call.id, call.event, call.answered) for call in pending_calls(run.turn_events)] == [
        ("call-1", event, None),
        ("call-2", event, None),
    ]
    since = "1970-01-01 00:01:01Z"
    event.timestamp = 61.9
    assert run.pending.to_dict("records") == [
        {"call": "call-1", "agent": "B", "question": "first?", "tool": "ask", "since": since},
        {"call": "call-2", "agent": "B", "question": "second?", "tool": "ask", "since": since},
    ]
    assert run.session.pending.equals(run.pending)
    answered = bench.answer("call-2", {"answer": "yes"})
    assert list(run.session.pending["call"]) == ["call-1"]
    assert [call.answered for call in asked_calls(run.session.history)] == [None, answered.turn_events[0]]
    assert list(answered.pending["call"]) == []


def test_steps_of_an_answered_run_are_replayed() -> None:
    bench = runner()
    bench.run("go")
    done = bench.answer("call-1", {"answer": "yes"})
    again = bench.run_from(done, "C")
    assert (outputs(again), [step.replayed for step in again.step_runs]) == (["B b1", "C c1"], [True, False])
    assert again.status == "completed"
    rewound = bench.rewind(again, "C")
    assert (rewound.status, outputs(rewound)) == ("paused", ["B b1"])
    assert outputs(bench.continue_run(rewound)) == ["B b1", "C c1"]


def test_an_answer_can_be_taken_step_by_step() -> None:
    bench = runner()
    bench.run("go")
    paused = bench.answer("call-1", {"answer": "yes"}, pause=True)
    assert (paused.status, outputs(paused)) == ("paused", [])
    one = bench.step(paused)
    assert (one.status, outputs(one)) == ("paused", ["B b1"])
    assert outputs(bench.continue_run(one)) == ["B b1", "C c1"]


def test_a_nested_sequence_is_replayed_from_where_it_began() -> None:
    inner = SequentialAgent(name="q", sub_agents=three().sub_agents[1:])
    bench = runner(SequentialAgent(name="p", sub_agents=[three().sub_agents[0], inner]), B=[asks()])
    bench.run("go")
    paused = bench.answer(None, True, pause=True)
    first = bench.step(paused)
    assert outputs(bench.step(first)) == ["B b1", "C c1"]


def test_a_failed_answer_is_continued() -> None:
    replies = ScriptedModel({"A": ["a1"], "B": [asks(), "b1"], "C": []})
    bench = Runner(three(), model=replies, resumable=True)
    bench.run("go")
    with pytest.raises(ModelError) as failed:
        bench.answer(None, "yes")
    assert failed.value.run is not None
    bench = Runner(three(), model=ScriptedModel({"C": ["", "c2"]}), resumable=True)
    assert outputs(bench.continue_run(failed.value.run)) == ["B b1", "C c2"]


def test_a_waiting_run_is_not_continued() -> None:
    bench = runner()
    run = bench.run("go")
    for go_on in (bench.continue_run, bench.step):
        with pytest.raises(RunStateError, match=r"waits for the answer to 'call-1' \(ask, asked by B\). Answer it"):
            go_on(run)


def test_a_waiting_turn_is_run_again_in_its_place() -> None:
    bench = runner(B=[asks(id=None)])
    first = bench.run("go")
    again = bench.rerun(first)
    assert (again.status, len(again.session.turns)) == ("waiting", 1)
    assert list(again.session.pending["call"]) == list(again.pending["call"]) != list(first.pending["call"])
    with pytest.raises(UnknownCallError, match="no long-running call 'adk-"):
        bench.answer(first.pending["call"][0], "yes")


def test_a_loop_stops_at_the_call() -> None:
    run = runner(looped(), B=[asks()]).run("go")
    assert (run.status, outputs(run)) == ("waiting", ["A a1", "B"])


def test_temp_keys_are_gone_when_the_answer_comes() -> None:
    def keep(context: CallbackContext) -> None:
        context.state["temp:kept"] = 1

    root = three(before_agent_callback=keep)
    run = runner(root).run("go")
    assert "temp:kept" not in run.session.state


def test_text_beside_the_call_is_the_key_until_the_answer_comes() -> None:
    bench = runner(B=[[Part(text="asking"), asks()]])
    run = bench.run("go")
    assert run.session.state["b"] == "asking"
    assert bench.answer(None, "yes").session.state["b"] == "b1"
