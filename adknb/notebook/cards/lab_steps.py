"""A comparison's steps as tables: what each cost, and what became of its answers, variants side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from adknb.compare.comparison import Comparison
from adknb.compare.dry import shown
from adknb.compare.findings import WHOLE
from adknb.core.escape import one_line
from adknb.notebook.cards.html import cut, heading
from adknb.notebook.cards.lab_grid import Cell, Group, grid_text, grids_html
from adknb.notebook.cards.words import duration
from adknb.tables.frame import Row
from adknb.tables.lab import summary_rows

WHOLE_LABEL: Final = "All steps"
FLIPS: Final = 3
"""Directions of change in a cell, before the rest is counted."""


class StepTables:
    """The groups of columns of both tables, worked out once."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._asks = comparison.kind != "dry"
        self._names = comparison.names
        self._others = comparison.names[1:]
        self._least = comparison.findings.least
        self._rows = {(row["variant"], row["step"]): row for row in summary_rows(comparison)}
        self._trial_rows: dict[tuple[str, str], list[Row]] = {}
        for row in comparison.rows:
            for step in dict.fromkeys((row["step"], WHOLE)):
                self._trial_rows.setdefault((row["variant"], step), []).append(row)
        self.steps = [*comparison.steps, WHOLE]
        self.labels = [*comparison.steps, WHOLE_LABEL]

    @property
    def costs(self) -> list[Group]:
        """Tokens, time and cost: means of a run."""
        groups = [
            self._group("Input tokens", "in", self._names, lambda row: _number(row["input_tokens"])),
            self._group("Saved", "saves", self._others, self._saved),
        ]
        if self._asks:
            groups += [
                self._group("Output tokens", "out", self._names, lambda row: _number(row["output_tokens"])),
                self._group("Time", "time", self._names, lambda row: _known(row["ms"], duration)),
            ]
        cost = self._group("Cost", "cost", self._names, lambda row: _known(row["cost"], lambda cost: f"{cost:.3g}"))
        return [*groups, cost]

    @property
    def answers(self) -> list[Group]:
        """What became of answers. What occurs nowhere has no column."""
        if not self._asks:
            return [self._counted("Errors", "errors", "errors")]
        return [
            self._group("Answers equal", "equal", self._others, _equal),
            self._group("Category changed", "changed", self._others, self._flips, numbers=False),
            self._group("As expected", "right", self._names, lambda row: self._share(row, "as_expected")),
            self._group("Fits schema", "fits schema", self._names, lambda row: self._share(row, "schema_valid")),
            self._counted("Guard trips", "guarded", "guarded"),
            self._counted("History leaked", "leaked", "leaked"),
            self._counted("Errors", "errors", "errors"),
            *(self._group(name, name, self._names, self._own(name)) for name in self._comparison.measuring.own),
        ]

    def _group(
        self, heading: str, short: str, names: Sequence[str], cell: Callable[[Row], Cell], numbers: bool = True
    ) -> Group:
        cells = [[cell(self._rows[name, step]) for name in names] for step in self.steps]
        return Group(one_line(heading, 40), one_line(short, 40), [shown(name) for name in names], cells, numbers)

    def _counted(self, heading: str, short: str, name: str) -> Group:
        """A count, shown where it is none only when it is some elsewhere."""
        group = self._group(heading, short, self._names, lambda row: [f"{row[name]:,}"])
        is_some = any(row[name] for row in self._rows.values())
        return group if is_some else group._replace(cells=[[[] for _ in group.names] for _ in self.steps])

    def _saved(self, row: Row) -> Cell:
        if not row["saved"]:
            return [] if row["saved"] is None else ["0"]
        share = f" ({row['saved_percent']:.0f} %)" if row["saved_percent"] is not None else ""
        said = f"{_rounded(row['saved'])}{share}"
        tokens = self._comparison.finding(row["variant"], row["step"]).tokens
        if tokens is None or tokens.n < self._least:
            return [said]  # an interval of so few inputs is too short to be believed
        interval = f"{_rounded(row['saved_from'])} to {_rounded(row['saved_to'])}"
        return [said, interval if row["concluded"] else f"{interval}, not concluded"]

    def _flips(self, row: Row) -> Cell:
        own = self._trial_rows.get((row["variant"], row["step"]), [])
        return flip_words(each["flip"] for each in own if each["flip"])

    def _share(self, row: Row, name: str) -> Cell:
        known = [
            each[name] for each in self._trial_rows.get((row["variant"], row["step"]), []) if each[name] is not None
        ]
        return [f"{sum(known):,} of {len(known):,}"] if known else []

    def _own(self, name: str) -> Callable[[Row], Cell]:
        def cell(row: Row) -> Cell:
            values = [each[name] for each in self._trial_rows.get((row["variant"], row["step"]), [])]
            return own_measure([value for value in values if value is not None])

        return cell


def steps_html(comparison: Comparison) -> str:
    tables = StepTables(comparison)
    lead = ("Step", [*(cut(step, 60) for step in comparison.steps), f"<b>{WHOLE_LABEL}</b>"])
    pieces = [heading("Tokens, time and cost: means of a run")] if any(group.says for group in tables.costs) else []
    pieces.append(grids_html(lead, tables.costs))
    if any(group.says for group in tables.answers):
        beside = f", beside those of {shown(comparison.names[0])}" if len(comparison.names) > 1 else ""
        pieces += [heading(f"Answers{beside}"), grids_html(lead, tables.answers)]
    return "".join(pieces)


def steps_text(comparison: Comparison) -> Iterator[str]:
    """One block a table."""
    tables = StepTables(comparison)
    for groups in (tables.costs, tables.answers):
        says = [group for group in groups if group.says]
        if says:
            yield grid_text([("Step", tables.labels)], says)


def flip_words(flips: Any) -> Cell:
    """`APPROVE→REJECT ×2`, the most frequent first."""
    found = Counter(flips).most_common()
    said = [f"{one_line(way, 40)} ×{count:,}" for way, count in found[:FLIPS]]
    rest = sum(count for _, count in found[FLIPS:])
    return [*said, *([f"{rest:,} otherwise"] if rest else [])]


def own_measure(values: Sequence[Any]) -> Cell:
    """What a user's measure came to: how many are true, the mean of numbers, the number of other values."""
    if not values:
        return []
    if all(isinstance(value, bool) for value in values):
        return [f"{sum(values):,} of {len(values):,}"]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return [f"{sum(values) / len(values):.4g}"]
    return [f"{len(values):,} values"]


def _equal(row: Row) -> Cell:
    return [f"{row['equal']:,} of {row['answers']:,}"] if row["answers"] else []


def _number(value: float | None) -> Cell:
    return _known(value, _rounded)


def _known(value: float | None, words: Callable[[float], str]) -> Cell:
    return [words(value)] if value is not None else []


def _rounded(value: float) -> str:
    """A mean of tokens: from 100 on whole, below with its first decimal, where it has one."""
    said = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}".removesuffix(".0")
    return "0" if said == "-0" else said
