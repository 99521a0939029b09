"""The magics that write agents, and the variables that they become."""

from __future__ import annotations

from pathlib import Path

import pytest

from adknb import LlmAgent, SequentialAgent
from tests.notebook.notebook import Notebook


def names(notebook: Notebook, pipeline: str = "p") -> list[str]:
    return notebook.bench.pipelines[pipeline].names()


@pytest.mark.parametrize(
    "body",
    [
        ">>> looks like a prompt\n... and goes on",
        "  leading spaces\n\ttab\n    and more",
        '{"category": "billing|outage"} {triage} {{doubled}} $HOME $name {unknown}',
        "trailing newlines\n\n\n",
        "\n\nleading newlines",
        "%matplotlib inline\n!ls\n?help\nx?",
        "In [1]: x\n   ...: y",
        "windows\r\nlines\r\n",
        "tabs\tand \x0c form feeds, é, 漢字, 🙂, \u2028 line separator",
        "%%agent Other\nnested",
    ],
)
def test_the_prompt_is_the_cell_as_it_was_typed(notebook: Notebook, body: str) -> None:
    notebook.run(f"%%agent A --pipeline p\n{body}x", "c1")
    assert notebook.bench.pipelines["p"]["A"].prompt == f"{body}x"
    notebook.run(f"%%agent A --pipeline p\n{body}\n", "c1")
    assert notebook.bench.pipelines["p"]["A"].prompt == body


def test_the_magic_may_follow_other_magics_and_blank_lines(notebook: Notebook) -> None:
    notebook.run("\n%%capture\n%%agent A --pipeline p\n>>> typed\n", "c1")
    assert (notebook.bench.pipelines["p"]["A"].prompt, notebook.bench.pipelines["p"]["A"].cell) == (">>> typed", "c1")


def test_variables_in_the_line_are_left_alone(notebook: Notebook) -> None:
    notebook.names["x"] = "expanded"
    notebook.run("%%agent A --pipeline p --description '{x} $x'\nPrompt {x} $x.", "c1")
    agent = notebook.bench.pipelines["p"]["A"]
    assert (agent.options.description, agent.prompt) == ("{x} $x", "Prompt {x} $x.")


