"""What one request was made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from adknb.analysis.freshness import Ledger
from adknb.core.errors import RunStateError
from adknb.core.requests import Request
from adknb.core.run import StepRun
from adknb.tables.frame import Kind, Row
from adknb.tokens.channels import Piece

PROMPT: Final[dict[str, Kind]] = {
    "role": "text", "content": "maybe", "origin": "text", "key": "text", "text": "text", "tokens": "count",
    "channel": "text", "author": "text", "event": "maybe", "fresh": "text",
}  # fmt: skip


def find_request(step: StepRun, number: int) -> Request:
    """The step's `number`-th request, from 1. Raises `RunStateError` when there is none."""
    if not step.requests:
        raise RunStateError(f"step {step.name} asked no model (it is {step.status}), so there is no prompt to show.")
    if not 1 <= number <= len(step.requests):
        count = len(step.requests)
        raise RunStateError(
            f"step {step.name} has no request {number}; it made {count}, numbered from 1. "
            f"Ask for request={1 if count == 1 else f'1 to {count}'}."
        )
    return step.requests[number - 1]


def prompt_rows(ledger: Ledger, step: StepRun, number: int, made_of: Iterable[Piece]) -> list[Row]:
    """One row a piece of the step's `number`-th request: joined, the texts of role `system` are the system instruction,
    those of a content its parts (calls and responses as canonical JSON). Tool declarations and the schema stand last.

    `event` and `author` say which event of the history a content came from; `fresh` speaks of inserted values.
    """
    reads = ledger.reads_of(step, number, find_request(step, number))
    ages = {read.key: read.age or "fresh" for read in reads}
    numbers = {event.id: position for position, event in enumerate(ledger.events, 1)}
    return [
        {
            "role": piece.role,
            "content": piece.content,
            "origin": piece.origin,
            "key": piece.key or "",
            "text": piece.text,
            "tokens": piece.tokens,
            "channel": piece.channel,
            "author": piece.source.author if piece.source is not None else "",
            "event": numbers.get(piece.source.id) if piece.source is not None else None,
            "fresh": ages.get(piece.key, "") if piece.origin == "state" and piece.key is not None else "",
        }
        for piece in made_of
    ]
