"""`%%workflow`, `%workflow`, `%step` and `%adk workflow`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adknb import (
    LlmAgent,
    ModelError,
    ScriptedModel,
    SequentialAgent,
    SequentialWorkflow,
    Step,
    StepFailedError,
    WorkflowResult,
)
from adknb.notebook.command import UsageError
from adknb.notebook.complete import complete
from adknb.notebook.verbs import VERBS
from adknb.notebook.workflow_running import resumable
from tests.notebook.notebook import Notebook

BLOCKS = (Path(__file__).parent / "mistakes_workflow.txt").read_text().removesuffix("\n").split("\n----\n")
MISTAKES = [tuple(block.split("\n→ ")) for block in BLOCKS]
AGENTS = "%%agents p\n%agent A --key a\nSay a.\n%agent B --key b\nSay {a}.\n%agent C --key c\nSay {B_output}"


@pytest.fixture
def begun(notebook: Notebook) -> Notebook:
    notebook.run(AGENTS)
    notebook.names.update(number=3, w=SequentialWorkflow([Step(name="u", agent=str.upper)], name="up"))
    notebook.names["agent_of_mine"] = LlmAgent(name="Mine", instruction="Say it.")
    notebook.run("def of_three(data): return len(data.text) > 3")
    return notebook


def result(notebook: Notebook) -> WorkflowResult:
    newest = notebook.bench.newest
    assert isinstance(newest, WorkflowResult)
    return newest


def asked(found: WorkflowResult, step: str) -> str:
    """The message that a step's agent was sent."""
    return found.run_of(step).message.text


def statuses(found: WorkflowResult) -> dict[str, str]:
    return {outcome.step: outcome.status for outcome in found.outcomes}


def failing(*agents: str, times: int = 1) -> ScriptedModel:
    """Answers as the notebook's model, but fails for these agents so many times."""
    failed = dict.fromkeys(agents, times)

    def answer(request: Any) -> str:
        if failed.get(request.agent):
            failed[request.agent] -= 1
            raise ModelError("503: the model is overloaded")
        return f"{request.agent} says it"

    return ScriptedModel(answer)


def test_each_agent_of_a_pipeline_becomes_a_step(begun: Notebook) -> None:
    shown = begun.run("%%workflow p --out found\nhello\nyou").text
    found = result(begun)
    assert begun.names["found"] is found
    assert [outcome.step for outcome in found.outcomes] == ["A", "B", "C"]
    assert (asked(found, "A"), asked(found, "B"), found.output) == ("hello\nyou", "A says 1", "C says 1")
    assert found.run_of("B").step("B").requests[0].sent.contents[-1].parts[0].text == "A says 1"
    assert f"p: completed · 3 steps · {shown.partition('3 steps · ')[2]}" in shown
    assert "input: hello you" in shown


def test_the_options_are_the_workflow_s_policies(begun: Notebook) -> None:
    begun.run("%%workflow p --budget 5000 --timeout 60 --retry 3 --parallel 2 --share-history --context k:=[1] d=x\nhi")
    made = begun.bench.workflow
    assert made is not None
    policies = made.policies
    assert policies.retry_policy is not None
    assert (policies.timeout, policies.retry_policy.max_attempts, policies.max_parallel, policies.share_history) == (
        60,
        3,
        2,
        True,
    )
    found = result(begun)
    assert (found.limit, found.data.context["k"], found.data.context["d"]) == (5000, [1], "x")
    assert [event.author for event in found.session.events][:3] == ["user", "A", "user"] or found.session.state[
        "k"
    ] == [1]


def test_a_step_line_gives_a_step_its_own_policies(begun: Notebook) -> None:
    begun.names["shout"] = str.upper
    begun.names["never"] = lambda data: False
    begun.names["note"] = lambda data: {"noted": data.payload}
    begun.run(
        "%%workflow p --on-error skip --retry 2\n"
        "%step A --updates note --timeout 5 --retry 4\n"
        "%step B --transformer shout --on-error continue\n"
        "%step C --condition never --reads payload a --writes z\n"
        "hello"
    )
    made = begun.bench.workflow
    assert made is not None
    one, two, three = made.steps
    assert (one.on_error, two.on_error, three.on_error) == ("skip", "continue", "skip")
    assert one.retry_policy is not None
    assert (one.timeout, one.retry_policy.max_attempts, two.retry_policy) == (5.0, 4, None)
    assert (three.reads, three.writes) == (("payload", "a"), ("z",))
    found = result(begun)
    assert found.data.context["noted"] == "A says 1"
    assert asked(found, "B") == "A SAYS 1"
    assert statuses(found) == {"A": "completed", "B": "completed", "C": "skipped"}


def test_an_input_may_begin_like_a_step_line(begun: Notebook) -> None:
    begun.run("%%workflow p\n\n%step A --retry 2")
    assert asked(result(begun), "A") == "%step A --retry 2"
    begun.run("%%workflow p\n%step A --retry 2\n\n  indented")
    assert asked(result(begun), "A") == "  indented"


