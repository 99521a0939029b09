"""A run's steps and where their tokens go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from adknb.analysis.accounts import Account
from adknb.analysis.freshness import Ledger
from adknb.core.run import StepRun
from adknb.tables.events import stale_text
from adknb.tables.frame import Kind, Row
from adknb.tokens.channels import CHANNELS

STEPS: Final[dict[str, Kind]] = {
    "step": "text", "agent": "text", "status": "text", "requests": "count", "ms": "number", "input_tokens": "count",
    "output_tokens": "count", "cumulative": "count", "key": "text", "readers": "text", "model": "text",
    "counted_by": "text", "stale": "text", "note": "text",
}  # fmt: skip
TOKENS: Final[dict[str, Kind]] = {
    "step": "text", "agent": "text", "request": "count",
    **dict.fromkeys(CHANNELS[:-1], "count"), "overhead": "maybe",
    "total": "count", "output": "count", "sent_twice": "count", "twice": "text", "stale": "text",
    "reported": "flag", "counted_by": "text",
}  # fmt: skip
COST: Final[dict[str, Kind]] = {"cost": "amount"}
"""The column that a price table adds; in its currency."""
REPORTED: Final = "reported"
"""Stands in `counted_by` for the model's own numbers."""


def step_rows(ledger: Ledger, costs: Sequence[Account]) -> list[Row]:
    """One row an execution of an agent. Tokens are the model's report, else counts; `cumulative` adds up in and out."""
    rows: list[Row] = []
    cumulative = 0
    for step in ledger.run.step_runs:
        own = [cost for cost in costs if cost.step is step]
        asked = sum(cost.channels.total for cost in own)
        answered = sum(cost.output for cost in own)
        cumulative += asked + answered
        rows.append(
            {
                "step": step.name,
                "agent": step.agent.name,
                "status": step.status,
                "requests": len(step.requests),
                "ms": round(step.ms, 3),
                "input_tokens": asked,
                "output_tokens": answered,
                "cumulative": cumulative,
                "key": ", ".join(step.state_delta),
                "readers": ", ".join(ledger.readers_of(step)),
                "model": _joined(cost.request.sent.model for cost in own),
                "counted_by": _joined(REPORTED if cost.channels.reported else cost.channels.counted_by for cost in own),
                "cost": _sum(cost.cost for cost in own),
                "stale": stale_text(ledger.stale_reads(step)),
                "note": "; ".join(notes(step)),
            }
        )
    return rows


def token_rows(ledger: Ledger, costs: Sequence[Account]) -> list[Row]:
    """One row a request, one column a channel; `twice` names the keys behind `sent_twice`."""
    rows: list[Row] = []
    for cost in costs:
        reads = ledger.reads_of(cost.step, cost.number, cost.request)
        rows.append(
            {
                "step": cost.step.name,
                "agent": cost.step.agent.name,
                "request": cost.number,
                **{channel: getattr(cost.channels, channel) for channel in CHANNELS},
                "total": cost.channels.total,
                "output": cost.output,
                "sent_twice": sum(cost.twice.values()),
                "twice": ", ".join(cost.twice),
                "stale": stale_text({read.key: read.age for read in reads if read.stale}),
                "reported": cost.channels.reported,
                "counted_by": cost.channels.counted_by,
                "cost": cost.cost,
            }
        )
    return rows


def notes(step: StepRun) -> list[str]:
    """What is to be said of a step beside its numbers: where its replies came from, what happened on the way."""
    said = [request.reply.note for request in step.requests if request.reply is not None and request.reply.note]
    if step.replayed:
        said.append("copied from the parent run")
    return list(dict.fromkeys([*said, *step.notes]))


def _sum(costs: Iterable[float | None]) -> float | None:
    """The sum of what is known; None where nothing is."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


def _joined(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words))
