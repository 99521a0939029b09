"""Pipelines of common shapes under each ADK's rules: what they do, and what exactly differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import pytest

from adknb import Run, Runner, portability
from adknb.examples.shapes import SHAPES

ADKS = ("java", "go", "js")


def run(shape: str, rules: str) -> Run:
    made = SHAPES[shape]
    return Runner(made.make(), model=made.model(), rules=rules).run(made.message)


def written(found: Run) -> list[tuple[str, Mapping[str, Any]]]:
    return [(step.name, dict(step.state_delta)) for step in found.step_runs if step.requests]


Row: TypeAlias = tuple[str, str, str, list[str]]
"""Rules, step, what differs, and the rules behind that."""


def table(shape: str) -> list[Row]:
    made = SHAPES[shape]
    found = portability(made.make(), made.message, rules=ADKS, model=made.model(), explain=True)
    return [
        (each.rules, each.step, change.aspect, [cause.name for cause in change.causes])
        for each in found.deviations
        for change in each.changes
    ]


def js_identity(*steps: str) -> list[Row]:
    """The rows of an ADK JavaScript that differs in its system instruction alone."""
    return [("js", step, "system instruction", ["identity", "system"]) for step in steps]


@pytest.mark.parametrize("rules", ADKS)
def test_a_chain_of_writer_reviewer_and_refactorer_writes_the_same_everywhere(rules: str) -> None:
    assert written(run("code_chain", rules)) == [
        ("CodeWriter", {"code": "def total(xs):\n    return eval('+'.join(map(str, xs)))"}),
        ("CodeReviewer", {"review": "It evaluates text."}),
        ("CodeRefactorer", {"refactored": "def total(xs):\n    return sum(xs)"}),
    ]


def test_a_chain_differs_in_the_system_instruction_of_javascript_alone() -> None:
    assert table("code_chain") == js_identity("CodeWriter", "CodeReviewer", "CodeRefactorer")
    sent = {rules: run("code_chain", rules).step("CodeReviewer").requests[0].sent for rules in ADKS}
    code = "Name the worst fault of this code in one sentence:\ndef total(xs):\n    return eval('+'.join(map(str, xs)))"
    assert sent["java"].system_instruction == sent["go"].system_instruction == (
        f'{code}\n\nYou are an agent. Your internal name is "CodeReviewer". '
        'The description about you is "Reviews the code.".'
    )  # fmt: skip
    assert sent["js"].system_instruction == (
        'You are an agent. Your internal name is "CodeReviewer".\n\n'
        f'The description about you is "Reviews the code."\n\n{code}'
    )
    assert sent["java"].contents == sent["go"].contents == sent["js"].contents


@pytest.mark.parametrize(
    ("rules", "requests", "objection"),
    [
        ("java", [1, 1, 1, 1], "It does not say why they come."),
        ("go", [1, 1, 1, 2], "Done."),
        ("js", [1, 1, 1, 2], "Done."),
    ],
)
def test_a_critic_that_leaves_the_loop_is_asked_again_except_on_java(
    rules: str, requests: list[int], objection: str
) -> None:
    found = run("improvement", rules)
    steps = ["FirstDraft", "TextCritic#1", "TextImprover", "TextCritic#2"]
    assert [(step.name, len(step.requests)) for step in found.step_runs] == list(zip(steps, requests, strict=True))
    assert found.session.state == {"text": "Tides are water that follows the moon.", "objection": objection}


def test_the_table_of_a_loop_names_the_rule_that_asks_the_critic_again() -> None:
    assert table("improvement") == [
        ("go", "TextCritic#1", "declarations", ["declaration"]),
        ("go", "TextCritic#2", "declarations", ["declaration"]),
        ("go", "TextCritic#2", "requests", ["escalate_ends_at_once"]),
        ("go", "TextCritic#2", "error", ["escalate_ends_at_once"]),
        ("go", "TextCritic#2", "state", ["output"]),
        *js_identity("FirstDraft", "TextCritic#1"),
        ("js", "TextCritic#1", "declarations", ["declaration"]),
        *js_identity("TextImprover", "TextCritic#2"),
        ("js", "TextCritic#2", "declarations", ["declaration"]),
        ("js", "TextCritic#2", "requests", ["escalate_ends_at_once"]),
        ("js", "TextCritic#2", "error", ["escalate_ends_at_once"]),
    ]


@pytest.mark.parametrize("rules", ADKS)
def test_parallel_research_reaches_the_synthesis_by_key_and_as_history(rules: str) -> None:
    found = run("research", rules)
    assert written(found) == [
        ("CostResearcher", {"cost": "Paint is cheap."}),
        ("SafetyResearcher", {"safety": "Paint protects nobody."}),
        ("Synthesis", {"advice": "Build a kerb."}),
    ]
    sent = found.step("Synthesis").requests[0].sent
    assert "Cost: Paint is cheap.\nSafety: Paint protects nobody." in str(sent.system_instruction)
    assert [[part.text for part in content.parts] for content in sent.contents] == [
        ["A bicycle lane on the high street."],
        ["For context:", "[CostResearcher] said: Paint is cheap."],
        ["For context:", "[SafetyResearcher] said: Paint protects nobody."],
    ]
    one = found.step("CostResearcher").requests[0].sent
    assert [[part.text for part in content.parts] for content in one.contents] == [
        ["A bicycle lane on the high street."]
    ]


def test_parallel_research_differs_in_the_system_instruction_of_javascript_alone() -> None:
    assert table("research") == js_identity("CostResearcher", "SafetyResearcher", "Synthesis")


@pytest.mark.parametrize("rules", ADKS)
def test_a_custom_flow_tells_a_gloomy_story_again(rules: str) -> None:
    found = run("story", rules)
    assert written(found) == [
        ("StoryTeller#1", {"story": "The lamp went out for good."}),
        ("StoryCritic", {"weakness": "good"}),
        ("StoryReviser", {"story": "The lamp went out for ever."}),
        ("MoodCheck", {"mood": "gloomy"}),
        ("StoryTeller#2", {"story": "The lamp was lit again."}),
    ]
    assert "Mood to avoid: gloomy" in str(found.step("StoryTeller#2").requests[0].sent.system_instruction)


def test_a_custom_flow_ends_after_a_bright_story() -> None:
    made = SHAPES["story"]
    replies = {**made.replies, "MoodCheck": ["bright"]}
    found = Runner(made.make(), model=type(made.model())(replies)).run(made.message)
    assert [step.name for step in found.step_runs if step.requests] == [
        "StoryTeller", "StoryCritic", "StoryReviser", "MoodCheck",
    ]  # fmt: skip


def test_a_custom_flow_differs_in_the_system_instruction_of_javascript_alone() -> None:
    assert table("story") == js_identity("StoryTeller#1", "StoryCritic", "StoryReviser", "MoodCheck", "StoryTeller#2")
