"""How results find their tables and cards without knowing them: a registry from class to view.

`tables` and `cards` register views; the loader given to `load_with` is called once, when the first view is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from adknb.core.errors import AdknbError, near_names
from adknb.core.escape import escape

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    from pandas.io.formats.style import Styler

V = TypeVar("V")
Render = Callable[[Any], str]

_tables: dict[type, dict[str, Callable[..., pd.DataFrame]]] = {}
_stylers: dict[type, Callable[[Any, str], Styler]] = {}
_cards: dict[type, tuple[Render, Render]] = {}
_charts: dict[type, Callable[[Any], alt.VConcatChart]] = {}
_sources: dict[type, Render] = {}
_readers: list[Callable[[pd.DataFrame], pd.DataFrame]] = []
_loaders: list[Callable[[], object]] = []


def load_with(loader: Callable[[], object]) -> None:
    """Call `loader` before the first view is looked up; it is where views get registered."""
    _loaders.append(loader)


def register_table(cls: type, name: str, function: Callable[..., pd.DataFrame]) -> None:
    """`function(result, …)` makes the table `name` of every `cls`."""
    _tables.setdefault(cls, {})[name] = function


def register_styler(cls: type, function: Callable[[Any, str], Styler]) -> None:
    """`function(result, name)` makes the readable form of the table `name` of every `cls`."""
    _stylers[cls] = function


def register_card(cls: type, html: Render, text: Render) -> None:
    """`html` and `text` show every `cls` to a person, in a notebook and in a terminal."""
    _cards[cls] = (html, text)


def register_chart(cls: type, function: Callable[[Any], alt.VConcatChart]) -> None:
    """`function` draws every `cls` with Altair."""
    _charts[cls] = function


def register_source(cls: type, function: Render) -> None:
    """`function` writes every `cls` as a Python module."""
    _sources[cls] = function


def source(result: object) -> str:
    """A result as a Python module."""
    write = _find(_sources, type(result))
    if write is None:
        raise AdknbError(f"a {type(result).__name__} cannot be written as a module")
    return write(result)


def show_tables_with(reader: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """`reader(table)` is the same table, which front ends show for reading. It is applied to every table looked up."""
    _readers[:] = [reader]


def _find(registry: dict[type, V], cls: type) -> V | None:
    while _loaders:
        _loaders[-1]()
        _loaders.pop()
    return next((registry[base] for base in cls.__mro__ if base in registry), None)


def table(result: object, name: str, *args: Any, **options: Any) -> pd.DataFrame:
    """The table `name` of a result. Raises `AdknbError` with the names that there are."""
    tables = _find(_tables, type(result)) or {}
    if name not in tables:
        raise AdknbError(f"a {type(result).__name__} has no table {name!r}.{near_names(name, tables)}")
    data = tables[name](result, *args, **options)
    for reader in _readers:
        data = reader(data)
    return data


def card_html(result: object) -> str:
    """The card of a result as HTML that needs nothing else."""
    card = _find(_cards, type(result))
    return card[0](result) if card else f"<pre>{type(result).__name__}</pre>"


def chart(result: object) -> alt.VConcatChart:
    """A result as an Altair chart."""
    draw = _find(_charts, type(result))
    if draw is None:
        raise AdknbError(f"a {type(result).__name__} has no chart")
    return draw(result)


def page(result: object, title: str) -> str:
    """The card of a result as a whole HTML page of this title."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title></head>\n<body>{card_html(result)}</body></html>\n"
    )


def styled(result: object, name: str) -> Styler:
    """The table `name` of a result as a pandas Styler, for reading."""
    table_styler = _find(_stylers, type(result))
    if table_styler is None:
        raise AdknbError(f"a {type(result).__name__} has no readable tables")
    return table_styler(result, name)


class Viewed:
    """A result that shows itself: a card in a notebook, plain text in a terminal."""

    __slots__ = ()

    def view(self, name: str) -> Styler:
        """The table `name` as a pandas Styler, for reading."""
        return styled(self, name)

    def to_html(self) -> str:
        """The card as HTML that needs nothing else."""
        return card_html(self)

    def __str__(self) -> str:
        card = _find(_cards, type(self))
        return card[1](self) if card else repr(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": card_html(self), "text/plain": str(self)}
