"""Adopted conversations: what everything that looks at runs makes of them, and what is said where the events do not tell."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import (
    CallbackContext,
    Content,
    Event,
    EventActions,
    FunctionCall,
    FunctionResponse,
    InMemoryArtifactService,
    LlmAgent,
    LlmRequest,
    LongRunningFunctionTool,
    LoopAgent,
    ParallelAgent,
    Part,
    Runner,
    ScriptedModel,
    SequentialAgent,
    Session,
    Usage,
    adopt,
    compare_prompts,
)
from adknb.core.run import Run
from adknb.runtime.sync import run_sync


def ticket(**changes: Any) -> SequentialAgent:
    triage = LlmAgent(name="Triage", instruction="Classify.", output_key="triage")
    draft = LlmAgent(name="Draft", **{"instruction": "Answer {triage}.", "output_key": "draft", **changes})
    return SequentialAgent(name="ticket", sub_agents=[triage, draft])


def said(author: str, text: str, turn: str = "i1", delta: dict[str, Any] | None = None, **fields: Any) -> Event:
    content = Content.user(text) if author == "user" else Content.model(text)
    return Event(author, content, EventActions(delta or {}), turn, **fields)


def reply(author: str, text: str, turn: str = "i1", delta: dict[str, Any] | None = None, **fields: Any) -> Event:
    """What a model said, with the tokens that it reported."""
    return said(author, text, turn, delta, usage=Usage(7, 3), **fields)


def session(*events: Event, **state: Any) -> Session:
    return Session("s", state=state, events=list(events), history=list(events))


def conversation() -> Session:
    return session(
        said("user", "Charged twice."),
        reply("Triage", "billing", delta={"triage": "billing"}),
        reply("Draft", "Sorry.", delta={"draft": "Sorry."}),
        said("user", "Still.", "i2"),
        reply("Triage", "again", "i2", {"triage": "again"}),
        reply("Draft", "Soon.", "i2", {"draft": "Soon."}),
        triage="again",
        draft="Soon.",
    )


def notes(run: Run, step: str) -> list[str]:
    return run.step(step).notes


def test_the_turns_of_a_conversation() -> None:
    given = conversation()
    adopted = adopt(given, ticket())
    assert (given.chain, [run.output for run in adopted.turns]) == ([], ["Sorry.", "Soon."])
    first, second = adopted.turns
    assert [(step.name, step.status, step.output) for step in second.step_runs] == [
        ("Triage", "completed", "again"), ("Draft", "completed", "Soon.")
    ]  # fmt: skip
    assert (first.start_state, second.start_state) == ({}, {"triage": "billing", "draft": "Sorry."})
    assert second.steps["input_tokens"].tolist() == [7, 7]
    assert second.prompt("Draft")["text"].tolist()[:3] == ["Answer ", "again", "."]
    assert second.state[["key", "written_by", "fresh"]].values.tolist() == [
        ["triage", "Triage", "fresh"], ["draft", "Draft", "fresh"]
    ]  # fmt: skip
    assert compare_prompts(second).headline == (
        "No step is sent a state value twice; NONE would save 32 of 74 tokens (43 %)."
    )
    assert "adopted" in second.notes[0]
    assert adopted.to_html().count("Charged twice.") >= 1


def test_going_on_from_an_adopted_turn() -> None:
    """A real conversation runs on from any of its steps, and goes on with a next turn."""
    adopted = adopt(conversation(), ticket())
    runner = Runner(ticket(), model=ScriptedModel({"Triage": ["t"] * 3, "Draft": ["unused", "from here", "next"]}))
    again = runner.run_from(adopted.turns[1], "Draft")
    assert [(step.name, step.output, step.replayed) for step in again.step_runs] == [
        ("Triage", "again", True), ("Draft", "from here", False)
    ]  # fmt: skip
    third = runner.run("And now?", session=adopted)
    assert third.output == "next"
    assert third.step("Triage").requests[0].sent.contents[0].text == "Charged twice."


def test_an_agent_that_the_pipeline_has_not() -> None:
    run = adopt(session(said("user", "hi"), reply("Old", "x", delta={"k": 1}), reply("Triage", "t")), ticket()).turns[0]
    assert "ticket has no agent 'Old': what it was sent is not known here" in run.notes
    assert [(step.name, len(step.requests), step.state_delta) for step in run.step_runs] == [
        ("Old", 0, {"k": 1}), ("Triage", 1, {})
    ]  # fmt: skip


def test_a_conversation_that_stops_early_can_be_continued() -> None:
    run = adopt(session(said("user", "hi"), reply("Triage", "t", delta={"triage": "t"}), triage="t"), ticket()).turns[0]
    assert run.status == "interrupted"
    assert "it stops before Draft says what comes next; an error is not stored" in run.notes
    done = Runner(ticket(), model=ScriptedModel({"Draft": ["done"]})).continue_run(run)
    assert [(step.name, step.output) for step in done.step_runs] == [("Triage", "t"), ("Draft", "done")]


def edit(context: CallbackContext, request: LlmRequest) -> None:
    """Changes requests, as far as anybody knows."""


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"before_model_callback": edit}, "before_model_callback (edit) may have changed its requests, which are shown as they were before it"),
        ({"after_model_callback": edit}, "after_model_callback (edit) may have changed its replies, which are shown as they were stored"),
        ({"instruction": lambda context: "now"}, "its instruction is a function: called now, on the state of then"),
        ({"instruction": "{lost}"}, "lost was in the state, since the agent was asked; its value then is not stored"),
        ({"instruction": "{draft?}"}, "draft is first written later: what it was before, if anything, is not stored"),
        ({"instruction": "{temp:x?}"}, "temp:x lives for one turn and is not stored: what stood there is not known"),
        ({"instruction": "{user:tier}"}, "user:tier is shown as it was stored last: other sessions write it too, and its value then is not known"),
        ({"instruction": "{artifact.a.txt}"}, "artifact a.txt is not in the session: its text is not known"),
        ({"instruction": lambda context: 1 / 0}, "a request could not be built again: AgentError: "),
    ],
)  # fmt: skip
def test_what_the_events_do_not_tell_is_said(changes: dict[str, Any], note: str) -> None:
    given = conversation()
    given.state["user:tier"] = "gold"
    run = adopt(given, ticket(**changes)).turns[0]
    assert [each for each in notes(run, "Draft") if each.startswith(note)]
    assert run.step("Draft").requests[0].reply is not None


def test_a_value_that_is_not_stored_leaves_a_gap() -> None:
    run = adopt(conversation(), ticket(instruction="Tell {lost} {triage}")).turns[0]
    sent = run.step("Draft").requests[0].sent
    assert sent.system_instruction is not None
    assert sent.system_instruction.startswith("Tell ⟨lost: not stored⟩ billing")


def test_artifacts_of_a_service_are_inserted() -> None:
    given = conversation()
    service = InMemoryArtifactService()

    async def save() -> None:
        await service.save_artifact(given, "a.txt", Part(text="body"))

    run_sync(save)
    run = adopt(given, ticket(instruction="{artifact.a.txt}"), artifact_service=service).turns[0]
    assert (run.step("Draft").requests[0].sent.system_instruction or "").startswith('{"text":"body"}')


def test_agents_at_once_see_the_state_before_the_others() -> None:
    root = SequentialAgent(
        name="root",
        sub_agents=[
            ParallelAgent(
                name="fan",
                sub_agents=[
                    LlmAgent(name="A", instruction="a", output_key="a"),
                    LlmAgent(name="B", instruction="b {a?}", output_key="b"),
                ],
            ),
            LlmAgent(name="M", instruction="{a} {b}"),
        ],
    )
    run = adopt(
        session(
            said("user", "hi"),
            reply("A", "1", delta={"a": "1"}, branch="fan.A"),
            reply("B", "2", delta={"b": "2"}, branch="fan.B"),
            reply("M", "3"),
            a="1", b="2",
        ),
        root,
    ).turns[0]  # fmt: skip
    assert [(step.name, step.requests[0].seen) for step in run.step_runs] == [("A", 1), ("B", 1), ("M", 3)]
    assert "A wrote a at the same time; the request is shown with the value before that" in notes(run, "B")
    assert (run.step("M").requests[0].sent.system_instruction or "").startswith("1 2")
    assert [entry.path for entry in run.journal] == ["root/fan", "root/M"]


def test_a_call_that_waits_and_its_answer() -> None:
    def ask(question: str) -> None:
        """Ask."""

    root = LlmAgent(name="A", instruction="x", tools=[LongRunningFunctionTool(ask)])
    call = FunctionCall("ask", {"question": "?"}, "c1")
    asked = Event(
        "A", Content("model", (Part(function_call=call),)), invocation_id="i1", usage=Usage(1, 1),
        long_running_tool_ids=frozenset({"c1"}),
    )  # fmt: skip
    answer = Content("user", (Part(function_response=FunctionResponse("ask", {"result": "yes"}, "c1")),))
    turns = adopt(
        session(said("user", "hi"), asked, Event("user", answer, invocation_id="i2"), reply("A", "so", "i2")), root
    ).turns
    assert [run.output for run in turns] == ["", "so"]
    assert turns[0].pending["call"].tolist() == ["c1"]
    assert [content.to_dict() for content in turns[1].step("A").requests[0].sent.contents[1:]] == [
        {"role": "model", "parts": [{"function_call": {"id": "c1", "name": "ask", "args": {"question": "?"}}}]},
        answer.to_dict(),
    ]


def test_a_loop_runs_its_agents_again() -> None:
    agents = [LlmAgent(name="W", instruction="w"), LlmAgent(name="C", instruction="c")]
    root = LoopAgent(name="loop", max_iterations=2, sub_agents=agents)
    events = [said("user", "hi"), *(reply(name, name) for name in "WCWC")]
    run = adopt(session(*events), root).turns[0]
    assert [step.name for step in run.step_runs] == ["W#1", "C#1", "W#2", "C#2"]
    assert (run.status, len(run.journal)) == ("completed", 4)


def test_words_of_callbacks_are_no_replies() -> None:
    """Models report what they cost; a text without that, of an agent with a callback, is the callback's."""
    root = ticket(before_agent_callback=edit, after_agent_callback=edit)
    run = adopt(session(said("user", "hi"), reply("Triage", "t"), said("Draft", "guarded")), root).turns[0]
    assert [(step.name, step.status, len(step.requests)) for step in run.step_runs] == [
        ("Triage", "completed", 1), ("Draft", "skipped", 0)
    ]  # fmt: skip
    run = adopt(session(said("user", "hi"), said("Triage", "t"), said("Draft", "?")), root).turns[0]
    assert len(run.step("Draft").requests) == 1
    assert "the events do not tell whether its model or a callback said this" in notes(run, "Draft")


def test_events_of_no_turn_are_kept_before_the_next() -> None:
    setting = Event("user", None, EventActions({"k": 1}), "p-1")
    adopted = adopt(session(setting, said("user", "hi"), reply("Triage", "t"), Event("user", None)), ticket())
    run = adopted.turns[0]
    assert (run.lead, run.start_state, run.start) == ([setting], {"k": 1}, 1)
    assert len(adopted.history) == 4
