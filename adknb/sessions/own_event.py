"""An event in adknb's own JSON (`Event.to_dict`), from a document that may hold anything."""

from __future__ import annotations

from collections import Counter
from typing import Final

from adknb.core.errors import SessionFormatError
from adknb.core.events import Event, EventActions
from adknb.core.state import REMOVED, REMOVED_TEXT
from adknb.core.usage import Usage
from adknb.sessions.adk_event import read_content, read_versions
from adknb.sessions.json_fields import Fields

_USAGE: Final = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


def read_own_event(fields: Fields) -> Event:
    """The event. Raises `SessionFormatError`, with the place, for what `Event.to_dict` never writes."""
    unknown: Counter[str] = Counter()
    usage, versions = fields.part("usage"), fields.part("artifact_delta")
    event = Event(
        author=fields.needed_text("author"),
        content=read_content(fields.part("content"), unknown),
        actions=EventActions(
            {
                key: REMOVED if value == REMOVED_TEXT else value
                for key, value in fields.values("state_delta", finite=False).items()
            },
            read_versions(versions) if versions is not None else {},
            fields.text("transfer_to_agent"),
            fields.flag("escalate"),
            fields.flag("skip_summarization"),
        ),
        invocation_id=fields.needed_text("invocation_id"),
        branch=fields.text("branch"),
        long_running_tool_ids=frozenset(fields.texts("long_running_tool_ids")),
        usage=Usage(*(usage.count(name) or 0 for name in _USAGE)) if usage is not None else None,
        error_code=fields.text("error_code"),
        error_message=fields.text("error_message"),
        id=fields.identity("id"),
        timestamp=fields.seconds("timestamp") or 0.0,
    )
    strange = [*fields.unread(), *unknown]
    if strange:
        raise SessionFormatError(f"{fields.place}: an event has no field {strange[0]!r}")
    return event
