"""A session of ADK Python, put together from its rows or its JSON: all its events, and those that count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adknb.core.errors import SessionFormatError
from adknb.core.events import Event
from adknb.core.originals import original_field
from adknb.core.run import Session
from adknb.core.state import APP_PREFIX, USER_PREFIX, Scopes
from adknb.sessions.adk_event import lost_note, read_event
from adknb.sessions.json_fields import checked_id


def make_session(
    identity: tuple[str, str, str], state: Mapping[str, Any], events: Sequence[Any], place: str
) -> Session:
    """The session (app, user, id) with `state` under ADK's prefixes and `events` in ADK's JSON.

    It has no turns yet: `adopt` makes them of a pipeline. Raises `SessionFormatError` for what cannot be a session.
    """
    app_name, user_id, session_id = identity
    checked_id(session_id, f"{place}: the session's id")
    lost: Counter[str] = Counter()
    read = [read_event(data, f"{place}: events[{index}]", lost) for index, data in enumerate(events)]
    twice = [event_id for event_id, count in Counter(event.id for event in read).items() if count > 1]
    if twice:
        raise SessionFormatError(f"{place}: two events have the id {twice[0]!r}")
    live = without_rewound(read)
    notes = lost_note(lost)
    if len(live) < len(read):
        notes.append(
            f"{len(read) - len(live)} events were taken back by a rewind; they are in `events`, not in `history`"
        )
    scopes = Scopes(_scoped(state, APP_PREFIX), _scoped(state, USER_PREFIX))
    return Session(session_id, app_name, user_id, dict(state), read, live, scopes=scopes, notes=notes)


def without_rewound(events: Sequence[Event]) -> list[Event]:
    """The events that still count (google-adk's `events/_rewind_events.py`).

    An event that rewinds before an invocation goes, with all from that invocation's first event on.
    """
    kept: list[Event] = []
    first: dict[str, int] = {}
    for index, event in enumerate(events):
        first.setdefault(event.invocation_id, index)
    index = len(events) - 1
    while index >= 0:
        target = rewinds_before(events[index])
        if target is None:
            kept.append(events[index])
        elif target in first:
            index = min(first[target], index)
        index -= 1
    return kept[::-1]


def rewinds_before(event: Event) -> str | None:
    """The invocation before which the event takes the conversation back; None for any other event."""
    target = original_field(event, "actions", "rewind_before_invocation_id")
    return target if isinstance(target, str) and target else None


def is_compaction(event: Event) -> bool:
    """Whether the event stands for earlier ones in what google-adk sends."""
    return original_field(event, "actions", "compaction") is not None


def _scoped(state: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {key[len(prefix) :]: value for key, value in state.items() if key.startswith(prefix)}


def with_prefix(values: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, Any]]:
    """The values of a scope under the names that they have in the state."""
    return ((prefix + key, value) for key, value in values.items())
