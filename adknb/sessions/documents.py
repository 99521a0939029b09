"""A session as one JSON document, and back: adknb's own with its runs, or what ADK's web page saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from adknb.core.errors import AdknbError, SessionFormatError
from adknb.core.events import Event
from adknb.core.run import Run, Session, Turn
from adknb.core.state import APP_PREFIX, TEMP_PREFIX, USER_PREFIX, Scopes
from adknb.sessions.adk_json import adk_kind, adk_session
from adknb.sessions.document_checks import check_run
from adknb.sessions.json_fields import Fields, refuse
from adknb.sessions.json_text import digest
from adknb.sessions.own_event import read_own_event
from adknb.sessions.run_documents import RunDocuments, read_runs
from adknb.sessions.run_reader import RunPart

FORMAT: Final = "adknb session"
VERSION: Final = 1
KINDS: Final = {"session": "ADK session", "eval set": "ADK eval set", "eval case": "ADK eval case"}


def export_session(session: Session, others: Iterable[Run] = ()) -> dict[str, Any]:
    """The session as plain JSON: events, state, turns, every run that a turn is made of or goes back to, and `others`.

    `import_session` reads it. `temp:` keys are left out, and functions and model objects are named only, as in any store.
    """
    documents = RunDocuments()
    parts: dict[tuple[str, str, int], RunPart] = {}
    blobs: dict[str, str] = {}
    for run in runs_of(session, others):
        changes = documents.changes(run)
        documents.stored(run, changes)
        parts.update({part[:3]: part for part in changes.parts})
        blobs.update(changes.blobs)
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": session.id,
        "app_name": session.app_name,
        "user_id": session.user_id,
        "state": _without_temp(session.state),
        "notes": list(session.notes),
        "events": [_event(event) for event in session.events],
        "history": [event.id for event in session.history],
        "turns": [{"run": turn.run.id, "lead": [event.id for event in turn.lead]} for turn in session.chain],
        "parts": [list(part) for part in parts.values()],
        "blobs": blobs,
    }


def document_kind(data: Any) -> str:
    """`adknb session`, `ADK session`, `ADK eval set` or `ADK eval case`. Raises `SessionFormatError` for anything else."""
    if isinstance(data, Mapping):
        if data.get("format") == FORMAT:
            return FORMAT
        kind = adk_kind(data)
        if kind is not None:
            return KINDS[kind]
    raise SessionFormatError(
        "the document is no session: neither adknb's own (export_session) nor one that ADK's web page saved"
    )


def import_session(data: Any, case: str | None = None) -> Session:
    """The session in a document, of adknb's own or of ADK's (`document_kind` says which; `case` names one of an eval set).

    It is in no store yet, and nothing else was changed. Raises `SessionFormatError` that names the place for a document that
    holds no session.
    """
    return read_session(data, case)[0]


def read_session(data: Any, case: str | None = None) -> tuple[Session, list[Run]]:
    """As `import_session`, with all runs of the document: those too that no turn goes back to."""
    kind = document_kind(data)
    if kind != FORMAT:
        return adk_session(data, kind, case), []
    try:
        return _own(Fields(data, ""))
    except SessionFormatError:
        raise
    except (AdknbError, LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        raise SessionFormatError(f"the document's runs cannot be read: {type(error).__name__}: {error}") from error


def _own(fields: Fields) -> tuple[Session, list[Run]]:
    version = fields.count("version")
    if version != VERSION:
        raise SessionFormatError(
            f"the document has the version {version}; this adknb reads version {VERSION}. Update it."
        )
    events = [read_own_event(Fields(item, f"events[{index}]")) for index, item in enumerate(fields.items("events"))]
    known: dict[str, Event] = {}
    for event in events:
        if event.id in known:
            raise SessionFormatError(f"two events have the id {event.id!r}")
        known[event.id] = event
    state = fields.values("state", finite=False)
    session = Session(
        fields.identity("id"), fields.needed_text("app_name"), fields.needed_text("user_id"), state, events,
        scopes=Scopes(_scoped(state, APP_PREFIX), _scoped(state, USER_PREFIX)), notes=fields.texts("notes"),
    )  # fmt: skip
    runs = read_runs(list(_parts(fields)), _blobs(fields), session, known)
    for run in runs.values():
        check_run(run)
    for turn in fields.parts("turns"):
        run = _of(runs, turn.needed_text("run"), turn.where("run"))
        lead = [_of(known, name, turn.where("lead")) for name in turn.texts("lead")]
        session.chain.append(Turn(run, lead, session.chain[-1] if session.chain else None))
    session.history = [_of(known, name, "history") for name in fields.texts("history")]
    return session, list(runs.values())


def _parts(fields: Fields) -> Iterable[RunPart]:
    for index, part in enumerate(fields.items("parts")):
        match part:
            case [str(run), str(name), int(number), str(text)] if not isinstance(number, bool):
                yield RunPart(run, name, number, text)
            case _:
                refuse(f"parts[{index}]", "[run, part, number, JSON]", part)


def _blobs(fields: Fields) -> dict[str, str]:
    blobs = fields.get("blobs")
    if not isinstance(blobs, Mapping):
        refuse("blobs", "an object of texts", blobs)
    for name, text in blobs.items():
        if not isinstance(text, str) or digest(text) != name:
            raise SessionFormatError(f"blobs: the one named {str(name)[:40]!r} is not what its name says")
    return dict(blobs)


def _of(known: Mapping[str, Any], name: str, place: str) -> Any:
    if name not in known:
        raise SessionFormatError(f"{place} names {name[:60]!r}, which is not in the document")
    return known[name]


def runs_of(session: Session, others: Iterable[Run] = ()) -> list[Run]:
    """Each turn's run and `others`, what they go on from, and the turns before them as they were then; what others name
    comes first."""
    found: dict[int, Run] = {}
    seen: set[int] = set()
    waiting = [*others, *(turn.run for turn in session.chain)][::-1]
    while waiting:
        run = waiting[-1]
        if id(run) not in seen:
            seen.add(id(run))
            named = (run.previous.run if run.previous is not None else None, run.parent)
            waiting.extend(each for each in named if each is not None and id(each) not in seen)
        else:
            found[id(run)] = waiting.pop()
    return list(found.values())


def _event(event: Event) -> dict[str, Any]:
    data = event.to_dict()
    data["state_delta"] = _without_temp(data["state_delta"])
    return data


def _without_temp(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if not key.startswith(TEMP_PREFIX)}


def _scoped(state: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {key[len(prefix) :]: value for key, value in state.items() if key.startswith(prefix)}
