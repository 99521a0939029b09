"""JSON values: what may stand in state and in a tool's result, and copies of it that nobody else can change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

DEEPEST: Final = 200
"""Levels of lists and objects; beyond, the printers and readers of most languages give up."""
LONGEST_NUMBER: Final = 10**4000
"""Python itself refuses to print much longer ones."""


def fault(place: str, value: object, level: int = 0) -> str | None:
    """Why `value` is no JSON value (text, number, true, false, null, list or object of these); None when it is one.

    `place` names it: `triage`; an item inside is `triage[0].name`. NaN and infinities are no JSON.
    """
    if value is None or isinstance(value, (str, bool)):
        return None
    if isinstance(value, int):
        return f"{place!r}: a number of more than 4,000 digits" if abs(value) > LONGEST_NUMBER else None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{place!r}: {value} is not a JSON number"
    if level > DEEPEST:
        return f"{place[:60]!r}: it is nested deeper than {DEEPEST} levels, or holds itself"
    if isinstance(value, (list, tuple)):
        items = ((f"{place}[{index}]", item) for index, item in enumerate(value))
        return next((found for name, item in items if (found := fault(name, item, level + 1))), None)
    if isinstance(value, Mapping):
        for name, item in value.items():
            if not isinstance(name, str):
                return f"{place!r}: the object's key {name!r} must be text"
            if found := fault(f"{place}.{name}", item, level + 1):
                return found
        return None
    return f"{place!r}: a {type(value).__name__} cannot be stored"


def copied(value: Any) -> Any:
    """A copy of a JSON value; text and numbers are shared, since nobody can change them."""
    if isinstance(value, (str, int, float)) or value is None:
        return value
    if isinstance(value, Mapping):
        return {name: copied(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [copied(item) for item in value]
    return value
