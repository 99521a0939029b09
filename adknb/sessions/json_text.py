"""JSON as text that every database takes, and the hash that names it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from adknb.core.events import Event
from adknb.core.json_values import DEEPEST, fault
from adknb.core.state import REMOVED

_PLAIN: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ESCAPED: Final = json.JSONEncoder(separators=(",", ":"))


def to_text(value: Any) -> str:
    """The value as JSON in which every character is one that a database stores.

    Half of a surrogate pair, which no encoding has, is written `\\udXXX`. In place of what is no JSON, such as an object
    that a callback put into a request's config, stands what it is, in angle brackets.
    """
    try:
        return _stored(value)
    except (TypeError, ValueError, RecursionError):
        return _stored(_described(value))


def digest(text: str) -> str:
    """160 bits in 40 hex digits: equal for equal texts only."""
    return hashlib.blake2b(text.encode(), digest_size=20).hexdigest()


def event_fault(event: Event) -> str:
    """Which of an event's values is no JSON: `the call of 'pay': 'amount': a Decimal cannot be stored`."""
    places: list[tuple[str, Mapping[str, Any]]] = [
        ("the state_delta", {key: value for key, value in event.actions.state_delta.items() if value is not REMOVED}),
        *((f"the call of {call.name!r}", call.args) for call in event.function_calls),
        *((f"the answer of {answer.name!r}", answer.response) for answer in event.function_responses),
    ]
    for place, values in places:
        for key, value in values.items():
            found = fault(key, value)
            if found is not None:
                return f"{place}: {found}"
    return "it holds what is no JSON"


def _stored(value: Any) -> str:
    text = _PLAIN.encode(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return _ESCAPED.encode(value)
    return text


def _described(value: Any, level: int = 0) -> Any:
    if isinstance(value, (list, tuple, Mapping)) and level > DEEPEST:
        return "<nested too deeply>"
    if isinstance(value, Mapping):
        return {str(key): _described(item, level + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_described(item, level + 1) for item in value]
    if value is None or isinstance(value, (str, float)) or fault("", value) is None:
        return value
    return "<a number of more than 4,000 digits>" if isinstance(value, int) else f"<{type(value).__name__}>"
