"""What ended a run or a step as JSON, and back: an error of the same class name and text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adknb.core import errors
from adknb.core.errors import AdknbError

_OWN: Final = {name: cls for name, cls in vars(errors).items() if isinstance(cls, type) and issubclass(cls, AdknbError)}
_FIELDS: Final = ("adk_type", "adk_message", "agent", "key", "tokens", "limit")
"""What AdknbErrors carry beside their text."""
_DEEPEST: Final = 8
"""Causes of causes that are kept."""


class StoredError(Exception):
    """Stands for an error that is none of adknb's; its class bears the original's name."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


def error_document(error: BaseException | None, depth: int = 0) -> dict[str, Any] | None:
    """The error with its notes and causes; None for none."""
    if error is None:
        return None
    own = isinstance(error, AdknbError)
    text = (str(error.args[0]) if error.args else "") if own else str(error)
    data: dict[str, Any] = {"type": type(error).__name__, "text": text}
    if own:
        data["fields"] = {
            name: value for name in _FIELDS if isinstance(value := getattr(error, name, None), (str, int))
        }
    notes = getattr(error, "__notes__", None)
    if notes:
        data["notes"] = [str(note) for note in notes]
    if error.__cause__ is not None and depth < _DEEPEST:
        data["cause"] = error_document(error.__cause__, depth + 1)
    return data


def read_error(data: Mapping[str, Any] | None) -> Exception | None:
    """The inverse of `error_document`."""
    if data is None:
        return None
    name, text = str(data["type"]), str(data["text"])
    error: Exception
    if name in _OWN and "fields" in data:
        error = _OWN[name].__new__(_OWN[name])
        error.args = (text,)
        for field, value in data["fields"].items():
            if field in _FIELDS:
                setattr(error, field, value)
    else:
        error = type(name if name.isidentifier() else "StoredError", (StoredError,), {})(text)
    for note in data.get("notes", ()):
        error.add_note(str(note))
    error.__cause__ = read_error(data.get("cause"))
    return error
