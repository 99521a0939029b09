"""Names and JSON as the text columns hold them."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from adknb.core.errors import StateValueError

_UNFIT: Final = re.compile("[\\\\\x00\ud800-\udfff]")
_ESCAPE: Final = re.compile(r"\\u([0-9a-f]{4})")


def as_column(name: str) -> str:
    """A name as the column holds it: NUL (which PostgreSQL refuses), lone surrogates (no UTF-8) and backslashes escaped."""
    return _UNFIT.sub(lambda found: f"\\u{ord(found[0]):04x}", name)


def from_column(text: str) -> str:
    """The inverse of `as_column`."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) if "\\" in text else text


_encode: Final = json.JSONEncoder(separators=(",", ":")).encode


def as_json(value: Any) -> str:
    """Compact JSON in ASCII, so that every text can be stored. Raises `StateValueError` for what is no JSON."""
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise StateValueError(
            f"this cannot be stored, because it is no JSON ({error}). Store text, a number, a list or a dict, or save bulk "
            "data as an artifact."
        ) from error
