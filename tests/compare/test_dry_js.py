"""Another prompt in a system instruction that ADK JavaScript sent: with the agent's own, byte for byte the same."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from adknb import LlmAgent
from adknb.compare.dry_system import with_prompt
from adknb.rules.resolve import resolve_rules
from adknb.runtime.turns import fold

CONFORMANCE = Path(__file__).parent.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

import case as cases  # noqa: E402  # found through the path above
from settings import read_all  # noqa: E402

JS = resolve_rules("js")
LOST = "x-js-global-empty-value"
"""Its global instruction came out empty, and what follows took its place: that it was there is not seen any more."""

CASES = [
    case
    for case in read_all(CONFORMANCE / f"{name}.jsonl" for name in ("cases", "features", "gemini", "extra.js"))
    if not case["id"].startswith("random") and case["id"] != LOST
]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_the_same_prompt_gives_what_was_sent(case: dict[str, Any]) -> None:
    found, sent = [], []
    for run in cases.runs(case, "as_written", lambda agent, request: None, "js"):
        for step in run.step_runs:
            agent = step.agent
            if not isinstance(agent, LlmAgent) or not isinstance(agent.instruction, str):
                continue
            for request in step.requests:
                state = fold(run.start_state, run.turn_events[: request.seen])
                found.append(with_prompt(request.sent, agent, run.root, agent.instruction, state, JS))
                sent.append(request.sent.system)
    assert found == sent
