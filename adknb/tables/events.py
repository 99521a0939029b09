"""A turn's events, one row each."""

from __future__ import annotations

from typing import Final

from adknb.analysis.freshness import Ledger
from adknb.core.events import USER, Event
from adknb.tables.frame import Kind, Row
from adknb.tokens.channels import canonical_json

EVENTS: Final[dict[str, Kind]] = {
    "event": "count", "turn": "count", "step": "text", "author": "text", "kind": "text", "text": "text",
    "calls": "text", "responses": "text", "writes": "text", "stale": "text", "final": "flag", "branch": "text",
    "input_tokens": "maybe", "output_tokens": "maybe", "id": "text",
}  # fmt: skip


def event_rows(ledger: Ledger) -> list[Row]:
    """One row an event. `event` numbers the history from 1; tokens are the model's report; `stale` names the old values
    that the event's step had read."""
    stale = {step.name: stale_text(ledger.stale_reads(step)) for step in ledger.run.step_runs}
    rows: list[Row] = []
    for number, event in enumerate(ledger.run.turn_events, ledger.first + 1):
        step = ledger.step_of.get(event.id, "")
        rows.append(
            {
                "event": number,
                "turn": ledger.turn,
                "step": step,
                "author": event.author,
                "kind": _kind(event),
                "text": event.text,
                "calls": " ".join(f"{call.name}({canonical_json(dict(call.args))})" for call in event.function_calls),
                "responses": " ".join(
                    f"{answer.name} → {canonical_json(dict(answer.response))}" for answer in event.function_responses
                ),
                "writes": ", ".join(event.actions.state_delta),
                "stale": stale.get(step, ""),
                "final": event.is_final_response(),
                "branch": event.branch or "",
                "input_tokens": event.usage.input_tokens if event.usage is not None else None,
                "output_tokens": event.usage.output_tokens if event.usage is not None else None,
                "id": event.id,
            }
        )
    return rows


def stale_text(reads: dict[str, str]) -> str:
    """`triage: turn 1, draft: turn 2`; empty when nothing stale was read."""
    return ", ".join(f"{key}: {age.removeprefix('stale: ')}" for key, age in reads.items())


def _kind(event: Event) -> str:
    if event.author == USER:
        return "answer" if event.function_responses else "user message"
    if event.function_calls:
        return "tool call"
    if event.function_responses:
        return "tool response"
    if event.content is None or not event.content.parts:
        return "state only" if event.actions.state_delta else "empty"
    return "reply"
