"""Stretches of a prompt as they are drawn: tinted by their origin, each behind its label."""

from __future__ import annotations

from collections.abc import Sequence

from adknb.core.escape import escape
from adknb.notebook.cards.html import lines, span, tag


def segment(label: str, kind: str, text: str, limit: int) -> str:
    """One stretch: its blank lines, its label, its words, at most `limit` characters of either.

    `kind` is how `style.css` calls the origin. A separator has no label and no tint.
    """
    blank, words = blank_and_words(text)
    left = max(len(blank) - limit, 0) + max(len(words) - limit, 0)
    more = span(f"… {left:,} more characters", "adknb-dim") if left else ""
    shown = escape(words[:limit]) + more
    tinted = f'<span class="adknb-segment adknb-o-{kind}">{tag(label)}{shown}</span>' if label else shown
    return escape(blank[:limit]) + tinted


def passage_html(segments: Sequence[str], is_content: bool) -> str:
    """Stretches that are sent together. The parts of a content are sent apart, those of a system text as one."""
    return lines("".join(f"<div>{part}</div>" for part in segments) if is_content else "".join(segments))


def blank_and_words(text: str) -> tuple[str, str]:
    """A text's leading line feeds, and the rest: a label reads best where the words begin."""
    words = text.lstrip("\n")
    return text[: len(text) - len(words)], words
