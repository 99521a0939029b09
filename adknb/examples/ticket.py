"""The three-step support pipeline of the first lesson: triage a ticket, draft a reply, check it against policy."""

from __future__ import annotations

import json
from typing import Any, Final

from adknb.core.content import Content
from adknb.core.requests import LlmResponse
from adknb.core.specs import LlmAgent, SequentialAgent
from adknb.models.scripted import ScriptedModel
from adknb.runtime.callbacks import CallbackContext

MESSAGE: Final = "I was charged twice for September."
ESCALATION: Final = "ESCALATE: triage output was missing or malformed"
NOTE: Final = "written for this lesson: ignores your prompt"
"""What every table says beside a reply of `scripted_replies`."""

REPLIES: Final = {
    "TriageAgent": '{"category": "billing", "urgency": 2, "summary": "Charged twice for September."}',
    "DraftAgent": "We are sorry about the double charge. Billing is looking into it and will write to you today.",
    "PolicyCheckAgent": "APPROVE",
}


def ticket_pipeline(*, guarded: bool = False) -> SequentialAgent:
    """The pipeline, new each time; with `guarded`, `require_triage` stands before DraftAgent."""
    triage = LlmAgent(
        name="TriageAgent",
        description="Classifies a support ticket.",
        instruction="Classify the customer's message. Reply with JSON only:\n"
        '{"category": "billing|outage|account|other", "urgency": 1-3, "summary": "<one sentence>"}',
        output_key="triage",
    )
    draft = LlmAgent(
        name="DraftAgent",
        description="Drafts a reply from the triage result.",
        instruction="You write replies for the support team.\n"
        "Triage result: {triage}\n"
        "Known customer tier: {user:tier?}\n"
        "Draft a reply of at most 120 words. Do not promise refunds.",
        output_key="draft",
        before_agent_callback=require_triage if guarded else (),
    )
    policy = LlmAgent(
        name="PolicyCheckAgent",
        description="Checks the draft against policy.",
        instruction="Triage: {triage}\nDraft: {draft}\nReply APPROVE or REJECT: <reason>. Reject any refund promise.",
        output_key="verdict",
    )
    return SequentialAgent(
        name="ticket_pipeline",
        description="Triage, draft, then policy-check a support reply.",
        sub_agents=[triage, draft, policy],
    )


def require_triage(context: CallbackContext) -> Content | None:
    """Let DraftAgent run only on a triage that has a category and a summary.

    Otherwise its model is not asked, and so its output_key is not written: `draft` must be written here, because the
    policy step requires it.
    """
    try:
        triage: Any = json.loads(context.text_of(context.state.get("triage")))
    except ValueError:
        triage = None
    whole = isinstance(triage, dict) and triage.get("category") is not None and triage.get("summary") is not None
    context.state["temp:triage_ok"] = whole
    if whole:
        return None
    context.state["draft"] = ESCALATION
    return Content.model(ESCALATION)


def scripted_replies() -> ScriptedModel:
    """One reply for each agent, written for `MESSAGE`. Every table says so, row by row, with `NOTE`."""
    return ScriptedModel({agent: [LlmResponse(Content.model(reply), note=NOTE)] for agent, reply in REPLIES.items()})
