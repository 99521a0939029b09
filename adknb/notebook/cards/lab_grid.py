"""Tables whose columns are variants side by side, under the measure that they share; wide ones in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from adknb.core.escape import escape, one_line
from adknb.notebook.cards import text

Cell: TypeAlias = Sequence[str]
"""Lines of plain text; none for an empty cell."""

WIDTH: Final = 1000
"""Pixels that one part may take: about the width of an output on a laptop. Where there is less, the table scrolls."""
ROWS: Final = 40
"""Rows of a table; the middle of a longer one is left out."""
NAME: Final = 24
"""Characters of a heading."""
LEADS: Final = 50
"""Characters that the first columns take of a terminal's line."""
LINE: Final = 60
"""Characters of a line within a cell."""
_CHARACTER: Final = 6.6
_GAP: Final = 14


class Group(NamedTuple):
    """One measure: its heading (and a short one for plain text), and under it a column of cells for each of `names`.

    `cells` has one list of cells a row, in the order of `names`. `numbers` line up at their end.
    """

    heading: str
    short: str
    names: Sequence[str]
    cells: Sequence[Sequence[Cell]]
    numbers: bool = True

    @property
    def says(self) -> bool:
        return any(line for row in self.cells for cell in row for line in cell)

    def part(self, places: Sequence[int]) -> Group:
        """Some of the columns."""
        return self._replace(
            names=[self.names[place] for place in places],
            cells=[[row[place] for place in places] for row in self.cells],
        )


Lead: TypeAlias = tuple[str, Sequence[str]]
"""The heading of a first column, and its cells as HTML or as text."""


def grids_html(lead: Lead, groups: Sequence[Group]) -> str:
    """The groups as one table, or as several below each other that each begin with the first column."""
    return "".join(grid_html([lead], part) for part in _parts(groups, _pixels, WIDTH - _CHARACTER * NAME))


def grid_html(leads: Sequence[Lead], groups: Sequence[Group], below: Callable[[int], str] = lambda row: "") -> str:
    """One table. The cells of `leads` are HTML; `below(row)` is what stands under a row over its whole width."""
    return _Table(leads, groups, below).html()


def grid_text(leads: Sequence[Lead], groups: Sequence[Group]) -> str:
    """The same in plain text, within the width of a terminal: groups in parts, each beginning with the first columns."""
    limits = _lead_limits(leads)
    leads = [
        (heading, [one_line(cell, limit) for cell in cells])
        for (heading, cells), limit in zip(leads, limits, strict=True)
    ]
    room = text.WIDTH - sum(limits) - 2 * len(limits)
    return "\n\n".join(_part_text(leads, part) for part in _parts(groups, _characters, room) or [[]])


def _part_text(leads: Sequence[Lead], groups: Sequence[Group]) -> str:
    headings = [*(heading for heading, _ in leads), *(name for group in groups for name in _text_headings(group))]
    numeric = [group.numbers for group in groups for _ in group.names]
    right = [len(leads) + place for place, is_number in enumerate(numeric) if is_number]
    rows = [
        [
            *(cells[row] for _, cells in leads),
            *("; ".join(cell) for group in groups for cell in group.cells[row]),
        ]
        for row in range(len(leads[0][1]))
    ]
    return text.fitted(headings, rows, right, (LINE, *text.LIMITS))


def _lead_limits(leads: Sequence[Lead]) -> list[int]:
    """How many characters each first column takes; the last has what the others leave."""
    widths = [min(max([len(heading), *map(len, cells)]), NAME) for heading, cells in leads]
    heading, cells = leads[-1]
    widths[-1] = min(max([len(heading), *map(len, cells)]), LEADS - sum(widths[:-1]))
    return widths


def _text_headings(group: Group) -> list[str]:
    return [f"{one_line(name, NAME)} {group.short}" for name in group.names]


