"""A workflow's run event by event and step by step, its plan, and its checkpoints, one row each."""

from __future__ import annotations

from typing import Final

from adknb.tables.frame import Kind, Row
from adknb.workflow.checkpoints import Checkpoints
from adknb.workflow.plan import Plan
from adknb.workflow.result import WorkflowResult

TIMELINE: Final[dict[str, Kind]] = {
    "step": "text", "action": "text", "attempt": "count", "at": "text", "latency_ms": "number", "tokens": "count",
    "wait": "number", "error": "text", "detail": "text",
}  # fmt: skip
OUTCOMES: Final[dict[str, Kind]] = {
    "step": "text", "status": "text", "attempts": "count", "latency_ms": "number", "tokens": "count", "cached": "flag",
    "error": "text", "payload": "value",
}  # fmt: skip
PLAN: Final[dict[str, Kind]] = {
    "group": "count", "step": "text", "reads": "text", "writes": "text", "waits_for": "text",
}  # fmt: skip
CHECKPOINTS: Final[dict[str, Kind]] = {
    "run_id": "text", "begun": "text", "updated": "text", "done": "text", "next": "text", "token_used": "count",
}  # fmt: skip


def timeline_rows(result: WorkflowResult) -> list[Row]:
    """One row an event; those of the run itself have no step. `latency_ms` is in milliseconds, `wait` in seconds."""
    return [
        {
            "step": event.step_name,
            "action": event.action,
            "attempt": event.attempt,
            "at": event.at.isoformat(),
            "latency_ms": event.latency_ms,
            "tokens": event.tokens,
            "wait": event.wait,
            "error": str(event.error or ""),
            "detail": event.detail,
        }
        for event in result.events
    ]


def outcome_rows(result: WorkflowResult) -> list[Row]:
    """One row a step that is behind the run; `tokens` and `attempts` are of all its attempts."""
    return [
        {
            "step": outcome.step,
            "status": outcome.status,
            "attempts": outcome.attempts,
            "latency_ms": outcome.metadata.latency_ms,
            "tokens": outcome.tokens,
            "cached": outcome.cached,
            "error": str(outcome.error or ""),
            "payload": outcome.payload,
        }
        for outcome in result.outcomes
    ]


def plan_rows(plan: Plan) -> list[Row]:
    """One row a step, its group from 1; `waits_for` names each step with the key that is read of it."""
    return [
        {
            "group": step.group + 1,
            "step": step.name,
            "reads": ", ".join(step.reads),
            "writes": ", ".join(step.writes),
            "waits_for": ", ".join(f"{edge.source} ({edge.key})" for edge in plan.waits_for(step.name)),
        }
        for step in plan.steps
    ]


def checkpoint_rows(checkpoints: Checkpoints) -> list[Row]:
    """One row a run that can be resumed."""
    return [
        {
            "run_id": checkpoint.run_id,
            "begun": checkpoint.begun.isoformat(),
            "updated": checkpoint.updated.isoformat(),
            "done": ", ".join(checkpoint.done),
            "next": ", ".join(checkpoint.next_steps),
            "token_used": checkpoint.token_used,
        }
        for checkpoint in checkpoints
    ]
