"""Long-running calls that wait for a person's answer: read off events alone, so that any process can say it at any time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from adknb.core.content import FunctionCall
from adknb.core.events import USER, Event


class PendingCall(NamedTuple):
    """A long-running call and the event that makes it. `answered` is the person's newest answer; None while it waits.

    What the tool itself returned at once ("pending") is no answer.
    """

    call: FunctionCall
    event: Event
    answered: Event | None = None

    @property
    def id(self) -> str:
        return self.call.id or ""


def listed(calls: Iterable[PendingCall]) -> str:
    """`'call-1' (ask, asked by B)` of each."""
    return ", ".join(f"{each.id!r} ({each.call.name}, asked by {each.event.author})" for each in calls)


def long_running_calls(event: Event) -> list[FunctionCall]:
    """The event's calls whose tools go on after they returned (`Functions.hasPendingLongRunningCall`)."""
    ids = event.long_running_tool_ids
    return [call for call in event.function_calls if call.id in ids] if ids else []


def asked_calls(events: Iterable[Event]) -> list[PendingCall]:
    """Every long-running call of the events, answered or not, in their order."""
    asked: dict[str, PendingCall] = {}
    for event in events:
        if event.author == USER:
            for response in event.function_responses:
                if response.id in asked:
                    asked[response.id] = asked[response.id]._replace(answered=event)
            continue
        for call in long_running_calls(event):
            found = PendingCall(call, event)
            asked[found.id] = found
    return list(asked.values())


def pending_calls(events: Iterable[Event]) -> list[PendingCall]:
    """The calls that still wait for their answer."""
    return [each for each in asked_calls(events) if each.answered is None]
