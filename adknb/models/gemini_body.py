"""A request as ADK Java sends it to Gemini: the JSON of `generateContent`.

Source: `com.google.adk.models.GeminiUtil` 1.8.0, called by `Gemini.generateContent` with `stripThoughts=false`.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final

from adknb.core.content import FunctionCall, FunctionResponse, Part
from adknb.core.requests import LlmRequest
from adknb.models.chat import encodable

CONTINUE_OUTPUT: Final = (
    "Continue output. DO NOT look at this line. ONLY look at the content before this line and system instruction."
)
"""The user's line that ADK adds when the contents do not end on the user's words."""

_CLIENT_ID: Final = "adk-"
_BESIDE: Final = ("safety_settings", "tool_config", "cached_content", "labels", "service_tier")
"""Settings that stand beside the generationConfig, not in it."""

_AS_GIVEN: Final = ("response_schema", "response_json_schema", "labels")
"""Settings whose inner names are the user's, or Gemini's own already."""


def gemini_body(request: LlmRequest) -> dict[str, Any]:
    """The body of `generateContent`. Settings go under Gemini's spelling (`max_output_tokens` as `maxOutputTokens`)."""
    contents = [
        {"role": content.role, "parts": [_part(part) for part in content.parts]} for content in request.contents
    ]
    if is_continued(request):
        contents.append({"role": "user", "parts": [{"text": CONTINUE_OUTPUT}]})
    body: dict[str, Any] = {"contents": contents}
    if request.system_instruction is not None:
        body["systemInstruction"] = {"role": "user", "parts": [{"text": request.system_instruction}]}
    if request.tools:
        body["tools"] = [{"functionDeclarations": list(request.tools.values())}]
    settings: dict[str, Any] = {}
    for name, value in request.config.items():
        if value is not None:
            place = body if name in _BESIDE else settings
            place[_camel(name)] = value if name in _AS_GIVEN else _camel_keys(value)
    if settings:
        body["generationConfig"] = settings
    sent: dict[str, Any] = encodable(body)
    return sent


def is_continued(request: LlmRequest) -> bool:
    """Whether `CONTINUE_OUTPUT` follows: the contents are empty, or the last is not the user's."""
    return not request.contents or (request.contents[-1].role or "").lower() != "user"


def _part(part: Part) -> dict[str, Any]:
    """The part in REST spelling, without an id that ADK gave to a call."""
    written: dict[str, Any] = _camel_keys(part.to_dict(), depth=2)
    if part.function_call is not None:
        written["functionCall"] = _without_client_id(part.function_call, args=dict(part.function_call.args))
    elif part.function_response is not None:
        answer = part.function_response
        written["functionResponse"] = _without_client_id(answer, response=dict(answer.response))
    elif part.inline_data is not None:
        data = base64.b64encode(part.inline_data.data).decode("ascii")
        written["inlineData"] = {"mimeType": part.inline_data.mime_type, "data": data}
    return written


def _without_client_id(said: FunctionCall | FunctionResponse, **fields: Any) -> dict[str, Any]:
    known = {"id": said.id} if said.id and not said.id.startswith(_CLIENT_ID) else {}
    return {**known, "name": said.name, **fields}


def _camel_keys(value: Any, depth: int = -1) -> Any:
    if depth and isinstance(value, Mapping):
        return {_camel(name): _camel_keys(item, depth - 1) for name, item in value.items()}
    if depth and isinstance(value, (list, tuple)):
        return [_camel_keys(item, depth) for item in value]
    return value


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
