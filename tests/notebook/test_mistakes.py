"""Mistakes in a cell: each says what, where and the way out, and loses nothing.

`mistakes.txt`, and for comparisons `mistakes_compare.txt`, hold a cell and its message in each block. There the bench has
the pipeline p of the agents A, B and C, one run in the session `chat`, and the variables `text`, `number`, `rows`, `empty`,
`tickets` (a DataFrame) and `of_three` (a function); the run's id stands as RUN.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pandas as pd
import pytest

from adknb import ModelError, RunStateError
from adknb.notebook.bench import Bench
from tests.notebook.notebook import Notebook

FILES = [Path(__file__).parent / name for name in ("mistakes.txt", "mistakes_compare.txt")]
BLOCKS = [block for file in FILES for block in file.read_text().removesuffix("\n").split("\n----\n")]
MISTAKES = [tuple(block.split("\n→ ")) for block in BLOCKS]


@pytest.fixture
def begun(notebook: Notebook) -> Notebook:
    notebook.three_agents()
    notebook.names.update(text="t", number=3, rows=["one", 3], empty=[], tickets=pd.DataFrame({"text": ["one"]}))
    notebook.run("def of_three(a, b, c): return 1")
    notebook.run("%%pipeline p --session chat\nhi", "run")
    return notebook


@pytest.mark.parametrize(
    ("cell", "message"), MISTAKES, ids=[f"{n}: {cell[:50]!r}" for n, (cell, _) in enumerate(MISTAKES)]
)
def test_a_mistake_in_a_line_changes_nothing(begun: Notebook, cell: str, message: str) -> None:
    assert begun.fail(cell, "mistake") == message.replace("RUN", begun.last.id)


@pytest.mark.parametrize(
    "cell",
    [
        "%%pipeline p --model gpt\nhi", "%%step B --model gpt\nx", "%adk use --model gpt", "%%compare p --model gpt\nhi",
        "%%compare p --variants default none+model=gpt\nhi",
    ],
)  # fmt: skip
def test_a_model_that_there_is_not(begun: Notebook, cell: str) -> None:
    message = begun.fail(cell, "mistake")
    assert message.startswith("ModelError: there is no model 'gpt'.")
    assert "What works: 'echo', 'local', " in message


def test_there_are_many_kinds_of_mistakes() -> None:
    assert len({cell for cell, _ in MISTAKES}) == len(MISTAKES) > 180


# what IPython itself says of a cell without a body, and what follows


@pytest.mark.parametrize(
    "magic", ["%%agent", "%%agent A", "%%pipeline p", "%%pipeline p --session chat", "%%compare p"]
)
def test_a_cell_without_a_body(begun: Notebook, magic: str) -> None:
    before = begun.state()
    name = magic.split()[0].lstrip("%")
    assert begun.cell(magic, "mistake").text == (
        f"UsageError: %%{name} is a cell magic, but the cell body is empty. Did you mean the line magic %{name} (single %)?\n"
    )
    assert begun.state() == before


def test_the_line_magic_that_ipython_offers_says_what_is_missing(begun: Notebook) -> None:
    assert begun.fail("%agent New") == (
        "UsageError: there is no agent 'New' in 'p' yet. Write its prompt below %%agent New, or name a file: %agent New "
        "--prompt-file FILE"
    )
    assert begun.fail("%pipeline p") == (
        "UsageError: the message is missing. %pipeline takes it from a variable: %pipeline NAME --input VARIABLE. Or write it "
        "below %%pipeline NAME. To go on from a step of the last run: %pipeline NAME --from STEP"
    )


@pytest.mark.parametrize(
    ("magic", "meant"), [("%%step B", " Did you mean the line magic %step (single %)?"), ("%%agents p", "")]
)
def test_a_cell_without_a_body_is_refused_by_ipython(begun: Notebook, magic: str, meant: str) -> None:
    before = begun.state()
    said = f"UsageError: {magic.split()[0]} is a cell magic, but the cell body is empty.{meant}\n"
    assert begun.cell(magic).text == said
    assert begun.state() == before


# before there is anything


_NO_PIPELINE = (
    "there is no pipeline 'p'. There is none yet: write one (%%agent NAME --pipeline PIPELINE), or read it from a file (%adk "
    "load FILE)."
)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("%adk undo", "there is nothing to undo: nothing was written, run or set since the notebook began"),
        ("%adk steps", "there is no run yet. Make one: %%pipeline NAME, with the message below it."),
        ("%adk step", "there is no run yet. Make one: %%pipeline NAME, with the message below it."),
        ("%adk contract", "there is no pipeline yet. Write one: %%agent NAME --pipeline PIPELINE"),
        ("%adk save x", "there is no pipeline yet. Write one: %%agent NAME --pipeline PIPELINE"),
        ("%adk order A", "there is no pipeline yet. Write one: %%agent NAME --pipeline PIPELINE"),
        ("%pipeline p --from A", "there is no run of 'p' yet. Make one: %%pipeline p, with the message below it."),
        ("%%pipeline p\nhi", _NO_PIPELINE),
        ("%%compare p\nhi", _NO_PIPELINE),
    ],
)
def test_on_an_empty_bench(notebook: Notebook, cell: str, message: str) -> None:
    assert notebook.fail(cell).partition(": ")[2] == message


def test_a_pipeline_without_agents(notebook: Notebook) -> None:
    notebook.run("%%agent A --pipeline p\nA")
    notebook.run("%adk remove A")
    assert notebook.fail("%%pipeline p\nhi") == (
        "SpecError: pipeline 'p' has no agents. Add one: %%agent NAME --pipeline p"
    )


def test_no_model(notebook: Notebook) -> None:
    notebook.bench.use(model=None)
    notebook.run("%%agent A --pipeline p\nA")
    for magic in ("%%pipeline", "%%compare"):
        assert notebook.fail(f"{magic} p\nhi") == (
            "ModelError: agent 'A' has no model. Give it one (`LlmAgent(model=…)`), or all of them: `Runner(root, model=…)`, in "
            'a notebook `%adk use --model …`. "echo" repeats the message, "local" runs a small model here.'
        )


# names that the notebook does not define


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("--before-agent", "gard"), ("--after-agent", "gard"), ("--before-model", "gard"), ("--after-model", "gard"),
        ("--before-tool", "gard"), ("--after-tool", "gard"), ("--tools", "gard"), ("--schema", "gard"),
    ],
)  # fmt: skip
def test_a_name_that_is_not_defined_fails_the_run_not_the_cell(notebook: Notebook, option: str, name: str) -> None:
    notebook.run("def guard(ctx): return None")
    notebook.run(f"%%agent A --pipeline p {option} {name}\nA", "A")
    assert notebook.fail("%%pipeline p\nhi") == (
        f"UnresolvedNameError: agent 'A': {option} names 'gard', which the notebook does not define. Did you mean 'guard'? "
        "Run the cell that defines it first."
    )
    if option in ("--before-agent", "--after-agent"):
        notebook.run("def gard(ctx): return None")
        notebook.run("%%pipeline p\nhi")


def test_a_prompt_file_that_is_not_there(notebook: Notebook, tmp_path: Path) -> None:
    notebook.run(f"%agent A --pipeline p --prompt-file {tmp_path}/draft.md", "A")
    assert notebook.fail("%%pipeline p\nhi") == (
        f"SpecError: agent 'A': cannot read --prompt-file {tmp_path}/draft.md: No such file or directory"
    )
    (tmp_path / "draft.md").write_bytes(b"\xff")
    assert notebook.fail("%%pipeline p\nhi") == (
        f"SpecError: agent 'A': cannot read --prompt-file {tmp_path}/draft.md: it is not UTF-8 text (invalid start byte at "
        "byte 0)"
    )


def test_two_names_for_one_cell(begun: Notebook) -> None:
    assert begun.fail("%%agent B --key a\nx", "A") == (
        "SpecError: this cell wrote agent 'A' before, and pipeline 'p' has another agent 'B'. Take another name, or remove one "
        "first: %adk remove B"
    )


def test_names_that_the_rules_do_not_allow(begun: Notebook) -> None:
    begun.run("%%agent user --key x\nPrompt.", "D")
    assert begun.fail("%%pipeline p\nhi") == (
        "AgentNameError: an agent may not be named 'user': its replies would count as the person's. Rename it."
    )


# mistakes that a run meets: the run is kept, and shown


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("Reads {c_}.", "Did you mean 'c'?"),
        ("Reads {nobody}.", "nobody"),
    ],
)
def test_a_placeholder_that_nobody_writes(begun: Notebook, prompt: str, message: str) -> None:
    begun.run(f"%%agent D --key d\n{prompt}", "D")
    output = begun.cell("%%pipeline p\nhi")
    assert begun.last.status == "failed"
    assert [step.status for step in begun.last.step_runs] == ["completed"] * 3 + ["failed"]
    assert "MissingKeyError · agent D · key" in output.text
    assert message in str(output.error)
    assert output.text.count("MissingKeyError · agent D") == 1
    assert "ADK says IllegalArgumentException" in output.text
    begun.run("%%agent D --key d\nReads {c}.", "D")
    begun.run("%adk continue")
    assert (begun.last.status, begun.last.output) == ("completed", "D says 1")


def test_agents_in_the_wrong_order(begun: Notebook) -> None:
    begun.run("%adk order C B A")
    output = begun.cell("%%pipeline p\nhi")
    assert "MissingKeyError · agent C · key b" in output.text
    first = begun.bench.runs[0].id
    assert begun.fail(f"%pipeline p --from B --run {first}").startswith(
        f"PipelineChangedError: run {first} was recorded with"
    )


def test_a_callback_that_raises(begun: Notebook) -> None:
    begun.run("def guard(ctx): raise KeyError('tier')")
    begun.run("%%agent B --key b --before-agent guard\nB", "B")
    output = begun.cell("%%pipeline p\nhi")
    assert str(output.error) == "agent 'B': before_agent_callback guard raised KeyError: 'tier'"
    assert "Caused by KeyError: 'tier'" in output.text


def test_a_callback_that_returns_what_it_must_not(begun: Notebook) -> None:
    begun.run("def guard(ctx): return 3")
    begun.run("%%agent B --key b --before-agent guard\nB", "B")
    assert str(begun.cell("%%pipeline p\nhi").error) == (
        "agent 'B': before_agent_callback must return None, a Content or text, not int"
    )


def test_a_run_while_one_is_running(begun: Notebook) -> None:
    begun.run("def again(ctx): get_ipython().run_cell_magic('pipeline', 'p', 'inner')")
    begun.run("%%agent B --key b --before-agent again\nB", "B")
    output = begun.cell("%%pipeline p\nhi")
    assert "the bench is running something already. Wait for it, or interrupt the kernel." in output.text
    assert (begun.last.status, begun.last.message.text) == ("failed", "hi")
    begun.run("%%agent B --key b\nB", "B")
    begun.run("%%pipeline p\nhi")


def test_a_cell_of_another_thread_while_one_is_running() -> None:
    bench = Bench()
    started, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with bench.busy():
            started.set()
            assert go_on.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    assert started.wait(20)
    try:
        with pytest.raises(RunStateError) as raised:
            bench.undo()
    finally:
        go_on.set()
        thread.join()
    assert str(raised.value) == "the bench is running something already. Wait for it, or interrupt the kernel."


def test_a_model_that_is_gone_by_the_time_it_is_asked(begun: Notebook) -> None:
    begun.run("%%agent B --key b --model other\nB {a}", "B")
    message = begun.fail("%%pipeline p\nhi")
    assert message.startswith("ModelError: there is no model 'other'.")
    begun.names["other"] = begun.names["model"]
    begun.run("%%pipeline p\nhi")
    assert ModelError.__name__ in message
