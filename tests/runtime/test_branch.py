"""Step, continue, rewind, from, rerun: new runs, earlier steps never asked again, state and history put right."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from adknb import (
    AgentError,
    BaseAgent,
    CallbackContext,
    Content,
    Event,
    EventActions,
    FunctionCall,
    FunctionResponse,
    IncludeContents,
    InMemorySessionService,
    InvocationContext,
    LlmAgent,
    LlmRequest,
    LongRunningFunctionTool,
    LoopAgent,
    ModelError,
    ParallelAgent,
    Part,
    Run,
    Runner,
    RunStateError,
    SequentialAgent,
)
from adknb.models.scripted import ScriptedModel


def pipeline(**b: Any) -> SequentialAgent:
    return SequentialAgent(
        name="p",
        sub_agents=[
            LlmAgent(name="A", instruction="a", output_key="a"),
            LlmAgent(**{"name": "B", "instruction": "b {a}", "output_key": "b", **b}),
            LlmAgent(name="C", instruction="c {b} {user:n?}", output_key="user:n"),
        ],
    )


def model() -> ScriptedModel:
    """Counts how often each agent was really asked: a1, a2 …"""
    calls: dict[str, int] = {}

    def answer(request: LlmRequest) -> str:
        calls[request.agent] = calls.get(request.agent, 0) + 1
        return f"{request.agent.lower()}{calls[request.agent]}"

    return ScriptedModel(answer)


def outputs(run: Run) -> list[str]:
    return [step.output for step in run.step_runs]


def prompts(run: Run) -> list[str | None]:
    return [request.sent.system_instruction for step in run.step_runs for request in step.requests]


def test_pause_step_continue() -> None:
    runner = Runner(pipeline(), model=model())
    run = runner.run("hi", pause=True)
    assert (run.status, outputs(run), run.turn_events[0].text) == ("paused", [], "hi")
    run = runner.step(run)
    assert (run.status, outputs(run), run.session.state) == ("paused", ["a1"], {"a": "a1"})
    run = runner.continue_run(run)
    assert (run.status, outputs(run)) == ("completed", ["a1", "b1", "c1"])
    assert [event.text for event in run.session.history] == ["hi", "a1", "b1", "c1"]
    assert run.session.turns == [run]
    with pytest.raises(RunStateError, match=r"complete; there is no step left"):
        runner.continue_run(run)


def test_step_by_name_goes_on_to_it_or_does_it_again() -> None:
    runner = Runner(pipeline(), model=model())
    run = runner.step(runner.run("hi", pause=True), "B")
    assert (run.status, outputs(run)) == ("paused", ["a1", "b1"])
    run = runner.step(run, "A")
    assert (outputs(run), run.session.state) == (["a2"], {"a": "a2"})
    with pytest.raises(RunStateError, match=r"pipeline 'p' has no agent 'BB'. Did you mean 'B'\?"):
        runner.step(run, "BB")


def test_rewind_puts_state_and_history_back_user_values_too() -> None:
    runner = Runner(pipeline(), model=model())
    run = runner.run("hi")
    assert run.session.state == {"a": "a1", "b": "b1", "user:n": "c1"}
    assert run.session.scopes.user == {"n": "c1"}
    back = runner.rewind(run, "B")
    assert (back.status, back.parent, outputs(back)) == ("paused", run, ["a1"])
    assert (back.session.state, back.session.scopes.user) == ({"a": "a1"}, {})
    assert [event.text for event in back.session.history] == ["hi", "a1"]
    assert [event.text for event in back.session.events] == ["hi", "a1", "b1", "c1"]  # the log only grows
    assert outputs(run) == ["a1", "b1", "c1"]  # nothing is mutated


def test_from_asks_only_the_steps_from_there_on() -> None:
    answers = model()
    run = Runner(pipeline(), model=answers).run("hi")
    edited = Runner(pipeline(instruction="b2 {a}"), model=answers)
    again = edited.run_from(run, "B")
    assert outputs(again) == ["a1", "b2", "c2"]
    assert [step.replayed for step in again.step_runs] == [True, False, False]
    assert [text.split("\n")[0] for text in prompts(again) if text] == ["a", "b2 a1", "c b2 "]
    assert again.session.turns == [again]
    assert again.label == ""


def test_a_new_strategy_from_a_step_on_is_labelled_mixed() -> None:
    answers = model()
    run = Runner(pipeline(), model=answers).run("hi")
    again = Runner(pipeline(), model=answers, strategy="none").run_from(run, "C")
    assert (again.label, again.strategy) == ("mixed", "none")
    assert [content.text for content in again.step("C").requests[0].sent.contents] == ["For context:[B] said: b1"]


def test_a_trial_leaves_the_session_as_it_is() -> None:
    runner = Runner(pipeline(), model=model())
    run = runner.run("hi")
    before = (dict(run.session.state), list(run.session.history), list(run.session.events), list(run.session.turns))
    trial = Runner(pipeline(instruction="tried {a}"), model=ScriptedModel({"B": ["T"]})).step(run, "B", trial=True)
    assert outputs(trial) == ["a1", "T"]
    assert (run.session.state, run.session.history, run.session.events, run.session.turns) == before


def test_a_loop_step_is_addressed_by_its_number() -> None:
    root = LoopAgent(name="l", max_iterations=2, sub_agents=[LlmAgent(name="A", instruction="a {a?}", output_key="a")])
    runner = Runner(root, model=model())
    run = runner.run("hi")
    assert [step.name for step in run.step_runs] == ["A#1", "A#2"]
    again = runner.run_from(run, "A#2")
    assert outputs(again) == ["a1", "a3"]
    assert outputs(runner.rewind(run, "A#1")) == []


def test_a_child_of_a_parallel_means_the_whole_parallel() -> None:
    root = SequentialAgent(
        name="p",
        sub_agents=[
            LlmAgent(name="A", instruction="a"),
            ParallelAgent(
                name="fan", sub_agents=[LlmAgent(name="B", instruction="b"), LlmAgent(name="C", instruction="c")]
            ),
            LlmAgent(name="D", instruction="d"),
        ],
    )
    runner = Runner(root, model=model())
    run = runner.run("hi")
    assert sorted(outputs(run)) == ["a1", "b1", "c1", "d1"]
    again = runner.run_from(run, "C")
    assert sorted(outputs(again)) == ["a1", "b2", "c2", "d2"]
    stepped = runner.step(runner.rewind(run, "fan"))
    assert sorted(outputs(stepped)) == ["a1", "b3", "c3"]


def test_an_earlier_turn_again_makes_later_ones_stale() -> None:
    runner = Runner(pipeline(), model=model())
    first = runner.run("one")
    second = runner.run("two", session=first.session)
    again = runner.rerun(first)
    assert first.session.turns == [again, second]
    assert (second.stale, again.stale) == (True, False)
    assert [event.text for event in first.session.history] == ["one", "a3", "b3", "c3", "two", "a2", "b2", "c2"]
    assert first.session.state == {"a": "a2", "b": "b2", "user:n": "c2"}
    assert [event.text for event in again.past] == []
    assert [event.text for event in second.past] == ["one", "a1", "b1", "c1"]
    third = runner.run("three", session=first.session)
    assert [event.text for event in third.past] == ["one", "a3", "b3", "c3", "two", "a2", "b2", "c2"]
    changed = runner.rerun(third, "3")
    assert [event.text for event in changed.turn_events] == ["3", "a5", "b5", "c5"]


def test_workflow_callbacks_are_replayed_and_not_called_again() -> None:
    calls: list[str] = []

    def before(context: Any) -> None:
        calls.append("before")
        context.state["seen"] = len(calls)

    def after(context: Any) -> None:
        calls.append("after")

    root = SequentialAgent(
        name="p", before_agent_callback=before, after_agent_callback=after,
        sub_agents=[LlmAgent(name="A", instruction="a"), LlmAgent(name="B", instruction="b {seen}")],
    )  # fmt: skip
    runner = Runner(root, model=model())
    run = runner.run("hi")
    again = runner.run_from(run, "B")
    assert calls == ["before", "after", "after"]
    assert again.session.state == {"seen": 1}


def test_a_failed_step_is_done_again_by_continue() -> None:
    runner = Runner(pipeline(), model=ScriptedModel({"A": ["a1"], "B": [RuntimeError("down"), "b1"], "C": ["c1"]}))
    with pytest.raises(RuntimeError, match="down"):
        runner.run("hi")
    failed = runner.last_run
    assert failed is not None
    assert (failed.status, [step.status for step in failed.step_runs]) == ("failed", ["completed", "failed"])
    done = runner.continue_run(failed)
    assert (done.status, outputs(done)) == ("completed", ["a1", "b1", "c1"])


def test_limits_count_the_copied_steps() -> None:
    runner = Runner(pipeline(), model=model())
    run = runner.run("hi")
    again = runner.run_from(run, "C")
    assert sum(len(step.requests) for step in again.step_runs) == 3


def test_include_contents_of_the_agent_still_counts_as_written() -> None:
    runner = Runner(pipeline(include_contents=IncludeContents.NONE), model=model())
    run = runner.run("hi")
    assert [content.text for content in run.step("B").requests[0].sent.contents] == ["For context:[A] said: a1"]
    assert len(run.step("C").requests[0].sent.contents) == 3


def test_a_step_run_again_gets_the_same_scripted_reply() -> None:
    runner = Runner(pipeline(), model=ScriptedModel({name: [f"{name}1", f"{name}2"] for name in "ABC"}))
    run = runner.run("one")
    assert outputs(runner.run_from(run, "B")) == ["A1", "B1", "C1"]
    second = runner.run("two", session=run.session)
    assert outputs(second) == ["A2", "B2", "C2"]
    assert outputs(runner.step(runner.rewind(second, "B"))) == ["A2", "B2"]
    assert outputs(runner.run("one")) == ["A1", "B1", "C1"]  # a fresh session


def test_a_run_goes_on_after_a_step_that_ended_on_a_tool_response() -> None:
    def close(tool_context: Any) -> dict[str, Any]:
        """Close the ticket."""
        tool_context.actions.skip_summarization = True
        return {"closed": True}

    root = SequentialAgent(name="p", sub_agents=[LlmAgent(name="A", tools=[close]), LlmAgent(name="B")])
    replies: dict[str, list[Any]] = {"A": [Part.from_function_call("close", {})], "B": ["b1"]}
    runner = Runner(root, model=ScriptedModel(replies))
    done = runner.continue_run(runner.step(runner.run("hi", pause=True)))
    assert [step.name for step in done.step_runs] == ["A", "B"]


def test_an_answer_to_a_long_running_call_starts_again_with_who_asked() -> None:
    def ask() -> None:
        """Ask a person."""

    root = SequentialAgent(
        name="p", sub_agents=[LlmAgent(name="A", tools=[LongRunningFunctionTool(ask)]), LlmAgent(name="B")]
    )
    call = Part(function_call=FunctionCall("ask", {}, "call-1"))
    runner = Runner(root, model=ScriptedModel({"A": [call, "thanks"], "B": ["b1"]}))
    asked = runner.run("hi")
    answered = runner.run(FunctionResponse("ask", {"ok": True}, "call-1"), session=asked.session)
    assert outputs(answered) == ["thanks"]
    assert outputs(runner.run_from(answered, "A")) == ["thanks"]
    assert outputs(runner.step(runner.rewind(answered, "A"))) == ["thanks"]


def test_on_to_a_later_execution_and_to_a_step_inside_a_parallel() -> None:
    loop = LoopAgent(name="loop", max_iterations=4, sub_agents=[LlmAgent(name="A")])
    at_once = ParallelAgent(name="fan", sub_agents=[LlmAgent(name="B"), LlmAgent(name="C")])
    runner = Runner(SequentialAgent(name="p", sub_agents=[loop, at_once, LlmAgent(name="D")]), model="echo")
    run = runner.step(runner.run("hi", pause=True), "A#3")
    assert (run.status, [step.name for step in run.step_runs]) == ("paused", ["A#1", "A#2", "A#3"])
    run = runner.step(run, "C")
    assert (run.status, [step.name for step in run.step_runs][4:]) == ("paused", ["B", "C"])


def test_a_workflow_agents_callback_that_failed_is_called_again() -> None:
    calls: list[int] = []

    def guard(ctx: CallbackContext) -> None:
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("not yet")
        ctx.state["k"] = "v"

    root = SequentialAgent(
        name="p", before_agent_callback=guard, sub_agents=[LlmAgent(name="A", instruction="{k}", output_key="a")]
    )
    runner = Runner(root, model=ScriptedModel({"A": ["a1"]}))
    with pytest.raises(AgentError, match="not yet") as error:
        runner.run("hi")
    assert error.value.run is not None
    done = runner.continue_run(error.value.run)
    assert (outputs(done), len(calls), done.session.state) == (["a1"], 2, {"k": "v", "a": "a1"})


def test_a_step_that_caught_its_sub_agents_failure_is_done() -> None:
    class Retry(BaseAgent):
        async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event]:
            try:
                async for event in self.sub_agents[0].run_async(ctx):
                    yield event
            except ModelError:
                yield Event(self.name, Content.model("gave up"))

    root = SequentialAgent(
        name="p", sub_agents=[Retry(name="retry", sub_agents=[LlmAgent(name="A")]), LlmAgent(name="B")]
    )
    runner = Runner(root, model=ScriptedModel({"A": [ModelError("busy")], "B": ["b1"]}))
    run = runner.step(runner.run("hi", pause=True))
    assert [step.status for step in run.step_runs] == ["completed", "failed"]
    done = runner.continue_run(run)
    assert [event.text for event in done.turn_events] == ["hi", "gave up", "b1"]
    assert done.turn_events[1] is run.turn_events[1]


def test_a_turn_run_again_takes_back_only_what_its_own_session_shared() -> None:
    sessions = InMemorySessionService()
    mine = Runner(LlmAgent(name="A", output_key="user:mine"), model=model(), session_service=sessions)
    theirs = Runner(LlmAgent(name="B", output_key="user:theirs"), model=model(), session_service=sessions)
    run = mine.run("hi", session="first")
    theirs.run("hi", session="second")
    paused = mine.rerun(run, pause=True)
    assert sessions.shared_values().user == {("adknb", "user"): {"theirs": "b1"}}
    assert paused.session.state == {"user:theirs": "b1"}
    mine.continue_run(paused)
    assert sessions.shared_values().user == {("adknb", "user"): {"mine": "a2", "theirs": "b1"}}


def test_a_stale_turn_run_again_starts_from_the_state_that_the_turns_before_leave_now() -> None:
    replies = ScriptedModel(
        {"A": ["a1", "a2", "a1 again", "a2 again"], "B": ["b1", "b2", "b1 again", "b2 again", "b3"]}
    )
    writer = LlmAgent(name="A", instruction="Before: {a?}", output_key="a")
    reader = LlmAgent(name="B", instruction="Now: {a}, before: {b?}", output_key="b")
    runner = Runner(SequentialAgent(name="p", sub_agents=[writer, reader]), model=replies)
    first = runner.run("one", state={"temp:once": "gone"})
    second = runner.run("two", session=first.session)
    again = runner.rerun(first, "uno")
    assert (again.start_state, second.start_state) == ({"temp:once": "gone"}, {"a": "a1", "b": "b1"})
    replaced = runner.rerun(second)
    left = {"a": again.step("A").output, "b": again.step("B").output}
    assert replaced.start_state == left
    assert [turn.run for turn in (replaced.previous,) if turn] == [again]
    assert replaced.step("A").requests[0].sent.system[1].text == left["a"]
    assert first.session.state == {"a": replaced.step("A").output, "b": replaced.step("B").output}
    assert [run.stale for run in first.session.turns] == [False, False]
    from_b = runner.run_from(replaced, "B")  # nothing before it changed: as it was
    assert from_b.start_state is replaced.start_state


def test_an_older_run_of_a_later_turn_comes_after_the_first_turn_as_it_is_now() -> None:
    runner = Runner(pipeline(), model=model())
    first = runner.run("one")
    session = first.session
    second = runner.run("two", session=session)
    rewound = runner.rewind(first, "B")
    again = runner.run_from(second, "C")
    longer = runner.continue_run(rewound)
    newest = runner.run_from(second, "B")
    assert [run.id for run in session.turns] == [longer.id, newest.id]
    assert session.history == [*longer.turn_events, *newest.turn_events]
    assert (again.start, newest.start) == (4, 4)
    shorter = runner.rewind(longer, "A")
    trial = runner.step(second, "C", trial=True)
    assert session.history == [*shorter.turn_events, *newest.turn_events]
    assert trial.session.history == [*first.turn_events, *trial.turn_events]
    assert [run.id for run in trial.session.turns] == [first.id, trial.id]


async def test_what_was_appended_between_turns_still_counts_when_the_first_is_run_again() -> None:
    sessions = InMemorySessionService()
    runner = Runner(LlmAgent(name="A", output_key="a"), model=model(), session_service=sessions)
    first = await runner.run_async("one", session="s")
    await sessions.append_event(first.session, Event("X", actions=EventActions({"x": 1})))
    await runner.run_async("two", session="s")
    rewound = runner.rewind(first, "A")
    assert [event.author for event in rewound.session.history] == ["user", "X", "user", "A"]
    assert rewound.session.state == {"x": 1, "a": "a2"}
