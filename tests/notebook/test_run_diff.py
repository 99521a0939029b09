"""Two runs beside each other: the parts, the table, and the card in both forms."""

from dataclasses import replace

from adknb import LlmAgent, Run, Runner, ScriptedModel
from adknb.core.state import REMOVED
from adknb.notebook.pipelines import AgentCell, AgentOptions, Pipeline
from adknb.notebook.results import RunDiff
from adknb.notebook.run_diff import Part, run_parts, step_diffs
from tests.factories import DRAFT
from tests.notebook.pipelines import run_of, ticket
from tests.notebook.test_cards import Reading


def edited() -> Pipeline:
    """The ticket pipeline with a shorter draft, and a fourth agent."""
    triage, draft, check = ticket().agents
    draft = replace(draft, prompt=draft.prompt.replace("120", "60"))
    return Pipeline("ticket", (triage, draft, AgentCell("ToneAgent", "Tone: {draft}", AgentOptions(key="tone")), check))


def before_and_after() -> tuple[Run, Run]:
    before = run_of(ticket(), state={"user:tier": "gold"}, id="one")
    return before, run_of(edited(), draft="We will write by Friday.", state={"user:tier": "silver"}, id="two")


def test_steps_stand_in_the_first_runs_order_and_new_ones_after_their_predecessor() -> None:
    before, after = before_and_after()
    assert [step.name for step in step_diffs(before, after)] == ["TriageAgent", "DraftAgent", "ToneAgent", "CheckAgent"]
    assert [step.name for step in step_diffs(after, before)] == ["TriageAgent", "DraftAgent", "ToneAgent", "CheckAgent"]


def test_what_changed_in_each_step() -> None:
    triage, draft, tone, check = step_diffs(*before_and_after())
    assert triage.changed == []
    assert [(part.name, part.key) for part in draft.changed] == [
        ("system instruction", ""), ("reply", ""), ("state", "draft"), ("tokens out", ""),
    ]  # fmt: skip
    assert draft.part("reply") == Part("reply", DRAFT, "We will write by Friday.")
    assert draft.part("tokens out").difference == -9
    assert tone.alone is tone.after
    assert [(part.name, part.change) for part in tone.parts] == [
        ("status", "added"), ("system instruction", "added"), ("history", "added"), ("model", "added"),
        ("reply", "added"), ("state", "added"), ("tokens in", "added"), ("tokens out", "added"),
    ]  # fmt: skip
    assert [part.name for part in check.changed] == ["system instruction", "history", "tokens in"]


def test_what_the_runs_differ_in_as_a_whole() -> None:
    changed = [part for part in run_parts(*before_and_after()) if part.change != "same"]
    assert changed[:2] == [
        Part("steps", "TriageAgent, DraftAgent, CheckAgent", "TriageAgent, DraftAgent, ToneAgent, CheckAgent"),
        Part("start state", "gold", "silver", "user:tier"),
    ]
    assert [part.name for part in changed[2:]] == ["tokens in", "tokens out"]


def test_the_table_has_a_row_a_part() -> None:
    before, after = before_and_after()
    table = RunDiff(before, after).to_frame()
    assert list(table.columns) == ["step", "part", "key", "request", "change", "before", "after", "difference"]
    reply = table[(table.step == "DraftAgent") & (table.part == "reply")].iloc[0]
    assert (reply.change, reply.before, reply.after) == ("changed", DRAFT, "We will write by Friday.")
    totals = table[(table.step == "") & (table.part == "tokens out")].iloc[0]
    assert totals.difference == totals.after - totals.before == 8 - 15 - 2 + 2
    assert (table.change == "same").sum() == 22