def test_a_cell_run_again_replaces_its_agent_in_its_place(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%agent B --key b2\nAnother text.", "B")
    assert names(notebook) == ["A", "B", "C"]
    edited = notebook.bench.pipelines["p"]["B"]
    assert (edited.prompt, edited.options.key, [v.prompt for v in edited.versions]) == (
        "Another text.", "b2", ["Agent B reads {a}."],
    )  # fmt: skip


def test_a_cell_that_names_another_agent_renames_it(notebook: Notebook) -> None:
    notebook.three_agents()
    output = notebook.run("%%agent Better --key b\nAgent B reads {a}.", "B")
    assert names(notebook) == ["A", "Better", "C"]
    assert output.value.remarks == ("B is no longer in p, because this cell wrote it before; %adk undo brings it back",)
    assert "B" not in notebook.names
    assert notebook.run("%adk undo").value.text == "Undone: p: Better renamed from B."
    assert names(notebook) == ["A", "B", "C"]


def test_without_cell_ids_a_ghost_is_pointed_out(notebook: Notebook) -> None:
    notebook.run("%%agent A --pipeline p --key a\nOne and the same prompt.")
    output = notebook.run("%%agent A2 --pipeline p --key other\nOne and the same prompt!")
    assert names(notebook) == ["A", "A2"]
    assert output.value.remarks == (
        "A is still in p and has almost the same prompt. If this cell was A before: %adk remove A",
    )


def test_a_cell_that_names_another_pipeline_moves_its_agent(notebook: Notebook) -> None:
    notebook.three_agents()
    output = notebook.run("%%agent B --pipeline q\nMoved.", "B")
    assert (names(notebook), names(notebook, "q")) == (["A", "C"], ["B"])
    assert output.value.remarks == ("B is no longer in p, because this cell wrote it before; %adk undo brings it back",)
    notebook.run("%adk undo")
    assert (names(notebook), "q" in notebook.bench.pipelines) == (["A", "B", "C"], False)


def test_a_cell_that_turns_to_a_copy_leaves_the_original(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%adk copy p q")
    notebook.run("%%agent B --pipeline q\nOnly in q.", "B")
    assert (names(notebook), names(notebook, "q")) == (["A", "B", "C"], ["A", "B", "C"])
    assert notebook.bench.pipelines["p"]["B"].prompt == "Agent B reads {a}."


def test_a_cell_without_a_pipeline_goes_where_it_wrote_before(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%agent D --pipeline q\nIn q.", "D")
    assert notebook.bench.current == "q"
    notebook.run("%%agent B --key b\nEdited.", "B")
    assert (notebook.bench.pipelines["p"]["B"].prompt, names(notebook, "q")) == ("Edited.", ["D"])


def test_a_loop_in_one_cell_writes_several_agents(notebook: Notebook) -> None:
    notebook.run(
        "for name in 'ABC':\n    get_ipython().run_cell_magic('agent', f'{name} --pipeline p', f'Prompt {name}\\n')",
        "loop",
    )
    assert [(agent.name, agent.prompt) for agent in notebook.bench.pipelines["p"].agents] == [
        ("A", "Prompt A"), ("B", "Prompt B"), ("C", "Prompt C"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "order"),
    [
        ("--at 1", ["B", "A", "C"]),
        ("--at 2", ["A", "B", "C"]),
        ("--at 3", ["A", "C", "B"]),
        ("--after C", ["A", "C", "B"]),
        ("--after A", ["A", "B", "C"]),
    ],
)
def test_places_of_an_agent_that_is_there(notebook: Notebook, place: str, order: list[str]) -> None:
    notebook.three_agents()
    notebook.run(f"%%agent B --key b {place}\nB", "B")
    assert names(notebook) == order


@pytest.mark.parametrize(
    ("place", "order"), [("--at 1", "XABC"), ("--at 4", "ABCX"), ("--after A", "AXBC"), ("", "ABCX")]
)
def test_places_of_a_new_agent(notebook: Notebook, place: str, order: str) -> None:
    notebook.three_agents()
    notebook.run(f"%%agent X {place}\nX", "X")
    assert names(notebook) == list(order)


def test_an_agent_before_the_one_it_is_to_follow(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%agent A --key a --after B\nA", "A")
    assert names(notebook) == ["B", "A", "C"]


def test_order(notebook: Notebook) -> None:
    notebook.three_agents()
    card = notebook.run("%adk order C A B").value
    assert (names(notebook), card.pipeline.names()) == (["C", "A", "B"], ["C", "A", "B"])
    notebook.run("%%agent Z --pipeline q\nZ", "Z")
    notebook.run("%adk order p A B C")
    assert (names(notebook), notebook.bench.current) == (["A", "B", "C"], "q")
    notebook.run("%adk undo")
    assert names(notebook) == ["C", "A", "B"]


def test_the_line_form_changes_what_it_names_and_keeps_the_rest(notebook: Notebook) -> None:
    notebook.run("def guard(ctx): return None\ndef later(ctx): return None")
    notebook.run("%%agent A --pipeline p --key a --before-agent guard --temperature 0.5 --description d\nPrompt.", "A")
    notebook.run("%agent A --include none --after-agent later --seed 7\n%agent A --key other", "lines")
    agent = notebook.bench.pipelines["p"]["A"]
    assert (agent.prompt, agent.cell) == ("Prompt.", "A")
    options = agent.options
    assert (options.key, options.include, options.description) == ("other", "none", "d")
    assert options.callbacks == {"before_agent": ("guard",), "after_agent": ("later",)}
    assert options.config == {"temperature": 0.5, "seed": 7}


def test_a_prompt_file_is_read_anew_on_each_run(notebook: Notebook, tmp_path: Path) -> None:
    file = tmp_path / "draft prompt.md"
    file.write_bytes(b"First.\r\n")
    notebook.run(f"%agent A --pipeline p --prompt-file '{file}'", "A")
    notebook.run("%%pipeline p\nhi")
    assert notebook.prompt("A") == "First.\r\n"
    file.write_bytes(b"Second.")
    notebook.run("%%pipeline p\nhi")
    assert notebook.prompt("A") == "Second."
    notebook.run("pass")
    assert notebook.names["A"].instruction == "Second."


def test_two_lines_in_one_cell_write_two_agents(notebook: Notebook, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("X")
    notebook.run(f"%agent A --pipeline p --prompt-file {tmp_path}/x\n%agent B --prompt-file {tmp_path}/x", "lines")
    assert names(notebook) == ["A", "B"]


def test_a_line_in_a_cell_of_its_own_renames_too(notebook: Notebook, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("X")
    notebook.run(f"%agent A --pipeline p --prompt-file {tmp_path}/x", "line")
    notebook.run(f"%agent B --pipeline p --prompt-file {tmp_path}/x", "line")
    assert names(notebook) == ["B"]


def test_a_whole_pipeline_in_one_cell(notebook: Notebook) -> None:
    text = "%%agents p\n\n%agent A --key a\n>>> One\n\n%agent B --include none\n\\%agent is text {a}\nTwo\n"
    notebook.run(text, "whole")
    assert [(agent.name, agent.prompt) for agent in notebook.bench.pipelines["p"].agents] == [
        ("A", ">>> One\n"), ("B", "%agent is text {a}\nTwo"),
    ]  # fmt: skip
    output = notebook.run("%%agents p2\n%agent A --key a\nOne", "whole")
    assert list(notebook.bench.pipelines) == ["p2"]
    assert output.value.remarks[0].startswith("A is no longer in p, because this cell wrote it before")


def test_agents_and_pipelines_are_variables(notebook: Notebook) -> None:
    notebook.three_agents()
    assert isinstance(notebook.names["A"], LlmAgent)
    assert isinstance(notebook.names["p"], SequentialAgent)
    assert notebook.names["p"].sub_agents == tuple(notebook.names[name] for name in "ABC")
    notebook.run("%adk remove C")
    assert "C" not in notebook.names


def test_a_hidden_variable_is_reported_and_comes_back(notebook: Notebook) -> None:
    notebook.run("A = [1, 2]")
    output = notebook.run("%%agent A --pipeline p\nA", "A")
    assert output.value.remarks == ("the variable 'A' (a list) is hidden: the name now stands for what the bench has",)
    assert type(notebook.names["A"]).__name__ == "LlmAgent"
    assert notebook.run("%%agent A --pipeline p\nAgain", "A").value.remarks == ()
    notebook.run("%adk undo\n%adk undo")
    assert notebook.names["A"] == [1, 2]


def test_python_s_own_names_stay(notebook: Notebook) -> None:
    notebook.run("%%agent print --pipeline p\nA", "A")
    assert "print" not in notebook.names
    notebook.run("%%pipeline p\nhi")
    assert notebook.last.output == "print says 1"


def test_a_variable_follows_a_callback_that_is_defined_later(notebook: Notebook) -> None:
    notebook.run("%%agent A --pipeline p --before-agent guard\nA", "A")
    assert "A" not in notebook.names
    notebook.run("def guard(ctx): return 'first'")
    notebook.run("pass")
    first = notebook.names["A"]
    notebook.run("def guard(ctx): return 'second'")
    notebook.run("pass")
    assert first.before_agent_callback[0](None) == "first"
    assert notebook.names["A"].before_agent_callback[0](None) == "second"
    same = notebook.names["p"]
    notebook.run("pass")
    assert notebook.names["p"] is same
