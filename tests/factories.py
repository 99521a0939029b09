"""Runs built by hand: small, with known numbers, for tests of what shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adknb.core.content import Content
from adknb.core.events import Event, EventActions
from adknb.core.requests import LlmRequest, LlmResponse, Request, Segment
from adknb.core.run import Run, Session, StepRun, Turn
from adknb.core.specs import LlmAgent, SequentialAgent
from adknb.core.usage import Usage

TRIAGE = '{"category": "billing", "urgency": 2, "summary": "Charged twice"}'
DRAFT = "We are looking into the second charge and will write to you by Friday."


def event(author: str, text: str | None = None, delta: dict[str, Any] | None = None, turn: str = "turn-1") -> Event:
    """An event with one text part, or with none."""
    content = None if text is None else Content("user" if author == "user" else "model", (Content.user(text).parts[0],))
    return Event(author, content, EventActions(state_delta=dict(delta or {})), invocation_id=turn, timestamp=0.0)


def request(
    agent: str,
    system: Sequence[Segment],
    sources: Sequence[Event],
    seen: int,
    reply: str = "",
    usage: Usage | None = None,
    note: str | None = "scripted: ignores your prompt",
    model: str = "scripted",
) -> Request:
    """A request that carries its sources' contents as they are."""
    contents = [source.content for source in sources if source.content is not None]
    sent = LlmRequest(agent, model, list(system), contents, list(sources))
    return Request(sent, seen, LlmResponse(Content.model(reply), usage, note=note), ms=1.5)


def ticket() -> SequentialAgent:
    return SequentialAgent(
        name="ticket",
        sub_agents=(
            LlmAgent(name="TriageAgent", instruction="Classify.", output_key="triage"),
            LlmAgent(name="DraftAgent", instruction="Answer: {triage}", output_key="draft"),
        ),
    )


def ticket_run(
    session: Session | None = None,
    turn: str = "turn-1",
    triage_writes: bool = True,
    usage: Usage | None = None,
    temp_keys: str = "discard",
) -> Run:
    """Two steps; DraftAgent is sent the triage twice: by key and as history.

    Without `triage_writes` TriageAgent says its piece but writes nothing, so DraftAgent reads what the state held.
    """
    session = session or Session("s1", state={"user:tier": "gold"})
    root = ticket()
    start_state = {key: value for key, value in session.state.items() if not key.startswith("temp:")}
    run = Run(root, session, Content.user("Charged twice."), start_state, temp_keys=temp_keys)
    run.id, run.invocation_id, run.ms = f"run-{turn}", turn, 12.5
    run.turn, run.start = len(session.chain), len(session.history)
    run.previous = session.chain[-1] if session.chain else None
    message = event("user", "Charged twice.", turn=turn)
    triage = event("TriageAgent", TRIAGE, {"triage": TRIAGE, "temp:ok": True} if triage_writes else {}, turn)
    draft = event("DraftAgent", DRAFT, {"draft": DRAFT}, turn)
    known = TRIAGE if triage_writes else session.state.get("triage", "")
    first = StepRun(root.sub_agents[0], 1, None, start=1, stop=2, status="completed", ms=2.0)
    first.events = [triage]
    first.requests = [
        request("TriageAgent", [Segment("Classify.", "instruction")], [message], seen=1, reply=TRIAGE, usage=usage)
    ]
    second = StepRun(root.sub_agents[1], 1, None, start=2, stop=3, status="completed", ms=4.25)
    second.events = [draft]
    system = [Segment("Answer: ", "instruction"), Segment(known, "state", "triage")]
    second.requests = [request("DraftAgent", system, [message, triage], seen=2, reply=DRAFT)]
    run.turn_events = [message, triage, draft]
    run.step_runs = [first, second]
    run.status = "completed"
    session.events.extend(run.turn_events)
    session.history.extend(run.turn_events)
    session.chain.append(Turn(run, run.lead, run.previous))
    for each in run.turn_events:
        session.state.update(each.actions.state_delta)
    if temp_keys == "discard":
        session.state.pop("temp:ok", None)
    return run
