"""An adopted conversation is a session like any other: it is exported, kept in a database, and goes on there."""

from __future__ import annotations

import json
from pathlib import Path

from adknb import DatabaseSessionService, Runner, Session, adopt, export_session, import_session, read_adk_json
from adknb.examples.stored_ticket import stored_ticket
from adknb.examples.ticket import ticket_pipeline
from adknb.runtime.sync import run_sync
from tests.sessions.document_store import run_data


def adopted() -> Session:
    return adopt(read_adk_json(stored_ticket()), ticket_pipeline())


def test_it_is_exported_with_its_runs() -> None:
    session = adopted()
    found = import_session(json.loads(json.dumps(export_session(session))))
    assert [run_data(run) for run in found.turns] == [run_data(run) for run in session.turns]
    assert found.notes == session.notes


def test_it_goes_on_in_a_database(tmp_path: Path) -> None:
    service = DatabaseSessionService(f"sqlite:///{tmp_path}/tickets.db")
    session = adopted()
    kept = run_sync(lambda: service.import_session(session))
    assert [run_data(run) for run in kept.turns] == [run_data(run) for run in session.turns]
    runner = Runner(ticket_pipeline(), model="echo", session_service=service, app_name="support")
    again = runner.run_from(kept.turns[0], "DraftAgent", trial=True)
    assert [(step.name, step.replayed) for step in again.step_runs] == [
        ("TriageAgent", True), ("DraftAgent", False), ("PolicyCheckAgent", False)
    ]  # fmt: skip
    third = runner.run("And now?", session="ticket-1107", user_id="user-42")
    assert (third.turn, third.status, len(third.past)) == (2, "completed", 8)
    service.close()
