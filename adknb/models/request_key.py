"""What makes two requests the same: the key under which replies are recorded and cached."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from adknb.core.content import Content, Part
from adknb.core.errors import ModelError
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest

_TRANSPORT: Final = frozenset({"api_key", "base_url", "extra_headers", "headers", "http_options", "timeout"})
"""Configuration that says how a request travels, not what is asked; keys and passwords stand in it."""


def request_key(request: LlmRequest, identity: str | None = None) -> str:
    """SHA-256, in 64 hex digits, of what the model is asked; equal in every process and Python version.

    It covers the model, the system instruction, the contents, the tools and the config with its response schema.
    Arguments, responses and schemas count in their own order, as models see it. The asking agent, `ordinal`, `repeat`
    and the ids of function calls, which are new in each run, count for nothing. `identity` says which model it is where
    its name does not (see `model_identity`). Raises `ModelError` for a value that is not JSON.
    """
    asked = {"model": request.model if identity is None else identity, **request_data(request)}
    del asked["agent"]
    return hashlib.sha256(to_json(asked, request.agent, _COMPACT).encode("ascii")).hexdigest()


def request_data(request: LlmRequest) -> dict[str, Any]:
    """The request as JSON: agent, config, contents, system instruction and tools, names sorted, ids left out."""
    return {
        "agent": request.agent,
        "config": {name: request.config[name] for name in sorted(request.config) if name not in _TRANSPORT},
        "contents": [content_data(content) for content in request.contents],
        "system_instruction": request.system_instruction,
        "tools": list(request.tools.values()),
    }


def content_data(content: Content) -> dict[str, Any]:
    """The content as JSON, without the ids of function calls: a response belongs to its call by their order."""
    return {"parts": [_part_data(part) for part in content.parts], "role": content.role}


def model_identity(model: Model) -> str:
    """Which model it is: its `identity` when it has one, as a local model has its file's hash, else its name."""
    return str(getattr(model, "identity", model.name))


def to_json(data: Mapping[str, Any], agent: str, encoder: json.JSONEncoder) -> str:
    """`data` in the encoder's JSON. Raises `ModelError` that names the agent for a value that is not JSON."""
    try:
        return encoder.encode(data)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"{agent}: its request or reply holds what is not JSON ({error}), so it cannot be recorded. "
            "Look at what its callbacks and tools put there."
        ) from error


def as_json(value: object) -> Any:
    """For `JSONEncoder(default=…)`: mappings as objects, bytes in base64."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    raise TypeError(f"a value of type {type(value).__name__}")


def _part_data(part: Part) -> dict[str, Any]:
    data = part.to_dict()
    for field, value in data.items():
        if isinstance(value, dict):
            data[field] = {name: value[name] for name in sorted(value) if name != "id"}
    return dict(sorted(data.items())) if len(data) > 1 else data


_COMPACT: Final = json.JSONEncoder(separators=(",", ":"), default=as_json)
