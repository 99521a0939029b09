"""A request in the words of chat-completion APIs: messages with roles, and plain JSON schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from adknb.core.content import Content, Part
from adknb.core.errors import NotSupported
from adknb.core.requests import LlmRequest


def chat_messages(request: LlmRequest) -> list[dict[str, str]]:
    """The request as messages of role `system`, `user` and `assistant`.

    A content's parts are joined by newlines; thoughts are left out; tool calls and responses are given as JSON text.
    Neighbouring contents of one role become one message with a blank line between them, since many chat templates
    demand that roles alternate. Raises `NotSupported` for a part that is no text, such as an image.
    """
    messages: list[dict[str, str]] = []
    if request.system_instruction:
        messages.append({"role": "system", "content": request.system_instruction})
    for content in request.contents:
        text = _text(content, request.agent)
        role = "assistant" if content.role == "model" else "user"
        if not text:
            continue
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += f"\n\n{text}"
        else:
            messages.append({"role": role, "content": text})
    return messages


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


def _text(content: Content, agent: str) -> str:
    return "\n".join(text for part in content.parts if (text := _part_text(part, agent)))


def _part_text(part: Part, agent: str) -> str:
    if part.thought:
        return ""
    if part.inline_data is not None:
        raise NotSupported(
            f"{agent}: the request holds a part of type {part.inline_data.mime_type!r}, and this model reads text. "
            "Choose a model that reads it, or put its text into the prompt."
        )
    if part.executable_code is not None:
        return part.executable_code.code
    if part.code_execution_result is not None:
        return part.code_execution_result.output
    if part.function_call is not None or part.function_response is not None:
        return json.dumps(part.to_dict(), ensure_ascii=False, default=str)
    return part.text or ""
