"""The Run that a step leaves: what earlier steps of the same workflow wrote is fresh in it."""

from __future__ import annotations

from adknb import LlmAgent, ScriptedModel, SequentialWorkflow, Step
from adknb.analysis.freshness import Ledger


def test_what_an_earlier_step_wrote_is_fresh() -> None:
    model = ScriptedModel({"One": ["first"], "Two": ["second"]})
    one = LlmAgent(name="One", instruction="Say it.", output_key="said")
    two = LlmAgent(name="Two", instruction="Read {said}, {one_output} and {given}.")
    workflow = SequentialWorkflow([Step(name="one", agent=one), Step(name="two", agent=two)], model=model)
    run = workflow.run("go", {"given": "before"}).run_of("two")
    ledger = Ledger(run)
    assert {read.key: read.age for read in ledger.reads} == {"said": "", "one_output": "", "given": "preset"}
    assert ledger.stale_reads() == {}
    assert (ledger.freshness("said"), ledger.freshness("two_output")) == ("fresh", "fresh")
    assert "stale" not in str(run)
