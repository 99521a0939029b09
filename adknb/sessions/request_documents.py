"""Requests as JSON, and back: every content once in a session, by its hash, or by the event that it is the content of."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adknb.core.content import Content
from adknb.core.events import Event
from adknb.core.requests import LlmRequest, LlmResponse, Request, Segment
from adknb.core.usage import Usage
from adknb.sessions.json_text import digest, to_text
from adknb.sessions.packed import Entry, pack, unpack


class Contents:
    """What was written of a session's contents: who asks for a content again gets its hash without it being hashed again.

    `waiting` holds the blobs that were asked for and are not stored yet, `stored` the hashes of those that are.
    """

    def __init__(self) -> None:
        self.stored: set[str] = set()
        self.waiting: dict[str, str] = {}
        self._hashes: dict[int, tuple[Content, str]] = {}
        self._groups: dict[tuple[Entry, ...], str] = {}

    def put(self, value: Any) -> str:
        """The hash of a JSON value, which is stored under it."""
        text = to_text(value)
        name = digest(text)
        if name not in self.stored:
            self.waiting[name] = text
        return name

    def put_content(self, content: Content) -> str:
        known = self._hashes.get(id(content))
        if known is None:
            known = self._hashes[id(content)] = (content, self.put(content.to_dict()))
        return known[1]

    def put_group(self, group: tuple[Entry, ...]) -> str:
        known = self._groups.get(group)
        if known is None:
            known = self._groups[group] = self.put(group)
        return known


class Stored:
    """What was stored of a session, to be looked up: JSON and contents by their hash, events by their id.

    Raises `KeyError` for what is missing.
    """

    def __init__(self, blobs: Mapping[str, str], events: Mapping[str, Event]) -> None:
        self.blobs = blobs
        self.events = events
        self._values: dict[str, Any] = {}
        self._contents: dict[str, Content] = {}

    def value(self, name: str) -> Any:
        """The JSON value of this hash, which is shared: do not change it."""
        if name not in self._values:
            self._values[name] = json.loads(self.blobs[name])
        return self._values[name]

    def content(self, name: str) -> Content:
        if name not in self._contents:
            self._contents[name] = Content.from_dict(json.loads(self.blobs[name]))
        return self._contents[name]

    def event(self, name: str) -> Event:
        return self.events[name]

    def with_events(self, own: Mapping[str, Event]) -> Stored:
        """The same with a run's own events, where the log does not have them."""
        if not own:
            return self
        stored = Stored(self.blobs, {**own, **self.events})
        stored._values, stored._contents = self._values, self._contents
        return stored


def sent_document(sent: LlmRequest, contents: Contents, refer: Callable[[Event], str]) -> dict[str, Any]:
    """What a model was asked. `refer` is told of every event that is named and returns its id."""
    entries: list[Entry] = []
    for content, source in zip(sent.contents, sent.sources, strict=True):
        if source is not None and content is source.content:
            entries.append(refer(source))
        else:
            entries.append((contents.put_content(content), refer(source) if source is not None else None))
    data: dict[str, Any] = {
        "agent": sent.agent,
        "model": sent.model,
        "contents": pack(entries, contents.put_group),
        "ordinal": sent.ordinal,
    }
    if sent.system:
        data["system"] = contents.put(sent.system)
    if sent.tools:
        data["tools"] = contents.put(sent.tools)
    if sent.config:
        data["config"] = contents.put(sent.config)
    if sent.repeat:
        data["repeat"] = sent.repeat
    return data


def read_request(data: Mapping[str, Any], stored: Stored) -> Request:
    """A request without its reply."""
    sent = data["sent"]
    contents: list[Content] = []
    sources: list[Event | None] = []
    for entry in unpack(sent["contents"], stored.value):
        content, source = (None, entry) if isinstance(entry, str) else entry
        event = stored.event(source) if source is not None else None
        contents.append(_content_of(event) if content is None else stored.content(content))
        sources.append(event)
    system, tools, config = (stored.value(sent[name]) if name in sent else () for name in ("system", "tools", "config"))
    return Request(
        LlmRequest(
            sent["agent"], sent["model"], [Segment(*segment) for segment in system], contents, sources,
            dict(tools), dict(config), sent["ordinal"], sent.get("repeat", 0),
        ),
        data["seen"],
    )  # fmt: skip


def reply_document(
    reply: LlmResponse | None, contents: Contents, said: Sequence[Event], refer: Callable[[Event], str]
) -> dict[str, Any] | None:
    """What a model answered; its content by an event of `said` that it is the content of, where there is one."""
    if reply is None:
        return None
    data: dict[str, Any] = {
        "usage": reply.usage.to_dict() if reply.usage is not None else None,
        "partial": reply.partial,
        "finish_reason": reply.finish_reason,
        "error_code": reply.error_code,
        "error_message": reply.error_message,
        "note": reply.note,
    }
    data = {name: value for name, value in data.items() if value}
    if reply.content is not None:
        event = next((event for event in said if event.content is reply.content), None)
        if event is not None:
            data["event"] = refer(event)
        else:
            data["content"] = contents.put_content(reply.content)
    return data


def read_reply(data: Mapping[str, Any] | None, stored: Stored) -> LlmResponse | None:
    """The inverse of `reply_document`."""
    if data is None:
        return None
    content = None
    if "event" in data:
        content = stored.event(data["event"]).content
    elif "content" in data:
        content = stored.content(data["content"])
    return LlmResponse(
        content, Usage.from_dict(data["usage"]) if "usage" in data else None, data.get("partial", False),
        data.get("finish_reason"), data.get("error_code"), data.get("error_message"), data.get("note"),
    )  # fmt: skip


def _content_of(event: Event | None) -> Content:
    if event is None or event.content is None:
        raise ValueError("a request names the content of an event that has none")
    return event.content
