"""Names and JSON as the text columns hold them."""

from __future__ import annotations

import json
import re
from typing import Any, Final

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
    """Compact JSON in ASCII, so that every text can be stored."""
    return _encode(value)
