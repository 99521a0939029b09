"""Comparisons of whole runs: their rows, conversations, start states, failures, repeats."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adknb import (
    CallbackContext,
    Content,
    LlmAgent,
    LlmRequest,
    LlmResponse,
    ModelError,
    RunConfig,
    ScriptedModel,
    SpecError,
    Usage,
)
from adknb.compare.comparison import Comparison
from adknb.compare.lab import Lab, compare_variants
from adknb.compare.measured import Row
from adknb.examples.ticket import MESSAGE, REPLIES, scripted_replies, ticket_pipeline
from tests.compare.pipelines import Asked, greet, picked, system, texts, two_steps

STEPS = ["TriageAgent", "DraftAgent", "PolicyCheckAgent"]
TICKET = {agent: [reply] for agent, reply in REPLIES.items()}


def row(comparison: Comparison, variant: str, input: str, step: str, turn: int = 1) -> Row:
    wanted = (variant, input, step, turn)
    (found,) = (
        each for each in comparison.rows if (each["variant"], each["input"], each["step"], each["turn"]) == wanted
    )
    return found


def test_the_rows_of_the_ticket_pipeline() -> None:
    """In all 359 tokens under DEFAULT and 312 under NONE, as the dry comparison works out (see test_dry)."""
    comparison = compare_variants(
        ticket_pipeline(), [MESSAGE, "My router is offline."], model=scripted_replies(), state={"user:tier": "gold"}
    )
    assert picked(comparison, "variant", "input", "repeat", "step", "turn", "input_tokens", "output_tokens") == [
        ("default", "1", 0, "TriageAgent", 1, 74, 24),
        ("default", "1", 0, "DraftAgent", 1, 126, 20),
        ("default", "1", 0, "PolicyCheckAgent", 1, 159, 3),
        ("default", "2", 0, "TriageAgent", 1, 72, 24),
        ("default", "2", 0, "DraftAgent", 1, 124, 20),
        ("default", "2", 0, "PolicyCheckAgent", 1, 157, 3),
        ("none", "1", 0, "TriageAgent", 1, 74, 24),
        ("none", "1", 0, "DraftAgent", 1, 119, 20),
        ("none", "1", 0, "PolicyCheckAgent", 1, 119, 3),
        ("none", "2", 0, "TriageAgent", 1, 72, 24),
        ("none", "2", 0, "DraftAgent", 1, 119, 20),
        ("none", "2", 0, "PolicyCheckAgent", 1, 119, 3),
    ]
    first = row(comparison, "none", "1", "PolicyCheckAgent")
    assert first.pop("ms") >= 0
    assert first == {
        "variant": "none", "input": "1", "repeat": 0, "step": "PolicyCheckAgent", "turn": 1, "status": "completed",
        "error": "", "requests": 1, "input_tokens": 119, "output_tokens": 3, "counted_by": "o200k_base", "cost": None,
        "answer": "APPROVE", "equal": True, "similarity": 1.0, "fields_equal": None, "category": "APPROVE", "flip": "",
        "as_expected": None, "schema_valid": None, "guarded": False, "tools_called": "", "leaked": False,
        "sent_twice": 19, "instruction": 48, "injected_state": 42, "user_message": 0, "history": 29, "tools": 0,
        "schema": 0, "model": "scripted", "temperature": None, "seed": None,
        "note": "written for this lesson: ignores your prompt",
    }  # fmt: skip


def test_a_record_has_the_prompts_as_they_were_sent() -> None:
    asked = Asked(REPLIES)
    comparison = compare_variants(ticket_pipeline(), [MESSAGE], ["default"], model=asked)
    (record,) = comparison.records
    assert [step.step for step in record.steps] == asked.agents == STEPS
    for step, request in zip(record.steps, asked.requests, strict=True):
        (prompt,) = step.prompts
        assert "".join(piece.text for piece in prompt if piece.role == "system") == request.system_instruction
        assert [piece.text for piece in prompt if piece.role != "system"] == texts(request)
    history = [(piece.role, piece.author, piece.text) for piece in record.steps[1].prompts[0] if piece.content == 1]
    assert history == [
        ("user", "TriageAgent", "For context:"),
        ("user", "TriageAgent", f"[TriageAgent] said: {REPLIES['TriageAgent']}"),
    ]
    assert record.answer == "APPROVE"


def test_reported_usage_wins_over_counts() -> None:
    replies = {
        agent: [LlmResponse(Content.model(text), Usage(1000 + place, 7))]
        for place, (agent, text) in enumerate(REPLIES.items())
    }
    comparison = compare_variants(ticket_pipeline(), [MESSAGE], ["default"], model=ScriptedModel(replies))
    assert picked(comparison, "input_tokens", "output_tokens", "counted_by", "history") == [
        (1000, 7, "reported", 0), (1001, 7, "reported", 33), (1002, 7, "reported", 62),
    ]  # fmt: skip
    assert [step.counted for step in comparison.records[0].steps] == [74, 125, 159]


# conversations and start states


def test_a_conversation_goes_on_in_one_session() -> None:
    asked = Asked(lambda request: f"{request.agent} {len(request.contents)}")
    comparison = compare_variants(
        two_steps(), [["First.", "Second."], "Alone."], ["default", "state_only"], model=asked
    )
    assert picked(comparison, "variant", "input", "turn", "step", "answer") == [
        ("default", "1", 1, "A", "A 1"),
        ("default", "1", 1, "B", "B 2"),
        ("default", "1", 2, "A", "A 4"),
        ("default", "1", 2, "B", "B 5"),
        ("default", "2", 1, "A", "A 1"),
        ("default", "2", 1, "B", "B 2"),
        ("state_only", "1", 1, "A", "A 1"),
        ("state_only", "1", 1, "B", "B 1"),
        ("state_only", "1", 2, "A", "A 1"),
        ("state_only", "1", 2, "B", "B 1"),
        ("state_only", "2", 1, "A", "A 1"),
        ("state_only", "2", 1, "B", "B 1"),
    ]
    assert comparison.record("default", 1).answer == "B 5"
    assert row(comparison, "default", "1", "A", 2)["user_message"] == 2
    assert row(comparison, "default", "1", "A", 2)["history"] > 0
    assert [each["equal"] for each in comparison.rows[6:]] == [True, False, False, False, True, False]


def test_a_conversation_that_fails_has_the_turns_before() -> None:
    def answer(request: LlmRequest) -> str:
        if texts(request)[-1] == "Second.":
            raise ModelError("no more")
        return "fine"

    comparison = compare_variants(two_steps(), [["First.", "Second.", "Third."]], ["state_only"], model=Asked(answer))
    assert picked(comparison, "turn", "step", "status", "error") == [
        (1, "A", "completed", ""),
        (1, "B", "completed", ""),
        (2, "A", "failed", "ModelError: agent 'A': no more"),
    ]
    assert comparison.records[0].answer == ""


def test_each_input_starts_from_its_own_state() -> None:
    asked = Asked(lambda request: system(request).partition("\n")[0])
    pipeline = LlmAgent(name="A", instruction="{user:tier} {n?} {greeting?}.", output_key="greeting")
    inputs = [{"message": "one", "state": {"user:tier": "silver", "n": 2}}, "two"]
    comparison = compare_variants(pipeline, inputs, ["default", "none"], model=asked, state={"user:tier": "gold"})
    assert picked(comparison, "variant", "input", "answer") == [
        ("default", "1", "silver 2 ."), ("default", "2", "gold  ."), ("none", "1", "silver 2 ."), ("none", "2", "gold  ."),
    ]  # fmt: skip
    assert comparison.input(1).state == {"user:tier": "silver", "n": 2}


@pytest.mark.parametrize("kind", ["run", "paired"])
def test_a_start_state_is_that_of_the_first_turn(kind: Any) -> None:
    asked = Asked(lambda request: f"after {system(request).partition('.')[0]}")
    pipeline = LlmAgent(name="A", instruction="{said}.", output_key="said")
    inputs = [{"messages": ["one", "two"], "state": {"said": "start"}}]
    comparison = compare_variants(pipeline, inputs, ["default", "none"], kind=kind, model=asked)
    assert picked(comparison, "variant", "turn", "answer") == [
        ("default", 1, "after start"), ("default", 2, "after after start"),
        ("none", 1, "after start"), ("none", 2, "after after start"),
    ]  # fmt: skip


# failures


def test_a_missing_key_fails_one_input_alone() -> None:
    inputs = [
        {"message": "one", "state": {"tier": "gold"}},
        {"message": "two"},
        {"message": "three", "state": {"tier": "silver"}},
    ]
    pipeline = two_steps(instruction="Say b to {tier}.")
    comparison = compare_variants(pipeline, inputs, model=Asked({"A": "a", "B": "b"}))
    error = (
        "MissingKeyError: agent 'B': the instruction needs the state key 'tier', which nobody wrote. There is: 'a'. Write it "
        "in an earlier step (output_key='tier'), start with it (state={'tier': …}), or make it optional: {tier?}"
    )
    assert [record.error for record in comparison.records] == ["", error, "", "", error, ""]
    assert picked(comparison, "variant", "input", "step", "status", "answer", "equal") == [
        ("default", "1", "A", "completed", "a", True), ("default", "1", "B", "completed", "b", True),
        ("default", "2", "A", "completed", "a", True), ("default", "2", "B", "failed", "", None),
        ("default", "3", "A", "completed", "a", True), ("default", "3", "B", "completed", "b", True),
        ("none", "1", "A", "completed", "a", True), ("none", "1", "B", "completed", "b", True),
        ("none", "2", "A", "completed", "a", True), ("none", "2", "B", "failed", "", None),
        ("none", "3", "A", "completed", "a", True), ("none", "3", "B", "completed", "b", True),
    ]  # fmt: skip
    assert row(comparison, "none", "2", "B")["error"] == error
    assert row(comparison, "none", "2", "A")["error"] == ""


def test_a_model_that_fails_for_one_input_under_one_variant() -> None:
    def answer(request: LlmRequest) -> str:
        if request.agent == "B" and "two" not in texts(request):
            raise ValueError("B needs the message two")
        return "fine"

    comparison = compare_variants(two_steps(), ["one", "two"], model=Asked(answer))
    assert picked(comparison, "variant", "input", "step", "error", "equal") == [
        ("default", "1", "A", "", True), ("default", "1", "B", "ValueError: B needs the message two", None),
        ("default", "2", "A", "", True), ("default", "2", "B", "", True),
        ("none", "1", "A", "", True), ("none", "1", "B", "ValueError: B needs the message two", None),
        ("none", "2", "A", "", True), ("none", "2", "B", "ValueError: B needs the message two", None),
    ]  # fmt: skip


def test_one_exception_for_all_trials_leaves_each_its_own_steps() -> None:
    """A scripted exception is one object that many trials raise at once."""
    model = ScriptedModel({"A": ["a"], "B": [ModelError("gone")]})
    comparison = compare_variants(two_steps(), ["one", "two"], model=model)
    assert picked(comparison, "step", "status", "error") == [
        ("A", "completed", ""), ("B", "failed", "ModelError: agent 'B': gone"),
    ] * 4  # fmt: skip


def test_an_exception_without_room_for_its_run() -> None:
    class Tight(Exception):
        __slots__ = ()

        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(name)

    model = ScriptedModel({"A": ["a"], "B": [Tight("gone")]})
    comparison = compare_variants(two_steps(), ["one"], ["default"], model=model)
    assert picked(comparison, "step", "error") == [("A", ""), ("B", "Tight: gone")]


def test_a_failure_outside_of_every_step() -> None:
    def fail(context: CallbackContext) -> None:
        raise ValueError("not today")

    error = "AgentError: agent 'two': before_agent_callback fail raised ValueError: not today"
    pipeline = two_steps().model_copy(update={"before_agent_callback": fail})
    comparison = compare_variants(pipeline, ["one"], ["default"], model="echo")
    assert picked(comparison, "step", "status", "error", "answer") == [("", "failed", error, "")]

    pipeline = two_steps().model_copy(update={"after_agent_callback": fail})
    comparison = compare_variants(pipeline, ["one"], ["default"], model=Asked({"A": "a", "B": "b"}))
    assert picked(comparison, "step", "status", "error", "equal") == [
        ("A", "completed", "", True),
        ("B", "completed", error.replace("before", "after"), None),
    ]


def test_the_limit_of_a_run_holds_for_each_trial() -> None:
    comparison = compare_variants(
        two_steps(),
        ["one", "two"],
        ["default"],
        model=Asked({"A": "a", "B": "b"}),
        config=RunConfig(max_llm_calls=1),
    )
    assert [error.partition(":")[0] for (error,) in picked(comparison, "error")] == [
        "", "LlmCallsLimitExceededError", "", "LlmCallsLimitExceededError",
    ]  # fmt: skip


# what is alike


def test_inputs_and_variants_that_are_alike_are_asked_all_the_same() -> None:
    asked = Asked(lambda request: str(len(asked.requests)))
    comparison = compare_variants(
        LlmAgent(name="A"), ["same", "same"], {"one": "default", "two": "default"}, model=asked, concurrency=1
    )
    assert picked(comparison, "variant", "input", "answer") == [
        ("one", "1", "1"), ("one", "2", "3"), ("two", "1", "2"), ("two", "2", "4"),
    ]  # fmt: skip
    assert comparison.missing == 0


def test_rows_are_json_and_the_same_from_the_same() -> None:
    def made() -> str:
        comparison = compare_variants(ticket_pipeline(), [MESSAGE, "Other."], model=scripted_replies(), repeat=2)
        return json.dumps([{**each, "ms": 0} for each in comparison.rows])

    assert made() == made()


# what is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "runs"}, "there is no kind of comparison 'runs'. Did you mean 'run'?"),
        ({"repeat": 0}, "repeat is a whole number, 1 or more, not 0"),
        ({"repeat": True}, "repeat is a whole number, 1 or more, not True"),
        ({"concurrency": -1}, "concurrency is a whole number, 1 or more, not -1"),
        ({"models": {"C": "echo"}}, "models names the agent 'C', which is not in 'two'. There are: 'A', 'B'."),
        (
            {"variants": [{"C": "none"}]},
            "the strategy names the agent 'C', which is not in 'two'. There are: 'A', 'B'.",
        ),
        ({"variants": "nothing"}, "there is no context strategy 'nothing'. Did you mean 'none'?"),
        ({"inputs": []}, "the list: there is no input."),
        ({"kind": "dry"}, "a dry comparison asks no model, so it takes runs"),
        *(
            ({"seed": seed}, f"seed is a whole number from 0 to 2**31 - 1, or None, not {seed!r}")
            for seed in (-1, 2**31, 1.5, "1", True)
        ),
        ({"progress": 5}, "progress is a function of a Progress, not 5"),
        ({"config": {"max_llm_calls": 3}}, "config is a RunConfig, not {'max_llm_calls': 3}"),
        ({"executor": "threads"}, "executor is a concurrent.futures.Executor or a Dask client, not 'threads'"),
    ],
)
def test_what_cannot_be_compared(arguments: dict[str, Any], message: str) -> None:
    asked = Asked({"A": "a", "B": "b"})
    with pytest.raises(SpecError) as failure:
        compare_variants(**{"root": two_steps(), "inputs": ["one"], "model": asked, **arguments})
    assert str(failure.value).startswith(message)
    assert asked.requests == []


def test_a_comparison_takes_an_agent() -> None:
    with pytest.raises(SpecError, match="a comparison takes an agent, not 'ticket'"):
        compare_variants("ticket", ["one"])


def test_a_model_that_there_is_not_is_said_before_anything_is_asked() -> None:
    asked = Asked({"A": "a"})
    with pytest.raises(ModelError, match="there is no model 'smart'"):
        compare_variants(two_steps(), ["one"], model=asked, models={"B": "smart"})
    with pytest.raises(ModelError, match="agent 'B' has no model"):
        compare_variants(two_steps(), ["one"], models={"A": asked})
    assert asked.requests == []


def test_the_last_run_is_at_hand() -> None:
    assert Lab(two_steps(), ["one"], model="echo").last_run is None
    lab = Lab(two_steps(), ["one"], ["default"], model=Asked({"A": "a", "B": "b"}))
    lab.run()
    assert lab.last_run is not None
    assert lab.last_run.session.state == {"a": "a", "b": "b"}


def test_callbacks_work_in_every_trial() -> None:
    asked = Asked(lambda request: system(request).partition("\n")[0])
    pipeline = LlmAgent(name="A", instruction="{greeting}", before_agent_callback=greet)
    comparison = compare_variants(pipeline, ["one", "two"], model=asked)
    assert picked(comparison, "answer") == [("hello",)] * 4
