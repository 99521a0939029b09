"""The state after a run, and every write that led to it."""

from __future__ import annotations

from typing import Any, Final

from adknb.analysis.freshness import Ledger, Write
from adknb.core.protocols import TokenCounter
from adknb.core.state import TEMP_PREFIX, scope
from adknb.tables.frame import Kind, Row
from adknb.tokens.channels import canonical_json

STATE: Final[dict[str, Kind]] = {
    "key": "text", "scope": "text", "value": "value", "type": "text", "characters": "count", "tokens": "count",
    "written_by": "text", "event": "maybe", "read_by": "text", "fresh": "text",
}  # fmt: skip
STATE_HISTORY: Final[dict[str, Kind]] = {
    "turn": "count", "event": "count", "step": "text", "author": "text", "key": "text", "change": "text",
    "old": "value", "new": "value", "stale": "text",
}  # fmt: skip
DISCARDED: Final = "discarded after the turn"


def state_rows(ledger: Ledger, counter: TokenCounter) -> list[Row]:
    """One row a key. `characters` and `tokens` measure the value as text, `event` numbers the history from 1."""
    rows: list[Row] = []
    for key, value in ledger.state.items():
        write = ledger.last_write(key)
        text = value_text(value)
        rows.append(
            {
                "key": key,
                "scope": scope(key),
                "value": value,
                "type": type(value).__name__,
                "characters": len(text),
                "tokens": counter.count(text),
                "written_by": _writer(write, ledger.turn),
                "event": write.number if write is not None else None,
                "read_by": ", ".join(ledger.readers(key)),
                "fresh": _freshness(ledger, key, write),
            }
        )
    return rows


def history_rows(ledger: Ledger) -> list[Row]:
    """One row a write of the turn, oldest first. `stale` names who had read an older turn's value before the write."""
    return [
        {
            "turn": write.turn,
            "event": write.number,
            "step": write.step,
            "author": write.event.author,
            "key": write.key,
            "change": "removed" if write.removed else "overwritten" if write.had else "new",
            "old": write.old,
            "new": write.value,
            "stale": _read_before(ledger, write),
        }
        for write in ledger.writes
        if write.turn == ledger.turn
    ]


def value_text(value: Any) -> str:
    """A state value as text: itself, or its canonical JSON."""
    return value if isinstance(value, str) else canonical_json(value)


def _writer(write: Write | None, turn: int) -> str:
    if write is None:
        return "preset"
    return write.step if write.turn == turn else f"{write.step} (turn {write.turn})"


def _freshness(ledger: Ledger, key: str, write: Write | None) -> str:
    run = ledger.run
    as_it_was = key in run.start_state and (write is None or write.turn != ledger.turn)
    kept = run.temp_keys == "keep" or (run.temp_keys == "restore" and as_it_was)
    if key.startswith(TEMP_PREFIX) and run.status not in ("running", "paused") and not kept:
        return DISCARDED
    return ledger.freshness(key)


def _read_before(ledger: Ledger, write: Write) -> str:
    early = [read for read in ledger.reads if read.key == write.key and read.stale]
    readers = dict.fromkeys(f"{read.step.name} read {read.age.removeprefix('stale: ')}" for read in early)
    return ", ".join(readers)
