"""The event of google-adk that an event was read from, with the fields that adknb has none for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adknb.core.events import Event

ORIGINAL: Final = "google-adk"
"""Under this name an event's `readings` keep google-adk's own event: its object, or its JSON as it stood in a file."""


def original_field(event: Event, *names: str) -> Any:
    """A field of the original, by ADK Python's names from the outside in (`actions`, `compaction`); None without it."""
    value = (event.readings or {}).get(ORIGINAL)
    for name in names:
        if isinstance(value, Mapping):
            snake = value.get(name)
            value = value.get(camel_case(name)) if snake is None else snake
        else:
            value = getattr(value, name, None)
    return value


def camel_case(name: str) -> str:
    """`state_delta` as `stateDelta`, which is how google-adk's server spells it."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
