"""Which events a request carries, and in which order: ADK Java's `Contents`, from which the other ADKs differ in points.

Sources: `flows/llmflows/Contents.java`; traces `cases.jsonl` (history) and `features.jsonl` (long-running answers).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adknb.core.content import Content, FunctionCall, FunctionResponse, Part
from adknb.core.errors import UnknownCallError
from adknb.core.events import USER, Event
from adknb.rules.base import Sourced


@dataclass(slots=True)
class Reading:
    """How an event reads under one rule set, worked out once and kept with the event.

    `own` is for its author and for the user's words, `foreign` for every other agent; None is not shown at all.
    `has_responses` says that the own form holds function responses, which may have to move.
    """

    own: Sourced | None
    foreign: Sourced | None
    has_responses: bool


def read(
    event: Event, rules_name: str, visible: Callable[[Event], bool], narrate: Callable[[Event], Content | None]
) -> Reading:
    """The event's reading, from the event's own cache when it is there."""
    readings: dict[str, Reading] | None = event.readings
    if readings is None:
        readings = event.readings = {}
    elif rules_name in readings:
        return readings[rules_name]
    content = event.content
    if content is None or not visible(event):
        reading = Reading(None, None, False)
    else:
        narrated = narrate(event) if event.author != USER else None
        reading = Reading(
            (content, event), (narrated, event) if narrated is not None else None, bool(content.function_responses)
        )
    readings[rules_name] = reading
    return reading


def current_turn(events: Sequence[Event], agent_name: str) -> int:
    """Where IncludeContents.NONE starts: the last event whose author is the user or another agent.

    Its content and branch are not looked at. `len(events)` when there is no such event.
    """
    for index in range(len(events) - 1, -1, -1):
        if events[index].author != agent_name:
            return index
    return len(events)


def latest_answer_moved(pairs: list[Sourced]) -> list[Sourced]:
    """When the last event answers an earlier call: all after that call's event dropped, the answers merged.

    Raises `UnknownCallError` when the call is not there.
    """
    if len(pairs) < 2 or not pairs[-1][0].function_responses:
        return pairs
    ids = {response.id for response in pairs[-1][0].function_responses if response.id is not None}
    if not ids or any(call.id in ids for call in pairs[-2][0].function_calls):
        return pairs
    for index in range(len(pairs) - 3, -1, -1):
        calls = {call.id for call in pairs[index][0].function_calls if call.id is not None}
        if calls & ids:
            ids |= calls
            answers = [
                pair
                for pair in pairs[index + 1 : -1]
                if any(response.id in ids for response in pair[0].function_responses)
            ]
            return [*pairs[: index + 1], merged([*answers, pairs[-1]])]
    unknown = ", ".join(sorted(ids))
    error = UnknownCallError(
        f"the message answers the call {unknown}, which is not in this session. Answer a call id that a run lists."
    )
    raise error.as_adk("IllegalStateException", f"No function call event found for function response IDs: [{unknown}]")


def answers_after_calls(pairs: list[Sourced], group: bool, again: bool = False) -> list[Sourced]:
    """Every response right after its call; the latest wins, one without its call in the window is dropped.

    With `group` (models named gemini-3) a chain of calls comes first, then one content with all their responses. With
    `again` one content that answers the calls of several comes after each of them.
    """
    acts = [_acts(content) for content, _ in pairs]
    place: dict[str, int] = {}
    for index, (_, responses) in enumerate(acts):
        for response in responses:
            if response.id is not None:
                place[response.id] = index
    result: list[Sourced] = []
    waiting: list[Sourced] = []
    taken: set[int] = set()

    def flush() -> None:
        if waiting:
            result.append(merged(waiting))
            waiting.clear()

    for pair, (calls, responses) in zip(pairs, acts, strict=True):
        if responses:
            continue
        if not calls:
            flush()
            result.append(pair)
            continue
        result.append(pair)
        answers = sorted({place[call.id] for call in calls if call.id in place} - taken)
        if not again:
            taken.update(answers)
        waiting.extend(pairs[index] for index in answers)
        if not group:
            flush()
    flush()
    return result


def _acts(content: Content) -> tuple[Sequence[FunctionCall], Sequence[FunctionResponse]]:
    """The content's calls and responses; without a search in texts, which most contents of a long history are."""
    for part in content.parts:
        if part.text is None:
            return content.function_calls, content.function_responses
    return (), ()


def merged(pairs: Sequence[Sourced]) -> Sourced:
    """Several response contents as one: a later response of the same id takes the earlier one's place."""
    if len(pairs) == 1:
        return pairs[0]
    first, event = pairs[0]
    parts: list[Part] = []
    place: dict[str, int] = {}
    for content, _ in pairs:
        for part in content.parts:
            identity = part.function_response.id if part.function_response is not None else None
            if identity is not None and identity in place and content is not first:
                parts[place[identity]] = part
                continue
            if identity is not None:
                place[identity] = len(parts)
            parts.append(part)
    return first.with_parts(parts), event
