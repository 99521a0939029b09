# google-adk is not installed where types are checked.
# mypy: ignore-errors
"""Between the SDK's objects and the JSON of cases and traces."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from google.adk.events import Event
from google.adk.models import LlmRequest
from google.genai import types

SETTINGS = (
    "temperature", "max_output_tokens", "top_p", "stop_sequences", "response_schema", "response_json_schema",
    "response_mime_type",
)  # fmt: skip
LONGEST_MESSAGE = 300


def to_part(data: Mapping[str, Any]) -> types.Part:
    call = data.get("function_call")
    if call:
        return types.Part(function_call=types.FunctionCall(name=call["name"], args=call["args"]))
    return types.Part.model_validate(data)


def part_json(part: types.Part) -> dict[str, Any]:
    if part.function_call:
        return {"function_call": {"name": part.function_call.name, "args": part.function_call.args or {}}}
    if part.function_response:
        response = part.function_response
        return {"function_response": {"name": response.name, "response": response.response}}
    if part.executable_code or part.code_execution_result:
        data: dict[str, Any] = part.model_dump(mode="json", exclude_none=True)
        return data
    text = {"text": part.text or ""}
    return {**text, "thought": True} if part.thought else text


def content_json(content: types.Content) -> dict[str, Any]:
    return {"role": content.role, "parts": [part_json(part) for part in content.parts or ()]}


def request_json(agent: str, request: LlmRequest) -> dict[str, Any]:
    """What the model is sent, now: the SDK goes on to change the request."""
    config = request.config
    declared = [each for tool in config.tools or () for each in getattr(tool, "function_declarations", None) or ()]
    settings = {name: value for name in SETTINGS if (value := getattr(config, name, None)) is not None}
    return plain(
        {
            "agent": agent,
            "system_instruction": config.system_instruction or None,
            "contents": [content_json(content) for content in request.contents],
            "tools": sorted(request.tools_dict),
            "config": settings,
            "declarations": {each.name: each for each in declared},
        }
    )


def event_json(event: Event) -> dict[str, Any]:
    actions = {
        name: value
        for name in ("escalate", "skip_summarization", "transfer_to_agent")
        if (value := getattr(event.actions, name))
    }
    asked = len(event.long_running_tool_ids or ())
    return plain(
        {
            "author": event.author,
            "content": content_json(event.content) if event.content else None,
            "state_delta": event.actions.state_delta,
            "final": event.is_final_response(),
            "actions": actions,
            **({"branch": event.branch} if event.branch else {}),
            **({"long_running": asked} if asked else {}),
        }
    )


def error_json(error: Exception) -> dict[str, Any]:
    """The error's class and the beginning of its message, in which call ids, which no two runs share, are ID."""
    message = re.sub("adk-[0-9a-f-]{36}", "ID", str(error))
    return {"type": type(error).__name__, "message": message[:LONGEST_MESSAGE]}


def plain(value: Any) -> Any:
    """The value as what JSON can hold: other objects are their texts."""
    if isinstance(value, type):
        return value.__name__
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (str, bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)
