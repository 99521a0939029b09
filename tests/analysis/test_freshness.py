"""Who wrote what, who read it, and whether it was from this turn."""

from adknb import LlmAgent, LoopAgent, Runner, ScriptedModel, SequentialAgent
from adknb.analysis.freshness import Ledger
from adknb.core.content import Content
from adknb.core.run import Session
from tests.factories import ticket_run


def test_a_read_knows_the_write_that_it_saw() -> None:
    ledger = Ledger(ticket_run())
    assert [(write.key, write.step, write.number, write.turn) for write in ledger.writes] == [
        ("triage", "TriageAgent", 2, 1), ("temp:ok", "TriageAgent", 2, 1), ("draft", "DraftAgent", 3, 1)
    ]  # fmt: skip
    [read] = ledger.reads
    assert (read.key, read.step.name, read.request, read.age, read.stale) == ("triage", "DraftAgent", 1, "", False)
    assert read.write is ledger.writes[0]


def test_a_value_of_an_earlier_turn_is_stale_for_who_reads_it() -> None:
    session = Session("s")
    ticket_run(session)
    ledger = Ledger(ticket_run(session, "turn-2", triage_writes=False))
    assert (ledger.turn, ledger.first, len(ledger.events)) == (2, 3, 6)
    [read] = ledger.reads
    assert (read.age, read.stale) == ("stale: turn 1", True)
    assert ledger.stale_reads() == {"triage": "stale: turn 1"}
    assert ledger.stale_reads(ledger.run.step_runs[0]) == {}
    assert ledger.freshness("triage") == "stale: turn 1"
    assert ledger.freshness("draft") == "fresh"


def test_a_preset_value_is_not_fresh_and_not_stale() -> None:
    session = Session("s", state={"triage": "given"})
    ledger = Ledger(ticket_run(session, triage_writes=False))
    [read] = ledger.reads
    assert (read.write, read.age, read.stale) == (None, "preset", False)
    assert ledger.freshness("triage") == "preset"


def test_an_old_value_that_nobody_reads_is_no_hazard() -> None:
    session = Session("s")
    first = ticket_run(session)
    first.turn_events[1].actions.state_delta["aside"] = 1
    session.state["aside"] = 1
    ledger = Ledger(ticket_run(session, "turn-2"))
    assert ledger.freshness("aside") == "turn 1, not read"


def test_a_kept_temp_key_says_that_it_should_be_gone() -> None:
    reader = LlmAgent(name="Reader", instruction="{temp:note?}")
    runner = Runner(reader, model=ScriptedModel({"Reader": ["a", "b"]}), temp_keys="keep")
    first = runner.run("Hello.", state={"x": 1})
    first.session.state["temp:note"] = "old"
    first.turn_events[0].actions.state_delta["temp:note"] = "old"
    ledger = Ledger(runner.run("Again.", session=first.session))
    assert ledger.stale_reads() == {"temp:note": "stale: turn 1 (a temp: key that should be gone)"}


def test_a_stale_read_stays_one_when_the_key_is_written_afterwards() -> None:
    first_then_writer = SequentialAgent(
        name="seq", sub_agents=(LlmAgent(name="Reader", instruction="{k?}"), LlmAgent(name="Writer", output_key="k"))
    )
    runner = Runner(first_then_writer, model=ScriptedModel({"Reader": ["r1", "r2"], "Writer": ["w1", "w2"]}))
    first = runner.run("One.")
    assert Ledger(first).reads == []
    second = Ledger(runner.run("Two.", session=first.session))
    assert second.stale_reads() == {"k": "stale: turn 1"}
    assert second.freshness("k") == "fresh, read stale: turn 1"
    write = second.last_write("k")
    assert write is not None
    assert (write.old, write.value, write.turn) == ("w1", "w2", 2)


def test_the_second_execution_of_an_agent_is_another_step() -> None:
    agent = LlmAgent(name="A", instruction="{k?}", output_key="k")
    loop = LoopAgent(name="loop", max_iterations=2, sub_agents=(agent,))
    ledger = Ledger(Runner(loop, model=ScriptedModel({"A": ["one", "two"]})).run("Go."))
    assert [write.step for write in ledger.writes] == ["A#1", "A#2"]
    assert ledger.readers("k") == ["A#2"]
    assert ledger.readers_of(ledger.run.step_runs[0]) == ["A#2"]
    assert ledger.readers_of(ledger.run.step_runs[0], "other") == []


def test_a_cleared_key_is_removed_from_the_state() -> None:
    runner = Runner(LlmAgent(name="A", output_key="k"), model=ScriptedModel({"A": ["one", Content("model", ())]}))
    first = runner.run("One.")
    ledger = Ledger(runner.run("Two.", session=first.session, clear=["k"]))
    assert ledger.state == {}
    removal = ledger.writes[-1]
    assert (removal.key, removal.removed, removal.old, removal.value, removal.step) == ("k", True, "one", None, "user")