def test_a_fallback_of_the_notebook_answers(begun: Notebook) -> None:
    begun.names["raw"] = lambda payload: f"raw {payload}"
    begun.names["bad"] = failing("B", times=9)
    begun.run("%%workflow p --model bad\n%step B --on-error fallback --fallback raw\nhi")
    assert statuses(result(begun)) == {"A": "completed", "B": "fallback", "C": "completed"}
    assert result(begun).data.context["B_output"] == "raw A says it"


def test_a_workflow_of_the_notebook_runs_with_its_own_policies(begun: Notebook) -> None:
    begun.run("%%workflow w --context k=v\nabc")
    assert begun.bench.workflow is begun.names["w"]
    assert (result(begun).output, result(begun).data.context["k"]) == ("ABC", "v")


def test_an_agent_of_the_notebook_is_one_step(begun: Notebook) -> None:
    begun.run("%%workflow agent_of_mine\nabc")
    assert statuses(result(begun)) == {"Mine": "completed"}


def test_a_pipeline_s_own_callback_is_not_lost_in_silence(begun: Notebook) -> None:
    def guard(context: object) -> None:
        """Let it pass."""

    agents = [LlmAgent(name="Inner", instruction="x")]
    begun.names["guarded"] = SequentialAgent(name="guarded", sub_agents=agents, before_agent_callback=guard)
    assert begun.fail("%%workflow guarded\nx") == (
        "UsageError: 'guarded' has a before_agent_callback of its own. As a workflow its agents are the steps, and nothing would "
        "call it: give it to the first or last agent, or make a SequentialWorkflow of one Step with the whole pipeline."
    )


def test_the_line_form_takes_any_payload_and_gives_the_result(begun: Notebook) -> None:
    begun.names["payload"] = {"topic": "tides"}
    output = begun.run("found = %workflow p --input payload")
    assert begun.names["found"] is begun.bench.newest
    assert asked(result(begun), "A") == '{"topic": "tides"}'
    assert output.text.count("p: completed") == 1
    assert begun.run("%workflow p --input payload").value is None  # shown already


def test_a_failure_is_shown_once_and_noted(begun: Notebook) -> None:
    begun.names["bad"] = failing("B", times=9)
    output = begun.cell("%%workflow p --model bad --out found\nhi")
    assert type(output.error).__name__ == "CellFailed"
    assert output.text.count("The data when it ended, by A") == 1
    assert output.text.count("StepFailedError\n") == 1
    found = result(begun)
    assert (found.status, begun.names["found"] is found) == ("failed", True)
    assert begun.run("%adk workflow").value is found


def test_checkpoints_go_on_in_the_same_cell_run_again(begun: Notebook) -> None:
    begun.names["bad"] = failing("B", times=1)
    begun.cell("%%workflow p --model bad --checkpoint\nhi")
    (checkpoint,) = begun.run("%adk workflow checkpoints").value
    assert checkpoint.done == ("A",)
    begun.run("%workflow p --model bad --resume last")
    found = result(begun)
    assert found.run_id == checkpoint.run_id
    assert [event.action for event in found.events if event.step_name == "A"] == ["resumed"]
    assert found.output == "C says it"
    assert len(begun.run("%adk workflow checkpoints").value) == 0


def test_adk_workflow_resumes_and_prunes(begun: Notebook) -> None:
    begun.names["bad"] = failing("B", times=3)
    for _ in range(2):
        begun.cell("%%workflow p --model bad --checkpoint\nhi")
    first, second = (each.run_id for each in begun.run("%adk workflow checkpoints").value)
    assert begun.run(f"%adk workflow prune {first[:8]}").value.text == (
        f"Forgotten: the checkpoints of {first}. Their sessions stay."
    )
    assert begun.fail(f"%adk workflow prune {first}").startswith(
        f"UsageError: workflow 'p' has no checkpoint of a run '{first}'."
    )
    output = begun.cell(f"%adk workflow resume {second[:8]}")  # fails for the third time
    assert result(begun).status == "failed"
    assert output.text.count("p: failed") == 1
    found = begun.run("found = %adk workflow resume")
    assert begun.names["found"].status == "completed"
    assert found.text.count("p: completed") == 1
    assert begun.run("%adk workflow prune").value.text == "Workflow 'p' has no checkpoints."


def test_a_run_is_named_by_the_beginning_of_its_id() -> None:
    def fails(payload: str) -> str:
        raise ValueError(payload)

    workflow = SequentialWorkflow([Step(name="a", agent=fails)], checkpoint=True)
    for run_id in ("one-1", "one-2", "two"):
        with pytest.raises(StepFailedError):
            workflow.run("x", run_id=run_id)
    assert [resumable(workflow, word) for word in ("t", "one-1", "last", "three")] == ["two", "one-1", "two", "three"]
    with pytest.raises(UsageError, match="several runs begin with 'one': one-1, one-2"):
        resumable(workflow, "one")


