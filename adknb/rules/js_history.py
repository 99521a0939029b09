"""Which events a request of ADK JavaScript carries, where that differs from `history`.

Source: `agents/processors/content_processor_utils.js`; traces `f-long-running-*`, `p-lr-*`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adknb.core.errors import UnknownCallError
from adknb.core.events import Event
from adknb.rules.base import Sourced
from adknb.rules.history import merged


def current_turn(events: Sequence[Event], agent_name: str, visible: Callable[[Event], bool]) -> int:
    """Where IncludeContents.NONE starts: the last visible event of the user or another agent (`getCurrentTurnContents`).

    A call that is answered from there on comes along, with all between. `len(events)` when there is no such event.
    """
    anchor = next(
        (at for at in range(len(events) - 1, -1, -1) if events[at].author != agent_name and visible(events[at])),
        len(events),
    )
    answered = {
        response.id for event in events[anchor:] for response in event.function_responses if response.id is not None
    }
    if not answered:
        return anchor
    calling = (at for at in range(anchor) if any(call.id in answered for call in events[at].function_calls))
    return next(calling, anchor)


def latest_answer_moved(pairs: list[Sourced]) -> list[Sourced]:
    """When the last content answers an earlier call: all after that call dropped, the answers merged.

    Raises `UnknownCallError` when the call is not there, or answers to calls of several events come together
    (`rearrangeEventsForLatestFunctionResponse`).
    """
    ids = dict.fromkeys(response.id for response in pairs[-1][0].function_responses if response.id) if pairs else {}
    if not pairs or not pairs[-1][0].function_responses:
        return pairs
    if len(pairs) > 1 and any(call.id in ids for call in pairs[-2][0].function_calls):
        return pairs
    for index in range(len(pairs) - 2, -1, -1):
        calls = [call.id for call in pairs[index][0].function_calls if call.id]
        if not any(call in ids for call in calls):
            continue
        if not set(ids) <= set(calls):
            raise _error(
                f"the message answers {', '.join(ids)} together, but one event called only {', '.join(calls)}. Answer "
                "the calls of one event at a time.",
                "Last response event should only contain the responses for the function calls in the same function call "
                f"event. Function call ids found : {', '.join(dict.fromkeys(calls))}, function response ids provided: "
                f"{', '.join(ids)}",
            )
        answers = [
            pair
            for pair in pairs[index + 1 : -1]
            if any(response.id in calls for response in pair[0].function_responses)
        ]
        return [*pairs[: index + 1], merged([*answers, pairs[-1]])]
    raise _error(
        f"the message answers the call {', '.join(ids)}, which this agent's history does not hold. Answer a call id that a "
        "run lists.",
        f"No function call event found for function responses ids: {', '.join(ids)}",
    )


def _error(message: str, adk_message: str) -> Exception:
    return UnknownCallError(message).as_adk("Error", adk_message)
