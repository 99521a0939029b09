"""The described differences: all of the rules' own, each with a case that shows it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from adknb.rules.base import Rules
from adknb.rules.differences import DIFFERENCES, Difference
from adknb.rules.go import GoFixedRules, GoRules
from adknb.rules.java import JavaRules
from adknb.rules.js import JsRules

CONFORMANCE = Path(__file__).parent.parent / "conformance"
NOT_BEHAVIOUR = {"name", "sdk", "placeholder", "is_on_branch", "narrate"}
"""What names a rule set, and the parts of `parse` and `contents` that are methods of their own."""


@cache
def recorded(rules: str) -> set[str]:
    files = [CONFORMANCE / "traces" / f"{kind}{rules}.jsonl" for kind in ("", "features.", "gemini.", "extra.")]
    return {json.loads(line)["id"] for file in files for line in file.read_text().split("\n") if line.strip()}


def own(rules: type[Rules]) -> set[str]:
    return {name for name in vars(rules) if not name.startswith("_") and name not in NOT_BEHAVIOUR}


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.name)
def test_each_names_a_rule_and_a_case_that_was_recorded(difference: Difference) -> None:
    assert hasattr(Rules, difference.name) or difference.name in Rules.__annotations__
    assert any(difference.case in recorded(rules) for rules in ("java", "go", "js"))
    assert len({difference.java, difference.go, difference.js}) > 1


@pytest.mark.parametrize("rules", [JsRules, JavaRules, GoRules, GoFixedRules])
def test_every_rule_that_a_set_states_itself_is_described(rules: type[Rules]) -> None:
    described = {difference.name for difference in DIFFERENCES}
    assert own(rules) - described == set()
