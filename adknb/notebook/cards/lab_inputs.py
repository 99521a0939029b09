"""A comparison's inputs: those whose answers changed category, then all by what was saved; rows open to the words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from adknb.compare.comparison import Comparison
from adknb.compare.dry import shown
from adknb.core.escape import escape, one_line
from adknb.notebook.cards.html import chip, cut, div, heading, span
from adknb.notebook.cards.lab_grid import LINE, ROWS, Cell, Group, grid_html, grid_text
from adknb.notebook.cards.lab_input import SHORT, input_body, way_in
from adknb.tables.frame import Row
from adknb.tables.lab import input_rows

DRAWN: Final = 12
"""Inputs whose answers and prompts are drawn, and that a terminal lists."""
LARGEST: Final = 120_000
"""Characters of HTML that one input may take."""
ALL: Final = 700_000
"""Characters that all of them may take together."""
VARIANTS: Final = 4
"""Variants but the first that have columns."""
MESSAGE: Final = 90
FLIPS: Final = 3
"""Changed categories of one input that are named."""
IN_TEXT: Final = ("Saved", "Category changed")
"""Columns for which a terminal has room."""


class InputTable:
    """The rows of `input_rows` by input, in the order of the greatest saving; `flipped` are those with flips, most of
    them first."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self._others = comparison.names[1 : VARIANTS + 1]
        self._rows: dict[str, dict[str, Row]] = {}
        for row in input_rows(comparison):
            self._rows.setdefault(row["input"], {})[row["variant"]] = row
        self._right: dict[tuple[str, str], list[bool]] = {}
        self._flips: dict[tuple[str, str], dict[str, None]] = {}
        self._errors: dict[tuple[str, str], str] = {}
        for row in comparison.rows:
            if row["error"]:
                self._errors.setdefault((row["input"], row["variant"]), row["error"])
            if row["flip"]:
                self._flips.setdefault((row["input"], row["variant"]), {})[f"{row['step']} {row['flip']}"] = None
            if row["as_expected"] is not None:
                self._right.setdefault((row["input"], row["variant"]), []).append(row["as_expected"])
        self.names = list(self._rows)
        changes: Counter[str] = Counter()
        for (name, _), flips in self._flips.items():
            changes[name] += len(flips)
        self.flipped = sorted((name for name in self.names if changes[name]), key=lambda name: -changes[name])

    def groups(self, names: Sequence[str]) -> list[Group]:
        first, others = self.comparison.names[0], self._others
        if not others:
            return [self._group(names, "Input tokens", "in", [first], lambda row: _number(row["input_tokens"]))]
        tokens = Group(
            "Input tokens", "in", [shown(name) for name in (first, *others)], [self._tokens(name) for name in names]
        )
        return [
            group
            for group in (
                tokens,
                self._group(names, "Saved", "saves", others, _saved),
                self._group(names, "Answers equal", "equal", others, _equal),
                self._group(names, "Category changed", "changed", others, self._flip_lines, numbers=False),
                Group("As expected", "right", tokens.names, [self._expected(name) for name in names]),
            )
            if group.says
        ]

    def messages(self, names: Sequence[str]) -> list[str]:
        return [one_line(self.comparison.input(name).messages[0], MESSAGE) for name in names]

    def errors(self, name: str) -> list[str]:
        """`NONE failed: …` for each variant under which the input failed."""
        names = self.comparison.names
        failed = [(variant, self._errors[name, variant]) for variant in names if (name, variant) in self._errors]
        return [one_line(f"{shown(variant)} failed: {error}", LINE) for variant, error in failed]

    def repeat(self, name: str) -> int:
        """The repeat to look into: the first in which a category changed, else the first that was done."""
        rows = [row for row in self.comparison.rows if row["input"] == name]
        flipped = [row["repeat"] for row in rows if row["flip"]]
        return int(min(flipped or [row["repeat"] for row in rows] or [0]))

    def _tokens(self, name: str) -> list[Cell]:
        """Those of the first variant follow from what the others saved."""
        rows = self._rows[name]
        base = next((row["input_tokens"] + row["saved"] for row in rows.values() if row["saved"] is not None), None)
        return [_number(base), *(_number(rows[other]["input_tokens"]) for other in self._others)]

    def _flip_lines(self, row: Row) -> Cell:
        flips = list(self._flips.get((row["input"], row["variant"]), ()))
        return [*flips[:FLIPS], *([f"{len(flips) - FLIPS:,} more"] if len(flips) > FLIPS else [])]

    def _expected(self, name: str) -> list[Cell]:
        known = [self._right.get((name, variant), []) for variant in (self.comparison.names[0], *self._others)]
        return [[f"{sum(right):,} of {len(right):,}"] if right else [] for right in known]

    def _group(
        self, names: Sequence[str], heading: str, short: str, variants: Sequence[str], cell: Callable[[Row], Cell],
        numbers: bool = True,
    ) -> Group:  # fmt: skip
        cells = [[cell(self._rows[name][variant]) for variant in variants] for name in names]
        return Group(heading, short, [shown(variant) for variant in variants], cells, numbers)


