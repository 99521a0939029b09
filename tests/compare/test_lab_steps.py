"""Comparisons of whole runs, step by step: what is expected, repeats and seeds, guards, tools, loops, parallels, transfers."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import LlmAgent, LlmRequest, LoopAgent, ModelError, ParallelAgent, ScriptedModel, SequentialAgent
from adknb.compare.lab import compare_variants
from adknb.core.specs import GenerateContentConfig
from adknb.examples.ticket import ESCALATION, MESSAGE, REPLIES, ticket_pipeline
from tests.compare.pipelines import Asked, call, leave, look, picked, texts, two_steps

TICKET = {agent: [reply] for agent, reply in REPLIES.items()}


# what is expected


def test_expected_answers_of_the_whole_and_of_steps() -> None:
    inputs = [
        {"message": "one", "expected": "APPROVE"},
        {"message": "two", "expected": {"TriageAgent": "billing", "PolicyCheckAgent": "REJECT"}},
        {"message": "three", "expected": {"": "APPROVE"}},
        {"message": "four"},
    ]
    comparison = compare_variants(ticket_pipeline(), inputs, ["default"], model=ScriptedModel(TICKET))
    assert picked(comparison, "input", "step", "as_expected") == [
        ("1", "TriageAgent", None), ("1", "DraftAgent", None), ("1", "PolicyCheckAgent", True),
        ("2", "TriageAgent", True), ("2", "DraftAgent", None), ("2", "PolicyCheckAgent", False),
        ("3", "TriageAgent", None), ("3", "DraftAgent", None), ("3", "PolicyCheckAgent", True),
        ("4", "TriageAgent", None), ("4", "DraftAgent", None), ("4", "PolicyCheckAgent", None),
    ]  # fmt: skip


# repeats


def test_repeats_are_asked_apart_and_stand_in_order() -> None:
    asked = Asked(lambda request: f"{request.agent}{request.repeat}")
    comparison = compare_variants(two_steps(), ["one", "two"], model=asked, repeat=2, concurrency=1)
    assert picked(comparison, "variant", "input", "repeat", "step", "answer") == [
        (variant, input, repeat, step, f"{step}{repeat}")
        for variant in ("default", "none")
        for input in ("1", "2")
        for repeat in (0, 1)
        for step in ("A", "B")
    ]
    assert [(request.repeat, request.agent) for request in asked.requests] == [(0, "A"), (0, "B")] * 4 + [
        (1, "A"),
        (1, "B"),
    ] * 4
    assert [request.ordinal for request in asked.requests] == [0] * 16
    assert comparison.missing == 0


@pytest.mark.parametrize(
    ("own", "given", "sent"),
    [(None, None, [None, None, None]), (7, None, [7, 8, 9]), (None, 100, [100, 101, 102]), (7, 100, [7, 8, 9])],
)
def test_each_repeat_has_a_seed_of_its_own(own: int | None, given: int | None, sent: list[int | None]) -> None:
    asked = Asked(lambda request: "fine")
    config = GenerateContentConfig(temperature=0.5, seed=own)
    pipeline = LlmAgent(name="A", generate_content_config=config)
    comparison = compare_variants(pipeline, ["one"], ["default"], model=asked, repeat=3, seed=given, concurrency=1)
    assert [request.config.get("seed") for request in asked.requests] == sent
    assert picked(comparison, "repeat", "seed", "temperature") == [
        (place, seed, 0.5) for place, seed in enumerate(sent)
    ]
    assert comparison.seed == given


# guards, tools, loops, parallels, transfers


def test_a_guard_that_trips() -> None:
    replies = {"TriageAgent": ["no JSON"], "DraftAgent": ["never asked"], "PolicyCheckAgent": ["APPROVE"]}
    comparison = compare_variants(
        ticket_pipeline(guarded=True), [MESSAGE], ["default"], model=ScriptedModel(replies), seed=3
    )
    assert picked(comparison, "step", "status", "guarded", "requests", "answer", "model", "seed") == [
        ("TriageAgent", "completed", False, 1, "no JSON", "scripted", 3),
        ("DraftAgent", "skipped", True, 0, ESCALATION, "", None),
        ("PolicyCheckAgent", "completed", False, 1, "APPROVE", "scripted", 3),
    ]


def test_the_tools_that_were_called() -> None:
    pipeline = LlmAgent(name="A", tools=[look])
    replies = [call("look", what="x"), [*call("look", what="y"), *call("nothing")], "done"]
    comparison = compare_variants(pipeline, ["one"], ["default", "none"], model=ScriptedModel({"A": replies}))
    assert picked(comparison, "variant", "requests", "tools_called", "answer", "note") == [
        (
            name,
            3,
            "look, look, nothing",
            "done",
            "scripted: ignores your prompt; the model called 'nothing', a tool that 'A' does not have",
        )
        for name in ("default", "none")
    ]
    assert [len(step.prompts) for record in comparison.records for step in record.steps] == [3, 3]


def test_the_steps_of_a_loop_are_the_same_however_often_it_runs() -> None:
    """The agent's first step has one name in all trials, or trials that end early would compare with nothing."""

    def answer(request: LlmRequest) -> Any:
        said = texts(request)
        return call("leave") if request.agent == "B" and "stop" in said and not request.ordinal else request.agent

    agents = [LlmAgent(name="A"), LlmAgent(name="B", tools=[leave])]
    pipeline = LoopAgent(name="loop", sub_agents=agents, max_iterations=2)
    comparison = compare_variants(pipeline, ["go", "stop"], ["default"], model=Asked(answer))
    assert picked(comparison, "input", "step", "equal") == [
        ("1", "A", True), ("1", "B", True), ("1", "A#2", True), ("1", "B#2", True), ("2", "A", True), ("2", "B", True),
    ]  # fmt: skip


