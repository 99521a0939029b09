"""JSON of others, field by field: each is what it must be, or the error names its place."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Never

from adknb.core.errors import SessionFormatError, near_names
from adknb.core.json_values import fault
from adknb.core.originals import camel_case

LARGEST_DOCUMENT: Final = 1 << 30
"""Bytes of a document that is read whole, 1 GiB."""
LONGEST_ID: Final = 500
"""Characters of an id."""
LATEST: Final = 253402300799.0
"""The last second that a calendar has, in seconds since 1970: the end of the year 9999."""
_CONTROL: Final = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


def parsed(text: str | bytes, place: str) -> Any:
    """A JSON text as values. Raises `SessionFormatError` that names `place`."""
    if len(text) > LARGEST_DOCUMENT:
        raise SessionFormatError(f"{place} has {len(text):,} bytes; a document of more than 1 GiB is not read")
    try:
        return json.loads(text)
    except RecursionError:
        raise SessionFormatError(f"{place} is nested too deep to be read") from None
    except ValueError as error:
        raise SessionFormatError(f"{place} is no JSON: {error}") from None


class Fields:
    """An object of a document. `place` names it in errors: `events[3].content`.

    A name is asked for as ADK Python spells it (`state_delta`); `stateDelta`, as its web server spells it, is found as
    well. `unread` are the fields that were never asked for.
    """

    __slots__ = ("_asked", "_data", "place")

    def __init__(self, data: Any, place: str) -> None:
        if not isinstance(data, Mapping):
            refuse(place, "an object", data)
        self._data: Mapping[str, Any] = data
        self._asked: set[str] = set()
        self.place = place

    def get(self, name: str) -> Any:
        """The field's value as it is; None without it."""
        for spelled in (name, camel_case(name)):
            self._asked.add(spelled)
            if self._data.get(spelled) is not None:
                return self._data[spelled]
        return None

    def where(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name

    def text(self, name: str) -> str | None:
        value = self.get(name)
        if value is not None and not isinstance(value, str):
            refuse(self.where(name), "text", value)
        return value

    def needed_text(self, name: str) -> str:
        value = self.text(name)
        return self._missing(name) if value is None else value

    def identity(self, name: str) -> str:
        """An id: not empty, of a length that an id has, and nothing that a file system would act on."""
        return checked_id(self.needed_text(name), self.where(name))

    def flag(self, name: str) -> bool:
        value = self.get(name)
        if value is not None and not isinstance(value, bool):
            refuse(self.where(name), "true or false", value)
        return bool(value)

    def count(self, name: str) -> int | None:
        """A whole number from 0 on."""
        value = self.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 1 << 62:
            refuse(self.where(name), "a whole number from 0 on", value)
        return value

    def seconds(self, name: str) -> float | None:
        """A moment, in seconds since 1970."""
        value = self.get(name)
        if value is None:
            return None
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= LATEST:
            refuse(self.where(name), "a moment in seconds since 1970", value)
        return float(value)

    def items(self, name: str) -> Sequence[Any]:
        """A list; empty without it."""
        value = self.get(name)
        if value is not None and not isinstance(value, list):
            refuse(self.where(name), "a list", value)
        return value or ()

    def texts(self, name: str) -> list[str]:
        """A list of texts; empty without it."""
        items = list(self.items(name))
        for item in items:
            if not isinstance(item, str):
                refuse(self.where(name), "a list of texts", item)
        return items

    def values(self, name: str, *, finite: bool = True) -> dict[str, Any]:
        """An object of JSON values; empty without it. Unless `finite`, infinities are numbers too, as ADK Java has them."""
        value = self.get(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            refuse(self.where(name), "an object", value)
        found = fault(self.where(name), value if finite else with_finite_numbers(value))
        if found is not None:
            raise SessionFormatError(found)
        return dict(value)

    def part(self, name: str) -> Fields | None:
        """An object inside; None without it."""
        value = self.get(name)
        return None if value is None else Fields(value, self.where(name))

    def parts(self, name: str) -> list[Fields]:
        """A list of objects inside."""
        return [Fields(item, f"{self.where(name)}[{index}]") for index, item in enumerate(self.items(name))]

    def names(self) -> list[str]:
        """Every field's name, as it is spelled."""
        return list(self._data)

    def unread(self) -> Iterable[str]:
        """The names of the fields that say something and that nobody asked for, as they are spelled."""
        return [name for name, value in self._data.items() if name not in self._asked and says_something(value)]

    def _missing(self, name: str) -> Never:
        near = near_names(name, map(str, self._data))
        raise SessionFormatError(f"{self.place or 'the document'} has no field {name!r}.{near}")


def says_something(value: Any, level: int = 0) -> bool:
    """Whether a value is more than null, false, or an empty text, list or object, or an object of only these."""
    if isinstance(value, Mapping) and level < 9:
        return any(says_something(item, level + 1) for item in value.values())
    return value not in (None, False, "", [])


def with_finite_numbers(value: Any) -> Any:
    """The JSON value with 0 for infinities and what is no number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else 0.0
    if isinstance(value, Mapping):
        return {name: with_finite_numbers(item) for name, item in value.items()}
    return [with_finite_numbers(item) for item in value] if isinstance(value, (list, tuple)) else value


def checked_id(value: str, place: str) -> str:
    """`value`, when it can be an id. Raises `SessionFormatError`."""
    if not value or len(value) > LONGEST_ID:
        raise SessionFormatError(f"{place}: an id has 1 to {LONGEST_ID} characters, not {len(value):,}")
    if _CONTROL.search(value) or ".." in re.split(r"[/\\]", value):
        raise SessionFormatError(
            f"{place}: {shown(value)} is no id: it has a control character, or climbs out of a folder"
        )
    return value


def refuse(place: str, wanted: str, value: Any) -> Never:
    raise SessionFormatError(f"{place or 'the document'} must be {wanted}, not {shown(value)}")


def shown(value: Any) -> str:
    """A value in a few characters, whatever it holds."""
    if isinstance(value, str):
        return repr(value[:60]) + ("…" if len(value) > 60 else "")
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**20 else "a number of many digits"
    if isinstance(value, float):
        return str(value)
    return "a list" if isinstance(value, list) else "an object"
