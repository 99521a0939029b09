"""An event in ADK Python's JSON: as its session services store it, and as its web server sends it (`stateDelta`).

Source: google-adk 2.13.0, `events/event.py`, `events/event_actions.py`, `models/llm_response.py`; google-genai `types.py`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from typing import Any, Final

from adknb.core.content import (
    Blob,
    CodeExecutionResult,
    Content,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    Part,
)
from adknb.core.events import Event, EventActions
from adknb.core.originals import ORIGINAL
from adknb.core.state import REMOVED, REMOVED_TEXT
from adknb.core.usage import Usage
from adknb.sessions.json_fields import Fields, refuse

_PART_FIELDS: Final = ("function_call", "function_response", "executable_code", "code_execution_result", "inline_data")
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])([A-Z])")


def read_event(data: Any, place: str, lost: Counter[str]) -> Event:
    """The event. Fields that say something and that adknb's events have not are counted in `lost`.

    Raises `SessionFormatError`, with the place in the document, for what cannot be an event.
    """
    fields = Fields(data, place)
    event = Event(
        author=fields.needed_text("author"),
        content=read_content(fields.part("content"), lost),
        actions=_actions(fields.part("actions"), lost),
        invocation_id=fields.text("invocation_id") or "",
        branch=fields.text("branch"),
        long_running_tool_ids=frozenset(fields.texts("long_running_tool_ids")),
        partial=fields.flag("partial"),
        usage=read_usage(fields.part("usage_metadata")),
        error_code=fields.text("error_code"),
        error_message=fields.text("error_message"),
        id=fields.identity("id"),
        timestamp=fields.seconds("timestamp") or 0.0,
        readings={ORIGINAL: data},
    )
    count_lost(fields, "", lost)
    return event


def count_lost(fields: Fields, prefix: str, lost: Counter[str]) -> None:
    """Count the fields that nobody read, spelled as in ADK Python."""
    lost.update(prefix + _CAPITAL.sub(r"_\1", name).lower() for name in fields.unread())


def lost_note(lost: Counter[str]) -> list[str]:
    """What was lost, as notes of a session."""
    if not lost:
        return []
    named = ", ".join(f"{name} ({count})" for name, count in sorted(lost.items()))
    return [f"adknb's events have no field for what ADK stored here, which google-adk itself still sees: {named}"]


def read_content(fields: Fields | None, lost: Counter[str]) -> Content | None:
    """What was said; of an event, or by itself, as eval sets hold it."""
    if fields is None:
        return None
    content = Content(fields.text("role"), tuple(_part(part, lost) for part in fields.parts("parts")))
    count_lost(fields, "content.", lost)
    return content


def _part(fields: Fields, lost: Counter[str]) -> Part:
    """A part. Of one that says several things the first of `_PART_FIELDS` counts; a file becomes a text that names it."""
    thought, signature = fields.flag("thought"), _bytes(fields, "thought_signature")
    text = fields.text("text")
    said: dict[str, Any] = {}
    for name in _PART_FIELDS:
        inside = fields.part(name)
        if inside is not None and not said:
            said = {name: _READ[name](inside)}
            count_lost(inside, f"part.{name}.", lost)
    file = fields.part("file_data")
    if not said and file is not None:
        text = f"[file {file.text('file_uri')}]"
        lost["part.file_data"] += 1
    if said and text:
        lost["part.text"] += 1
    count_lost(fields, "part.", lost)
    return Part(text=None if said else text, thought=thought, thought_signature=signature, **said)


def _call(fields: Fields) -> FunctionCall:
    return FunctionCall(fields.text("name") or "", fields.values("args"), fields.text("id"))


def _response(fields: Fields) -> FunctionResponse:
    return FunctionResponse(fields.text("name") or "", fields.values("response"), fields.text("id"))


def _code(fields: Fields) -> ExecutableCode:
    return ExecutableCode(fields.text("code") or "", fields.text("language") or "PYTHON")


def _result(fields: Fields) -> CodeExecutionResult:
    return CodeExecutionResult(fields.text("output") or "", fields.text("outcome") or "OUTCOME_OK")


def _blob(fields: Fields) -> Blob:
    return Blob(fields.text("mime_type") or "application/octet-stream", _bytes(fields, "data") or b"")


_READ: Final = {
    "function_call": _call, "function_response": _response, "executable_code": _code, "code_execution_result": _result,
    "inline_data": _blob,
}  # fmt: skip


def _actions(fields: Fields | None, lost: Counter[str]) -> EventActions:
    if fields is None:
        return EventActions()
    delta = fields.values("state_delta")
    versions = fields.part("artifact_delta")
    actions = EventActions(
        {key: REMOVED if value == REMOVED_TEXT else value for key, value in delta.items()},
        read_versions(versions) if versions is not None else {},
        fields.text("transfer_to_agent"),
        fields.flag("escalate"),
        fields.flag("skip_summarization"),
    )
    count_lost(fields, "actions.", lost)
    return actions


def read_versions(fields: Fields) -> dict[str, int]:
    """Artifact names and versions. A name is data here, like any other; no file is ever looked for under it."""
    return {name: fields.count(name) or 0 for name in fields.names()}


def read_usage(fields: Fields | None) -> Usage | None:
    """What a model reported; None when it named neither input nor output."""
    if fields is None:
        return None
    prompt, answer = fields.count("prompt_token_count"), fields.count("candidates_token_count")
    if prompt is None and answer is None:
        return None
    reasoning = fields.count("thoughts_token_count") or 0
    return Usage(
        (prompt or 0) + (fields.count("tool_use_prompt_token_count") or 0),
        (answer or 0) + reasoning,
        fields.count("cached_content_token_count") or 0,
        reasoning,
    )


def _bytes(fields: Fields, name: str) -> bytes | None:
    """Bytes in base64, of the alphabet for URLs (pydantic's) or the usual one."""
    text = fields.text(name)
    if text is None:
        return None
    try:
        return base64.b64decode(text.translate(_URL_SAFE) + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        refuse(fields.where(name), "bytes in base64", text)


_URL_SAFE: Final = str.maketrans("-_", "+/")