def test_the_siblings_of_a_parallel_when_one_of_them_fails() -> None:
    def answer(request: LlmRequest) -> str:
        if request.agent == "C" and texts(request) == ["fail"]:
            raise ModelError("gone")
        return request.agent

    siblings = ParallelAgent(name="both", sub_agents=[LlmAgent(name="B"), LlmAgent(name="C")])
    pipeline = SequentialAgent(name="p", sub_agents=[siblings, LlmAgent(name="D")])
    comparison = compare_variants(pipeline, ["go", "fail"], ["default"], model=Asked(answer))
    rows = picked(comparison, "input", "step", "error", "answer")
    assert rows[:3] == [("1", "B", "", "B"), ("1", "C", "", "C"), ("1", "D", "", "D")]
    assert [(step, error) for input, step, error, _ in rows if input == "2"] == [
        ("B", ""), ("C", "ModelError: agent 'C': gone"),
    ]  # fmt: skip


def test_a_step_that_its_sibling_s_failure_ended_has_no_answer() -> None:
    async def answer(request: LlmRequest) -> str:
        import anyio

        if request.agent == "C":
            raise ModelError("gone")
        await anyio.sleep(60)
        return "late"

    pipeline = ParallelAgent(name="both", sub_agents=[LlmAgent(name="B"), LlmAgent(name="C")])
    comparison = compare_variants(pipeline, ["go"], ["default"], model=Asked(answer))
    assert picked(comparison, "step", "status", "error", "equal", "answer") == [
        ("B", "interrupted", "", None, ""), ("C", "failed", "ModelError: agent 'C': gone", None, ""),
    ]  # fmt: skip


def test_a_transfer() -> None:
    helper = LlmAgent(name="Helper", description="Helps.")
    pipeline = LlmAgent(name="Desk", sub_agents=[helper])
    replies: dict[str, list[Any]] = {"Desk": [call("transfer_to_agent", agent_name="Helper")], "Helper": ["helped"]}
    comparison = compare_variants(pipeline, ["one"], ["default"], model=ScriptedModel(replies))
    assert picked(comparison, "step", "tools_called", "answer") == [
        ("Desk", "transfer_to_agent", ""), ("Helper", "", "helped"),
    ]  # fmt: skip
    assert comparison.records[0].answer == "helped"
