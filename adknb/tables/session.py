"""A session's turns."""

from __future__ import annotations

from typing import Final

from adknb.analysis.accounts import accounts
from adknb.analysis.freshness import PRESET, Ledger
from adknb.core.content import Content
from adknb.core.protocols import TokenCounter
from adknb.core.run import Session
from adknb.core.state import scope
from adknb.tables.events import event_rows, stale_text
from adknb.tables.frame import Kind, Row
from adknb.tables.state import history_rows, state_rows, value_text
from adknb.tables.steps import step_rows
from adknb.tokens.channels import part_text

TURNS: Final[dict[str, Kind]] = {
    "turn": "count", "run": "text", "pipeline": "text", "message": "text", "output": "text", "status": "text",
    "steps": "count", "ms": "number", "input_tokens": "count", "output_tokens": "count", "stale": "text",
}  # fmt: skip


def turn_rows(session: Session, counter: TokenCounter) -> list[Row]:
    """One row a turn, of its current run. `stale` names old values that it read, and a replaced earlier turn."""
    rows: list[Row] = []
    for number, run in enumerate(session.turns, 1):
        ledger = Ledger(run)
        steps = step_rows(ledger, accounts(ledger, counter))
        stale = stale_text(ledger.stale_reads())
        rows.append(
            {
                "turn": number,
                "run": run.id,
                "pipeline": run.root.name,
                "message": message_text(run.message),
                "output": run.output,
                "status": run.status,
                "steps": len(steps),
                "ms": round(run.ms, 3),
                "input_tokens": sum(row["input_tokens"] for row in steps),
                "output_tokens": sum(row["output_tokens"] for row in steps),
                "stale": "; ".join(filter(None, ["an earlier turn was replaced" if run.stale else "", stale])),
            }
        )
    return rows


def session_state_rows(session: Session, counter: TokenCounter) -> list[Row]:
    """The state as the last turn left it; a session without turns has what it was created with."""
    if session.turns:
        return state_rows(Ledger(session.turns[-1]), counter)
    return [
        {
            "key": key,
            "scope": scope(key),
            "value": value,
            "type": type(value).__name__,
            "characters": len(value_text(value)),
            "tokens": counter.count(value_text(value)),
            "written_by": PRESET,
            "event": None,
            "read_by": "",
            "fresh": PRESET,
        }
        for key, value in session.state.items()
    ]


def session_history_rows(session: Session) -> list[Row]:
    return [row for run in session.turns for row in history_rows(Ledger(run))]


def session_event_rows(session: Session) -> list[Row]:
    return [row for run in session.turns for row in event_rows(Ledger(run))]


def message_text(message: Content) -> str:
    """A run's message as text: its words, or the tool answers that it carries."""
    return "\n".join(part_text(part) for part in message.parts)
