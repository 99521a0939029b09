"""The explorer without a browser: what it looks at, what it does on the bench, and what it refuses."""

from dataclasses import replace

import pytest

from adknb import AdknbError, LlmAgent, ModelError, Run, Runner, ScriptedModel
from adknb.core.errors import RunStateError, SpecError
from adknb.notebook.explorer.drafts import Stretch
from adknb.notebook.explorer.explorer import Explorer
from tests.factories import TRIAGE
from tests.notebook.explored import MESSAGE, explored, ticket_bench
from tests.notebook.pipelines import DRAFT_PROMPT

SHORT = "Triage: {triage}\nOne sentence."


def prompt_of(run: Run, step: str) -> str:
    text = run.step(step).requests[0].sent.system_instruction or ""
    return text.partition("\n\nYou are an agent.")[0]


def allowed(explorer: Explorer) -> list[str]:
    return [name for name, may in explorer.may().items() if may]


def test_before_the_first_run_the_first_agent_is_selected_and_only_a_start_makes_sense() -> None:
    explorer = Explorer(ticket_bench(), "ticket")
    assert (explorer.selected, explorer.run, explorer.step) == ("TriageAgent", None, None)
    assert allowed(explorer) == ["undo", "start"]


def test_a_start_is_a_run_of_the_bench() -> None:
    explorer = explored()
    assert explorer.run is explorer.bench.last
    assert explorer.run is not None
    assert explorer.run.message.text == MESSAGE
    assert explorer.notice == f"Run: run {explorer.run.id}, completed."
    assert allowed(explorer) == ["run_from_here", "rewind", "undo", "start"]


def test_an_edit_runs_from_here_and_leaves_the_agent_as_it_is() -> None:
    explorer = explored()
    before = explorer.run
    explorer.edit(SHORT)
    after = explorer.run_from_here()
    assert prompt_of(after, "DraftAgent") == "Triage: " + TRIAGE + "\nOne sentence."
    assert [step.replayed for step in after.step_runs] == [True, False, False]
    assert explorer.compared == (before, after)
    assert explorer.bench.pipeline("ticket")["DraftAgent"].prompt == DRAFT_PROMPT
    assert (explorer.run, explorer.selected, explorer.draft) == (after, "DraftAgent", SHORT)


def test_run_from_here_without_an_edit_takes_the_pipeline_as_it_is_written() -> None:
    explorer = explored()
    agent = explorer.bench.pipeline("ticket")["DraftAgent"]
    explorer.bench.put_agent("ticket", "DraftAgent", "Now: {triage}", agent.options)
    assert prompt_of(explorer.run_from_here(), "DraftAgent") == "Now: " + TRIAGE


def test_the_switched_strategy_holds_from_here_on() -> None:
    explorer = explored()
    explorer.switch_strategy("none")
    run = explorer.run_from_here()
    assert (run.strategy, run.label) == ("none", "mixed")


def test_an_edit_is_tried_on_one_step_of_a_copy() -> None:
    explorer = explored()
    first = explorer.run
    assert first is not None
    explorer.edit(SHORT)
    tried = explorer.try_edit()
    assert [step.name for step in tried.step_runs] == ["TriageAgent", "DraftAgent"]
    assert explorer.record is not None
    assert explorer.record.trial
    assert first.session.turns == [first]


def test_an_accepted_edit_is_the_agents_prompt_and_its_cells_text() -> None:
    explorer = explored()
    explorer.edit(SHORT)
    assert explorer.accept_edit() == (
        "%%agent DraftAgent --key draft --before-agent require_triage --pipeline ticket\n"
        "Triage: {triage}\nOne sentence."
    )
    assert explorer.bench.pipeline("ticket")["DraftAgent"].prompt == SHORT
    assert (explorer.draft, explorer.prompt) == (None, SHORT)
    explorer.undo()
    assert explorer.bench.pipeline("ticket")["DraftAgent"].prompt == DRAFT_PROMPT
    assert explorer.cell == ""


