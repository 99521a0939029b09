"""A workflow's timeline drawn as SVG: a row for each attempt, wait, skip and the like, and the tokens used as a line below.

Drawn by hand, because each bar carries its words, inside where there is room and beside it where there is none, which
Vega-Lite cannot decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from adknb.core.escape import escape, one_line
from adknb.notebook.cards.words import duration
from adknb.notebook.charts import DARK, DIM, INK, LINE, PAPER
from adknb.notebook.workflow_timeline import Stretch, Timeline

WIDTH: Final = 820
"""Pixels. A page may draw the whole larger or smaller."""
ROWS: Final = 40
"""Rows that are drawn; the middle of more is left out, and that is said."""
NAME: Final = 20
"""Characters of a step's name beside its rows."""
ROW: Final = 21
BAR: Final = 15
CHARACTER: Final = 6.1
BOLD: Final = 7.0
"""Pixels of a character, and of a bold one."""
MARGIN: Final = 10
BUDGET: Final = 56
"""Pixels of the tokens' height."""
TICKS: Final = 5

# each holds 4.5 against white, so that white words stand on it, and 3 against the dark paper
COLOURS: Final = {
    "completed": "#16803f", "failed": "#c2341c", "running": "#0b6bd6", "cache": "#0b6bd6", "fallback": "#8250df",
    "continued": "#8a6d00", "resumed": "#0b6bd6",
}  # fmt: skip
"""The bar of each kind; of all others only the outline is drawn."""
BUDGET_COLOUR: Final = "#0b6bd6"


def timeline_svg(timeline: Timeline) -> str:
    """The picture as an SVG document that needs nothing else, and follows a dark page where the front end tells of one."""
    rows = timeline.stretches
    left_out = max(len(rows) - ROWS, 0)
    drawn: Sequence[Stretch | None] = rows
    if left_out:
        drawn = [*rows[: ROWS // 2], None, *rows[len(rows) - ROWS // 2 :]]
    left = MARGIN + BOLD * max((len(one_line(row.step, NAME)) for row in rows), default=0) + 10
    width = WIDTH - left - MARGIN
    scale = width / max(timeline.ms, 1e-9)
    top = 8
    pieces: list[str] = []
    before = None
    for number, row in enumerate(drawn):
        y = top + number * ROW
        if row is None:
            pieces.append(text(left, y + ROW / 2, f"… {left_out:,} more …", DIM))
            before = None
            continue
        if row.place != before:
            pieces.append(line(MARGIN, y, WIDTH - MARGIN, y))
            pieces.append(text(MARGIN, y + ROW / 2, one_line(row.step, NAME), INK, weight="bold"))
            before = row.place
        pieces.append(_bar(row, left, y, scale, timeline.ms))
    bottom = top + len(drawn) * ROW
    floor = bottom + (BUDGET + 16 if timeline.spent else 0)
    axis, height = _axis(timeline, left, width, floor)
    budget = _budget(timeline, left, width, scale, bottom, floor) if timeline.spent else ""
    grid = "".join(
        line(left + width * tick / (TICKS - 1), top, left + width * tick / (TICKS - 1), height - 22, LINE)
        for tick in range(TICKS)
    )
    return document([grid, *pieces, budget, axis], WIDTH, height)


def _bar(row: Stretch, left: float, y: float, scale: float, total: float) -> str:
    """A stretch's bar, and its words: in it, else after it, else before it."""
    end = total if row.end is None else row.end
    x, width = left + row.start * scale, max((end - row.start) * scale, 3.0)
    x = min(x, WIDTH - MARGIN - width)
    colour = COLOURS.get(row.kind)
    words = one_line(row.label, 90)
    needed = len(words) * CHARACTER + 8
    top = y + (ROW - BAR) / 2
    if colour is None:
        dashes = ' stroke-dasharray="3 2"' if row.kind == "waiting" else ""
        shape = (
            f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{BAR}" fill="none" stroke="{DIM}"{dashes}/>'
        )
    else:
        shape = f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{BAR}" rx="2" fill="{colour}"/>'
    middle = y + ROW / 2
    if needed <= width:
        return shape + text(x + 4, middle, words, INK if colour is None else "white")
    room_after, room_before = WIDTH - MARGIN - x - width, x - left
    if needed > max(room_after, room_before):
        words = one_line(words, max(int((max(room_after, room_before) - 8) / CHARACTER), 2))
    if needed <= room_after or room_after >= room_before:
        return shape + text(x + width + 4, middle, words, INK)
    return shape + text(x - 4, middle, words, INK, anchor="end")


def _budget(timeline: Timeline, left: float, width: float, scale: float, bottom: float, floor: float) -> str:
    """The tokens used so far, a step at each change, from the axis at `floor` up to the limit where there is one."""
    most = max([used for _, used in timeline.spent] + ([timeline.limit] if timeline.limit else []) + [1])
    height = BUDGET - 16
    points, y = [f"{left:.1f},{floor:.1f}"], floor
    for ms, used in timeline.spent:
        x = left + min(ms * scale, width)
        points.append(f"{x:.1f},{y:.1f}")
        y = floor - height * used / most
        points.append(f"{x:.1f},{y:.1f}")
    points.append(f"{left + width:.1f},{y:.1f}")
    spent = f'<polyline points="{" ".join(points)}" fill="none" stroke="{BUDGET_COLOUR}" stroke-width="2"/>'
    pieces = [line(MARGIN, bottom, WIDTH - MARGIN, bottom), text(MARGIN, bottom + 14, "tokens", INK, weight="bold")]
    used = timeline.spent[-1][1]
    if timeline.limit:
        y_limit = floor - height * timeline.limit / most
        pieces.append(
            f'<line x1="{left:.1f}" y1="{y_limit:.1f}" x2="{left + width:.1f}" y2="{y_limit:.1f}" stroke="{DIM}" '
            'stroke-dasharray="5 3"/>'
        )
        said = f"{used:,} of {timeline.limit:,} used; the dashed line is the limit"
    else:
        said = f"{used:,} used, no limit"
    pieces.append(text(left + 4, bottom + 10, said, INK))
    return "".join(pieces) + spent


def _axis(timeline: Timeline, left: float, width: float, y: float) -> tuple[str, int]:
    """The times below, and the picture's height."""
    pieces = [line(left, y, left + width, y, DIM)]
    for tick in range(TICKS):
        share = tick / (TICKS - 1)
        anchor = "start" if tick == 0 else "end" if tick == TICKS - 1 else "middle"
        words = "0" if tick == 0 else duration(timeline.ms * share)
        pieces.append(text(left + width * share, y + 12, words, DIM, anchor=anchor))
    return "".join(pieces), int(y + 22)


def document(pieces: Iterable[str], width: int, height: int) -> str:
    """The pieces as an SVG document on paper, with the colours of a dark page where the front end tells of one."""
    rules = "".join(
        f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}' for light, dark in DARK.items()
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="11"><style>@media (prefers-color-scheme:dark){{{rules}}}</style>'
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>{"".join(pieces)}</svg>'
    )


def line(x1: float, y1: float, x2: float, y2: float, colour: str = LINE) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def text(x: float, y: float, words: str, colour: str, *, anchor: str = "start", weight: str = "") -> str:
    """One line of text, `y` at its middle. On the paper it covers the lines behind it."""
    bold = f' font-weight="{weight}"' if weight else ""
    halo = "" if colour == "white" else f' stroke="{PAPER}" stroke-width="3" paint-order="stroke"'
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" dominant-baseline="central" text-anchor="{anchor}" fill="{colour}"{bold}{halo}>'
        f"{escape(words)}</text>"
    )
