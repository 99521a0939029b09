"""Dry comparisons in the lab: the prompts of runs that were made, under strategies and prompts that were not."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import LlmAgent, LlmRequest, Runner, ScriptedModel, SequentialAgent, SpecError, Usage
from adknb.compare.comparison import Comparison
from adknb.compare.dry import compare_prompts
from adknb.compare.lab import Lab, compare_variants
from adknb.compare.variants import Variant
from adknb.core.content import Content
from adknb.core.requests import LlmResponse
from adknb.core.run import Run
from adknb.examples.ticket import MESSAGE, scripted_replies, ticket_pipeline
from tests.compare.pipelines import OnlyUser, call, look, picked, two_steps

COUNTS = ("instruction", "injected_state", "user_message", "history", "tools", "schema")


def ticket_run(message: str = MESSAGE) -> Run:
    return Runner(ticket_pipeline(), model=scripted_replies()).run(message, state={"user:tier": "gold"})


def dry(run: Any, variants: Any = ("default", "none"), root: Any = None) -> Comparison:
    runs = run if isinstance(run, list) else [run]
    return compare_variants(root or runs[0].root, run, variants, kind="dry")


def test_it_is_the_comparison_of_prompts() -> None:
    run = ticket_run()
    strategies = ["default", "none", "state_only"]
    comparison, prompts = dry(run, strategies), compare_prompts(run, strategies)
    expected = [
        (
            strategy,
            prompt.step.name,
            prompt.tokens,
            sum(prompt.twice.values()),
            *(getattr(prompt.channels, name) for name in COUNTS),
        )
        for strategy in strategies
        for prompt in prompts.prompts
        if prompt.strategy == strategy
    ]
    assert picked(comparison, "variant", "step", "input_tokens", "sent_twice", *COUNTS) == expected
    assert [tokens for _, _, tokens, *_ in expected] == [74, 126, 159, 74, 119, 119, 74, 93, 97]
    for record in comparison.records:
        for step in record.steps:
            request = prompts.prompt(step.step, record.variant).request
            assert request is not None
            (prompt,) = step.prompts
            assert "".join(piece.text for piece in prompt if piece.role == "system") == request.system_instruction
            assert [piece.text for piece in prompt if piece.role != "system"] == [
                part.text for content in request.contents for part in content.parts
            ]


def test_a_row_of_it() -> None:
    (row,) = [row for row in dry(ticket_run()).rows if (row["variant"], row["step"]) == ("none", "PolicyCheckAgent")]
    assert row == {
        "variant": "none", "input": "1", "repeat": 0, "step": "PolicyCheckAgent", "turn": 1,
        "status": "counted, not asked", "error": "", "requests": 1, "input_tokens": 119, "output_tokens": 0,
        "counted_by": "o200k_base", "cost": None, "ms": 0.0, "answer": "", "equal": None, "similarity": None,
        "fields_equal": None, "category": "", "flip": "", "as_expected": None, "schema_valid": None, "guarded": False,
        "tools_called": "", "leaked": False, "sent_twice": 19, "instruction": 48, "injected_state": 42, "user_message": 0,
        "history": 29, "tools": 0, "schema": 0, "model": "scripted", "temperature": None, "seed": None, "note": "",
    }  # fmt: skip


def test_of_several_runs_each_is_an_input() -> None:
    comparison = dry([ticket_run(), ticket_run("Other.")])
    assert [(each.name, each.messages, each.state) for each in comparison.inputs] == [
        ("1", (MESSAGE,), {"user:tier": "gold"}),
        ("2", ("Other.",), {"user:tier": "gold"}),
    ]
    assert [(record.variant, record.input) for record in comparison.records] == [
        ("default", "1"), ("default", "2"), ("none", "1"), ("none", "2"),
    ]  # fmt: skip
    assert comparison.missing == 0


def test_a_later_turn_has_its_own_number_and_past() -> None:
    runner = Runner(two_steps(), model="echo")
    first = runner.run("one")
    second = runner.run("two", session=first.session)
    comparison = dry([first, second])
    assert picked(comparison, "input", "turn") == [("1", 1), ("1", 1), ("2", 2), ("2", 2)] * 2
    assert comparison.rows[2]["history"] > comparison.rows[0]["history"] == 0


def test_reported_usage_is_no_part_of_it() -> None:
    """What a model would have reported for another prompt is not known, so all are counted."""
    replies = {name: [LlmResponse(Content.model(name.lower()), Usage(9000, 9))] for name in "AB"}
    run = Runner(two_steps(), model=ScriptedModel(replies)).run("hello")
    comparison = dry(run)
    assert {row["counted_by"] for row in comparison.rows} == {"o200k_base"}
    assert max(row["input_tokens"] for row in comparison.rows) < 100


def test_all_requests_of_a_step_are_added_up() -> None:
    agent = LlmAgent(name="A", tools=[look])
    run = Runner(agent, model=ScriptedModel({"A": [call("look", what="x"), "done"]})).run("hello")
    comparison, prompts = dry(run), compare_prompts(run)
    assert picked(comparison, "variant", "requests", "input_tokens") == [
        (strategy, 2, prompts.tokens(strategy)) for strategy in ("default", "none")
    ]
    assert [len(record.steps[0].prompts) for record in comparison.records] == [2, 2]


def test_steps_that_asked_nothing_have_no_row() -> None:
    root = two_steps(before_agent_callback=lambda context: "refused")
    run = Runner(root, model="echo").run("hello")
    assert picked(dry(run), "variant", "step") == [("default", "A"), ("none", "A")]


def test_another_prompt_is_the_one_that_a_run_would_have_sent() -> None:
    prompts = {"DraftAgent": "Reply to a {user:tier} customer, given {triage}.", "TriageAgent": ""}
    variants = [Variant("v1", "default"), Variant("v2", "none", prompts=prompts)]
    comparison = dry(ticket_run(), variants)
    root = variants[1].applied(ticket_pipeline())
    run = Runner(root, model=scripted_replies(), strategy="none").run(MESSAGE, state={"user:tier": "gold"})
    rows = picked(comparison, "step", "input_tokens", "sent_twice", *COUNTS)[3:]
    assert rows == [
        tuple(row[name] for name in ("step", "total", "sent_twice", *COUNTS)) for row in run.tokens.to_dict("records")
    ]
    assert rows != picked(comparison, "step", "input_tokens", "sent_twice", *COUNTS)[:3]
    for record, step in zip(comparison.record("v2", 1).steps, run.step_runs, strict=True):
        assert (
            "".join(piece.text for piece in record.prompts[0] if piece.role == "system")
            == step.requests[0].sent.system_instruction
        )


def test_another_prompt_reads_the_state_as_it_was_when_it_was_sent() -> None:
    run = Runner(two_steps(), model="echo").run("hello")
    comparison = dry(run, [Variant("v2", prompts={"A": "{a?}{b?}.", "B": "{a?}{b?}."})])
    first, second = (step.prompts[0] for step in comparison.records[0].steps)
    assert [[piece.text for piece in prompt if piece.role == "system"][:2] for prompt in (first, second)] == [
        [".", "\n\n"], ["hello", "."],
    ]  # fmt: skip


def test_the_pipeline_as_it_is_now_gives_the_prompts() -> None:
    """A run may be older than an edit of its pipeline: what is compared is the pipeline that was given."""
    run = Runner(two_steps(), model="echo").run("hello")
    comparison = dry(run, ["as_written"], root=two_steps(instruction="B, and nothing but B, after {a}."))
    (_, second) = comparison.records[0].steps
    assert second.prompts[0][0].text == "B, and nothing but B, after "


def test_a_prompt_whose_key_is_missing_is_a_row_with_its_error() -> None:
    comparison = dry(ticket_run(), [Variant("v1"), Variant("v2", prompts={"DraftAgent": "Reply in {language}."})])
    assert picked(comparison, "variant", "step", "status", "input_tokens") == [
        ("v1", "TriageAgent", "counted, not asked", 74), ("v1", "DraftAgent", "counted, not asked", 126),
        ("v1", "PolicyCheckAgent", "counted, not asked", 159), ("v2", "TriageAgent", "counted, not asked", 74),
        ("v2", "DraftAgent", "failed", 0), ("v2", "PolicyCheckAgent", "counted, not asked", 159),
    ]  # fmt: skip
    error = comparison.rows[4]["error"]
    assert error.startswith(
        "MissingKeyError: agent 'DraftAgent': the instruction needs the state key 'language', which nobody wrote"
    )
    assert [record.error for record in comparison.records] == ["", error]


def test_a_system_instruction_that_a_callback_wrote_has_no_other_prompt() -> None:
    def rewrite(context: Any, request: LlmRequest) -> None:
        request.system_instruction = "Mine."

    run = Runner(LlmAgent(name="A", before_model_callback=rewrite), model="echo").run("hello")
    comparison = dry(run, [Variant("v1"), Variant("v2", prompts={"A": "New."})])
    assert [error for (error,) in picked(comparison, "error")] == [
        "", "NotSupported: a before_model_callback rewrote the system instruction, so another prompt's is not known",
    ]  # fmt: skip


def test_cousins_of_one_name_keep_their_own_prompts() -> None:
    def root(second: str) -> SequentialAgent:
        halves = [
            SequentialAgent(name=name, sub_agents=[LlmAgent(name="A", instruction=text)])
            for name, text in (("left", "First."), ("right", second))
        ]
        return SequentialAgent(name="p", sub_agents=halves)

    run = Runner(root("Second."), model="echo").run("hello")
    first = [record.steps for record in dry(run, ["default"]).records]
    assert [[step.prompts[0][0].text for step in steps] for steps in first] == [["First.", "Second."]]
    edited = [record.steps for record in dry(run, ["default"], root=root("Third.")).records]
    assert [[step.prompts[0][0].text for step in steps] for steps in edited] == [["First.", "Third."]]


def test_a_strategy_of_the_user_s_own_under_any_name() -> None:
    comparison = dry(ticket_run(), {"mine": OnlyUser(), "map": {"DraftAgent": OnlyUser()}})
    assert picked(comparison, "variant", "step", "history") == [
        ("mine", "TriageAgent", 0), ("mine", "DraftAgent", 0), ("mine", "PolicyCheckAgent", 0),
        ("map", "TriageAgent", 0), ("map", "DraftAgent", 0), ("map", "PolicyCheckAgent", 62),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("variant", "changes"),
    [
        (Variant("v", models="echo"), "models"),
        (Variant("v", rules="java"), "rules"),
        (Variant("v", off="guard"), "off"),
        (Variant("v", models="echo", off="guard"), "models and off"),
    ],
)
def test_what_changes_answers_is_refused(variant: Variant, changes: str) -> None:
    with pytest.raises(SpecError) as failure:
        dry(ticket_run(), ["default", variant])
    assert str(failure.value) == (
        f"variant 'v' changes {changes}, which a dry comparison cannot work out: it compares strategies and prompts. "
        "Choose kind='run' or kind='paired'."
    )


@pytest.mark.parametrize("inputs", [[], "hello", ["hello"], [None], {}, None])
def test_a_dry_comparison_takes_runs(inputs: Any) -> None:
    with pytest.raises(SpecError, match="a dry comparison asks no model, so it takes runs"):
        compare_variants(two_steps(), inputs, kind="dry")


def test_a_run_without_a_text() -> None:
    run = Runner(two_steps(), model=ScriptedModel({"A": ["a"], "B": ["b"]})).run("  ")
    assert dry(run).inputs[0].messages == (f"run {run.id}",)


def test_nothing_is_asked_and_nothing_changes() -> None:
    run = ticket_run()
    before = (list(run.session.events), dict(run.session.state), run.session.turns)
    lab = Lab(ticket_pipeline(), run, kind="dry")
    assert lab.run().rows == lab.run().rows
    assert (list(run.session.events), dict(run.session.state), run.session.turns) == before
    assert lab.last_run is run