def test_an_accepted_edit_of_a_prompt_in_a_file_is_in_the_cell_from_then_on(tmp_path: object) -> None:
    explorer = explored()
    known = explorer.bench.pipeline("ticket")["DraftAgent"]
    explorer.edit(SHORT)
    explorer.bench.put_agent("ticket", "DraftAgent", "", replace(known.options, prompt_file=f"{tmp_path}/draft.md"))
    explorer.accept_edit()
    assert explorer.bench.pipeline("ticket")["DraftAgent"].options.prompt_file is None


def test_typing_the_written_prompt_again_is_no_edit() -> None:
    explorer = explored()
    explorer.edit(SHORT)
    explorer.edit(DRAFT_PROMPT)
    assert explorer.draft is None


def test_lint_and_placeholders_of_a_draft() -> None:
    read = explored().edit("{triage} {x?} {nobody} {plain: 1}")
    assert read.stretches == (
        Stretch("{triage}", "placeholder"), Stretch(" ", "text"), Stretch("{x?}", "optional"), Stretch(" ", "text"),
        Stretch("{nobody}", "unknown"), Stretch(" {plain: 1}", "text"),
    )  # fmt: skip
    assert [(finding.code, finding.severity) for finding in read.findings][:1] == [("nobody-writes", "warning")]


def test_rewind_then_step_then_run_to_the_end() -> None:
    explorer = explored()
    explorer.rewind()
    assert explorer.run is not None
    assert [step.name for step in explorer.run.step_runs] == ["TriageAgent"]
    assert explorer.selected == "DraftAgent"
    assert allowed(explorer) == ["step", "run_to_end", "undo", "start"]
    explorer.advance()
    assert [step.name for step in explorer.run.step_runs] == ["TriageAgent", "DraftAgent"]
    explorer.run_to_end()
    assert explorer.run.status == "completed"
    assert explorer.run.output == "APPROVE"


def test_undo_shows_the_run_before() -> None:
    explorer = explored()
    first = explorer.run
    explorer.run_from_here()
    explorer.undo()
    assert explorer.run is first
    assert explorer.compared is None
    explorer.undo()
    assert (explorer.run, explorer.selected) == (None, "DraftAgent")


def test_a_run_made_elsewhere_is_shown_when_it_is_taken_in() -> None:
    explorer = explored()
    made = explorer.bench.run("ticket", "Another message.")
    assert explorer.run is not made
    explorer.refresh()
    assert explorer.run is made
    assert explorer.selected == "DraftAgent"


def test_a_run_of_another_pipeline_changes_nothing() -> None:
    explorer = explored()
    shown = explorer.run
    explorer.bench.put_agent("other", "A", "Say.")
    explorer.bench.use(model="echo")
    explorer.bench.run("other", "Hi.")
    explorer.refresh()
    assert explorer.run is shown


def test_an_older_run_stays_in_sight_while_nothing_new_happens() -> None:
    explorer = explored()
    first = explorer.run
    assert first is not None
    explorer.run_from_here()
    explorer.show(first)
    explorer.refresh()
    assert explorer.run is first


def test_a_failed_run_is_shown_with_its_failed_step() -> None:
    bench = ticket_bench()
    bench.use(model=ScriptedModel({"TriageAgent": [TRIAGE]}))
    explorer = Explorer(bench, "ticket")
    with pytest.raises(ModelError):
        explorer.start(MESSAGE)
    assert explorer.run is not None
    assert (explorer.run.status, explorer.run.step_runs[-1].status) == ("failed", "failed")
    assert "run_to_end" in allowed(explorer)


def test_any_two_runs_are_compared() -> None:
    explorer = explored()
    first = explorer.run
    second = explorer.run_from_here()
    third = explorer.bench.run("ticket", "Another message.")
    assert first is not None
    diff = explorer.compare(first.id, third.id)
    assert (diff.before, diff.after) == (first, third)
    with pytest.raises(RunStateError, match="there is no run 'zz' of 'ticket'"):
        explorer.compare("zz", second.id)


