"""A bench with the ticket pipeline and written replies, for tests of the explorer."""

from __future__ import annotations

from adknb import ScriptedModel
from adknb.notebook.bench import Bench
from adknb.notebook.explorer.explorer import Explorer
from tests.factories import DRAFT, TRIAGE
from tests.notebook.pipelines import NAMES, ticket
from tests.notebook.test_cards import Reading

MESSAGE = "Charged twice."


def ticket_bench() -> Bench:
    """The ticket pipeline written; nothing has run. CheckAgent approves first, then rejects."""
    bench = Bench(dict(NAMES))
    bench.put_pipelines([ticket()], "ticket: written")
    replies = {"TriageAgent": [TRIAGE] * 9, "DraftAgent": [DRAFT] * 9, "CheckAgent": ["APPROVE"] * 9}
    bench.use(model=ScriptedModel(replies))
    return bench


def explored(bench: Bench | None = None) -> Explorer:
    """An explorer of the ticket pipeline after one run, with DraftAgent selected."""
    explorer = Explorer(bench or ticket_bench(), "ticket")
    explorer.start(MESSAGE)
    explorer.select("DraftAgent")
    return explorer


def words(html: str) -> str:
    """What a reader sees of a piece of HTML."""
    return Reading(html).text
