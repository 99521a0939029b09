"""The state as a table in a card, in both forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adknb.notebook.cards import text
from adknb.notebook.cards.html import chip, cut, heading, span, table
from adknb.tables.frame import Row
from adknb.tables.state import DISCARDED, value_text

_COLUMNS: Final = (
    ("Key", "adknb-name"), ("Value", ""), ("Written by", ""), ("Read by", ""), ("Fresh", ""), ("Tokens", "adknb-num"),
)  # fmt: skip


def state_html(rows: Sequence[Row]) -> str:
    """The heading and the table; nothing when there is no state."""
    return heading("State") + table(_COLUMNS, [_cells(row) for row in rows]) if rows else ""


def state_text(rows: Sequence[Row]) -> str:
    cells = [
        [row["key"], value_text(row["value"]), row["written_by"], row["read_by"], row["fresh"], f"{row['tokens']:,}"]
        for row in rows
    ]
    return text.columns([name for name, _ in _COLUMNS], cells, right=(5,), limit=50)


def fresh_chip(fresh: str) -> str:
    """The word of a `fresh` column; what is old or gone looks different, and says so."""
    if "stale" in fresh:
        return chip(fresh, "warn")
    if fresh == "fresh":
        return chip(fresh, "good")
    return span(fresh, "adknb-dim") if fresh == DISCARDED else chip(fresh) if fresh else ""


def _cells(row: Row) -> Sequence[str]:
    return [
        cut(row["key"], 60),
        cut(value_text(row["value"])),
        cut(row["written_by"], 60),
        cut(row["read_by"], 60),
        fresh_chip(row["fresh"]),
        f"{row['tokens']:,}",
    ]
