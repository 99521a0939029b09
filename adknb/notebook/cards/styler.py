"""Tables for reading: pandas' Styler with the cards' look."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from functools import lru_cache
from numbers import Integral
from typing import TYPE_CHECKING, Any, Final

from adknb.core.errors import AdknbError
from adknb.core.escape import escape, one_line
from adknb.core.views import table
from adknb.notebook.cards.html import CUT, card, chip, cut, div, tag
from adknb.notebook.cards.run_card import STATUS_KINDS
from adknb.notebook.cards.state_table import fresh_chip
from adknb.notebook.cards.text import fitted
from adknb.notebook.cards.words import duration, origin_kind
from adknb.tables.state import value_text

if TYPE_CHECKING:
    import pandas as pd
    from pandas.io.formats.style import Styler

_HIDDEN: Final = {"id", "channel"}
"""Columns that a reader misses nothing without: they serve to join tables."""
_FLAGS: Final = {"final", "reported", "in_use", "on_bench", "guarded", "leaked"}
NO_ROWS: Final = "No rows."
_ROWS: Final = 200
"""Rows that are drawn; the table itself has them all."""


def readable(result: Any, name: str) -> Styler:
    """The table `name` of a result: long texts cut with the whole one click away, empty columns left out.

    Words behind the table's name are its arguments: `prompt DraftAgent#2`, or `prompt DraftAgent 2` for the second
    request.
    """
    kind, _, rest = name.partition(" ")
    found = re.fullmatch(r"(.*?)(?: (\d+))?", rest, re.DOTALL)
    step, request = found.groups() if found is not None else (rest, None)
    if kind == "prompt" and not step:
        raise AdknbError("a prompt is a step's: name it, as in view('prompt DraftAgent')")
    arguments = ([step] if step else []) + ([int(request)] if request else [])
    return readable_frame(table(result, kind, *arguments))


def readable_frame(data: pd.DataFrame) -> Styler:
    """A table's rows for reading; columns are drawn by their names, as the tables of results have them."""
    hidden = _HIDDEN | {"agent"} if "step" in data else _HIDDEN
    if "author" in data and "step" in data and list(data["author"]) == list(data["step"]):
        hidden = hidden | {"author"}
    shown = data[[name for name in data.columns if name not in hidden and (data.empty or any(map(_says, data[name])))]]
    reader = _reader()(shown).hide(axis="index").format({name: _cell(str(name)) for name in shown.columns})
    numbers = shown.select_dtypes("number").columns
    reader.set_properties(subset=list[Hashable](numbers), **{"text-align": "right", "white-space": "nowrap"})
    return reader.relabel_index([_heading(str(name)) for name in shown.columns], axis="columns")


@lru_cache(maxsize=1)
def _reader() -> type[Styler]:
    from pandas.io.formats.style import Styler

    class Reader(Styler):
        """A Styler inside a card, and a plain table where there is no HTML."""

        data: pd.DataFrame

        def _repr_html_(self) -> str:
            rows = f'<div class="adknb-scroll" tabindex="0">{self.to_html(max_rows=_ROWS)}</div>'
            return card(rows, div(NO_ROWS, "adknb-dim") if self.data.empty else "")

        def __repr__(self) -> str:
            names = [str(name) for name in self.data.columns]
            rows = [map(_plain, row, names) for row in self.data.itertuples(index=False)]
            return fitted(names, [list(row) for row in rows], _numbers(self.data)) if rows else NO_ROWS

    return Reader


def _heading(name: str) -> str:
    """A column's name as HTML. pandas reads braces in it as a format."""
    return escape(one_line(name.replace("_", " "), CUT)).replace("{", "{{").replace("}", "}}")


def _numbers(data: pd.DataFrame) -> list[int]:
    """The places of the columns that hold numbers."""
    numeric = set(data.select_dtypes("number").columns)
    return [place for place, name in enumerate(data.columns) if name in numeric]


def _says(value: Any) -> bool:
    return not (value is None or (isinstance(value, str) and value == "") or _is_missing(value))


def _is_missing(value: Any) -> bool:
    from pandas import NA

    return value is NA


def _plain(value: Any, name: str) -> str:
    if not _says(value):
        return ""
    if name in _FLAGS:
        return "yes" if value else ""
    if name == "cost":
        return f"{value:.4g}"
    if name == "ms":
        return duration(value)
    if isinstance(value, float):
        return f"{value + 0.0:,.1f}" if abs(value) >= 10 else f"{value + 0.0:.3g}"
    return value_text(value) if isinstance(value, bool) or not isinstance(value, Integral) else f"{value:,}"


def _cell(name: str) -> Callable[[Any], str]:
    """How a column's values are written, as HTML."""
    if name == "status":
        return lambda value: chip(value, STATUS_KINDS.get(value, ""))
    if name == "fresh":
        return fresh_chip
    if name == "stale":
        return lambda value: chip(value, "warn") if value else ""
    if name == "origin":
        return lambda value: f'<span class="adknb-o-{origin_kind(value)}">{tag(value)}</span>'
    return lambda value: cut(_plain(value, name))
