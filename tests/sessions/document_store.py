"""A store as a database has it, in dicts: the log as JSON, and the documents of runs; and how a run is told from another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from adknb.core.events import Event
from adknb.core.requests import Request
from adknb.core.run import JournalEntry, Run, Session, StepRun, Turn
from adknb.core.state import TEMP_PREFIX
from adknb.runtime.turns import fold
from adknb.sessions.agent_documents import agent_document
from adknb.sessions.error_documents import error_document
from adknb.sessions.memory import InMemorySessionService
from adknb.sessions.run_documents import Changes, RunDocuments
from adknb.sessions.run_reader import RunPart


@dataclass
class Disk:
    """What would be on the disk. `chain` names each turn's run."""

    log: list[str] = field(default_factory=list)
    parts: dict[tuple[str, str, int], str] = field(default_factory=dict)
    blobs: dict[str, str] = field(default_factory=dict)
    chain: list[str] = field(default_factory=list)

    def copy(self) -> Disk:
        return Disk(list(self.log), dict(self.parts), dict(self.blobs), list(self.chain))

    def read(self) -> tuple[Session, dict[str, Run]]:
        """The session and all its runs, as another process would find them."""
        session = Session("s", user_id="user-42")
        session.events = [Event.from_dict(json.loads(line)) for line in self.log]
        parts = [RunPart(*key, data) for key, data in self.parts.items()]
        runs = RunDocuments().read_runs(parts, self.blobs, session, {event.id: event for event in session.events})
        for name in self.chain:
            run = runs[name]
            session.chain.append(Turn(run, run.lead, run.previous))
            session.history.extend([*run.lead, *run.turn_events])
        if session.chain:
            last = session.chain[-1].run
            session.state.update(fold(last.start_state, last.turn_events))
        return session, runs


class DocumentStore(InMemorySessionService):
    """Writes what a database would write, and keeps a copy of the disk after every event when asked to."""

    def __init__(self, copies: bool = False) -> None:
        super().__init__()
        self.disk = Disk()
        self.documents = RunDocuments()
        self.deaths: list[Disk] = []
        self.written: list[Changes] = []
        self._copies = copies

    async def append_event(self, session: Session, event: Event) -> Event:
        run = session.under_way
        if run is not None:
            self._write(run, [event])
        if not session.is_copy:
            self.disk.log.append(json.dumps(stored_event(event)))
            if run is not None:
                self.disk.chain[run.turn :] = [run.id]
        await super().append_event(session, event)
        if self._copies:
            self.deaths.append(self.disk.copy())
        return event

    async def save(self, session: Session) -> None:
        for run in session.turns:
            self._write(run)
        if not session.is_copy:
            self.disk.chain[:] = [run.id for run in session.turns]

    def _write(self, run: Run, coming: Sequence[Event] = ()) -> None:
        changes = self.documents.changes(run, coming)
        self.disk.parts.update({part[:3]: part.data for part in changes.parts})
        self.disk.blobs.update(changes.blobs)
        self.documents.stored(run, changes)
        self.written.append(changes)


def stored_event(event: Event) -> dict[str, Any]:
    data = event.to_dict()
    data["state_delta"] = {key: value for key, value in data["state_delta"].items() if not key.startswith(TEMP_PREFIX)}
    return data


def request_data(request: Request) -> dict[str, Any]:
    """Everything of a request, contents and replies by value, sources by id."""
    sent, reply = request.sent, request.reply
    return {
        "sent": [
            sent.agent, sent.model, sent.system, [content.to_dict() for content in sent.contents],
            [source.id if source is not None else None for source in sent.sources],
            sent.tools, sent.config, sent.ordinal, sent.repeat,
        ],
        "seen": request.seen,
        "ms": request.ms,
        "reply": None
        if reply is None
        else [
            reply.content.to_dict() if reply.content is not None else None, reply.usage, reply.partial,
            reply.finish_reason, reply.error_code, reply.error_message, reply.note,
        ],
    }  # fmt: skip


def step_data(step: StepRun) -> dict[str, Any]:
    return {
        "agent": agent_document(step.agent),
        "name": step.name,
        "fields": [step.number, step.branch, step.start, step.stop, step.status, step.ms, step.replayed, step.repeated],
        "notes": step.notes,
        "error": error_document(step.error),
        "events": [event.id for event in step.events],
        "requests": [request_data(request) for request in step.requests],
    }


def entry_data(entry: JournalEntry, run: Run) -> dict[str, Any]:
    places = {id(step): place for place, step in enumerate(run.step_runs)}
    return {
        "path": [entry.path, entry.moment],
        "events": [event.id for event in entry.events],
        "steps": [places[id(step)] for step in entry.steps],
    }


def run_data(run: Run) -> dict[str, Any]:
    """Everything of a run, but for `temp:` keys, which nobody stores."""
    return {
        "root": agent_document(run.root),
        "session": [run.session.id, run.session.is_copy],
        "message": run.message.to_dict(),
        "start_state": {key: value for key, value in run.start_state.items() if not key.startswith(TEMP_PREFIX)},
        "place": [run.turn, run.start, run.previous.run.id if run.previous is not None else None],
        "lead": [event.id for event in run.lead],
        "past": [stored_event(event) for event in run.past],
        "asked": dict(run.asked),
        "fields": [run.rules, run.strategy, run.temp_keys, run.config, run.user_id, run.label, run.stale, run.since],
        "parent": run.parent.id if run.parent is not None else None,
        "ids": [run.id, run.invocation_id],
        "status": run.status,
        "error": error_document(run.error),
        "events": [stored_event(event) for event in run.turn_events],
        "steps": [step_data(step) for step in run.step_runs],
        "journal": [entry_data(entry, run) for entry in run.journal],
        "notes": run.notes,
        "ms": run.ms,
    }
