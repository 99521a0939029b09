"""Where the turns of a stored conversation begin and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from adknb.core.content import Content
from adknb.core.events import USER, Event


@dataclass(slots=True, eq=False)
class Span:
    """A turn: `lead` are the events before its message that belong to no turn, `events` begin with the message.

    `is_mixed` says that events of another invocation came in between and were kept in their place.
    """

    message: Content
    lead: list[Event] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    is_mixed: bool = False


def spans(history: Sequence[Event]) -> tuple[list[Span], list[Event]]:
    """The turns of a history in order, and the events after the last one.

    A turn begins with each message of the user, an answer to a long-running call included. An event without content (a
    state that a client set, a compaction) or of an invocation without a message belongs to none.
    """
    found: list[Span] = []
    loose: list[Event] = []
    for event in history:
        message = event.content if event.author == USER else None
        current = found[-1] if found else None
        if message is not None and message.parts:
            found.append(Span(message, loose, [event]))
            loose = []
        elif current is not None and event.invocation_id == current.events[0].invocation_id and event.author != USER:
            if loose:
                current.events.extend(loose)
                current.is_mixed = True
                loose = []
            current.events.append(event)
        else:
            loose.append(event)
    return found, loose