def test_a_run_from_elsewhere_can_be_looked_at_only() -> None:
    bench = ticket_bench()
    run = Runner(LlmAgent(name="A", instruction="Say."), model="echo").run("Hi.")
    explorer = Explorer(bench, "A", run)
    assert (explorer.selected, explorer.prompt) == ("A", "Say.")
    assert not explorer.may()["run_from_here"]
    explorer.refresh()
    assert explorer.run is run
    with pytest.raises(RunStateError, match="is not one of the bench's, so nothing goes on from it"):
        explorer.run_from_here()


def test_an_agent_written_in_python_is_edited_but_not_accepted() -> None:
    bench = ticket_bench()
    bench.namespace["lone"] = LlmAgent(name="lone", instruction="Say.")
    bench.use(model="echo")
    explorer = Explorer(bench, "lone")
    explorer.start("Hi.")
    explorer.edit("Say it.")
    assert prompt_of(explorer.run_from_here(), "lone") == "Say it."
    with pytest.raises(SpecError, match="'lone' is a variable, and its agents are written in Python"):
        explorer.accept_edit()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda explorer: explorer.select("Draft"),
            r"there is no step 'Draft' to select\. Did you mean 'DraftAgent'\?",
        ),
        (lambda explorer: explorer.show_tab("Prompts"), r"has no tab 'Prompts'\. Did you mean 'Prompt'"),
        (lambda explorer: explorer.switch_strategy("nono"), r"there is no strategy 'nono'\. Did you mean 'none'"),
        (lambda explorer: explorer.choose_request(2), r"step 'DraftAgent' has no request 2"),
        (lambda explorer: explorer.accept_edit(), r"the prompt of 'DraftAgent' was not edited"),
        (lambda explorer: explorer.cancel(), r"nothing that can be cancelled is running here"),
    ],
)
def test_mistakes_say_the_way_out(wrong: object, message: str) -> None:
    explorer = explored()
    assert callable(wrong)
    with pytest.raises(AdknbError, match=message):
        wrong(explorer)
    assert (explorer.selected, explorer.tab, explorer.strategy) == ("DraftAgent", "Prompt", "as sent")


def test_a_run_under_way_is_followed_until_another_step_is_selected() -> None:
    explorer = explored()
    done = explorer.bench.run("ticket", "Another message.")
    done.status = "running"
    steps = done.step_runs
    done.step_runs = steps[:1]
    steps[0].status = "running"
    explorer.watch(done, None)
    assert (explorer.run, explorer.selected) == (done, "TriageAgent")
    steps[0].status, steps[1].status, done.step_runs = "completed", "running", steps[:2]
    explorer.watch(done, None)
    assert explorer.selected == "DraftAgent"
    explorer.select("TriageAgent")
    explorer.watch(done, None)
    steps[1].status, steps[2].status, done.step_runs = "completed", "running", steps
    explorer.watch(done, None)
    assert explorer.selected == "TriageAgent"


def test_a_run_under_way_of_another_pipeline_is_not_shown() -> None:
    explorer = explored()
    shown = explorer.run
    explorer.watch(Runner(LlmAgent(name="A", instruction="Say."), model="echo").run("Hi."), None)
    assert explorer.run is shown


def test_a_comparisons_runs_are_shown_only_when_they_are_chosen() -> None:
    explorer = explored()
    shown = explorer.run
    bench = explorer.bench
    made = bench.run("ticket", "Another message.")
    bench.records = (*bench.records[:-1], replace(bench.records[-1], variant="none"))
    explorer.refresh()
    assert explorer.run is shown
    assert made in explorer.runs
    assert shown is not None
    explorer.compare(shown.id, made.id)
    explorer.refresh()
    assert explorer.compared == (shown, made)
