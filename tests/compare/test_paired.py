"""Paired comparisons: at each step every variant is asked once, from the session that the first variant's run has."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from adknb import (
    CallbackContext,
    LlmAgent,
    LlmRequest,
    LoopAgent,
    ModelError,
    ParallelAgent,
    Runner,
    SequentialAgent,
    SpecError,
    ToolContext,
)
from adknb.compare.comparison import Comparison
from adknb.compare.lab import Lab, compare_variants
from adknb.compare.variants import Variant
from adknb.examples.ticket import MESSAGE, scripted_replies, ticket_pipeline
from tests.compare.pipelines import Asked, OnlyUser, call, leave, picked, system, texts, two_steps


def paired(root: Any, inputs: Any, variants: Any = ("default", "none"), **options: Any) -> Comparison:
    return compare_variants(root, inputs, variants, kind="paired", concurrency=1, **options)


def three_steps() -> SequentialAgent:
    return SequentialAgent(
        name="three",
        sub_agents=[
            LlmAgent(name="A", instruction="Say a.", output_key="a"),
            LlmAgent(name="B", instruction="Say b after {a}.", output_key="b"),
            LlmAgent(name="C", instruction="Say c after {a} and {b}.", output_key="c"),
        ],
    )


def numbered() -> Asked:
    """Every reply is another one, so that it shows whose reply went on."""
    asked = Asked(lambda request: f"{request.agent}{asked.agents.count(request.agent)}")
    return asked


def test_each_step_is_asked_once_a_variant_from_the_same_session() -> None:
    asked = numbered()
    comparison = paired(three_steps(), ["hello"], ["default", "none", OnlyUser()], model=asked)
    assert picked(comparison, "variant", "step", "answer", "equal") == [
        ("default", "A", "A1", True), ("default", "B", "B1", True), ("default", "C", "C1", True),
        ("none", "A", "A2", False), ("none", "B", "B2", False), ("none", "C", "C2", False),
        ("only_user", "A", "A3", False), ("only_user", "B", "B3", False), ("only_user", "C", "C3", False),
    ]  # fmt: skip
    told_a = ["For context:", "[A] said: A1"]
    told_b = ["For context:", "[B] said: B1"]
    assert [(request.agent, texts(request)) for request in asked.requests] == [
        ("A", ["hello"]), ("B", ["hello", *told_a]), ("C", ["hello", *told_a, *told_b]),
        ("A", ["hello"]), ("B", told_a), ("C", told_b),
        ("A", ["hello"]), ("B", ["hello"]), ("C", ["hello"]),
    ]  # fmt: skip
    for step, prompt in (("A", "Say a."), ("B", "Say b after A1."), ("C", "Say c after A1 and B1.")):
        assert {system(request) for request in asked.requests if request.agent == step} == {
            f'{prompt}\n\nYou are an agent. Your internal name is "{step}".'
        }


def test_a_prompt_of_its_own_is_all_that_differs() -> None:
    asked = numbered()
    second = Variant("v2", "as_written", prompts={"B": "B, after {a}, in short."})
    paired(three_steps(), ["hello"], [Variant("v1"), second], model=asked)
    first, other = asked.requests[:3], asked.requests[3:]
    assert [texts(request) for request in first] == [texts(request) for request in other]
    assert [(request.tools, request.config, request.ordinal) for request in asked.requests] == [({}, {}, 0)] * 6
    assert [system(one) == system(two) for one, two in zip(first, other, strict=True)] == [True, False, True]
    assert system(other[1]).startswith("B, after A1, in short.\n\n")


def test_another_model_answers_from_the_first_one_s_history() -> None:
    small, large = (
        Asked(lambda request: f"small {request.agent}", "small"),
        Asked(lambda request: f"large {request.agent}", "large"),
    )
    variants = [Variant("small", models=small), Variant("large", models=large)]
    comparison = paired(three_steps(), ["hello"], variants)
    assert [(each.agent, texts(each)) for each in large.requests] == [
        (each.agent, texts(each)) for each in small.requests
    ]
    assert system(large.requests[2]).startswith("Say c after small A and small B.\n")
    assert picked(comparison, "variant", "answer", "model") == [
        *(("small", f"small {step}", "small") for step in "ABC"), *(("large", f"large {step}", "large") for step in "ABC"),
    ]  # fmt: skip


def test_the_numbers_of_the_ticket_pipeline_are_those_of_the_dry_comparison() -> None:
    comparison = paired(ticket_pipeline(), [MESSAGE], model=scripted_replies(), state={"user:tier": "gold"})
    assert picked(comparison, "variant", "step", "input_tokens", "sent_twice", "equal") == [
        ("default", "TriageAgent", 74, 0, True), ("default", "DraftAgent", 126, 23, True),
        ("default", "PolicyCheckAgent", 159, 42, True), ("none", "TriageAgent", 74, 0, True),
        ("none", "DraftAgent", 119, 23, True), ("none", "PolicyCheckAgent", 119, 19, True),
    ]  # fmt: skip


def test_the_supplier_s_session_is_untouched() -> None:
    def count(context: CallbackContext) -> None:
        for key in ("count", "user:count", "app:count", "temp:count"):
            context.state[key] = context.state.get(key, 0) + 1

    def root() -> SequentialAgent:
        steps = [agent.model_copy(update={"before_agent_callback": count}) for agent in three_steps().sub_agents]
        return SequentialAgent(name="three", sub_agents=steps)

    asked = Asked({"A": "a", "B": "b", "C": "c"})
    lab = Lab(root(), [["one", "two"]], ["default", "none", "state_only"], kind="paired", model=asked)
    lab.run()
    assert Counter(asked.agents) == {"A": 6, "B": 6, "C": 6}
    assert lab.last_run is not None
    session = lab.last_run.session

    runner = Runner(root(), model=asked)
    first = runner.run("one")
    alone = runner.run("two", session=first.session).session
    assert session.state == alone.state
    assert session.state == {"count": 6, "user:count": 6, "app:count": 6, "a": "a", "b": "b", "c": "c"}
    assert (session.scopes.user, session.scopes.app) == ({"count": 6}, {"count": 6})
    for events in ("events", "history"):
        said = [
            [(event.author, event.text, event.actions.state_delta) for event in getattr(each, events)]
            for each in (session, alone)
        ]
        assert said[0] == said[1]
    assert [len(turn.step_runs) for turn in session.turns] == [3, 3]
    assert not any(turn.stale for turn in session.turns)


def test_a_conversation_goes_on_from_the_first_variant_s_answers() -> None:
    asked = numbered()
    comparison = paired(two_steps(), [["one", "two"]], ["default", "none"], model=asked)
    assert picked(comparison, "variant", "turn", "step", "answer") == [
        ("default", 1, "A", "A1"), ("default", 1, "B", "B1"), ("default", 2, "A", "A3"), ("default", 2, "B", "B3"),
        ("none", 1, "A", "A2"), ("none", 1, "B", "B2"), ("none", 2, "A", "A4"), ("none", 2, "B", "B4"),
    ]  # fmt: skip
    second = [(request.agent, texts(request), request.ordinal) for request in asked.requests[4:]]
    everything = ["one", "A1", "For context:", "[B] said: B1", "two"]
    assert second == [
        ("A", everything, 1),
        ("B", ["one", "For context:", "[A] said: A1", "B1", "two", "For context:", "[A] said: A3"], 1),
        ("A", ["two"], 1),
        ("B", ["For context:", "[A] said: A3"], 1),
    ]
    assert [record.answer for record in comparison.records] == ["B3", "B4"]


def test_the_siblings_of_a_parallel_are_asked_once_a_variant() -> None:
    asked = numbered()
    siblings = ParallelAgent(name="both", sub_agents=[LlmAgent(name="B", instruction="{a}"), LlmAgent(name="C")])
    first = LlmAgent(name="A", output_key="a")
    root = SequentialAgent(name="p", sub_agents=[first, siblings, LlmAgent(name="D")])
    comparison = paired(root, ["one"], ["default", "none", "state_only"], model=asked)
    assert Counter(asked.agents) == {"A": 3, "B": 3, "C": 3, "D": 3}
    assert picked(comparison, "variant", "step") == [
        (variant, step) for variant in ("default", "none", "state_only") for step in "ABCD"
    ]


def test_every_round_of_a_loop_is_asked_from_its_own_place() -> None:
    def answer(request: LlmRequest) -> Any:
        if request.agent == "B" and request.ordinal == 1:
            return call("leave")
        return f"{request.agent} {request.ordinal}"

    asked = Asked(answer)
    root = LoopAgent(name="loop", sub_agents=[LlmAgent(name="A"), LlmAgent(name="B", tools=[leave])], max_iterations=5)
    comparison = paired(root, ["go"], model=asked)
    assert picked(comparison, "variant", "step", "answer", "tools_called") == [
        (variant, *row)
        for variant in ("default", "none")
        for row in [("A", "A 0", ""), ("B", "B 0", ""), ("A#2", "A 1", ""), ("B#2", "", "leave")]
    ]
    assert [(request.agent, request.ordinal) for request in asked.requests] == [
        ("A", 0),
        ("B", 0),
        ("A", 1),
        ("B", 1),
    ] * 2
    assert texts(asked.requests[6]) == ["For context:", "[B] said: B 0"]


def test_tools_are_called_for_each_variant_and_write_into_its_own_copy() -> None:
    called: list[str] = []

    def note(what: str, tool_context: ToolContext) -> dict[str, Any]:
        """Note something."""
        called.append(what)
        tool_context.state["user:notes"] = [*tool_context.state.get("user:notes", []), what]
        return {"notes": tool_context.state["user:notes"]}

    def answer(request: LlmRequest) -> Any:
        if request.agent == "A":
            return "a"
        responses = [
            part.function_response for content in request.contents for part in content.parts if part.function_response
        ]
        return str(responses[-1].response) if responses else call("note", what="x")

    comparison = paired(two_steps(tools=[note]), ["one"], ["default", "none"], model=Asked(answer))
    assert called == ["x", "x"]
    assert picked(comparison, "variant", "step", "requests", "tools_called", "answer") == [
        ("default", "A", 1, "", "a"), ("default", "B", 2, "note", "{'notes': ['x']}"),
        ("none", "A", 1, "", "a"), ("none", "B", 2, "note", "{'notes': ['x']}"),
    ]  # fmt: skip


def test_a_transfer_is_part_of_the_step_that_made_it() -> None:
    def answer(request: LlmRequest) -> Any:
        return call("transfer_to_agent", agent_name="Helper") if request.agent == "Desk" else "helped"

    asked = Asked(answer)
    root = LlmAgent(name="Desk", sub_agents=[LlmAgent(name="Helper", description="Helps.")])
    comparison = paired(root, ["one"], model=asked)
    assert asked.agents == ["Desk", "Helper", "Desk", "Helper"]
    assert picked(comparison, "variant", "step", "answer") == [
        ("default", "Desk", ""), ("default", "Helper", "helped"), ("none", "Desk", ""), ("none", "Helper", "helped"),
    ]  # fmt: skip
    assert [record.answer for record in comparison.records] == ["helped", "helped"]


def test_a_step_that_fails_under_one_variant_leaves_the_others_and_the_next() -> None:
    second = Variant("v2", prompts={"A": "Say {what}."})
    comparison = paired(two_steps(), ["one"], [Variant("v1"), second], model=Asked({"A": "a", "B": "b"}))
    assert picked(comparison, "variant", "step", "status", "answer") == [
        ("v1", "A", "completed", "a"), ("v1", "B", "completed", "b"), ("v2", "A", "failed", ""), ("v2", "B", "completed", "b"),
    ]  # fmt: skip
    assert [error.partition(":")[0] for (error,) in picked(comparison, "error")] == ["", "", "MissingKeyError", ""]
    assert [record.error.partition(":")[0] for record in comparison.records] == ["", "MissingKeyError"]
    assert comparison.records[1].answer == ""


def test_a_step_of_the_supplier_that_fails_is_the_last_one() -> None:
    def answer(request: LlmRequest) -> str:
        if request.agent == "B" and "hello" in texts(request):
            raise ModelError("too much")
        return request.agent

    comparison = paired(three_steps(), [["hello", "again"]], model=Asked(answer))
    assert picked(comparison, "variant", "turn", "step", "status", "answer", "error", "equal") == [
        ("default", 1, "A", "completed", "A", "", True),
        ("default", 1, "B", "failed", "", "ModelError: agent 'B': too much", None),
        ("none", 1, "A", "completed", "A", "", True),
        (
            "none", 1, "B", "completed", "B",
            "RunStateError: 'default' supplies the history, and its run failed: ModelError: agent 'B': too much", None,
        ),
    ]  # fmt: skip
    assert [(record.answer, record.error.partition(":")[0]) for record in comparison.records] == [
        ("", "ModelError"), ("", "RunStateError"),
    ]  # fmt: skip


def test_where_the_supplier_failed_no_answer_is_taken_for_the_final_one() -> None:
    def answer(request: LlmRequest) -> str:
        if request.agent == "B" and "hello" in texts(request):
            raise ModelError("too much")
        return request.agent

    inputs = [{"message": "hello", "expected": "B"}, {"message": "bye", "expected": "C"}]
    comparison = paired(three_steps(), inputs, model=Asked(answer))
    assert picked(comparison, "variant", "input", "step", "as_expected") == [
        ("default", "1", "A", None), ("default", "1", "B", None),
        ("default", "2", "A", None), ("default", "2", "B", None), ("default", "2", "C", True),
        ("none", "1", "A", None), ("none", "1", "B", None),
        ("none", "2", "A", None), ("none", "2", "B", None), ("none", "2", "C", True),
    ]  # fmt: skip
    whole = comparison.summary.query("step == ''")
    assert list(whole["n"]) == [1, 1]
    assert list(whole["errors"]) == [1, 1]


def test_a_turn_that_cannot_begin_asks_no_step_of_the_turn_before_again() -> None:
    def forget(context: CallbackContext) -> None:
        raise ValueError("no second turn")

    def before(context: CallbackContext) -> None:
        if context.user_content.text == "two":
            forget(context)

    asked = Asked({"A": "a", "B": "b"})
    root = two_steps().model_copy(update={"before_agent_callback": before})
    comparison = paired(root, [["one", "two"]], model=asked)
    assert asked.agents == ["A", "B", "A", "B"]
    assert picked(comparison, "variant", "turn", "step", "error") == [
        ("default", 1, "A", ""),
        ("default", 1, "B", "AgentError: agent 'two': before_agent_callback before raised ValueError: no second turn"),
        ("none", 1, "A", ""),
        (
            "none", 1, "B",
            "RunStateError: 'default' supplies the history, and its run failed: AgentError: agent 'two': "
            "before_agent_callback before raised ValueError: no second turn",
        ),
    ]  # fmt: skip


def test_rules_of_one_s_own_are_refused() -> None:
    with pytest.raises(SpecError, match="variant 'b' has rules of its own, but in a paired comparison"):
        paired(two_steps(), ["one"], [Variant("a"), Variant("b", rules="java")], model="echo")
