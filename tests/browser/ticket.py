"""The notebook of the tests: the ticket pipeline in cells, with replies written in advance."""

from __future__ import annotations

from typing import Final

SETUP: Final = """\
%load_ext adknb
import time
from adknb import ScriptedModel

asked = []


def answer(request):
    asked.append(request.agent)
    text = request.system_instruction
    if request.agent == "TriageAgent":
        return '{"category": "billing", "urgency": 2, "summary": "Charged twice for September."}'
    if request.agent == "DraftAgent":
        if "slowly" in text:
            time.sleep(60)
        return "We are on it." if "one sentence" in text else "We are looking into it and will write to you by Friday."
    return "APPROVE"


replies = ScriptedModel(answer)
%adk use --model replies"""

TRIAGE: Final = """\
%%agent TriageAgent --pipeline ticket --key triage
Classify the customer's message. Reply with JSON only:
{"category": "billing|outage|account|other", "urgency": 1-3, "summary": "<one sentence>"}"""

DRAFT: Final = """\
%%agent DraftAgent --key draft
You write replies for the support team.
Triage result: {triage}
Known customer tier: {user:tier?}
Draft a reply of at most 120 words. Do not promise refunds."""

SHORT_DRAFT: Final = """\
%%agent DraftAgent --key draft
Triage result: {triage}
Draft a reply of one sentence."""

SLOW_DRAFT: Final = """\
%%agent DraftAgent --key draft
Draft a reply slowly: {triage}"""

POLICY: Final = """\
%%agent PolicyCheckAgent --key verdict
Triage: {triage}
Draft: {draft}
Reply APPROVE or REJECT: <reason>. Reject any refund promise."""

RUN: Final = """\
%%pipeline ticket --state user:tier=gold
I was charged twice for September."""

LOOK: Final = [
    "%adk state",
    "%adk steps",
    "%adk prompt PolicyCheckAgent",
    "%adk compare default none",
    "%adk lint",
    "%adk contract",
]

CELLS: Final = [SETUP, TRIAGE, DRAFT, POLICY, RUN, *LOOK]
