"""The stored conversation that comes with the package."""

from __future__ import annotations

from adknb import Session, adopt, compare_prompts, read_adk_json
from adknb.examples.stored_ticket import stored_ticket
from adknb.examples.ticket import ticket_pipeline


def test_the_stored_conversation_is_adopted() -> None:
    session = adopt(read_adk_json(stored_ticket()), ticket_pipeline())
    assert [(run.status, run.output, len(run.step_runs)) for run in session.turns] == [("completed", "APPROVE", 3)] * 2
    second = session.turns[1]
    assert second.steps["input_tokens"].tolist() == [205, 259, 321]
    assert second.step("PolicyCheckAgent").notes == []
    assert "user:tier is shown as it was stored last" in second.step("DraftAgent").notes[0]
    assert compare_prompts(second).headline == (
        "PolicyCheckAgent is sent the values of triage and draft twice (51 tokens); NONE would save 117 of 253 tokens (46 %)."
    )
    assert session.notes[0].endswith("google-adk itself still sees: finish_reason (6), model_version (6)")
    assert "adknb&#x27;s events have no field" in session.to_html()


def test_the_card_of_events_alone_says_how_they_come_to_runs() -> None:
    read = read_adk_json(stored_ticket())
    for shown in (str(read), read.to_html()):
        assert "Its events have no runs: adopt(session, agents) makes one of each turn." in shown
    assert "have no runs" not in str(adopt(read, ticket_pipeline()))
    assert "have no runs" not in Session("empty").to_html()
