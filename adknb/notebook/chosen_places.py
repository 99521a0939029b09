"""What decides where prompts, replies and keys go. A database may come from anybody, so it cannot choose that: what was not said
in this kernel is not taken from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

_OPTIONS: Final = {
    "base_url": "--base-url",
    "record": "--record",
    "db": "--db",
    "model": "--model",
    "models": "--model",
}
_MODELS_HERE: Final = ("echo", "local", "replay", "scripted")
"""Models that answer in this process."""


class SaidHere:
    """The places that were said in this kernel."""

    def __init__(self) -> None:
        self._said: set[tuple[str, str]] = set()

    def add(self, name: str, kept: Any) -> None:
        """Note a setting or option, as JSON, as one of this kernel's."""
        self._said.add((name, _text(kept)))

    def forbids(self, name: str, kept: Any) -> bool:
        """Whether the setting or option chooses a place, and nobody here said it."""
        return _is_place(name, kept) and (name, _text(kept)) not in self._said


def not_taken(whose: str, name: str, value: Any) -> str:
    """What is said of one that was not taken. `whose` ends before its name."""
    return (
        f"{whose}{name} is not set: it was {value!r}, and a database cannot choose where prompts go. If that is right, say it "
        f"again: {_OPTIONS[name]}"
    )


def _is_place(name: str, kept: Any) -> bool:
    if name not in ("model", "models"):
        return name in _OPTIONS and kept is not None
    if isinstance(kept, str):
        return kept.partition(":")[0] not in _MODELS_HERE
    if isinstance(kept, Mapping):
        each = kept.get("json", kept.get("each"))
        return isinstance(each, Mapping) and any(_is_place("model", one) for one in each.values())
    return False


def _text(kept: Any) -> str:
    return json.dumps(kept, sort_keys=True)
