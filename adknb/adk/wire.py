"""Contents, events and answers between adknb's types and google-adk's, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from google.adk.events import Event as GoogleEvent, EventActions as GoogleActions
from google.adk.models import LlmResponse as GoogleResponse
from google.genai import types

from adknb.core.content import (
    Blob,
    CodeExecutionResult,
    Content,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    Part,
)
from adknb.core.errors import NotSupported
from adknb.core.events import Event, EventActions
from adknb.core.json_values import copied, fault
from adknb.core.originals import ORIGINAL
from adknb.core.requests import LlmResponse
from adknb.core.state import REMOVED
from adknb.core.usage import Usage


def to_part(part: types.Part) -> Part:
    """A part of google-genai. What adknb has no field for (a file, a video's metadata) becomes a text that names it."""
    fields: dict[str, Any] = {"thought": bool(part.thought), "thought_signature": part.thought_signature}
    if part.function_call is not None:
        call = part.function_call
        fields["function_call"] = FunctionCall(call.name or "", dict(call.args or {}), call.id)
    elif part.function_response is not None:
        answer = part.function_response
        fields["function_response"] = FunctionResponse(answer.name or "", _plain(answer.response or {}), answer.id)
    elif part.executable_code is not None:
        code = part.executable_code
        fields["executable_code"] = ExecutableCode(code.code or "", _name(code.language) or "PYTHON")
    elif part.code_execution_result is not None:
        result = part.code_execution_result
        fields["code_execution_result"] = CodeExecutionResult(
            result.output or "", _name(result.outcome) or "OUTCOME_OK"
        )
    elif part.inline_data is not None:
        data = part.inline_data
        fields["inline_data"] = Blob(data.mime_type or "application/octet-stream", data.data or b"")
    elif part.file_data is not None:
        fields["text"] = f"[file {part.file_data.file_uri}]"
    else:
        fields["text"] = part.text
    return Part(**fields)


def from_part(part: Part) -> types.Part:
    fields: dict[str, Any] = {"thought": part.thought or None, "thought_signature": part.thought_signature}
    if part.function_call is not None:
        call = part.function_call
        fields["function_call"] = types.FunctionCall(name=call.name, args=dict(call.args), id=call.id)
    elif part.function_response is not None:
        answer = part.function_response
        fields["function_response"] = types.FunctionResponse(
            name=answer.name, response=dict(answer.response), id=answer.id
        )
    elif part.executable_code is not None:
        code = part.executable_code
        fields["executable_code"] = types.ExecutableCode(code=code.code, language=types.Language(code.language))
    elif part.code_execution_result is not None:
        result = part.code_execution_result
        fields["code_execution_result"] = types.CodeExecutionResult(
            output=result.output, outcome=types.Outcome(result.outcome)
        )
    elif part.inline_data is not None:
        fields["inline_data"] = types.Blob(mime_type=part.inline_data.mime_type, data=part.inline_data.data)
    else:
        fields["text"] = part.text
    return types.Part(**fields)


def to_content(content: types.Content | None) -> Content | None:
    if content is None:
        return None
    return Content(content.role, tuple(to_part(part) for part in content.parts or ()))


def from_content(content: Content) -> types.Content:
    return types.Content(role=content.role, parts=[from_part(part) for part in content.parts])


def to_usage(usage: types.GenerateContentResponseUsageMetadata | None) -> Usage | None:
    """What the model reported; None when it named neither input nor output."""
    if usage is None or (usage.prompt_token_count is None and usage.candidates_token_count is None):
        return None
    reasoning = usage.thoughts_token_count or 0
    return Usage(
        (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0),
        (usage.candidates_token_count or 0) + reasoning,
        usage.cached_content_token_count or 0,
        reasoning,
    )


def from_usage(usage: Usage | None) -> types.GenerateContentResponseUsageMetadata | None:
    if usage is None:
        return None
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=usage.input_tokens,
        candidates_token_count=usage.output_tokens - usage.reasoning_tokens,
        thoughts_token_count=usage.reasoning_tokens or None,
        cached_content_token_count=usage.cached_tokens or None,
        total_token_count=usage.input_tokens + usage.output_tokens,
    )


def to_response(response: GoogleResponse) -> LlmResponse:
    return LlmResponse(
        to_content(response.content), to_usage(response.usage_metadata), bool(response.partial),
        _name(response.finish_reason), _name(response.error_code), response.error_message,
    )  # fmt: skip


def from_response(response: LlmResponse) -> GoogleResponse:
    reason = response.finish_reason
    return GoogleResponse(
        content=from_content(response.content) if response.content is not None else None,
        usage_metadata=from_usage(response.usage),
        partial=response.partial or None,
        finish_reason=types.FinishReason(reason) if reason in _FINISH_REASONS else None,
        error_code=response.error_code,
        error_message=response.error_message,
    )


def to_event(event: GoogleEvent) -> Event:
    """An event of google-adk. It keeps the original, which goes back when the session does."""
    actions = event.actions
    return Event(
        event.author,
        to_content(event.content),
        EventActions(
            {key: _plain(value) for key, value in actions.state_delta.items()},
            dict(actions.artifact_delta),
            actions.transfer_to_agent,
            bool(actions.escalate),
            bool(actions.skip_summarization),
        ),
        event.invocation_id,
        event.branch,
        frozenset(event.long_running_tool_ids or ()),
        bool(event.partial),
        to_usage(event.usage_metadata),
        _name(event.error_code),
        event.error_message,
        event.id,
        event.timestamp,
        {ORIGINAL: event},
    )


def from_event(event: Event) -> GoogleEvent:
    """An event for a session of google-adk: the one that it came from, or one of the same fields."""
    if event.readings is not None and ORIGINAL in event.readings:
        original = event.readings[ORIGINAL]
        if not isinstance(original, GoogleEvent):  # read from a file: its JSON, until google-adk wants it
            original = event.readings[ORIGINAL] = GoogleEvent.model_validate(original)
        return original
    actions = event.actions
    delta = {key: value for key, value in actions.state_delta.items() if value is not REMOVED}
    return GoogleEvent(
        id=event.id,
        author=event.author,
        invocation_id=event.invocation_id,
        branch=event.branch,
        timestamp=event.timestamp,
        content=from_content(event.content) if event.content is not None else None,
        actions=GoogleActions(
            state_delta=copied(delta),
            artifact_delta=dict(actions.artifact_delta),
            transfer_to_agent=actions.transfer_to_agent,
            escalate=actions.escalate or None,
            skip_summarization=actions.skip_summarization or None,
        ),
        long_running_tool_ids=set(event.long_running_tool_ids) or None,
        usage_metadata=from_usage(event.usage),
        error_code=event.error_code,
        error_message=event.error_message,
    )


def _plain(value: Any) -> Any:
    """A value of state or of a tool as JSON. google-adk keeps other values in memory; here they are what its stores keep."""
    if fault("", value) is None:
        return copied(value)
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value, serialize_unknown=True)


def _name(value: Any) -> str | None:
    """An enum's value or a text."""
    return None if value is None else str(getattr(value, "value", value))


def schema_from(schema: Mapping[str, Any] | None, agent: str) -> types.Schema | None:
    """A Gemini schema as google-genai's. Raises `NotSupported` for what that cannot hold."""
    if schema is None:
        return None
    try:
        return types.Schema.model_validate(dict(schema))
    except ValueError as error:
        raise NotSupported(f"agent {agent!r}: google-adk cannot say its output_schema: {error}") from error


_FINISH_REASONS: Final = {reason.value for reason in types.FinishReason}
