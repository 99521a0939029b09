"""The compare view: a comparison's inputs against its variants, one input at a time word by word."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from adknb.compare.comparison import Comparison
from adknb.core.errors import RunStateError, SpecError, near_names
from adknb.core.escape import escape, one_line
from adknb.core.views import Viewed
from adknb.notebook.cards import lab_words as words
from adknb.notebook.cards.html import chip, div, head, span
from adknb.notebook.cards.lab_grid import grid_html
from adknb.notebook.cards.lab_input import SHORT, input_body, way_in
from adknb.notebook.cards.lab_inputs import LARGEST, InputTable
from adknb.notebook.explorer.pieces import Page, nothing, page_of, taken, where

ROWS: Final = 20
SORTS: Final = ("tokens saved", "as given")


class ComparisonExplorer(Viewed):
    """One open compare view.

    `selected` names the input that is shown word by word, empty for none; `repeat` counts its repeats from 0. `page` counts
    from 0. `flips_only` leaves out inputs whose answers kept their category, `sort` is one of `SORTS`.
    """

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.selected = ""
        self.repeat = 0
        self.page = 0
        self.flips_only = False
        self.sort = SORTS[0]

    def __repr__(self) -> str:
        return f"ComparisonExplorer({self.comparison.pipeline!r}, {len(self.table.names)} inputs)"

    @cached_property
    def table(self) -> InputTable:
        return InputTable(self.comparison)

    @property
    def names(self) -> list[str]:
        """The inputs that are listed, in the order of the sort."""
        flipped = set(self.table.flipped)
        names = self.table.names if self.sort == SORTS[0] else [each.name for each in self.comparison.inputs]
        return [name for name in names if not self.flips_only or name in flipped]

    @property
    def shown_page(self) -> Page:
        return page_of(len(self.names), ROWS, self.page)

    def select(self, name: str) -> None:
        """Show an input word by word, from the first repeat in which a category changed on."""
        known = self.table.names
        if name not in known:
            raise RunStateError(f"there is no input {name!r}.{near_names(name, known)}")
        self.selected, self.repeat = name, self.table.repeat(name)

    def choose_repeat(self, number: int) -> None:
        """Show another repeat of the selected input, from 0."""
        if number not in range(self.comparison.repeats):
            raise RunStateError(f"there is no repeat {number}: everything was asked {self.comparison.repeats} times")
        self.repeat = number

    def show_flips_only(self, only: bool) -> None:
        self.flips_only, self.page = only, 0

    def sort_by(self, sort: str) -> None:
        if sort not in SORTS:
            raise SpecError(f"inputs are not sorted by {sort!r}.{near_names(sort, SORTS)}")
        self.sort, self.page = sort, 0

    def turn_to(self, page: int) -> None:
        self.page = max(page, 0)


def grid(explorer: ComparisonExplorer) -> str:
    """The page of the grid: an input a row, each measure's variants side by side. A row's input is a button."""
    comparison, table, names = explorer.comparison, explorer.table, explorer.names
    page = explorer.shown_page
    title = head(words.title(comparison), span(words.kind_sentence(comparison), "adknb-dim"))
    flips = div(f"{len(table.flipped):,} of {len(table.names):,} inputs changed category.", "adknb-dim")
    if not names:
        return title + flips + nothing("No input is listed." if table.names else "No trial has come to its end yet.")
    listed = list(taken(names, page))
    reached = explorer.selected if explorer.selected in listed else listed[0]
    leads = [
        ("Input", [_opener(name, name == explorer.selected, name == reached) for name in listed]),
        ("Message", [_message(table, name) for name in listed]),
    ]
    return title + flips + where(page, len(names), "inputs") + grid_html(leads, table.groups(listed))


def detail(explorer: ComparisonExplorer) -> str:
    """The selected input's answers and prompts, word by word against the first variant's."""
    if not explorer.selected:
        return nothing("Select an input: its answers and prompts under every variant show here, word by word.")
    one = explorer.comparison.inspect(explorer.selected, explorer.repeat)
    body = input_body(one, SHORT)
    return head(f"Input {explorer.selected}") + (
        body if len(body) <= LARGEST else nothing(f"More than fits here: {way_in(one)}")
    )


def _opener(name: str, is_selected: bool, is_reached: bool) -> str:
    """An input's name as a button; Tab reaches one on the page, the arrow keys go on from there."""
    return (
        f'<span class="adknb-open" role="button" data-step="{escape(name)}" aria-pressed="{str(is_selected).lower()}" '
        f'tabindex="{0 if is_reached else -1}">{escape(one_line(name, 40))}</span>'
    )


def _message(table: InputTable, name: str) -> str:
    (message,) = table.messages([name])
    return escape(message) + "".join(f"<div>{chip(error, 'bad')}</div>" for error in table.errors(name))
