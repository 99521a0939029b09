"""Two texts word by word: what stays, what goes, what comes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

LIMIT: Final = 100_000
"""Characters between the texts' common beginning and end, of both together, that are still looked at word by word."""
_ALIKE: Final = 50
"""From this similarity of two lines on, in percent, one is taken for the other's new form."""
_AHEAD: Final = 20
"""Lines among which a line's new form is looked for."""
_EACH_A_WORD: Final = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # Chinese and Japanese are written without spaces
_WORDS: Final = re.compile(rf"\n|[^\S\n]*(?:[{_EACH_A_WORD}]|[^\W{_EACH_A_WORD}]+|[^\w\s])|[^\S\n]+")

_LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")


Block = tuple[list[str], list[str], list[str]]
"""What both texts share, and what is gone and what is come behind it."""


class Stretch(NamedTuple):
    """A piece of one text or of both. All but the added ones make the text before, all but the removed ones the text
    after."""

    kind: Literal["same", "removed", "added"]
    text: str


def word_diff(before: str, after: str) -> list[Stretch]:
    """The stretches from `before` to `after`, a removed one before the added one that takes its place.

    Lines that only one text has go or come whole; where lines differ, their words are compared, unless they differ over
    more than `LIMIT` characters.
    """
    start, end = _shared_ends(before, after, "\n", 1)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    middle = _by_lines(old, new) if len(old) + len(new) <= LIMIT else _by_words(old, new)
    whole = [Stretch("same", before[:start]), *middle, Stretch("same", before[len(before) - end :])]
    return _merged(stretch for stretch in whole if stretch.text)


def _by_lines(old: str, new: str) -> Iterator[Stretch]:
    for same, gone, come in _blocks(_LINES.findall(old), _LINES.findall(new)):
        yield Stretch("same", "".join(same))
        yield from _by_words(*gone, *come) if len(gone) == len(come) == 1 else _by_pairs(gone, come)


def _by_pairs(gone: Sequence[str], come: Sequence[str]) -> Iterator[Stretch]:
    """Lines that resemble each other word by word, the others whole."""
    from rapidfuzz.fuzz import ratio

    place = 0
    for line in gone:
        scores = [ratio(line, other) for other in come[place : place + _AHEAD]]
        if max(scores, default=0) < _ALIKE:
            yield Stretch("removed", line)
            continue
        found = place + scores.index(max(scores))
        yield Stretch("added", "".join(come[place:found]))
        yield from _by_words(line, come[found])
        place = found + 1
    yield Stretch("added", "".join(come[place:]))


def _by_words(before: str, after: str) -> Iterator[Stretch]:
    start, end = _shared_ends(before, after, " \n", 0)
    yield Stretch("same", before[:start])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) + len(new) > LIMIT:
        yield from _change([old], [new])
    else:
        yield from _readable(_blocks(_WORDS.findall(old), _WORDS.findall(new)))
    yield Stretch("same", before[len(before) - end :])


def _readable(blocks: Iterable[Block]) -> Iterator[Stretch]:
    """The stretches of the blocks; one word between two changes reads better as part of them."""
    gone: list[str] = []
    come: list[str] = []
    for same, next_gone, next_come in blocks:
        if len(same) == 1 and (gone or come) and (next_gone or next_come):
            gone += [*same, *next_gone]
            come += [*same, *next_come]
        else:
            yield from _change(gone, come)
            yield Stretch("same", "".join(same))
            gone, come = next_gone, next_come
    yield from _change(gone, come)


def _shared_ends(before: str, after: str, marks: str, behind: int) -> tuple[int, int]:
    """How much both share at the beginning and at the end, cut at a mark, or behind it (`behind` is 1)."""
    from rapidfuzz.distance import Postfix, Prefix

    if before == after:
        return len(before), 0
    begins = before[: Prefix.similarity(before, after)]
    start = max(0, *(begins.rfind(mark) + behind for mark in marks))
    shared = Postfix.similarity(before[start:], after[start:])
    ends = before[len(before) - shared :]
    place = min((at + behind for mark in marks if (at := ends.find(mark)) >= 0), default=shared)
    return start, shared - place


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[Block]:
    from rapidfuzz.distance import Levenshtein  # difflib takes seconds where words repeat, or leaves them out

    same: list[str] = []
    gone: list[str] = []
    come: list[str] = []
    for code in Levenshtein.opcodes(old, new):
        if code.tag == "equal":
            yield same, gone, come
            same, gone, come = list(old[code.src_start : code.src_end]), [], []
        else:
            gone += old[code.src_start : code.src_end]
            come += new[code.dest_start : code.dest_end]
    yield same, gone, come


def _change(gone: Sequence[str], come: Sequence[str]) -> Iterator[Stretch]:
    """What goes and what comes; a space that both begin with stays."""
    old, new = "".join(gone), "".join(come)
    if old[:1] == new[:1] == " ":
        yield Stretch("same", " ")
        old, new = old[1:], new[1:]
    yield Stretch("removed", old)
    yield Stretch("added", new)


def _merged(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Neighbours of one kind as one."""
    result: list[Stretch] = []
    for stretch in stretches:
        if result and result[-1].kind == stretch.kind:
            result[-1] = Stretch(stretch.kind, result[-1].text + stretch.text)
        else:
            result.append(stretch)
    return result