def test_a_run_is_the_same_as_itself() -> None:
    run = run_of(ticket(), id="one")
    assert set(RunDiff(run, run).to_frame().change) == {"same"}
    assert str(RunDiff(run, run)) == (
        "Runs one and one · every step is the same · tokens in 226, tokens out 39\n"
        "--- TriageAgent · the same · tokens in 45, tokens out 21\n"
        "--- DraftAgent · the same · tokens in 86, tokens out 15\n"
        "--- CheckAgent · the same · tokens in 95, tokens out 3"
    )


def test_the_card_as_text() -> None:
    assert (
        str(RunDiff(*before_and_after()))
        == """\
Runs one and two · 3 of 4 steps differ · tokens in 227 → 290 (+63), tokens out 39 → 32 (-7)
[-only in one-] {+only in two+}
--- The runs as a whole
  steps:
    TriageAgent, DraftAgent,{+ ToneAgent,+} CheckAgent
  start state user:tier: [-gold-]{+silver+}
--- TriageAgent · the same · tokens in 45, tokens out 21
--- DraftAgent · differs in system instruction, reply, state · tokens in 87, tokens out 15 → 6 (-9)
  system instruction:
    Triage result: {"category": "billing", "urgency": 2, "summary": "Charged twice"}
    Customer tier: [-gold-]{+silver+}
    Draft a reply of at most [-120-]{+60+} words.

    You are an agent. Your internal name is "DraftAgent".
  reply:
    We[- are looking into the second charge and-] will write[- to you-] by Friday.
  state draft: as the reply
--- ToneAgent · only in run two · completed · tokens in 70, tokens out 2
  reply: {+Fine.+}
  state tone: as the reply
--- CheckAgent · differs in system instruction, history · tokens in 95 → 88 (-7), tokens out 3
  system instruction:
    Draft: We[- are looking into the second charge and-] will write[- to you-] by Friday.
    Reply APPROVE or REJECT.

    You are an agent. Your internal name is "CheckAgent".
  history:
    user, by user:
    Charged twice.
    user, by TriageAgent:
    For context:
    [TriageAgent] said: {"category": "billing", "urgency": 2, "summary": "Charged twice"}
    user, by DraftAgent:
    For context:
    [DraftAgent] said: We[- are looking into the second charge and-] will write[- to you-] by
    Friday.
    {+user, by ToneAgent:
    For context:
    [ToneAgent] said: Fine.+}"""
    )


def test_both_forms_say_the_same() -> None:
    diff = RunDiff(*before_and_after())
    shown = Reading(diff.to_html()).text
    for words in (
        "3 of 4 steps differ",
        "ToneAgent · only in run two",
        "TriageAgent · the same",
        "−gold+silver",
        "+Fine.",
    ):
        assert words in shown


def test_a_state_key_that_only_one_run_wrote_and_one_that_was_removed() -> None:
    agent = LlmAgent(name="A", output_key="k")
    before, after = (Runner(agent, model=ScriptedModel({"A": ["x"]})).run("Hi.") for _ in range(2))
    after.turn_events[-1].actions.state_delta.clear()
    after.turn_events[-1].actions.state_delta["gone"] = REMOVED
    (step,) = step_diffs(before, after)
    assert [part for part in step.changed if part.name == "state"] == [
        Part("state", "x", None, "k"), Part("state", None, "(key removed)", "gone"),
    ]  # fmt: skip


def test_an_error_and_a_second_request_are_parts_too() -> None:
    run, other = run_of(ticket(), id="one"), run_of(ticket(), id="two")
    other.step_runs[0].error = ValueError("no model")
    other.step_runs[0].requests.append(other.step_runs[1].requests[0])
    triage = step_diffs(run, other)[0]
    assert triage.part("error") == Part("error", None, "ValueError: no model")
    assert [(part.name, part.request) for part in triage.changed if part.request == 2] == [
        ("system instruction", 2), ("history", 2), ("model", 2)
    ]  # fmt: skip
    assert "  error: {+ValueError: no model+}" in str(RunDiff(run, other))
    assert "  history, request 2:\n" in str(RunDiff(run, other))
