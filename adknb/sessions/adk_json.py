"""The JSON that ADK's web page saves: a session ("Export session"), and eval sets.

Source: google-adk 2.13.0, `sessions/session.py` and `evaluation/eval_case.py`, both by alias (`appName`), as the server sends
them; `adk run --save_session` and eval sets on disk have the other spelling (`app_name`), which is read as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from adknb.core.errors import RunStateError, SessionFormatError, SessionStoreError, near_names
from adknb.core.run import Session
from adknb.sessions.adk_session import make_session
from adknb.sessions.json_fields import LARGEST_DOCUMENT, Fields, checked_id, parsed, refuse

_EVALUATION_NOTE: Final = (
    "made of an eval case, which holds what was said: no state that a turn wrote, "
    "no branches, no times of single events"
)


def read_adk_json(path: str | Path, case: str | None = None) -> Session:
    """The session in a file that `adk web` saved, or the case of an eval set that `case` names.

    Raises `SessionStoreError` when the file cannot be read, `SessionFormatError` for what is no session of ADK's, and
    `RunStateError` where an eval set has several cases and none, or another, is named.
    """
    place = Path(path).expanduser()
    try:
        if place.stat().st_size > LARGEST_DOCUMENT:
            raise SessionFormatError(f"{place.name} has more than 1 GiB; a document of that size is not read")
        text = place.read_bytes()
    except OSError as error:
        raise SessionStoreError(f"cannot read {path}: {error.strerror or error}") from error
    return adk_session(parsed(text, place.name), place.name, case)


def adk_session(data: Any, place: str, case: str | None = None) -> Session:
    """The session in a document of ADK's, parsed."""
    kind = adk_kind(data)
    if kind == "session":
        return _session(Fields(data, ""), place)
    if kind == "eval case":
        return _evaluated(Fields(data, ""), place)
    if kind != "eval set":
        raise SessionFormatError(
            f"{place} is no session of ADK's: it has none of the fields events with appName, evalCases, conversation"
        )
    cases = {each.identity("eval_id"): each for each in Fields(data, "").parts("eval_cases")}
    if case is None and len(cases) == 1:
        case = next(iter(cases))
    if case is None or case not in cases:
        said = "say which: case=…" if case is None else f"there is no {case!r} among them."
        raise RunStateError(f"{place} is an eval set of {len(cases)} cases; {said}{near_names(case or '', cases)}")
    return _evaluated(cases[case], place)


def adk_kind(data: Any) -> str | None:
    """`session`, `eval set` or `eval case`; None for anything else."""
    if not isinstance(data, Mapping):
        return None
    names = set(data)
    if names & {"evalCases", "eval_cases"}:
        return "eval set"
    if names & {"evalId", "eval_id"}:
        return "eval case"
    return "session" if names & {"appName", "app_name"} and names & {"events", "state"} else None


def _session(fields: Fields, place: str) -> Session:
    identity = (fields.needed_text("app_name"), fields.needed_text("user_id"), fields.identity("id"))
    session = make_session(identity, fields.values("state"), fields.items("events"), place)
    fields.get("last_update_time")  # the last event says it
    session.notes.extend(f"the session's field {name!r} is not read" for name in fields.unread())
    return session


def _evaluated(fields: Fields, place: str) -> Session:
    """A case's conversation as a session whose events are what its invocations hold."""
    case = fields.identity("eval_id")
    where = f"{place}, case {case!r}"
    if fields.get("conversation_scenario") is not None:
        raise SessionFormatError(f"{where} is a scenario for a simulated user; it holds no conversation yet")
    start = fields.part("session_input")
    app, user, state = "adknb", "user", {}
    if start is not None:
        app, user = start.needed_text("app_name"), start.needed_text("user_id")
        state = start.values("state")
    events: list[Any] = []
    lost: Counter[str] = Counter()
    for number, turn in enumerate(fields.parts("conversation"), 1):
        events.extend(_turn(turn, f"{case}-{number}", lost))
    session = make_session((app, user, case), state, events, where)
    session.notes.append(_EVALUATION_NOTE)
    session.notes.extend(f"{count} × {what}" for what, count in sorted(lost.items()))
    return session


def _turn(turn: Fields, identity: str, lost: Counter[str]) -> list[dict[str, Any]]:
    """The events of an invocation: the message, what came between, the final answer (`eval_case.py`: `Invocation`)."""
    invocation = turn.text("invocation_id") or identity
    checked_id(invocation, turn.where("invocation_id"))
    moment = turn.seconds("creation_timestamp") or 0.0
    found: list[tuple[str, Any, Any]] = [("user", _message(turn), None)]
    between = turn.part("intermediate_data")
    final = turn.get("final_response")
    author = ""
    if between is not None:
        for event in between.parts("invocation_events"):
            author = event.needed_text("author")
            content = event.get("content")
            if content is None:  # the final response, which stands beside
                content, final = final, None
            if content is not None:
                found.append((author, content, event.get("usage_metadata")))
        older = _older(between)
        author = older[-1][0] if older else author
        found.extend(older)
    if final is not None:
        if not author:
            lost["final answer whose agent the eval case does not name; it has the author 'agent'"] += 1
        found.append((author or "agent", final, None))
    return [
        {
            "id": f"{identity}-{index}", "invocation_id": invocation, "author": author, "content": content,
            "usage_metadata": usage, "timestamp": moment,
        }
        for index, (author, content, usage) in enumerate(found)
    ]  # fmt: skip


def _older(between: Fields) -> list[tuple[str, Any, Any]]:
    """`IntermediateData`: tool calls and answers without their agents, and what agents said on the way."""
    calls = [{"function_call": call} for call in between.items("tool_uses")]
    answers = [{"function_response": answer} for answer in between.items("tool_responses")]
    found: list[tuple[str, Any, Any]] = []
    if calls:
        found.append(("agent", {"role": "model", "parts": calls}, None))
    if answers:
        found.append(("agent", {"role": "user", "parts": answers}, None))
    for said in between.items("intermediate_responses"):
        if not isinstance(said, list) or len(said) != 2 or not isinstance(said[0], str):
            refuse(between.where("intermediate_responses"), "a list of [agent, parts]", said)
        found.append((said[0], {"role": "model", "parts": said[1]}, None))
    return found


def _message(turn: Fields) -> Any:
    content = turn.get("user_content")
    if content is None:
        raise SessionFormatError(f"{turn.place} has no field 'user_content'")
    return content
