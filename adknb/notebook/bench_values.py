"""What a setting or option chose, as JSON and back. An object is kept by the name of the variable that holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import urlsplit

from adknb.core.json_values import copied, fault
from adknb.notebook.answering import Recording
from adknb.notebook.chosen_files import lies_outside, model_lies_outside
from adknb.notebook.variables import users_names

NOT_KEPT: Final = object()
"""Stands for a value that could not be kept, or whose variable is not there."""


def to_json(value: Any, namespace: Mapping[str, Any]) -> Any:
    """Text, numbers and None as they are; a file of replies, other JSON and objects each under a word that says so."""
    if isinstance(value, str):
        return {"left_out": "an address with a password"} if _has_password(value) else value
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Recording):
        return {"recording": asdict(value)}
    if isinstance(value, (Mapping, list)) and fault("value", value) is None:
        return {"json": copied(value)}
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):  # of agents, each with its own
        return {"each": {name: to_json(one, namespace) for name, one in value.items()}}
    names = users_names(namespace, lambda held: held is value)
    return {"object": type(value).__name__, "variable": names[0] if names else None}


def from_json(name: str, kept: Any, namespace: Mapping[str, Any], remarks: list[str]) -> Any:
    """The value again, or `NOT_KEPT`, with a remark that says what `name` was and how to set it again."""
    if not isinstance(kept, dict):
        if model_lies_outside(kept):
            remarks.append(outside(name, kept))
            return NOT_KEPT
        return kept
    if "recording" in kept:
        recording = Recording(**kept["recording"])
        if lies_outside(recording.file):
            remarks.append(outside(name, recording.file))
            return NOT_KEPT
        return recording
    if "json" in kept:
        named = kept["json"].values() if isinstance(kept["json"], Mapping) else ()
        if found := next((one for one in named if model_lies_outside(one)), None):
            remarks.append(outside(name, found))
            return NOT_KEPT
        return kept["json"]
    if "each" in kept:
        each = {key: from_json(f"{name} of {key}", one, namespace, remarks) for key, one in kept["each"].items()}
        return NOT_KEPT if any(one is NOT_KEPT for one in each.values()) else each
    if "left_out" in kept:
        remarks.append(f"{name} is not set: it was {kept['left_out']}, which is not kept.")
        return NOT_KEPT
    kind, variable = kept["object"], kept["variable"]
    if variable is None:
        remarks.append(f"{name} is not set: it was an object ({kind}), which no variable held.")
        return NOT_KEPT
    value = namespace.get(variable)
    if value is not None and type(value).__name__ == kind:
        return value
    remarks.append(
        f"{name} is not set: it was the variable {variable} ({kind}). Run the cell that defines it, then set it again."
    )
    return NOT_KEPT


def outside(name: str, value: str) -> str:
    """What is said of a file that the database names and that is not in the notebook's folder."""
    return f"{name} is not set: it was {value}, outside the notebook's folder, which a database cannot choose. Say it again."


def _has_password(text: str) -> bool:
    try:
        return "://" in text and urlsplit(text).password is not None
    except ValueError:  # no address at all
        return False
