"""The magics, cell by cell, in an IPython shell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adknb import BaseAgent, LlmAgent, SequentialAgent
from adknb.core.state import REMOVED
from tests.notebook.notebook import Notebook


def names(notebook: Notebook, pipeline: str = "p") -> list[str]:
    return notebook.bench.pipelines[pipeline].names()


def turns(notebook: Notebook, session: str = "chat") -> list[tuple[str, str, bool]]:
    return [(run.message.text, run.output, run.stale) for run in notebook.bench.sessions[session].turns]


# writing agents


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


# running


def test_fresh_runs_of_one_cell_give_the_same_twice(notebook: Notebook) -> None:
    notebook.three_agents()
    for _ in range(2):
        notebook.run("%%pipeline p --state app:n:=1\nhi", "run")
        assert notebook.last.output == "C says 1"
    first, second = notebook.bench.runs
    assert (first.session is second.session, first.turn, second.turn) == (False, 0, 0)


def test_any_agent_of_the_namespace_runs(notebook: Notebook) -> None:
    notebook.names["root"] = LlmAgent(name="Root", instruction="By hand.", output_key="out")
    notebook.run("%%pipeline root\nhi")
    assert (notebook.last.output, notebook.prompt("Root")) == ("Root says 1", "By hand.")
    notebook.run("%%step Root\nTried.")
    assert notebook.prompt("Root") == "Tried."
    notebook.run("%pipeline root --from Root")
    assert notebook.prompt("Root") == "By hand."


def test_the_message_is_the_body_as_it_was_typed(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%pipeline p\n>>> I said: {a}\n  and $b\n\n", "run")
    assert notebook.last.message.text == ">>> I said: {a}\n  and $b\n"
    notebook.names["text"] = ">>> from a variable"
    run = notebook.run("run = %pipeline p --input text")
    assert (notebook.last.message.text, notebook.names["run"], run.value) == (
        ">>> from a variable",
        notebook.last,
        None,
    )


def test_the_state_to_start_with(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.names["more"] = {"k": "from dict", "d": {"x": 1}}
    notebook.run("%%pipeline p --state-from more --state k=v n:=3 --state 'user:tier:={\"a\": [true]}' --user u1\nhi")
    state = dict(notebook.last.start_state)
    assert state == {"k": "v", "d": {"x": 1}, "n": 3, "user:tier": {"a": [True]}}
    assert notebook.last.user_id == "u1"


def test_clear_deletes_keys_at_the_start_of_a_turn(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%pipeline p --session chat\none", "one")
    notebook.run("%%agent A --key a --before-agent skip\nA", "A")
    notebook.run("def skip(ctx): return None if ctx.state.get('a') is None else 'kept'")
    notebook.run("%%pipeline p --session chat --clear a c\ntwo", "two")
    assert notebook.last.output == "C says 2"
    assert "c" in notebook.last.session.state
    assert notebook.last.turn_events[0].actions.state_delta == {
        "a": REMOVED, "c": REMOVED,
    }  # fmt: skip


def test_a_session_s_cell_replaces_its_turn_and_marks_later_ones_stale(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%pipeline p --session chat\none", "one")
    notebook.run("%%pipeline p --session chat\ntwo", "two")
    notebook.run("%%pipeline p --session chat\none again", "one")
    assert turns(notebook) == [("one again", "C says 1", False), ("two", "C says 2", True)]
    notebook.run("%adk undo")
    assert turns(notebook) == [("one", "C says 1", False), ("two", "C says 2", False)]
    notebook.run("%%pipeline p --session chat --append\nthree", "one")
    assert [turn[0] for turn in turns(notebook)] == ["one", "two", "three"]
    notebook.run("%%pipeline p --session chat\nfour")
    assert [turn[0] for turn in turns(notebook)] == ["one", "two", "three", "four"]
    notebook.run("%%pipeline p --session chat --turn 2\nsecond")
    assert [turn[0] for turn in turns(notebook)] == ["one", "second", "three", "four"]
    assert [turn[2] for turn in turns(notebook)] == [False, False, True, True]
    notebook.run("%%pipeline p --session chat --turn 5\nfive")
    assert [turn[0] for turn in turns(notebook)] == ["one", "second", "three", "four", "five"]


def test_several_turns_of_one_cell_are_replaced_one_by_one(notebook: Notebook) -> None:
    notebook.three_agents()
    cell = "for text in texts:\n    %pipeline p --session chat --input text"
    notebook.names["texts"] = ["one", "two"]
    notebook.run(cell, "loop")
    assert [turn[0] for turn in turns(notebook)] == ["one", "two"]
    notebook.names["texts"] = ["uno", "due", "tre"]
    notebook.run(cell, "loop")
    assert [turn[0] for turn in turns(notebook)] == ["uno", "due", "tre"]


def test_only_named_sessions_share_app_and_user_values(notebook: Notebook) -> None:
    notebook.run("def write(ctx): ctx.state['app:n'] = ctx.state.get('app:n', 0) + 1")
    notebook.run("%%agent A --pipeline p --before-agent write\nn is {app:n}", "A")
    for _ in range(2):
        notebook.run("%%pipeline p\nhi", "fresh")
        assert notebook.prompt("A") == "n is 1"
    notebook.run("%%pipeline p --session one\nhi", "one")
    notebook.run("%%pipeline p --session two\nhi", "two")
    assert notebook.prompt("A") == "n is 2"
    notebook.run("%adk undo")
    assert notebook.bench.sessions.keys() == {"one"}
    notebook.run("%%pipeline p --session three\nhi", "three")
    assert notebook.prompt("A") == "n is 2"


def test_undoing_the_first_turn_takes_the_session_away(notebook: Notebook) -> None:
    notebook.run("def write(ctx): ctx.state['app:n'] = ctx.state.get('app:n', 0) + 1")
    notebook.run("%%agent A --pipeline p --before-agent write\nn is {app:n}", "A")
    notebook.run("%%pipeline p --session chat\nfirst", "one")
    notebook.run("%adk undo")
    assert notebook.bench.sessions == {}
    notebook.run("%%pipeline p --session chat\nfirst again", "one")
    assert [turn[0] for turn in turns(notebook)] == ["first again"]
    assert notebook.prompt("A") == "n is 1"


# from a step


def test_from_copies_the_steps_before(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%pipeline p\nhi", "run")
    first = notebook.last
    notebook.run("%%agent B --key b\nEdited {a}.", "B")
    notebook.run("%pipeline p --from B")
    run = notebook.last
    assert run.parent is first
    assert [(step.name, step.replayed) for step in run.step_runs] == [("A", True), ("B", False), ("C", False)]
    assert notebook.prompt("B") == "Edited A says 1."
    assert run.step("A").requests[0] is first.step("A").requests[0]
    notebook.run("%%pipeline p --from C\nhi", "run")
    assert [step.replayed for step in notebook.last.step_runs] == [True, True, False]
    notebook.run(f"%pipeline p --from C --run {first.id[:6]}")
    assert (notebook.last.parent, notebook.prompt("B")) == (first, "Agent B reads A says 1.")


def test_from_with_another_strategy_is_mixed(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%pipeline p\nhi", "run")
    notebook.run("%pipeline p --from C --strategy none --out mixed")
    run = notebook.names["mixed"]
    assert (run.label, run.strategy, run is notebook.last) == ("mixed", "none", True)
    assert [len(step.requests[0].sent.contents) for step in run.step_runs] == [1, 2, 1]
    assert notebook.run("%adk runs").value["note"].tolist()[-1] == "mixed"


def test_a_run_goes_on_as_it_was_begun(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%pipeline p --strategy none --max-llm-calls 2 --pause\nhi", "run")
    assert (notebook.last.status, notebook.last.step_runs) == ("paused", [])
    notebook.run("%adk step")
    assert (notebook.last.strategy, [step.name for step in notebook.last.step_runs]) == ("none", ["A"])
    message = notebook.cell("%adk continue").error
    assert str(message).startswith("agent 'C': the run asked its models 2 times, which is the limit.")
    assert (notebook.last.status, notebook.last.strategy) == ("failed", "none")


def test_app_and_user_values_go_back(notebook: Notebook) -> None:
    notebook.run("def count(ctx): ctx.state['user:n'] = ctx.state.get('user:n', 0) + 1")
    notebook.run("%%agent A --pipeline p --after-agent count\nA", "A")
    notebook.run("%%agent B --before-agent count\nn is {user:n}", "B")
    notebook.run("%%pipeline p --session chat\nhi", "run")
    for _ in range(2):
        notebook.run("%pipeline p --from B")
        assert (notebook.prompt("B"), notebook.last.session.state["user:n"]) == ("n is 2", 2)
    assert notebook.last.session.scopes.user == {"n": 2}


def test_a_copied_tool_step_says_what_does_not_go_back(notebook: Notebook) -> None:
    notebook.run("def send(to: str) -> dict:\n    'Send.'\n    return {'sent': to}")
    notebook.run(
        "from adknb import ScriptedModel\n"
        "caller = ScriptedModel({'A': [[{'function_call': {'name': 'send', 'args': {'to': 'x'}}}], 'done'], 'B': ['b', 'b']})"
    )
    notebook.run("%%agent A --pipeline p --tools send\nA", "A")
    notebook.run("%%agent B\nB", "B")
    notebook.run("%%pipeline p --model caller\nhi", "run")
    notebook.run("%pipeline p --from A")
    notes = notebook.run("%adk steps").value["note"].tolist()
    assert notes[0].endswith("what 'send' did outside the session before is not taken back")
    assert "outside" not in notes[1]
    output = notebook.run("%adk rewind A")
    assert notebook.last.notes == ["A: what 'send' did outside the session before is not taken back"]
    assert "A: what 'send' did outside the session before is not taken back" in output.text


# going on


def test_pause_step_continue_rewind(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%pipeline p --pause --session chat\nhi", "run")
    paused = notebook.last
    assert (paused.status, len(paused.turn_events), paused.step_runs) == ("paused", 1, [])
    assert notebook.run("%adk step").value is None
    assert [step.name for step in notebook.last.step_runs] == ["A"]
    notebook.run("run = %adk step B")
    assert ([step.name for step in notebook.names["run"].step_runs], notebook.last.status) == (["A", "B"], "paused")
    notebook.run("%adk continue")
    assert notebook.last.status == "completed"
    notebook.run("%adk step B")
    assert ([step.name for step in notebook.last.step_runs], notebook.last.status) == (["A", "B"], "paused")
    notebook.run("%adk rewind B")
    assert ([step.name for step in notebook.last.step_runs], dict(notebook.last.session.state)) == (
        ["A"], {"a": "A says 1"},
    )  # fmt: skip
    notebook.run("%adk continue")
    assert (notebook.last.output, turns(notebook)) == ("C says 1", [("hi", "C says 1", False)])
    for _ in range(6):
        notebook.run("%adk undo")
    assert (notebook.last, turns(notebook)) == (paused, [("hi", "", False)])


def test_rewinding_an_earlier_turn_keeps_the_later_ones(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%pipeline p --session chat\none", "one")
    first = notebook.last
    notebook.run("%%pipeline p --session chat\ntwo", "two")
    notebook.run(f"%adk rewind B --run {first.id}")
    assert turns(notebook) == [("one", "A says 1", False), ("two", "C says 2", True)]
    session = notebook.bench.sessions["chat"]
    assert [event.text for event in session.history if event.author == "user"] == ["one", "two"]
    notebook.run("%adk continue")
    assert turns(notebook) == [("one", "C says 1", False), ("two", "C says 2", True)]
    notebook.run("%%pipeline p --session chat\nthree", "three")
    assert [turn[0] for turn in turns(notebook)] == ["one", "two", "three"]


def test_a_trial_changes_nothing_and_is_no_run_to_go_on_from(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%pipeline p --session chat\nhi", "run")
    run, before = notebook.last, notebook.bench.sessions["chat"]
    state = (dict(before.state), list(before.history))
    notebook.run("%%step B\n>>> Tried {a}.", "try")
    assert (notebook.prompt("B"), notebook.last.status) == (">>> Tried A says 1.", "paused")
    assert (notebook.bench.pipelines["p"]["B"].prompt, notebook.bench.sessions["chat"]) == (
        "Agent B reads {a}.",
        before,
    )
    assert (dict(before.state), list(before.history)) == state
    notebook.run("%pipeline p --from C")
    assert notebook.last.parent is run
    assert notebook.run("%adk runs").value["note"].tolist() == ["replaced", "trial", ""]


# undo, history


def test_undo_takes_back_every_kind_of_change(notebook: Notebook, tmp_path: Path) -> None:
    notebook.three_agents()
    notebook.run("%adk save " + str(tmp_path / "saved"))
    notebook.run("%%pipeline p --session chat\none", "one")
    notebook.run("def write(ctx): ctx.state['app:x'] = 'written'")
    changes = [
        ("%%agent A --key a --before-agent write\nEdited", "A"),
        ("%%agent D\nNew", "D"),
        ("%agent D --include none", None),
        ("%adk order p D C B A", None),
        ("%adk order p A B C D", None),
        ("%adk use --strategy none --user other", None),
        ("%adk use --model echo", None),
        ("%%pipeline p\nfresh", "fresh"),
        ("%%pipeline p --session chat\ntwo", "two"),
        ("%%pipeline p --session chat\none again", "one"),
        ("%%pipeline p --session new --pause\none", "new"),
        ("%adk step", None),
        ("%adk rewind A", None),
        ("%adk continue", None),
        ("%%step B\ntried", "try"),
        ("%pipeline p --from C", None),
        ("%adk remove D", None),
        ("%adk history A --restore 1", None),
        ("%adk copy p q", None),
        ("%%agents p\n%agent Only\nOne", "whole"),
        ("%adk remove q", None),
        ("%adk load " + str(tmp_path / "saved"), None),
    ]
    states = [notebook.state()]
    for text, id in changes:
        notebook.run(text, id)
        states.append(notebook.state())
    for number, (text, _) in reversed(list(enumerate(changes))):
        assert _comparable(notebook.state()) == _comparable(states[number + 1]), text
        notebook.run("%adk undo")
        assert _comparable(notebook.state()) == _comparable(states[number]), text
    for _ in range(len(notebook.bench._undo)):
        notebook.run("%adk undo")
    assert (notebook.bench.pipelines, notebook.bench.records) == ({}, ())
    assert notebook.fail("%adk undo") == (
        "RunStateError: there is nothing to undo: nothing was written, run or set since the notebook began"
    )


def _comparable(state: Any) -> Any:
    """Without the shared values, whose empty dicts stay."""
    *rest, app, user, names = state
    shared = [{key: value for key, value in values.items() if value} for values in (app, user)]
    return rest, shared, {name: value for name, value in names.items() if not isinstance(value, BaseAgent)}


def test_history_and_restore(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%agent B --key b --include none\nSecond.", "B")
    notebook.run("%%agent B --key b\nThird.", "B")
    history = notebook.run("%adk history B --restore 1").value
    agent = notebook.bench.pipelines["p"]["B"]
    assert history.agent is agent
    assert (agent.prompt, agent.options.include) == ("Agent B reads {a}.", "default")
    assert [(v.prompt, v.options.include) for v in agent.versions] == [
        ("Agent B reads {a}.", "default"), ("Second.", "none"), ("Third.", "default"),
    ]  # fmt: skip


# looking


def test_verbs_return_objects(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%pipeline p --session chat\nhi", "one")
    notebook.run("%%pipeline p --session chat\nagain", "two")
    first, second = notebook.bench.runs
    value = notebook.run("df = %adk steps").value
    assert value is None
    assert notebook.names["df"]["step"].tolist() == ["A", "B", "C"]
    assert notebook.run("%adk state").value["key"].tolist() == ["a", "b", "c"]
    assert len(notebook.run("%adk state --history --session chat").value) == 6
    assert len(notebook.run(f"%adk events --run {first.id}").value) == 4
    assert notebook.run("%adk tokens").value["step"].tolist() == ["A", "B", "C"]
    view = notebook.run("%adk prompt B --request 1").value
    assert (view.run, view.step) == (second, "B")
    diff = notebook.run(f"%adk diff {first.id} {second.id[:5]}").value
    assert (diff.before, diff.after) == (first, second)
    assert notebook.run("%adk runs").value["message"].tolist() == ["hi", "again"]
    assert notebook.run("%adk pipelines").value["agents"].tolist() == ["A → B → C"]
    assert notebook.run("%adk contract").value.keys[0].key == "a"
    assert notebook.run("%adk lint p").value is not None
    assert notebook.run("%adk compare").value is not None
    assert list(notebook.run("%adk").value.groups) == ["go", "look", "check", "edit", "set"]


def test_adknb_last_and_bench(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    import adknb
    from adknb.notebook import current

    monkeypatch.setattr(current, "bench", notebook.bench)
    notebook.three_agents()
    assert adknb.last is None
    notebook.run("%%pipeline p --out run\nhi")
    assert adknb.last is notebook.last is notebook.names["run"]


def test_a_failed_run_is_kept_and_bound(notebook: Notebook) -> None:
    notebook.run("%%agent A --pipeline p\nReads {nobody}.", "A")
    output = notebook.cell("%%pipeline p --out run\nhi")
    assert type(output.error).__name__ == "CellFailed"
    assert (notebook.names["run"].status, notebook.last.status) == ("failed", "failed")
    assert "MissingKeyError · agent A · key nobody" in output.text


def test_traceback_on_request(notebook: Notebook) -> None:
    notebook.run("%%agent A --pipeline p\nReads {nobody}.", "A")
    assert "Traceback" not in notebook.cell("%%pipeline p\nhi").text
    assert "Traceback" in notebook.cell("%%pipeline p --traceback\nhi").text
    assert "Traceback" in notebook.cell("%adk prompt X --traceback").text


def test_to_python_from_the_notebook(notebook: Notebook) -> None:
    notebook.run("def guard(ctx):\n    ctx.state['seen'] = True")
    notebook.run("%%agent A --pipeline p --before-agent guard --key a\nSeen {seen}.", "A")
    source = notebook.run("p.to_python()").value
    assert "def guard(ctx):\n    ctx.state['seen'] = True" in source
    module: dict[str, Any] = {"__name__": "module"}
    exec(source, module)
    assert module["A"].instruction == "Seen {seen}."


# without a front end


def test_cells_nest(notebook: Notebook) -> None:
    notebook.run("get_ipython().run_cell('%%agent A --pipeline p\\nInner', cell_id='inner')\n%agent A --key a", "outer")
    agent = notebook.bench.pipelines["p"]["A"]
    assert (agent.prompt, agent.cell, agent.options.key) == ("Inner", "inner", "a")


def test_in_a_script_results_are_printed_and_returned(notebook: Notebook, capsys: pytest.CaptureFixture[str]) -> None:
    shell = notebook.shell
    card = shell.run_cell_magic("agent", "A --pipeline p --key a", "Prompt\n")
    assert (card.agent.prompt, card.agent.cell) == ("Prompt", None)
    assert "A" in capsys.readouterr().out
    notebook.names["text"] = "hi"
    run = shell.run_line_magic("pipeline", "p --input text")
    assert (run is notebook.last, "A says 1" in capsys.readouterr().out) == (True, True)
    table = shell.run_line_magic("adk", "state")
    assert (table["key"].tolist(), "A says 1" in capsys.readouterr().out) == (["a"], True)
