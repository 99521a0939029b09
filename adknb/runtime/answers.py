"""The answer to a long-running call: which call is meant, and the message that carries it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adknb.core.content import FunctionResponse
from adknb.core.errors import RunStateError, StateValueError, UnknownCallError, near_names
from adknb.core.events import Event
from adknb.core.json_values import copied, fault
from adknb.core.pending import PendingCall, asked_calls, listed
from adknb.rules.base import Rules


def find_call(history: Sequence[Event], named: str | None) -> PendingCall:
    """The call that is `named`: by its id, by the beginning of the id, or by its tool when only one call of it waits. None
    means the only one that waits.

    Raises `UnknownCallError` when the name fits none or several, `RunStateError` when no call waits.
    """
    asked = asked_calls(history)
    waiting = [each for each in asked if each.answered is None]
    if named is None:
        return _only_one(asked, waiting)
    fitting = [each for each in asked if named in (each.id, each.call.name) or each.id.startswith(named or "\n")]
    exact = [each for each in fitting if each.id == named]
    chosen = exact or [each for each in fitting if each.answered is None] or fitting
    if not chosen:
        known = [name for each in asked for name in (each.id, each.call.name)]
        raise UnknownCallError(
            f"the session has no long-running call {named!r}.{near_names(named, known) or ' It has none at all.'}"
        )
    if len(chosen) > 1:
        raise UnknownCallError(f"{named!r} fits {listed(chosen)}. Name one by its whole id.")
    return chosen[0]


def answer_of(call: PendingCall, response: Any, rules: Rules) -> FunctionResponse:
    """The response as the message that ADK takes: an object as it is; anything else becomes one as a tool's own return value
    does (`{"result": …}`).

    Raises `StateValueError` for what is no JSON.
    """
    found = fault("answer", response)
    if found is not None:
        raise StateValueError(
            f"an answer is JSON, and this is none: {found}. Give a dict, or text, a number, true, false or a list."
        )
    return FunctionResponse(call.call.name, rules.tool_result(copied(response)), call.call.id)


def _only_one(asked: Sequence[PendingCall], waiting: Sequence[PendingCall]) -> PendingCall:
    if len(waiting) == 1:
        return waiting[0]
    if waiting:
        raise RunStateError(
            f"{len(waiting)} calls wait for an answer: {listed(waiting)}. Say which one. answer_all({{…}}) answers "
            "several in one message; one by one, each answer would run the later steps again."
        )
    if asked:
        raise RunStateError(
            f"no call waits for an answer: {listed(asked[-1:])} has one. Name its id to answer it again, or continue a run "
            "that failed."
        )
    raise RunStateError("no call waits for an answer: none of this session's events calls a long-running tool.")
