"""Each rule that a recorded case shows is found by its name, when the case runs under ADK Java's rules and another's."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from adknb import Input, portability
from adknb.rules.differences import DIFFERENCES

CONFORMANCE = Path(__file__).parent.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

from case import build  # noqa: E402

SHOWN = {
    "parse": ("placeholder-dollar-ident", "go"),
    "text_of": ("value-nested", "go"),
    "check_state_value": ("value-null", "go"),
    "missing": ("placeholder-required-missing", "go"),
    "artifact_text": ("f-artifact-saved-and-read", "go"),
    "strips_temp_keys": ("outkey-temp-prefix", "js"),
    "temp_keys": ("go-temp-at-start", "go"),
    "keeps_unsaid_state": ("x-failed-run-shared-values", "go"),
    "identity": ("description-in-identity", "js"),
    "system": ("f-global", "js"),
    "own_global_instruction": ("f-global-on-sub", "go"),
    "empty_function_text_counts": ("go-empty-parts", "js"),
    "transfer_text": ("f-transfer", "go"),
    "transfer_declaration": ("f-transfer", "go"),
    "transfer_arguments": ("f-transfer", "js"),
    "transfer_answer": ("f-transfer", "js"),
    "carries_out_transfer": ("p-to-deep", "go"),
    "no_target": ("f-transfer-unknown", "go"),
    "contents": ("thought-in-history-default", "go"),
    "nested_branch": ("par-seq-none", "go"),
    "declaration": ("f-declarations", "go"),
    "schema_by_tool": ("schema-with-tools", "js"),
    "config": ("x-config-32-bit", "js"),
    "schema_note": ("x-bounds-are-doubles-in-the-tool", "js"),
    "set_model_response_declaration": ("x-bounds-are-doubles-in-the-tool", "go"),
    "reply_as_text": ("g-schema-tools-set-gemini-2.5-flash", "js"),
    "model_response_before_transfer": ("go-answer-and-transfer", "go"),
    "check_model_response": ("g-schema-tools-bad-gemini-2.5-flash", "go"),
    "output": ("clobber-shared-key-default", "go"),
    "step_ends": ("outkey-only-thought", "go"),
    "error_event": ("exhausted", "js"),
    "escalate_ends_at_once": ("f-loop-exit", "go"),
    "escalate_ends_parallel": ("p-par-escalate", "go"),
    "loop_limit": ("go-loop-without-end", "go"),
    "failed_in_parallel": ("go-failed-in-parallel", "go"),
    "left_step_runs_on": ("x-left-step-two-tools", "js"),
    "coerce": ("p-typed-wrong", "go"),
    "arguments": ("p-typed-extra", "go"),
    "missing_argument": ("go-args-missing", "js"),
    "tool_error": ("f-tool-raises", "go"),
    "unknown_tool": ("unknown-tool", "go"),
    "transfer_ends_delta": ("x-after-tool-on-transfer", "go"),
    "join_values": ("x-deltas-null-inside", "go"),
}
"""By rule: a recorded case in which it alone makes a difference, or a part of one, and the ADK beside Java that does."""


@cache
def cases() -> dict[str, Any]:
    lines = [line for file in sorted(CONFORMANCE.glob("*.jsonl")) for line in file.read_text().split("\n") if line]
    return {case["id"]: case for case in map(json.loads, lines)}


@pytest.mark.parametrize("rule", SHOWN)
def test_the_rule_behind_a_difference_is_found(rule: str) -> None:
    name, adk = SHOWN[rule]
    case = cases()[name]
    inputs = [Input(tuple(case["turns"]), case.get("state") or {})]
    result = portability(build(case["root"], lambda agent, request: None), inputs, rules=["java", adk], explain=True)
    assert rule in {cause.name for deviation in result.of(adk) for cause in deviation.causes}
    assert result.unsteady == ()


def test_every_rule_that_is_looked_for_is_one_of_the_differences() -> None:
    assert set(SHOWN) <= {difference.name for difference in DIFFERENCES}
    assert len(SHOWN) == 43
