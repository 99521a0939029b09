"""The ticket pipeline as cells, for tests of what the bench shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from adknb import CallbackContext, Content, Run, Runner, ScriptedModel
from adknb.notebook.pipelines import AgentCell, AgentOptions, Pipeline
from tests.factories import DRAFT, TRIAGE

TRIAGE_PROMPT = 'Classify the message. Reply with JSON only:\n{"category": "billing|other", "urgency": 1-3}'
DRAFT_PROMPT = "Triage result: {triage}\nCustomer tier: {user:tier?}\nDraft a reply of at most 120 words."
CHECK_PROMPT = "Draft: {draft}\nReply APPROVE or REJECT."


def require_triage(callback_context: CallbackContext) -> Content | None:
    """Ends the step when the triage is no JSON."""
    try:
        json.loads(callback_context.state["triage"])
    except ValueError:
        callback_context.state["draft"] = "ESCALATE"
        return Content.model("ESCALATE")
    return None


NAMES: dict[str, Any] = {"require_triage": require_triage}


def ticket() -> Pipeline:
    options = AgentOptions(key="draft", callbacks={"before_agent": ("require_triage",)})
    return Pipeline(
        "ticket",
        (
            AgentCell("TriageAgent", TRIAGE_PROMPT, AgentOptions(key="triage")),
            AgentCell("DraftAgent", DRAFT_PROMPT, options),
            AgentCell("CheckAgent", CHECK_PROMPT, AgentOptions(key="verdict")),
        ),
    )


def run_of(
    pipeline: Pipeline,
    draft: str = DRAFT,
    verdict: str = "APPROVE",
    state: Mapping[str, Any] | None = None,
    id: str = "a",
) -> Run:
    """A run with written replies; an agent that is none of the ticket pipeline's says "Fine."."""
    replies = {name: ["Fine."] for name in pipeline.names()}
    replies |= {"TriageAgent": [TRIAGE], "DraftAgent": [draft], "CheckAgent": [verdict]}
    run = Runner(pipeline.build(NAMES), model=ScriptedModel(replies)).run("Charged twice.", state=state)
    run.id = id
    return run