class _Table:
    def __init__(self, leads: Sequence[Lead], groups: Sequence[Group], below: Callable[[int], str]) -> None:
        self._leads = leads
        self._groups = groups
        self._below = below
        self._columns = len(leads) + sum(len(group.names) for group in groups)

    def html(self) -> str:
        count = len(self._leads[0][1])
        rows = list(range(count))
        left_out = ""
        if count > ROWS:
            rows = [*rows[: ROWS // 2], *rows[-ROWS // 2 :]]
            left_out = f'<tr><td colspan="{self._columns}" class="adknb-dim">… {count - ROWS:,} more rows …</td></tr>'
        drawn = [self._row(row) for row in rows]
        if left_out:
            drawn.insert(ROWS // 2, left_out)
        head = f"<tr>{''.join(self._first_headings())}</tr><tr>{''.join(self._second_headings())}</tr>"
        table = f'<table class="adknb-table adknb-grid"><thead>{head}</thead><tbody>{"".join(drawn)}</tbody></table>'
        return f'<div class="adknb-wide" tabindex="0">{table}</div>'

    def _first_headings(self) -> Iterator[str]:
        for heading, _ in self._leads:
            yield f'<th rowspan="2" scope="col">{escape(heading)}</th>'
        for group in self._groups:
            yield f'<th colspan="{len(group.names)}" scope="colgroup" class="adknb-first">{escape(group.heading)}</th>'

    def _second_headings(self) -> Iterator[str]:
        for group in self._groups:
            for place, name in enumerate(group.names):
                yield f'<th scope="col" class="{_classes(group, place)}">{escape(one_line(name, NAME))}</th>'

    def _row(self, row: int) -> str:
        cells = [
            f'<td class="adknb-lead" data-label="{escape(heading)}">{cells[row]}</td>' for heading, cells in self._leads
        ]
        for group in self._groups:
            starts = next((place for place, cell in enumerate(group.cells[row]) if any(cell)), None)
            for place, (name, cell) in enumerate(zip(group.names, group.cells[row], strict=True)):
                # in a narrow output the cells of a group share a line, whose beginning names the measure
                label = f"{group.heading}, {one_line(name, NAME)}" if place == starts else one_line(name, NAME)
                classes = _classes(group, place) + (" adknb-starts" if place == starts else "")
                cells.append(
                    f'<td class="{classes.strip()}" data-label="{escape(label)}">{_lines(cell, group.numbers)}</td>'
                )
        below = self._below(row)
        mark = ' class="adknb-opens"' if below else ""
        more = (
            f'<tr class="adknb-below"><td colspan="{self._columns}" style="text-align:left">{below}</td></tr>'
            if below
            else ""
        )
        return f"<tr{mark}>{''.join(cells)}</tr>{more}"


def _classes(group: Group, place: int) -> str:
    return " ".join([*(["adknb-num"] if group.numbers else []), *(["adknb-first"] if place == 0 else [])])


def _lines(cell: Cell, is_number: bool) -> str:
    """The first line, and the others below it: dim below a number, to which they are a remark."""
    first, *others = [escape(one_line(line, LINE)) for line in cell] or [""]
    return first + "".join(f'<div class="{"adknb-dim" if is_number else ""}">{line}</div>' for line in others)


def _parts(groups: Sequence[Group], width: Callable[[Group, int], float], room: float) -> list[list[Group]]:
    """The groups that say something, as many in each part as there is room; one that is wider is parted itself.

    `width(group, place)` is what a column asks for, `room` what there is beside the first columns.
    """
    parts: list[list[Group]] = []
    left = 0.0
    for group in filter(lambda group: group.says, groups):
        for piece in _split(group, width, room):
            asked = sum(width(piece, place) for place in range(len(piece.names)))
            if not parts or asked > left:
                parts.append([])
                left = room
            parts[-1].append(piece)
            left -= asked
    return parts


def _split(group: Group, width: Callable[[Group, int], float], room: float) -> Iterator[Group]:
    places: list[int] = []
    left = room
    for place in range(len(group.names)):
        asked = width(group, place)
        if places and asked > left:
            yield group.part(places)
            places, left = [], room
        places.append(place)
        left -= asked
    yield group.part(places)


def _pixels(group: Group, place: int) -> float:
    lines = [len(line) for row in group.cells for line in row[place]]
    return _CHARACTER * min(max([len(one_line(group.names[place], NAME)), *lines]), NAME) + _GAP


def _characters(group: Group, place: int) -> float:
    cells = [min(len("; ".join(row[place])), LINE) for row in group.cells]
    return max([len(_text_headings(group)[place]), *cells]) + 2
