"""Narration of the history in an answer, told from a mere mention."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adknb.compare.leaks import leaked, leaked_what
from adknb.core.content import Content, FunctionCall, FunctionResponse, Part
from adknb.core.events import Event
from adknb.rules.java import JavaRules

AGENTS = ("TriageAgent", "DraftAgent", "Policy.Check (v2)")
TRACES = Path(__file__).parent.parent / "conformance" / "traces" / "java.jsonl"


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ("[TriageAgent] said: billing", "[TriageAgent] said: billing"),
        ('Sure!\n[DraftAgent] said: "We are\nsorry."\n\nREJECT', '[DraftAgent] said: "We are\nsorry."'),
        ("[TriageAgent] said: a [DraftAgent] said: b\n\nc", "[TriageAgent] said: a"),
        (
            'x [DraftAgent] called tool `look_up` with parameters: {"id": 1}\n[DraftAgent] `look_up` tool returned result: {}',
            '[DraftAgent] called tool `look_up` with parameters: {"id": 1}',
        ),
        ("[DraftAgent] `look_up` tool returned result: {}", "[DraftAgent] `look_up` tool returned result: {}"),
        ("[DraftAgent] tool `look_up` returned result: {}", "[DraftAgent] tool `look_up` returned result: {}"),
        ("[Policy.Check (v2)] said: no", "[Policy.Check (v2)] said: no"),
        ("For context:\n[TriageAgent] said: billing\n\nSo…", "For context:\n[TriageAgent] said: billing"),
        (" For context: you were\ncharged.\n\nYours", "For context: you were\ncharged."),
        ("For context: a\n\n[TriageAgent] said: b", "For context: a"),
        ("For context: a [TriageAgent] said: b", "For context: a"),
        ("For context:", "For context:"),
        ('{"summary": "[TriageAgent] said: billing"}', '[TriageAgent] said: billing"}'),
    ],
)
def test_narration_is_a_leak(answer: str, what: str) -> None:
    assert leaked_what(answer, AGENTS) == what
    assert leaked(answer, AGENTS)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "TriageAgent said: billing",
        "[TriageAgent] thinks so.",
        "The [TriageAgent] and [DraftAgent] are agents.",
        "[SomebodyElse] said: hello",
        "[PolicyXCheck (v2)] said: no",
        "[triageagent] said: billing",
        "[TriageAgent] said nothing.",
        "[] said: nothing",
        "We charge twice. For context: you paid on Monday.",
        "[DraftAgent] called tool `look\nup` with parameters: {}",
        "[DraftAgent] called the tool `look_up`.",
    ],
)
def test_a_mention_is_no_leak(answer: str) -> None:
    assert leaked_what(answer, AGENTS) == ""
    assert not leaked(answer, AGENTS)


def test_without_agents_only_the_beginning_tells() -> None:
    assert not leaked("[] said: x [TriageAgent] said: y", [])
    assert not leaked("[] said: x", [""])
    assert leaked("For context:", [])


def test_agents_may_be_any_iterable() -> None:
    assert leaked("[DraftAgent] said: x", iter(AGENTS))


@pytest.mark.parametrize(
    ("part", "what"),
    [
        (Part(text="billing"), "[DraftAgent] said: billing"),
        (
            Part(function_call=FunctionCall("look_up", {"id": 1})),
            '[DraftAgent] called tool `look_up` with parameters: {"id":1}',
        ),
        (
            Part(function_response=FunctionResponse("look_up", {"paid": True})),
            '[DraftAgent] `look_up` tool returned result: {"paid":true}',
        ),
    ],
)
def test_what_the_java_rules_narrate_is_a_leak_word_for_word(part: Part, what: str) -> None:
    narrated = JavaRules().narrate(Event("DraftAgent", Content("model", (part,))))
    assert narrated is not None
    parroted = "\n".join(each.text or "" for each in narrated.parts)
    assert leaked_what(parroted, AGENTS) == f"For context:\n{what}"
    assert leaked_what(f"{parroted}\n\nAPPROVE".removeprefix("For context:"), AGENTS) == what


def test_every_narration_that_adk_java_was_recorded_with_is_a_leak() -> None:
    narrated = [text for line in TRACES.read_text().splitlines() for text in narrations(json.loads(line))]
    assert len(narrated) > 1_000
    for text in narrated:
        name = text[1:].partition("]")[0]
        assert leaked_what(text, [name]).startswith(f"[{name}] "), text
        assert not leaked(text, [f"{name}X"])


def narrations(recorded: Any) -> Iterator[str]:
    """The texts behind `For context:` anywhere in a recorded case."""
    if isinstance(recorded, dict):
        for value in recorded.values():
            yield from narrations(value)
    elif isinstance(recorded, list):
        texts = [item.get("text") for item in recorded if isinstance(item, dict)]
        if texts[:1] == ["For context:"]:
            yield from (text for text in texts[1:] if text is not None)
        for value in recorded:
            yield from narrations(value)
