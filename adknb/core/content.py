"""What is said: `Content` made of `Part`s, under the names of google-genai, ADK's own wire types."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A model's wish to call a tool; `id` joins it to its `FunctionResponse`."""

    name: str
    args: Mapping[str, Any]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class FunctionResponse:
    """What a tool answered to the call of the same `id`."""

    name: str
    response: Mapping[str, Any]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ExecutableCode:
    """Code that the model wrote for a code executor."""

    code: str
    language: str = "PYTHON"


@dataclass(frozen=True, slots=True)
class CodeExecutionResult:
    """What a code executor printed."""

    output: str
    outcome: str = "OUTCOME_OK"


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes with their MIME type, as artifacts hold them."""

    mime_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a content. Exactly one field besides `thought` and `thought_signature` is set.

    `thought` marks a model's reasoning. `thought_signature` is what Gemini wants back with the part, byte for byte:
    from version 3 on it refuses a function call that comes back without.
    """

    text: str | None = None
    thought: bool = False
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    executable_code: ExecutableCode | None = None
    code_execution_result: CodeExecutionResult | None = None
    inline_data: Blob | None = None
    thought_signature: bytes | None = None

    @staticmethod
    def from_text(text: str) -> Part:
        return Part(text=text)

    @staticmethod
    def from_function_call(name: str, args: Mapping[str, Any]) -> Part:
        return Part(function_call=FunctionCall(name, args))

    @staticmethod
    def from_bytes(data: bytes, mime_type: str) -> Part:
        return Part(inline_data=Blob(mime_type, data))

    def to_dict(self) -> dict[str, Any]:
        """The part as plain JSON in ADK Python's spelling, without the fields that are not set."""
        if self.thought_signature is not None:
            signature = base64.b64encode(self.thought_signature).decode("ascii")
            return {**replace(self, thought_signature=None).to_dict(), "thought_signature": signature}
        if self.function_call is not None:
            call = self.function_call
            return {"function_call": _without_none(id=call.id, name=call.name, args=dict(call.args))}
        if self.function_response is not None:
            answer = self.function_response
            body = _without_none(id=answer.id, name=answer.name, response=dict(answer.response))
            return {"function_response": body}
        if self.executable_code is not None:
            return {"executable_code": {"code": self.executable_code.code, "language": self.executable_code.language}}
        if self.code_execution_result is not None:
            result = self.code_execution_result
            return {"code_execution_result": {"outcome": result.outcome, "output": result.output}}
        if self.inline_data is not None:
            encoded = base64.b64encode(self.inline_data.data).decode("ascii")
            return {"inline_data": {"mime_type": self.inline_data.mime_type, "data": encoded}}
        return _without_none(text=self.text, thought=self.thought or None)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Part:
        """The inverse of `to_dict`. Raises `ValueError` for a field that no part has."""
        if len(data) == 1 and "text" in data:  # what nearly every part is
            return Part(data["text"])
        unknown = set(data) - set(Part.__slots__)
        if unknown:
            raise ValueError(f"a part has no field {sorted(unknown)[0]!r}; it has {', '.join(Part.__slots__)}")
        inline = data.get("inline_data")
        signature = data.get("thought_signature")
        return Part(
            text=data.get("text"),
            thought=bool(data.get("thought", False)),
            function_call=FunctionCall(**data["function_call"]) if data.get("function_call") else None,
            function_response=FunctionResponse(**data["function_response"]) if data.get("function_response") else None,
            executable_code=ExecutableCode(**data["executable_code"]) if data.get("executable_code") else None,
            code_execution_result=CodeExecutionResult(**data["code_execution_result"])
            if data.get("code_execution_result")
            else None,
            inline_data=Blob(inline["mime_type"], base64.b64decode(inline["data"])) if inline else None,
            thought_signature=base64.b64decode(signature) if signature is not None else None,
        )


@dataclass(frozen=True, slots=True)
class Content:
    """What one side said: `role` is `user` or `model`, `parts` never changes (share it freely)."""

    role: str | None
    parts: tuple[Part, ...]

    @staticmethod
    def user(text: str) -> Content:
        return Content("user", (Part(text=text),))

    @staticmethod
    def model(text: str) -> Content:
        return Content("model", (Part(text=text),))

    @property
    def text(self) -> str:
        """The parts' text without thoughts, joined."""
        return "".join(part.text for part in self.parts if part.text is not None and not part.thought)

    @property
    def function_calls(self) -> list[FunctionCall]:
        return [part.function_call for part in self.parts if part.function_call is not None]

    @property
    def function_responses(self) -> list[FunctionResponse]:
        return [part.function_response for part in self.parts if part.function_response is not None]

    def with_parts(self, parts: Iterable[Part]) -> Content:
        return replace(self, parts=tuple(parts))

    def to_dict(self) -> dict[str, Any]:
        return {"role": self.role, "parts": [part.to_dict() for part in self.parts]}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Content:
        return Content(data.get("role"), tuple([Part.from_dict(part) for part in data.get("parts") or ()]))


def _without_none(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
