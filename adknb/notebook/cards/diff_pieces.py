"""A word diff in both forms: what goes and comes is marked with signs, not with colour alone; long equal passages fold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from adknb.core.escape import escape
from adknb.notebook.cards.html import WHOLE, lines
from adknb.notebook.cards.text import wrapped
from adknb.notebook.word_diff import Stretch, word_diff

CONTEXT: Final = 160
"""Characters of an equal passage that stay beside a change."""
WHOLE_TEXT: Final = 4_000
"""Characters of a diff in plain text."""
_SIGNS: Final = {"removed": ("del", "−"), "added": ("ins", "+")}
_BRACKETS: Final = {"removed": ("[-", "-]"), "added": ("{+", "+}")}


class Piece(NamedTuple):
    """A stretch as it is drawn; `folded` is an equal passage that is hidden, `cut` says how much is left out."""

    kind: Literal["same", "removed", "added", "folded", "cut"]
    text: str


def diff_html(before: str, after: str, limit: int = WHOLE) -> str:
    """The words from `before` to `after`; a folded passage is one click away. At most `limit` characters of what differs,
    and of each folded passage, are drawn."""
    drawn = "".join(_piece(piece, limit) for piece in _pieces(word_diff(before, after), limit))
    return lines(drawn, "adknb-text adknb-diff")


def diff_text(before: str, after: str, indent: str = "") -> str:
    """The same in the signs of `git diff --word-diff`: `[-gone-]{+come+}`."""
    said = []
    for piece in _pieces(word_diff(before, after), WHOLE_TEXT):
        if piece.kind == "folded":
            said.append(f" (… {len(piece.text):,} characters the same …) ")
        elif piece.kind in _BRACKETS:
            opening, closing = _BRACKETS[piece.kind]
            before, words, after = _inside(piece.text)
            said.append(f"{before}{opening}{words}{closing}{after}")
        else:
            said.append(piece.text)
    return wrapped("".join(said), indent, indent)


def _pieces(stretches: list[Stretch], limit: int) -> Iterator[Piece]:
    """The stretches with long equal ones folded, as far as `limit` characters of the others go."""
    left = limit
    for number, (kind, text) in enumerate(stretches):
        if kind == "same":
            yield from _folded(text, number == 0, number == len(stretches) - 1)
            continue
        yield Piece(kind, text[:left])
        if len(text) > left:
            yield Piece("cut", f"… {sum(len(stretch.text) for stretch in stretches[number:]) - left:,} more characters")
            return
        left -= len(text)


def _folded(text: str, is_first: bool, is_last: bool) -> Iterator[Piece]:
    """An equal passage: what stands beside a change, and the rest folded."""
    head = 0 if is_first else _end_of_word(text, CONTEXT)
    tail = len(text) if is_last else len(text) - _end_of_word(text[::-1], CONTEXT)
    if tail - head < CONTEXT:
        yield Piece("same", text)
        return
    pieces = (Piece("same", text[:head]), Piece("folded", text[head:tail]), Piece("same", text[tail:]))
    yield from (piece for piece in pieces if piece.text)


def _end_of_word(text: str, place: int) -> int:
    """The end of the word or line at `place`, when one ends soon."""
    found = min((at for mark in "\n " if (at := text.find(mark, place, place + CONTEXT)) >= 0), default=place)
    return min(found, len(text))


def _piece(piece: Piece, limit: int) -> str:
    if piece.kind == "same":
        return escape(piece.text)
    if piece.kind == "cut":
        return f'<span class="adknb-dim">{escape(piece.text)}</span>'
    if piece.kind == "folded":
        summary = f"<summary>… {len(piece.text):,} characters the same</summary>"
        return f'<details class="adknb-fold">{summary}{escape(piece.text[:limit])}</details>'
    tag, sign = _SIGNS[piece.kind]
    before, words, after = _inside(piece.text)
    return f'{before}<{tag}><span class="adknb-mark">{sign}</span>{escape(words)}</{tag}>{after}'


def _inside(text: str) -> tuple[str, str, str]:
    """A change's line feeds before, its words, and its line feeds after: the signs stand at the words. A change of spaces
    and line feeds alone is drawn in signs."""
    words = text.strip("\n")
    if not words.strip():
        return "", text.replace(" ", "␣").replace("\n", "↵"), "\n" * text.count("\n")
    start = text.index(words)
    return text[:start], words, text[start + len(words) :]
