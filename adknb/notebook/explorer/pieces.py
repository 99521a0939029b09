"""Pieces of HTML that the explorer's panes share: pages of long lists, texts beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

from adknb.core.escape import escape
from adknb.notebook.cards.html import cut, div

T = TypeVar("T")

TEXT: Final = 4_000
"""Characters of one text that a pane of many shows."""


class Page(NamedTuple):
    """One page of a long list: `number` from 0, how many pages there are, `start` and `stop` in the list."""

    number: int
    pages: int
    start: int
    stop: int


class Pane(NamedTuple):
    """A tab's HTML, and the page that it shows; `page` is None where all is shown."""

    html: str
    page: Page | None = None


def page_of(count: int, size: int, number: int) -> Page:
    """The page `number` of `count` things, the last one when there are fewer."""
    pages = max(1, -(-count // size))
    number = min(max(number, 0), pages - 1)
    return Page(number, pages, number * size, min((number + 1) * size, count))


def taken(items: Sequence[T], page: Page) -> Sequence[T]:
    return items[page.start : page.stop]


def where(page: Page, count: int, what: str) -> str:
    """`events 26 to 50 of 1,000`; nothing when one page shows all."""
    if page.pages == 1:
        return ""
    return div(f"{what} {page.start + 1:,} to {page.stop:,} of {count:,}", "adknb-dim adknb-where")


def nothing(sentence: str) -> str:
    return f'<div class="adknb-dim">{escape(sentence)}</div>'


def short(text: str, limit: int = TEXT) -> str:
    """A cell's text: its beginning in one line, at most `limit` characters one click away."""
    left = len(text) - limit
    return (
        cut(text)
        if left <= 0
        else cut(f"{text[:limit]}\n… {left:,} more characters; the Raw tab or the object has them")
    )


def bare(*html: str) -> str:
    """The pieces as a card whose style sheet is on the page already."""
    return f'<div class="adknb mathjax_ignore tex2jax_ignore">{"".join(html)}</div>'
