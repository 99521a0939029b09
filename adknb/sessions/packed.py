"""Long lists that mostly grow at their end, stored so that two of them share what they have in common.

Groups of `GROUP` entries, counted from the first, become blobs; groups of their hashes become blobs again. A list of 5,000
that grew by one stores one blob and some 60 entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

GROUP: Final = 32
LONGEST: Final = 1_000_000
"""Entries of a list that is read. A few groups that name each other could stand for more than a machine holds."""

Entry: TypeAlias = str | tuple[str, str | None]


def pack(entries: Sequence[Entry], put: Callable[[tuple[Entry, ...]], str]) -> list[list[Entry]]:
    """What is left of each level, entries first; `put` stores a group and returns its hash."""
    levels: list[list[Entry]] = []
    while True:
        whole = len(entries) // GROUP * GROUP
        levels.append(list(entries[whole:]))
        if not whole:
            return levels
        entries = [put(tuple(entries[first : first + GROUP])) for first in range(0, whole, GROUP)]


def unpack(levels: Sequence[Sequence[Any]], value: Callable[[str], Any]) -> list[Any]:
    """The inverse of `pack`; entries that were pairs come as lists of two. `value` looks a group up by its hash."""
    entries: list[Any] = []
    for level in reversed(levels):
        grown: list[Any] = []
        for group in entries:
            grown.extend(value(group))
            if len(grown) > LONGEST:
                raise ValueError(f"a list of more than {LONGEST:,} entries")
        entries = [*grown, *level]
    return entries
