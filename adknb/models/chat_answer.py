"""The answer of a chat-completion API, put together from its chunks."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from adknb.core.content import Content, FunctionCall, Part
from adknb.core.requests import LlmResponse
from adknb.core.usage import Usage

_FINISH_REASONS: Final = {
    "stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY",
}  # fmt: skip
_REASONING: Final = ("reasoning_content", "reasoning")
"""Where servers put a model's reasoning: the one word is DeepSeek's, vLLM's and llama.cpp's, the other OpenRouter's and
Ollama's."""


class Malformed(Exception):
    """What came is not what a chat-completion API answers; the message says what is wrong with it."""


@dataclass(slots=True)
class ChatAnswer:
    """One answer as it comes in. `finish_reason` stays None until the model has said that it is done."""

    text: str = ""
    thought: str = ""
    refusal: str = ""
    finish_reason: str | None = None
    usage: Usage | None = None
    _calls: dict[object, dict[str, Any]] = field(default_factory=dict)

    def add(self, chunk: Mapping[str, Any]) -> Part | None:
        """Take in a chunk; returns the text or thought that it brought, if any. Raises `Malformed`."""
        try:
            if chunk.get("usage"):
                self.usage = _usage(chunk["usage"])
            choices = chunk.get("choices") or ()
            return self._add_choice(choices[0]) if choices else None
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise Malformed(f"a chunk cannot be read ({type(error).__name__}: {error})") from None

    def add_whole(self, completion: Mapping[str, Any]) -> None:
        """Take in an answer that was not streamed. Raises `Malformed`."""
        if not completion.get("choices"):
            raise Malformed("it holds no choices")
        try:
            choices = [{**choice, "delta": choice["message"]} for choice in completion["choices"]]
        except (KeyError, TypeError) as error:
            raise Malformed(f"its first choice cannot be read ({type(error).__name__}: {error})") from None
        self.add({**completion, "choices": choices})

    def response(self) -> LlmResponse:
        """The whole answer. Raises `Malformed` for a call whose arguments are no JSON object."""
        parts = [Part(text=self.thought, thought=True)] if self.thought else []
        calls = [self._call_part(call) for call in self._calls.values()]
        if self.text or not calls:
            parts.append(Part(text=self.text))
        response = LlmResponse(Content("model", (*parts, *calls)), usage=self.usage, finish_reason=self.finish_reason)
        if self.refusal:
            response.error_code, response.error_message = "REFUSAL", self.refusal
            response.content = response.content if self.text or calls else None
        elif self.finish_reason == "SAFETY":
            response.error_code, response.error_message = "SAFETY", "a content filter cut the answer off"
        return response

    def _add_choice(self, choice: Mapping[str, Any]) -> Part | None:
        if reason := choice.get("finish_reason"):
            self.finish_reason = _FINISH_REASONS.get(reason, "OTHER")
        delta = choice.get("delta") or {}
        self.refusal += delta.get("refusal") or ""
        for number, call in enumerate(delta.get("tool_calls") or ()):
            self._add_call(call, number)
        thought = next((delta[name] for name in _REASONING if delta.get(name)), "")
        text = delta.get("content") or ""
        self.thought += thought
        self.text += text
        if text:
            return Part(text=text)
        return Part(text=thought, thought=True) if thought else None

    def _add_call(self, piece: Mapping[str, Any], number: int) -> None:
        """A piece belongs to the call of its index; servers that give none send each call whole."""
        place: object = piece.get("index")
        if place is None:
            place = piece.get("id") or f"call {number}"
        call = self._calls.setdefault(place, {"id": None, "name": "", "arguments": "", "signature": None})
        call["id"] = piece.get("id") or call["id"]
        function = piece.get("function") or {}
        call["name"] += function.get("name") or ""
        call["arguments"] += function.get("arguments") or ""
        google = (piece.get("extra_content") or {}).get("google") or {}
        if "thought_signature" in google:
            call["signature"] = base64.b64decode(google["thought_signature"])

    def _call_part(self, call: Mapping[str, Any]) -> Part:
        name, written = call["name"], call["arguments"]
        try:
            args = json.loads(written) if written.strip() else {}
        except ValueError:
            args = None
        if not isinstance(args, dict):
            cut = "; it was cut off (max_output_tokens)" if self.finish_reason == "MAX_TOKENS" else ""
            raise Malformed(f"it calls the tool {name!r} with arguments that are no JSON object{cut}: {written}")
        return Part(function_call=FunctionCall(name, args, call["id"]), thought_signature=call["signature"])


def _usage(counts: Mapping[str, Any]) -> Usage:
    def detail(kind: str, name: str) -> int:
        return int((counts.get(kind) or {}).get(name) or 0)

    return Usage(
        int(counts.get("prompt_tokens") or 0),
        int(counts.get("completion_tokens") or 0),
        detail("prompt_tokens_details", "cached_tokens"),
        detail("completion_tokens_details", "reasoning_tokens"),
    )
