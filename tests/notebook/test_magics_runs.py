"""The magics that run pipelines: whole, from a step, step by step, turn by turn."""

from __future__ import annotations

from adknb import LlmAgent
from adknb.core.state import REMOVED
from tests.notebook.notebook import Notebook


def turns(notebook: Notebook, session: str = "chat") -> list[tuple[str, str, bool]]:
    return [(run.message.text, run.output, run.stale) for run in notebook.bench.sessions[session].turns]


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