def test_checkpoints_in_a_database_outlive_the_bench(begun: Notebook, tmp_path: Path, capsys: Any) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    begun.names["bad"] = failing("B", times=1)
    begun.cell(f"%%workflow p --model bad --checkpoint --db {url}\nhi")
    run_id = result(begun).run_id
    again = Notebook(capsys)
    again.run(AGENTS)
    again.names["good"] = failing()
    again.run(f"%workflow p --model good --db {url} --resume {run_id}")
    assert [event.action for event in result(again).events if event.step_name == "A"] == ["resumed"]
    again.close()


def test_a_cell_goes_on_with_its_steps_despite_changes(begun: Notebook, tmp_path: Path, capsys: Any) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    begun.names["bad"] = failing("B", times=1)
    begun.cell(f"%%workflow p --model bad --checkpoint --db {url}\n%step B --timeout 9\nhi")
    again = Notebook(capsys)
    again.run(AGENTS)
    again.run("%%agent A --pipeline p --key a\nAnother.")
    again.names["good"] = failing()
    cell = f"%%workflow p --model good --db {url} --resume last"
    assert "agent changed" in again.cell(f"{cell}\n%step B --timeout 9").text
    again.run(f"{cell} --despite-changes\n%step B --timeout 9")
    found = result(again)
    assert [event.action for event in found.events if event.step_name == "A"] == ["resumed"]
    assert found.status == "completed"
    again.close()


def test_a_workflow_lives_where_the_bench_does(begun: Notebook, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'bench.db'}"
    begun.run(f"%adk use --db {url}")
    begun.run(AGENTS)
    begun.names["bad"] = failing("B", times=1)
    begun.cell("%%workflow p --model bad --checkpoint\nhi")
    assert begun.bench.workflow is not None
    kept = SequentialWorkflow([Step(name="A", agent=str.upper)], "p", session_service=url, checkpoint=True)
    assert [each.run_id for each in kept.checkpoints()] == [result(begun).run_id]
    begun.run("%workflow p --model bad --resume last")
    assert result(begun).output == "C says it"
    assert len(kept.checkpoints()) == 0


def test_a_cache_answers_the_same_cell_run_again(begun: Notebook, tmp_path: Path) -> None:
    cell = f"%%workflow p --cache {tmp_path / 'answers.db'}\nhi"
    begun.run(cell)
    first = result(begun)
    begun.run(cell)
    second = result(begun)
    assert first.token_used > 0
    assert second.token_used == 0
    assert [event.action for event in second.events if event.action == "cache_hit"] == ["cache_hit"] * 3
    assert "= from the cache" in str(second)


def test_the_plan(begun: Notebook) -> None:
    begun.run("%%workflow p\nhi")
    assert repr(begun.run("%adk workflow plan").value) == "Plan('p': A → B → C)"
    assert repr(begun.run("%adk workflow plan --of w").value) == "Plan('up': u)"
    assert begun.run("%adk workflow --of p").value is begun.bench.newest


def test_the_examples_work(notebook: Notebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from adknb.notebook.magic_lines import STEP_LINE, WORKFLOW, WORKFLOW_LINE

    monkeypatch.chdir(tmp_path)
    notebook.run("%%agents ticket\n%agent DraftAgent\nDraft.\n%agent CheckAgent\nCheck.")
    notebook.run("def has_claims(data): return True\nmessage = 'hi'")
    for example in WORKFLOW.examples:
        notebook.run(example)
    lines = "\n".join(STEP_LINE.examples)
    notebook.run(f"%%workflow ticket\n{lines}\nhi")
    notebook.run(WORKFLOW_LINE.examples[1])
    assert notebook.names["result"] is notebook.bench.newest


@pytest.mark.parametrize(
    ("cell", "message"), MISTAKES, ids=[f"{n}: {cell[:40]!r}" for n, (cell, _) in enumerate(MISTAKES)]
)
def test_a_mistake_changes_nothing(begun: Notebook, cell: str, message: str) -> None:
    assert begun.fail(cell) == message


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("%%workflow ", ["agent_of_mine", "p", "w"]),
        ("%%workflow p --ch", ["--checkpoint"]),
        ("%%workflow p --on-error ", ["fail", "skip", "retry", "continue"]),
        ("%%workflow p\n%step ", ["A", "B", "C"]),
        ("%%workflow p\n%step A --cond", ["--condition"]),
        ("%%workflow p\n%step A --condition of", ["of_three"]),
        ("%adk workflow ", ["checkpoints", "plan", "prune", "resume", "timeline"]),
        ("%adk workflow plan --of ", ["agent_of_mine", "p", "w"]),
    ],
)
def test_completion(begun: Notebook, text: str, names: list[str]) -> None:
    for name in ("A", "B", "C", "model"):
        begun.names.pop(name, None)
    assert [name for name in complete(begun.bench, VERBS, text)[1] if name != "model"] == names


def test_step_has_help_of_its_own(begun: Notebook) -> None:
    assert begun.run("%step --help").value.text.startswith("%step NAME [--on-error")
