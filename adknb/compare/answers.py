"""Answers read as JSON, and compared field by field."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

from pydantic_core import from_json

from adknb.core.escape import one_line

MOST_CHANGES: Final = 200
"""Changed fields that `field_changes` returns."""
_FENCE: Final = "```"
_KEY: Final = 60
"""Characters of one field name that a path shows."""

_Path: TypeAlias = "tuple[_Path, str | int] | None"
"""Where a field is: the path of what holds it, and its name or position there. None is the whole value."""


class Absent(enum.Enum):
    """What a JSON value holds at a path that it does not have; its null is None."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class FieldChange(NamedTuple):
    """One field that differs: `items[0].name`, and what each side holds there (`ABSENT` where it is not)."""

    path: str
    before: Any
    after: Any


def json_of(text: str) -> dict[str, Any] | list[Any] | None:
    """The object or list that an answer is; None when it is anything else: prose, a bare word or number, broken JSON.

    A Markdown fence (three backquotes, with or without `json`) and white space around it are tolerated, other words are
    not. NaN and infinities, lone surrogates and more than some 200 levels are no JSON; of a doubled field the last counts.
    """
    body = text.strip()
    if body.startswith(_FENCE) and body.endswith(_FENCE):
        body = body.removeprefix(_FENCE).removesuffix(_FENCE)
        if body[:4].lower() == "json":
            body = body[4:]
    try:
        value = from_json(body.strip().encode("utf-8", "surrogatepass"), allow_inf_nan=False)
    except ValueError:
        return None
    return value if isinstance(value, (dict, list)) else None


def fields_equal(one: str, other: str) -> float | None:
    """The share (0 to 1) of fields in which two JSON answers are equal; None unless both are JSON (see `json_of`).

    The fields are the leaf paths of both: objects by name, lists by position. Texts are equal to the character, numbers
    by value, true is not 1, and a null is not an absent field.
    """
    before, after = json_of(one), json_of(other)
    if before is None or after is None:
        return None
    same = [_is_same(mine, theirs) for _, mine, theirs in _leaves(before, after)]
    return sum(same) / len(same)


def field_changes(one: str, other: str) -> list[FieldChange]:
    """The fields in which two JSON answers differ, the first `MOST_CHANGES`; none unless both are JSON.

    They come in the order of `one`; what only `other` has stands behind its neighbours. A path is safe to print, and
    long names in it are cut.
    """
    before, after = json_of(one), json_of(other)
    if before is None or after is None:
        return []
    changed = (leaf for leaf in _leaves(before, after) if not _is_same(*leaf[1:]))
    return [FieldChange(_shown(path), mine, theirs) for path, mine, theirs in islice(changed, MOST_CHANGES)]


def same_json(one: Any, other: Any) -> bool:
    """Whether two JSON values of at most 200 levels are equal in every field, as `fields_equal` compares them."""
    return all(_is_same(mine, theirs) for _, mine, theirs in _leaves(one, other))


def _leaves(one: Any, other: Any) -> Iterator[tuple[_Path, Any, Any]]:
    """Every path at which either value holds no further fields, with what each holds there."""
    waiting: list[tuple[_Path, Any, Any]] = [(None, one, other)]
    while waiting:
        path, before, after = waiting.pop()
        mine, theirs = _fields(before), _fields(after)
        if not mine and not theirs:
            yield path, before, after
            continue
        if not mine and _is_scalar(before):
            yield path, before, ABSENT
        elif not theirs and _is_scalar(after):
            yield path, ABSENT, after
        waiting += [
            ((path, name), mine.get(name, ABSENT), theirs.get(name, ABSENT)) for name in reversed({**mine, **theirs})
        ]


def _fields(value: Any) -> Mapping[str | int, Any]:
    if isinstance(value, dict):
        return value
    return dict(enumerate(value)) if isinstance(value, list) else {}


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, (dict, list, Absent))


def _is_same(before: Any, after: Any) -> bool:
    return isinstance(before, bool) is isinstance(after, bool) and bool(before == after)


def _shown(path: _Path) -> str:
    names: list[str | int] = []
    while path is not None:
        path, name = path
        names.append(name)
    text = "".join(f".{one_line(name, _KEY)}" if isinstance(name, str) else f"[{name}]" for name in reversed(names))
    return text.removeprefix(".")
