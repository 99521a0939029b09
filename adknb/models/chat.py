"""A request in the words of chat-completion APIs: messages with roles, tools, and plain JSON schema."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any, Final

from adknb.core.content import Content, FunctionCall, FunctionResponse, Part
from adknb.core.errors import NotSupported
from adknb.core.requests import LlmRequest

_STRICT: Final = {
    "type", "properties", "required", "items", "enum", "anyOf", "description", "pattern", "minimum", "maximum",
    "minItems", "maxItems",
}  # fmt: skip
"""What OpenAI's strict mode can bind an answer to."""


def chat_messages(request: LlmRequest, *, plain: bool, tools: bool) -> list[dict[str, Any]]:
    """The request as messages of role `system`, `user`, `assistant` and `tool`.

    Each content is one message, its text a string, or a list of text parts when it has several (as ADK Java's
    `ChatCompletionsRequest` writes them). `plain` makes what strict chat templates demand: each text one string, parts
    joined by newlines, and neighbours of one role one message, with a blank line between them. Thoughts are left out.
    Calls and responses are given as such with `tools`, else as JSON text. Raises `NotSupported` for a part that such
    an API cannot carry; an image is one when `plain`.
    """
    messages: list[dict[str, Any]] = []
    if request.system_instruction:
        messages.append({"role": "system", "content": request.system_instruction})
    for content in request.contents:
        for message in _messages(content, request.agent, plain, tools):
            if plain and messages and _are_one(messages[-1], message):
                messages[-1]["content"] += f"\n\n{message['content']}"
            else:
                messages.append(message)
    return messages


def chat_tools(request: LlmRequest) -> list[dict[str, Any]]:
    """The declared tools; what they return is not said, since these APIs have no word for it."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": declaration.get("description", ""),
                "parameters": _parameters(declaration),
            },
        }
        for name, declaration in request.tools.items()
    ]


def response_format(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """What binds the answer to the request's `response_schema`, or to JSON of any shape; None for text.

    A schema is `strict` when OpenAI can hold the answer to it: when every property of it is required.
    """
    if config.get("response_schema"):
        schema = json_schema(config["response_schema"])
        strict = _strict(schema) if schema.get("type") == "object" else None
        named = {"name": "response_schema", "schema": strict or schema, "strict": strict is not None}
        return {"type": "json_schema", "json_schema": named}
    return {"type": "json_object"} if config.get("response_mime_type") == "application/json" else None


def json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A Gemini `Schema` as JSON schema: types in small letters, `nullable` as a choice with null."""
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type":
            plain[key] = str(value).lower()
        elif key == "properties":
            plain[key] = {name: json_schema(inner) for name, inner in value.items()}
        elif key == "items":
            plain[key] = json_schema(value)
        elif key == "anyOf":
            plain[key] = [json_schema(choice) for choice in value]
        elif key not in ("nullable", "example"):
            plain[key] = value
    return {"anyOf": [plain, {"type": "null"}]} if schema.get("nullable") else plain


def encodable(value: Any) -> Any:
    """JSON whose texts can be sent as UTF-8: U+FFFD stands for each lone surrogate."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, Mapping):
        return {encodable(key): encodable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encodable(item) for item in value]
    return value


def _messages(content: Content, agent: str, plain: bool, tools: bool) -> list[dict[str, Any]]:
    """What one content says: an answer to each call, then the rest as one message, if there is any."""
    answers = [_answer(part.function_response) for part in content.parts if tools and part.function_response]
    calls = [_call(part, part.function_call) for part in content.parts if tools and part.function_call]
    rest = [part for part in content.parts if not (tools and (part.function_call or part.function_response))]
    said: Any = [piece for part in rest if (piece := _piece(part, agent, plain))]
    if plain or (len(said) == 1 and said[0]["type"] == "text"):
        said = "\n".join(piece["text"] for piece in said)
    message: dict[str, Any] = {"role": "assistant" if content.role == "model" else "user", "content": said or None}
    if calls:
        message["tool_calls"] = calls
    return [*answers, message] if said or calls else answers


def _are_one(message: Mapping[str, Any], following: Mapping[str, Any]) -> bool:
    return (
        message["role"] == following["role"] != "tool"
        and not message.get("tool_calls")
        and not following.get("tool_calls")
    )


def _call(part: Part, call: FunctionCall) -> dict[str, Any]:
    written: dict[str, Any] = {
        "id": call.id or f"call_{call.name}",
        "type": "function",
        "function": {"name": call.name, "arguments": _json(call.args)},
    }
    if part.thought_signature is not None:  # where Gemini's own OpenAI-compatible API wants it
        signature = base64.b64encode(part.thought_signature).decode("ascii")
        written["extra_content"] = {"google": {"thought_signature": signature}}
    return written


def _answer(response: FunctionResponse) -> dict[str, Any]:
    identifier = response.id or f"call_{response.name}"
    return {"role": "tool", "tool_call_id": identifier, "content": _json(response.response)}


def _piece(part: Part, agent: str, plain: bool) -> dict[str, Any] | None:
    if part.thought:
        return None
    if part.inline_data is not None:
        kind = part.inline_data.mime_type
        if plain or not kind.startswith("image/"):
            raise NotSupported(
                f"the request holds a part of type {kind!r}, and this model reads text. "
                "Choose a model that reads it, or put its text into the prompt."
            ).of_agent(agent)
        data = base64.b64encode(part.inline_data.data).decode("ascii")
        return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}
    if part.executable_code is not None:
        text = part.executable_code.code
    elif part.code_execution_result is not None:
        text = part.code_execution_result.output
    elif part.function_call is not None or part.function_response is not None:
        text = json.dumps(part.to_dict(), ensure_ascii=False, default=str)
    else:
        text = part.text or ""
    return {"type": "text", "text": text} if text else None


def _parameters(declaration: Mapping[str, Any]) -> dict[str, Any]:
    if "parametersJsonSchema" in declaration:
        return dict(declaration["parametersJsonSchema"])
    if "parameters" in declaration:
        return json_schema(declaration["parameters"])
    return {"type": "object", "properties": {}}


def _strict(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema with every object closed; None where strict mode could not hold it."""
    if not schema.keys() <= _STRICT:
        return None
    closed = dict(schema)
    if "properties" in schema:
        properties = {name: _strict(inner) for name, inner in schema["properties"].items()}
        if None in properties.values() or set(properties) != set(schema.get("required", ())):
            return None
        closed |= {"properties": properties, "additionalProperties": False}
    elif schema.get("type") == "object":
        return None
    if "items" in schema:
        closed["items"] = _strict(schema["items"])
    if "anyOf" in schema:
        closed["anyOf"] = [_strict(choice) for choice in schema["anyOf"]]
    return None if None in (closed.get("items", ()), *closed.get("anyOf", ())) else closed


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
