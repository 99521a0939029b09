"""Whether a run that was read from a document of unknown origin is one: every field of the type that others rely on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from adknb.core.content import Content, Part
from adknb.core.errors import SessionFormatError
from adknb.core.json_values import fault
from adknb.core.requests import LlmResponse, Request
from adknb.core.run import Run, Status, StepRun
from adknb.core.usage import Usage
from adknb.sessions.json_fields import LATEST, shown, with_finite_numbers

_MOMENTS: Final = ("before", "step", "after")


def check_run(run: Run) -> None:
    """Raise `SessionFormatError` for the first field that is not what it must be. Reads all of the run."""
    place = f"run {shown(run.id)}"
    _texts(
        place, id=run.id, invocation_id=run.invocation_id, rules=run.rules, strategy=run.strategy, label=run.label,
        temp_keys=run.temp_keys, user_id=run.user_id,
    )  # fmt: skip
    _notes(place, run.notes)
    _numbers(place, turn=run.turn, start=run.start, max_llm_calls=run.config.max_llm_calls)
    _amount(f"{place}: ms", run.ms)
    _status(place, run.status)
    _json(f"{place}: start_state", _object(f"{place}: start_state", run.start_state))
    _counts(f"{place}: asked", _object(f"{place}: asked", run.asked))
    _flags(place, stale=run.stale, streaming=run.config.streaming)
    _content(f"{place}: message", run.message)
    for event in run.turn_events:
        _content(f"{place}: event {shown(event.id)}", event.content)
        _json(f"{place}: event {shown(event.id)}", event.to_dict())
        _texts(place, author=event.author, event=event.id)
        _maybe_texts(place, branch=event.branch)
        _amount(f"{place}: event {shown(event.id)}", event.timestamp, LATEST)
    for step in run.step_runs:
        _step(f"{place}: step {shown(step.agent.name)}", step)
    for entry in run.journal:
        _texts(place, path=entry.path)
        if entry.moment not in _MOMENTS:
            raise SessionFormatError(f"{place}: the journal has the moment {shown(entry.moment)}")


def _step(place: str, step: StepRun) -> None:
    _texts(place, agent=step.agent.name, partial=step.partial)
    _notes(place, step.notes)
    _maybe_texts(place, branch=step.branch)
    _numbers(place, number=step.number, start=step.start, stop=step.stop)
    _amount(f"{place}: ms", step.ms)
    _status(place, step.status)
    _flags(place, replayed=step.replayed, repeated=step.repeated)
    for number, request in enumerate(step.requests, 1):
        _request(f"{place}: request {number}", request)


def _request(place: str, request: Request) -> None:
    sent = request.sent
    _texts(place, agent=sent.agent, model=sent.model)
    _numbers(place, seen=request.seen, ordinal=sent.ordinal, repeat=sent.repeat)
    _amount(f"{place}: ms", request.ms)
    for segment in sent.system:
        _texts(place, text=segment.text, origin=segment.origin)
        _maybe_texts(place, key=segment.key)
    for content in sent.contents:
        _content(place, content)
    _json(f"{place}: tools", sent.tools)
    _json(f"{place}: config", sent.config)
    if any(not isinstance(declaration, dict) for declaration in sent.tools.values()):
        raise SessionFormatError(f"{place}: a tool's declaration is no object")
    if request.reply is not None:
        _reply(f"{place}: reply", request.reply)


def _reply(place: str, reply: LlmResponse) -> None:
    _content(place, reply.content)
    _maybe_texts(
        place, finish_reason=reply.finish_reason, error_code=reply.error_code, note=reply.note,
        error_message=reply.error_message,
    )  # fmt: skip
    _flags(place, partial=reply.partial)
    if isinstance(reply.usage, Usage):
        _counts(f"{place}: usage", reply.usage.to_dict())


def _content(place: str, content: Content | None) -> None:
    if content is None:
        return
    _maybe_texts(place, role=content.role)
    for part in content.parts:
        _part(place, part)


def _part(place: str, part: Part) -> None:
    call, answer, blob = part.function_call, part.function_response, part.inline_data
    code, result = part.executable_code, part.code_execution_result
    _maybe_texts(place, text=part.text)
    if call is not None:
        _texts(place, name=call.name)
        _maybe_texts(place, id=call.id)
        _json(f"{place}: args", _object(f"{place}: args", call.args))
    if answer is not None:
        _texts(place, name=answer.name)
        _maybe_texts(place, id=answer.id)
        _json(f"{place}: response", _object(f"{place}: response", answer.response))
    if blob is not None:
        _texts(place, mime_type=blob.mime_type)
    if code is not None:
        _texts(place, code=code.code, language=code.language)
    if result is not None:
        _texts(place, output=result.output, outcome=result.outcome)


def _maybe_texts(place: str, **fields: Any) -> None:
    _texts(place, **{name: value for name, value in fields.items() if value is not None})


def _texts(place: str, **fields: Any) -> None:
    for name, value in fields.items():
        if not isinstance(value, str):
            raise SessionFormatError(f"{place}: {name} must be text, not {shown(value)}")


def _notes(place: str, notes: Any) -> None:
    if not isinstance(notes, list):
        raise SessionFormatError(f"{place}: notes must be a list, not {shown(notes)}")
    for note in notes:
        _texts(place, note=note)


def _object(place: str, value: Any) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise SessionFormatError(f"{place} must be an object, not {shown(value)}")
    return dict(value)


def _numbers(place: str, **fields: Any) -> None:
    for name, value in fields.items():
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 1 << 62:
            raise SessionFormatError(f"{place}: {name} must be a whole number, not {shown(value)}")


def _counts(place: str, values: dict[Any, Any]) -> None:
    for name, value in values.items():
        _texts(place, name=name)
        _numbers(place, **{name: value})
        if value < 0:
            raise SessionFormatError(f"{place}: {name} is below 0")


def _amount(place: str, value: Any, most: float = 1e18) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise SessionFormatError(f"{place} must be a number from 0 on, not {shown(value)}")


def _flags(place: str, **fields: Any) -> None:
    for name, value in fields.items():
        if not isinstance(value, bool):
            raise SessionFormatError(f"{place}: {name} must be true or false, not {shown(value)}")


def _status(place: str, status: Any) -> None:
    if status not in get_args(Status):
        raise SessionFormatError(f"{place}: there is no status {shown(status)}")


def _json(place: str, value: Any) -> None:
    found = fault(place, with_finite_numbers(value))
    if found is not None:
        raise SessionFormatError(found)
