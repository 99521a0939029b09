"""JSON as text that every database takes, and the hash that names it."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

_PLAIN: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=lambda value: _kind(value))
_ESCAPED: Final = json.JSONEncoder(separators=(",", ":"), default=lambda value: _kind(value))


def to_text(value: Any) -> str:
    """The value as JSON in which every character is one that a database stores.

    Half of a surrogate pair, which no encoding has, is written `\\udXXX`. What is no JSON, such as an object that a
    callback put into a request's config, is written as the name of its class in angle brackets.
    """
    text = _PLAIN.encode(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return _ESCAPED.encode(value)
    return text


def digest(text: str) -> str:
    """160 bits in 40 hex digits: equal for equal texts only."""
    return hashlib.blake2b(text.encode(), digest_size=20).hexdigest()


def _kind(value: object) -> str:
    return f"<{type(value).__name__}>"
