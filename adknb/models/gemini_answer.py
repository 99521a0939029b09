"""Gemini's answer as ADK Java reads it.

Source: `com.google.adk.models.LlmResponse.create` and `Gemini.StreamingResponseAggregator` 1.8.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from adknb.core.content import Blob, CodeExecutionResult, Content, ExecutableCode, FunctionCall, Part
from adknb.core.errors import NotSupported
from adknb.core.requests import LlmResponse
from adknb.core.usage import Usage


@dataclass(slots=True)
class GeminiAnswer:
    """One answer as its chunks come in; one that is not streamed is one chunk."""

    parts: list[Part] = field(default_factory=list)
    usage: Usage | None = None
    finish_reason: str | None = None
    error_message: str | None = None
    block_reason: str | None = None
    has_begun: bool = False
    has_candidate: bool = False
    has_content: bool = False

    @property
    def is_done(self) -> bool:
        """Whether the model has said that it is done, or that it will not answer."""
        return self.finish_reason is not None or self.block_reason is not None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if part.text and not part.thought)

    def add(self, chunk: Any) -> tuple[Part, ...] | None:
        """Take in a `GenerateContentResponse`; returns its texts and thoughts, if it brought any."""
        self.has_begun = True
        if chunk.usage_metadata is not None:
            self.usage = _usage(chunk.usage_metadata)
        if chunk.prompt_feedback is not None:
            self.block_reason = _value(chunk.prompt_feedback.block_reason)
            self.error_message = chunk.prompt_feedback.block_reason_message
        if not chunk.candidates:
            return None
        candidate = chunk.candidates[0]
        self.has_candidate = True
        if candidate.finish_reason is not None:
            self.finish_reason = _value(candidate.finish_reason)
            self.error_message = candidate.finish_message
        if candidate.content is None:
            return None
        self.has_content = True
        came = [_part(part) for part in candidate.content.parts or ()]
        self.parts += came
        return tuple(part for part in came if part.text) or None

    def whole(self) -> LlmResponse:
        """The answer of a request that was not streamed."""
        response = LlmResponse(usage=self.usage, finish_reason=self.finish_reason)
        if self.has_content:
            response.content = Content("model", tuple(self.parts))
        elif self.has_candidate:
            response.error_code, response.error_message = self.finish_reason, self.error_message
        elif self.block_reason is not None:
            response.error_code, response.error_message = self.block_reason, self.error_message
        else:
            response.error_code = response.error_message = "Unknown error."
        return response

    def streamed(self) -> LlmResponse:
        """The answer after its pieces: texts that follow each other are one part, and only STOP is no error."""
        response = self.whole()
        joined = _joined(self.parts)
        if joined:
            response.content = Content("model", tuple(joined))
        if self.finish_reason not in (None, "STOP"):
            response.error_code, response.error_message = self.finish_reason, self.error_message
        return response


def _part(part: Any) -> Part:
    read = Part(part.text, bool(part.thought), thought_signature=part.thought_signature or None)
    if (call := part.function_call) is not None:
        read = replace(read, function_call=FunctionCall(call.name, call.args or {}, call.id or None))
    if (code := part.executable_code) is not None:
        read = replace(read, executable_code=ExecutableCode(code.code or "", _value(code.language) or "PYTHON"))
    if (result := part.code_execution_result) is not None:
        outcome = _value(result.outcome) or "OUTCOME_OK"
        read = replace(read, code_execution_result=CodeExecutionResult(result.output or "", outcome))
    if (data := part.inline_data) is not None:
        read = replace(read, inline_data=Blob(data.mime_type, data.data or b""))
    kinds = part.model_dump(exclude_none=True).keys() - {"thought", "thought_signature"}
    if kinds and replace(read, thought=False, thought_signature=None) == Part():
        raise NotSupported(f"Gemini answered with a part that adknb has no word for ({', '.join(sorted(kinds))})")
    return read


def _joined(parts: list[Part]) -> list[Part]:
    """Neighbouring texts of one kind as one part, with the first signature among them. An empty text ends a stream."""
    joined: list[Part] = []
    for part in parts:
        if part.text == "" and part.thought_signature is None:
            continue
        if part.text and joined and joined[-1].text and joined[-1].thought == part.thought:
            last = joined[-1]
            signature = last.thought_signature or part.thought_signature
            joined[-1] = replace(last, text=f"{last.text}{part.text}", thought_signature=signature)
        else:
            joined.append(part)
    return joined


def _usage(counts: Any) -> Usage:
    thoughts = counts.thoughts_token_count or 0
    return Usage(
        (counts.prompt_token_count or 0) + (counts.tool_use_prompt_token_count or 0),
        (counts.candidates_token_count or 0) + thoughts,
        counts.cached_content_token_count or 0,
        thoughts,
    )


def _value(enum: Any) -> str | None:
    """An enum of the SDK as the word that the API sent."""
    return None if enum is None else str(getattr(enum, "value", enum))
