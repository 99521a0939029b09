"""Help of every magic and verb, kept as text files. `pytest --update-help` writes them anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adknb.notebook.command import WIDTH, Command
from adknb.notebook.magic_lines import (
    ADK,
    AGENT,
    AGENT_LINE,
    AGENTS,
    COMPARE,
    COMPARE_LINE,
    MAGICS,
    PIPELINE,
    PIPELINE_LINE,
    STEP,
)
from adknb.notebook.verbs import VERBS
from tests.notebook.notebook import Notebook

HELP = Path(__file__).parent / "help"
COMMANDS = {command.invocation: command for command in (*MAGICS.values(), *VERBS.values())}
EXAMPLES = [(name, example) for name, command in COMMANDS.items() for example in command.examples]


def file_of(invocation: str) -> Path:
    return HELP / f"{invocation.replace('%%', 'cell ').replace('%', 'line ')}.txt"


@pytest.mark.parametrize("invocation", COMMANDS)
def test_help_is_as_it_was_read_through(invocation: str, request: pytest.FixtureRequest) -> None:
    text = COMMANDS[invocation].help() + "\n"
    if request.config.getoption("--update-help"):
        HELP.mkdir(exist_ok=True)
        file_of(invocation).write_text(text)
    assert text == file_of(invocation).read_text()


def test_there_is_no_help_of_what_is_gone() -> None:
    assert sorted(HELP.glob("*.txt")) == sorted(map(file_of, [*COMMANDS, "%adk"]))


def test_help_of_adk_lists_every_verb(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-help"):
        file_of("%adk").write_text(ADK.help() + "\n")
    assert ADK.help() + "\n" == file_of("%adk").read_text()
    for verb, command in VERBS.items():  # one line each
        assert f"  {verb:10}  {command.summary}\n" in ADK.help()
        assert len(f"  {verb:10}  {command.summary}") <= WIDTH


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.invocation)
def test_help_has_a_synopsis_every_option_and_two_examples(command: Command) -> None:
    text = command.help()
    assert text.startswith(command.invocation)
    for option in command.options:
        assert re.search(rf"^  {option.name}\b", text, re.MULTILINE)
        assert option.help
    assert "--traceback" in text
    assert len(command.examples) == 2
    assert max(map(len, text.split("\n"))) <= WIDTH


@pytest.mark.parametrize(("invocation", "example"), EXAMPLES)
def test_examples_can_be_read(notebook: Notebook, invocation: str, example: str) -> None:
    compile(notebook.shell.transform_cell(example), invocation, "exec")
    line = next(text for text in example.split("\n") if invocation in text)
    given = line.partition(invocation)[2]
    assert given == "" or given[0].isspace(), line
    COMMANDS[invocation].parse(given)
    assert "\n" in example.strip() or not invocation.startswith("%%")


def test_the_examples_of_cells_work(notebook: Notebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("draft.md").write_text("Triage: {triage}")
    Path("only.md").write_text("Only.")
    Path("tickets.csv").write_text("message\nI was charged twice.\n")
    notebook.run("def require_triage(ctx): return None\nmessage = 'hi'")
    notebook.run(AGENT.examples[0], "a")
    for number, example in enumerate([*AGENTS.examples, AGENT.examples[1], *AGENT_LINE.examples]):
        notebook.run(example, f"cell {number}")
    notebook.run(AGENTS.examples[0], "a")
    for example in (*PIPELINE.examples, *PIPELINE_LINE.examples, *STEP.examples):
        notebook.run(example)
    assert notebook.names["run"] is notebook.bench.runs[3]
    notebook.run(AGENT.examples[1])
    for example in (*COMPARE.examples, *COMPARE_LINE.examples):
        notebook.run(example)
        assert notebook.bench.newest is not notebook.names["run"]
    assert notebook.names["comparison"] is notebook.bench.newest


@pytest.mark.parametrize("asked", ["%%pipeline?", "%adk?", "%agent?"])
def test_the_question_mark_shows_it(notebook: Notebook, asked: str) -> None:
    text = notebook.run(asked).text
    invocation = asked.rstrip("?")
    expected = file_of(invocation).read_text().splitlines()
    shown = [line.strip() for line in text.splitlines()]
    assert [line.strip() for line in expected if line.strip() and line.strip() not in shown] == []


@pytest.mark.parametrize("asked", ["%adk help state", "%adk state --help", "%adk state -h"])
def test_a_verb_s_help(notebook: Notebook, asked: str) -> None:
    assert notebook.run(asked).value.text == VERBS["state"].help()


def test_a_magic_s_help(notebook: Notebook) -> None:
    assert notebook.run("%%pipeline ticket --help\nbody").value.text == PIPELINE.help()
    assert notebook.run("%pipeline --help").value.text == PIPELINE_LINE.help()
    assert notebook.run("%adk help").value.text == ADK.help()
