"""Plain text for terminals: columns that line up, and no character that a terminal would obey."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import indent
from typing import Final

from wcwidth import wcswidth

from adknb.core.escape import one_line, visible

CUT: Final = 60
WHOLE: Final = 4_000
ROWS: Final = 60


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


def passage(text: str, limit: int = WHOLE) -> str:
    """A text of several lines, indented; what lies beyond `limit` characters is counted."""
    more = f"\n… {len(text) - limit:,} more characters" if len(text) > limit else ""
    return indent(visible(text[:limit]) + more, "  ", lambda line: True)


def _padded(cell: str, width: int, right: bool) -> str:
    space = " " * (width - _width(cell))
    return space + cell if right else cell + space


def _width(cell: str) -> int:
    return max(wcswidth(cell), 0)
