"""Plain text for terminals: columns that line up, and no character that a terminal would obey."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import indent
from typing import Final

from wcwidth import wcswidth, wrap

from adknb.core.escape import one_line, visible

WIDTH: Final = 100
"""Columns of a terminal's line that a card may fill."""
CUT: Final = 60
WHOLE: Final = 4_000
ROWS: Final = 60
LIMITS: Final = (40, 32, 24)
"""How long the cells of a table may be, tried in turn."""


def columns(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = (), limit: int = CUT) -> str:
    """Rows under headings, cells cut to `limit`; `right` numbers the columns (from 0) that line up at their end.

    A column in which every cell is empty is left out.
    """
    lines = [[one_line(cell, limit) for cell in row] for row in rows]
    if len(lines) > ROWS:
        left_out = ["…", *[""] * (len(headings) - 1)]
        lines = [*lines[: ROWS // 2], left_out, *lines[-ROWS // 2 :]]
    kept = [place for place in range(len(headings)) if any(line[place] for line in lines)]
    table = [list(headings), *lines]
    widths = {place: max(_width(line[place]) for line in table) for place in kept}
    return "\n".join(
        "  ".join(_padded(line[place], widths[place], place in right) for place in kept).rstrip() for line in table
    )


def fitted(
    headings: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = (), limits: Sequence[int] = LIMITS
) -> str:
    """Columns within `WIDTH`: cells cut to the first of `limits` that does; where none does, the columns in parts one below the
    other, each beginning with the first column."""
    listed = [list(row) for row in rows]
    for limit in limits:
        table = columns(headings, listed, right, limit)
        if _fits(table):
            return table
    parts: list[list[int]] = [[0]]
    for place in range(1, len(headings)):
        if len(parts[-1]) > 1 and not _fits(_selected(headings, listed, right, [*parts[-1], place])):
            parts.append([0])
        parts[-1].append(place)
    return "\n\n".join(_selected(headings, listed, right, part) for part in parts)


def passage(text: str, limit: int = WHOLE) -> str:
    """A text of several lines, indented; what lies beyond `limit` characters is counted."""
    more = f"\n… {len(text) - limit:,} more characters" if len(text) > limit else ""
    return indent(visible(text[:limit]) + more, "  ", lambda line: True)


def wrapped(text: str, first: str = "", rest: str = "") -> str:
    """A text in lines of at most `WIDTH` columns, the first after `first`, all others after `rest`."""
    lines: list[str] = []
    for line in visible(text).split("\n"):
        lead = rest if lines else first
        lines += wrap(line, WIDTH, initial_indent=lead, subsequent_indent=rest, break_on_hyphens=False) or [lead]
    return "\n".join(line.rstrip() for line in lines)


def _selected(
    headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int], places: Sequence[int]
) -> str:
    """Some of the columns."""
    chosen = [[row[place] for place in places] for row in rows]
    aligned = [number for number, place in enumerate(places) if place in right]
    return columns([headings[place] for place in places], chosen, aligned, LIMITS[0])


def _fits(table: str) -> bool:
    return all(_width(line) <= WIDTH for line in table.split("\n"))


def _padded(cell: str, width: int, right: bool) -> str:
    space = " " * (width - _width(cell))
    return space + cell if right else cell + space


def _width(cell: str) -> int:
    return max(wcswidth(cell), 0)
