"""A run, its steps, its plan and its checkpoints as tables."""

from __future__ import annotations

import pytest

from adknb.workflow.data import PipelineError
from adknb.workflow.retry import RetryPolicy
from adknb.workflow.step import Step
from tests.workflow.flows import adds, workflow

pytestmark = pytest.mark.anyio


async def test_the_timeline_has_a_row_for_each_event() -> None:
    policy = RetryPolicy(2, backoff=lambda attempt: 1.5)
    flow = workflow(Step(name="a", agent=adds("a", ConnectionError("refused")), retry_policy=policy))
    table = (await flow.execute("in")).to_frame()
    assert list(table.columns) == ["step", "action", "attempt", "at", "latency_ms", "tokens", "wait", "error", "detail"]
    assert table[["step", "action", "attempt", "latency_ms", "wait", "error"]].values.tolist() == [
        ["", "run_started", 0, 0.0, 0.0, ""],
        ["a", "started", 1, 0.0, 0.0, ""],
        ["a", "retry", 1, 0.0, 1.5, "ConnectionError: refused"],
        ["a", "started", 2, 0.0, 0.0, ""],
        ["a", "completed", 2, 0.0, 0.0, ""],
        ["", "run_completed", 0, 1500.0, 0.0, ""],
    ]


async def test_the_steps_have_a_row_each() -> None:
    flow = workflow(
        Step(name="a", agent=adds("a")), Step(name="b", agent=adds("b", ValueError("odd")), on_error="skip")
    )
    result = await flow.execute("in:")
    assert result.to_steps().drop(columns="latency_ms").to_dict("records") == [
        {
            "step": "a",
            "status": "completed",
            "attempts": 1,
            "tokens": 0,
            "cached": False,
            "error": "",
            "payload": "in:a",
        },
        {
            "step": "b",
            "status": "skipped",
            "attempts": 1,
            "tokens": 0,
            "cached": False,
            "error": "ValueError: odd",
            "payload": None,
        },
    ]
    assert result.outcomes[1].error == PipelineError("ValueError", "odd", "b", False, "tool", "high")
    assert repr(result) == f"WorkflowResult('workflow', {result.run_id!r}, completed, 2 of 2 steps, 0 tokens)"