def inputs_html(comparison: Comparison) -> str:
    table = InputTable(comparison)
    details = _details(table)
    pieces = []
    if table.flipped:
        count = f"{len(table.flipped):,} of {len(table.names):,}"
        pieces += [
            heading(f"Only inputs whose answers changed category: {count}"), _table_html(table, table.flipped, details)
        ]  # fmt: skip
        drawn = set(_visible(table.flipped))
        details = {name: html for name, html in details.items() if name not in drawn}
    pieces += [heading("All inputs, the greatest saving first"), _table_html(table, table.names, details)]
    pieces.append(div(_left_out(comparison, table), "adknb-dim adknb-hint"))
    return "".join(pieces)


def inputs_text(comparison: Comparison) -> Iterator[str]:
    """One block a table."""
    table = InputTable(comparison)
    for title, names in (("Only inputs whose answers changed category", table.flipped),
                         ("All inputs, the greatest saving first", table.names)):  # fmt: skip
        if names:
            listed = names[:DRAWN]
            messages = [
                "; ".join([*table.errors(name), message])
                for name, message in zip(listed, table.messages(listed), strict=True)
            ]
            leads = [("Input", listed), ("Message", messages)]
            groups = [group for group in table.groups(listed) if group.heading in IN_TEXT]
            more = f"\n… {len(names) - DRAWN:,} more: comparison.by_input" if len(names) > DRAWN else ""
            yield f"{title}: {len(names):,}\n{grid_text(leads, groups)}{more}"
    if table.names:
        yield "Each input's answers and prompts, word by word: print(comparison.inspect(NAME))"


def _table_html(table: InputTable, names: Sequence[str], details: dict[str, str]) -> str:
    leads = [
        ("Input", [cut(name, 40) for name in names]),
        ("Message", [_message(table, name) for name in names]),
    ]
    return grid_html(leads, table.groups(names), lambda row: details.get(names[row], ""))


def _message(table: InputTable, name: str) -> str:
    (message,) = table.messages([name])
    return escape(message) + "".join(f"<div>{chip(error, 'bad')}</div>" for error in table.errors(name))


def _visible(names: Sequence[str]) -> list[str]:
    """The names whose rows are not left out of a table."""
    return list(names) if len(names) <= ROWS else [*names[: ROWS // 2], *names[-ROWS // 2 :]]


def _details(table: InputTable) -> dict[str, str]:
    """What opens under the rows of some inputs, by name: the flipped ones first, as far as the room goes."""
    candidates = dict.fromkeys([*_visible(table.flipped), *_visible(table.names)])
    found: dict[str, str] = {}
    left = ALL
    for name in list(candidates)[:DRAWN]:
        one = table.comparison.inspect(name, table.repeat(name))
        body = input_body(one, SHORT)
        if len(body) > LARGEST:
            body = div(f"More than fits here: {way_in(one)}", "adknb-dim")
        repeat = f", repeat {one.repeat + 1} of {table.comparison.repeats}" if table.comparison.repeats > 1 else ""
        summary = span(f"what was sent and answered{repeat}", "adknb-more")
        html = f'<details><summary>{summary}</summary><div class="adknb-inside">{body}</div></details>'
        if len(html) > left:
            break
        left -= len(html)
        found[name] = html
    return found


def _left_out(comparison: Comparison, table: InputTable) -> str:
    said = [f"Any input in full: comparison.inspect({one_line(repr(table.names[0]), 60)})" if table.names else ""]
    if len(comparison.names) - 1 > VARIANTS:
        said.append(f"{len(comparison.names) - 1 - VARIANTS:,} more variants: comparison.by_input")
    said += ["all rows: comparison.by_input, comparison.to_frame()"]
    return " · ".join(filter(None, said))


def _saved(row: Row) -> Cell:
    if not row["saved"]:
        return [] if row["saved"] is None else ["0"]
    share = f" ({row['saved_percent']:.0f} %)" if row["saved_percent"] is not None else ""
    return [f"{row['saved']:,.0f}{share}"]


def _number(value: Any) -> Cell:
    return [f"{value:,.0f}"] if value is not None else []


def _equal(row: Row) -> Cell:
    return [f"{row['equal']:,} of {row['answers']:,}"] if row["answers"] else []
