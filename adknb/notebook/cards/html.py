"""HTML in small pieces. Every function takes plain text and escapes it, except where a name says `html`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from adknb.core.escape import escape, one_line, visible
from adknb.notebook.cards.style import style

CUT: Final = 100
"""Characters of a text that a table cell shows before its first click."""
LINE: Final = 400
"""Characters of a heading, label or remark."""
WHOLE: Final = 20_000
"""Characters that a click shows; the rest of a longer text stays in the object."""
WORD: Final = 24
"""Characters of the longest word that a column makes room for."""
WIDE_WORD: Final = 4
"""The same where characters may be as wide as a line, which they can be beyond the alphabets of Europe and the Near East."""
_WIDE: Final = re.compile("[\u0900-\u1fff\u2e80-\U0010ffff]")
ROWS: Final = 60
"""Rows of a table; the middle of a longer one is left out."""


def card(*html: str) -> str:
    """The pieces as one card. The two class names keep MathJax from reading dollar signs as formulas."""
    return f'<div class="adknb mathjax_ignore tex2jax_ignore">{style()}{"".join(html)}</div>'


def head(text: str, *html: str) -> str:
    """A card's first line: what it shows, and pieces beside it that are HTML already."""
    return f'<div class="adknb-head">{" ".join([title(text), *html])}</div>'


def title(text: str) -> str:
    return f'<b class="adknb-title">{escape(one_line(text, LINE))}</b>'


def tag(text: str) -> str:
    """A label in front of a text. It is never part of what is copied, the space after it included."""
    return f'<span class="adknb-tag"><b>{escape(one_line(text, LINE))}</b> </span>'


def div(text: str, classes: str) -> str:
    """One line of at most `LINE` characters, as a block."""
    return f'<div class="{classes}">{escape(one_line(text, LINE))}</div>'


def span(text: str, classes: str) -> str:
    """One line of at most `LINE` characters, within another."""
    return f'<span class="{classes}">{escape(one_line(text, LINE))}</span>'


def chip(text: str, kind: str = "") -> str:
    """A short word that stands out; `kind` is `good`, `warn`, `bad` or empty."""
    classes = ["adknb-chip", f"adknb-{kind}" if kind else "", _long(text)]
    return f'<span class="{" ".join(filter(None, classes))}">{escape(one_line(text, CUT))}</span>'


def box(html: str, kind: str) -> str:
    """A passage that must not be overlooked; `kind` as for `chip`."""
    return f'<div class="adknb-box adknb-{kind}">{html}</div>'


def heading(text: str) -> str:
    return f"<h4>{escape(one_line(text, LINE))}</h4>"


def facts(rows: Iterable[tuple[str, Sequence[str]]], classes: str = "") -> str:
    """Labels, each with its lines beside it; the lines are HTML already."""
    inner = "".join(
        f'<div class="adknb-dim">{escape(label)}</div><div>{"".join(f"<div>{line}</div>" for line in lines)}</div>'
        for label, lines in rows
    )
    return f'<div class="{f"adknb-facts {classes}".strip()}">{inner}</div>'


def code(text: str) -> str:
    """A name in the type of code: a key, a command."""
    return f"<code>{escape(one_line(text, CUT))}</code>"


def lines(html: str, classes: str = "adknb-text") -> str:
    """HTML in which line breaks and spaces count.

    In a notebook that is not trusted JupyterLab drops the style sheet and keeps the one property written here.
    """
    return f'<div class="{classes}" dir="auto" style="white-space:pre-wrap">{html}</div>'


def block(text: str, classes: str = "adknb-text") -> str:
    """A whole text with its line breaks, up to `WHOLE` characters."""
    return lines(escape(text[:WHOLE]) + _remainder(text), classes)


def cut(text: str, limit: int = CUT) -> str:
    """The beginning of a text in one line, the whole one click away."""
    if len(text) <= limit and "\n" not in text:
        return f'<span class="{_long(text)}">{escape(text)}</span>' if _long(text) else escape(text)
    line = escape(one_line(text, limit))
    return (
        f'<details class="{_long(text)}"><summary><span class="adknb-cut">{line} </span>'
        f'<span class="adknb-more">{len(text):,} characters</span></summary>{block(text)}</details>'
    )


def table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already. `columns` holds each column's heading and its cells' class."""
    listed = list(rows)
    head = "".join(f'<th class="{classes}" scope="col">{escape(name)}</th>' for name, classes in columns)
    body = [_row(columns, row) for row in listed]
    if len(body) > ROWS:
        left_out = f'<tr><td colspan="{len(columns)}" class="adknb-dim">… {len(body) - ROWS:,} more rows …</td></tr>'
        body = [*body[: ROWS // 2], left_out, *body[-ROWS // 2 :]]
    return f'<table class="adknb-table"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def _row(columns: Sequence[tuple[str, str]], cells: Sequence[str]) -> str:
    inner = "".join(
        f'<td class="{classes}" data-label="{escape(name)}">{cell}</td>'
        for (name, classes), cell in zip(columns, cells, strict=True)
    )
    return f"<tr>{inner}</tr>"


def _long(text: str) -> str:
    """The class of a text with a word too long for a column: it breaks anywhere, so that the table holds."""
    return "adknb-long" if any(_is_long(word) for word in visible(text[:WHOLE]).split()) else ""


def _is_long(word: str) -> bool:
    """Whether a word needs more room than a column makes."""
    return len(word) > WORD or (len(word) > WIDE_WORD and _WIDE.search(word) is not None)


def _remainder(text: str) -> str:
    left = len(text) - WHOLE
    return f'<div class="adknb-dim">… {left:,} more characters; the object holds them</div>' if left > 0 else ""
