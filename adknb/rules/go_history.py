"""Which events a request of ADK Go carries, and in which order.

Source: `internal/llminternal/contents_processor.go`; traces of `cases.jsonl` (history) and `features.jsonl` (long-running
answers).
"""

from __future__ import annotations

from collections.abc import Sequence

from adknb.core.content import Content, Part
from adknb.core.errors import UnknownCallError
from adknb.core.events import Event
from adknb.core.specs import IncludeContents
from adknb.rules import history
from adknb.rules.base import Sourced
from adknb.rules.go_values import go_json
from adknb.rules.texts_go import GO_CONTINUE

_FOR_CONTEXT = Part(text="For context:")
_CONTINUE: Sourced = (Content.user(GO_CONTINUE), None)


def contents(
    rules_name: str, agent: str, branch: str | None, events: Sequence[Event], include: IncludeContents
) -> list[Sourced]:
    """The contents, ended by a made-up turn when the last is not the user's (`ContentsRequestProcessor`)."""
    if include is IncludeContents.NONE:
        start = history.current_turn(events, agent)
        events = events[start:] if start < len(events) else events
    own_words = (agent, "user")
    pairs: list[Sourced] = []
    has_responses = False
    for event in events:
        reading = history.read(event, rules_name, is_visible, narrate)
        pair = reading.own if event.author in own_words else reading.foreign
        if pair is None or not is_on_branch(event.branch, branch):
            continue
        has_responses = has_responses or reading.has_responses
        pairs.append(pair)
    if has_responses and len(pairs) > 1:
        pairs = history.answers_after_calls(latest_answer_moved(pairs), group=False, again=True)
    said = [pair for pair in map(without_empty_parts, pairs) if pair is not None]
    return [*said, _CONTINUE] if said and said[-1][0].role != "user" else said


def is_visible(event: Event) -> bool:
    content = event.content
    return content is not None and bool(content.role) and bool(content.parts)


def is_on_branch(event_branch: str | None, branch: str | None) -> bool:
    """`eventBelongsToBranch`: whole names are compared; trace `branch-prefix-siblings`."""
    return not event_branch or not branch or f"{branch}.".startswith(f"{event_branch}.")


def narrate(event: Event) -> Content:
    """`ConvertForeignEvent`: how another agent reads the event, its thoughts included."""
    assert event.content is not None
    author = event.author
    parts = [_FOR_CONTEXT]
    for part in event.content.parts:
        if part.text:
            parts.append(Part(text=f"[{author}] said: {part.text}"))
        elif part.function_call is not None:
            call = part.function_call
            parts.append(Part(text=f"[{author}] called tool `{call.name}` with parameters: {go_json(call.args)}"))
        elif part.function_response is not None:
            answer = part.function_response
            parts.append(Part(text=f"[{author}] `{answer.name}` tool returned result: {go_json(answer.response)}"))
        else:
            parts.append(part)
    return Content("user", tuple(parts))


def without_empty_parts(pair: Sourced) -> Sourced | None:
    """The content without parts that say nothing at all; None when none is left."""
    content, event = pair
    if all(part.text or _says_something(part) for part in content.parts):
        return pair
    parts = [part for part in content.parts if _says_something(part)]
    return (content.with_parts(parts), event) if parts else None


def _says_something(part: Part) -> bool:
    """Not Go's zero value, in which an empty text and none are the same."""
    return bool(part.text) or part not in (Part(), Part(text=""))


def latest_answer_moved(pairs: list[Sourced]) -> list[Sourced]:
    """`rearrangeEventsForLatestFunctionResponse`: after an answer's call only other calls and their answers are kept.

    Raises `UnknownCallError` when the call is not there, or the answers are those of several replies.
    """
    ids = {response.id for response in pairs[-1][0].function_responses}
    if not ids or any(call.id in ids for call in pairs[-2][0].function_calls):
        return pairs
    for index in range(len(pairs) - 2, -1, -1):
        calls = {call.id for call in pairs[index][0].function_calls}
        if calls & ids:
            if not ids <= calls:
                raise _unknown(
                    ids, f"validation failed: last response event has IDs not in the matching call event. Call IDs: "
                    f"{_set_text(calls)}, Response IDs: {_set_text(ids)}",
                )  # fmt: skip
            kept, answers = [], []
            for pair in pairs[index + 1 : -1]:
                responses = {response.id for response in pair[0].function_responses}
                if pair[0].function_calls or (responses and not responses & calls):
                    kept.append(pair)
                elif responses:
                    answers.append(pair)
            return [*pairs[: index + 1], *kept, history.merged([*answers, pairs[-1]])]
    raise _unknown(ids, f"no function call event found for function responses ids: {_set_text(ids)}")


def _unknown(ids: set[str | None], message: str) -> UnknownCallError:
    named = ", ".join(sorted(map(str, ids)))
    error = UnknownCallError(
        f"the message answers the call {named}, which is not in this session. Answer the calls of one reply that a run lists."
    )
    error.as_adk("*errors.errorString", message)
    return error


def _set_text(ids: set[str | None]) -> str:
    return "map[" + " ".join(f"{identity}:{{}}" for identity in sorted(map(str, ids))) + "]"
