"""Answers in the notebook: `--resumable`, `%adk pending`, `%adk answer`, and undo of an answer."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import ScriptedModel
from adknb.notebook.complete import complete
from adknb.notebook.verbs import VERBS
from adknb.notebook.verbs.answers import quoted_json
from tests.notebook.notebook import Notebook
from tests.runtime.asking import ASK, asks, outputs


@pytest.fixture
def asking(notebook: Notebook) -> Notebook:
    """A, B and C, of which B asks at every second call, and a model that says which call it was."""

    def say(request: Any) -> Any:
        number = request.ordinal // 2 + 1
        if request.agent == "B" and request.ordinal % 2 == 0:
            return asks(id=f"call-{number}")
        return f"{request.agent.lower()}{number if request.agent == 'B' else request.ordinal + 1}"

    notebook.names["ask"] = ASK
    notebook.run("%%agent A --pipeline p --key a\nA", "A")
    notebook.run("%%agent B --key b --tools ask\nB", "B")
    notebook.run("%%agent C --key c\nC reads {b}.", "C")
    notebook.names["asker"] = ScriptedModel(say)
    notebook.run("%adk use --model asker")
    return notebook


def test_a_run_waits_and_is_answered(asking: Notebook) -> None:
    text = asking.run("%%pipeline p --resumable\ngo", "run").text
    assert "p: waiting" in text
    assert 'Waiting for ask({"question":"ok?"}), asked by B. Answer: %adk answer VALUE' in text
    pending = asking.run("%adk pending").value
    assert pending.drop(columns="since").to_dict("records") == [
        {"call": "call-1", "agent": "B", "question": "ok?", "tool": "ask", "session": "", "run": asking.last.id}
    ]
    assert asking.run("%adk pending").text.split()[1:7] == ["call", "agent", "question", "tool", "since", "run"]
    text = asking.run("%adk answer yes").text
    assert "p: completed" in text
    assert asking.run("%adk runs").value[["status", "message", "note"]].to_numpy().tolist() == [
        ["waiting", "go", "answered in turn 2"],
        ["completed", '{"function_response":{"name":"ask","response":{"result":"yes"}}}', ""],
    ]
    assert (outputs(asking.last), asking.last.turn) == (["B b1", "C c1"], 1)
    assert asking.last.message.function_responses[0].response == {"result": "yes"}
    assert len(asking.run("%adk pending").value) == 0


def test_the_notebook_s_setting(asking: Notebook) -> None:
    assert "· resumable" in asking.run("%adk use --resumable on").text
    asking.run("%%pipeline p\ngo", "run")
    assert asking.last.status == "waiting"
    assert "resumable" not in asking.run("%adk use --resumable off").text
    asking.run('run = %adk answer {"answer": "yes"}')  # goes on as the run began
    assert outputs(asking.names["run"]) == ["B b1", "C c1"]
    asking.run("%%pipeline p\ngo", "other")
    assert str(asking.last.status) == "completed"


def test_undo_takes_an_answer_back(asking: Notebook) -> None:
    asking.run("%%pipeline p --session chat --resumable\ngo", "run")
    waiting = asking.last
    asking.run("%adk answer call-1 yes")
    assert asking.bench.sessions["chat"].state["c"] == "c1"
    answered = asking.last.id
    assert asking.run("%adk undo").value.text == f"Undone: run {answered} of p."
    assert asking.last is waiting
    assert "c" not in asking.bench.sessions["chat"].state
    assert list(asking.run("%adk pending").value["call"]) == ["call-1"]
    asking.run("%adk answer call-1 no")
    assert outputs(asking.last) == ["B b1", "C c1"]


def test_the_cell_of_the_turn_still_replaces_its_turn(asking: Notebook) -> None:
    asking.run("%%pipeline p --session chat --resumable\ngo", "run")
    asking.run("%adk answer yes", "answer")
    asking.run("%%pipeline p --session chat --resumable\ngo", "run")
    turns = asking.bench.sessions["chat"].turns
    assert [(run.status, run.stale) for run in turns] == [("waiting", False), ("completed", True)]


def test_a_session_is_found_by_the_call_or_named(asking: Notebook) -> None:
    asking.run("%%pipeline p --session one --resumable\ngo", "one")
    asking.run("%%pipeline p --session two --resumable\ngo", "two")
    asking.run("%adk answer ask yes --session one")
    assert asking.last.session is asking.bench.sessions["one"]
    assert list(asking.run("%adk pending").value["session"]) == ["two"]
    message = asking.fail("%adk answer yes")
    assert message.startswith(
        "RunStateError: no call waits in the session of the last run. In others: 'call-1' (ask, asked by B)."
    )
    asking.run("%adk answer no --session two")
    assert asking.last.session is asking.bench.sessions["two"]
    message = asking.fail("%adk answer no --session tow")
    assert (
        "no run went into a session 'tow'. Did you mean 'two'? One that others began is picked up first: %adk sessions tow"
        in message
    )


def test_an_answer_may_be_the_tool_s_name(asking: Notebook) -> None:
    asking.run("%%pipeline p --resumable\ngo", "run")
    asking.run("%adk answer '\"ask\"'")
    assert asking.last.message.function_responses[0].response == {"result": "ask"}


def test_step_by_step(asking: Notebook) -> None:
    asking.run("%%pipeline p --resumable\ngo", "run")
    asking.run("%adk answer yes --pause")
    assert (asking.last.status, outputs(asking.last)) == ("paused", [])
    asking.run("%adk step")
    assert outputs(asking.last) == ["B b1"]
    asking.run("%adk continue")
    assert (asking.last.status, outputs(asking.last)) == ("completed", ["B b1", "C c1"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "UsageError: %adk answer: the answer is missing. Write: %adk answer VALUE, or CALL VALUE. See: %adk pending"),
        ("call-1", "UsageError: %adk answer: call-1 is a call; its answer is missing. Write: %adk answer call-1 VALUE; or if "
         "that text is the answer, as JSON: %adk answer '\"call-1\"'"),
        ("ask", "UsageError: %adk answer: ask is a call; its answer is missing. Write: %adk answer ask VALUE; or if that text is "
         "the answer, as JSON: %adk answer '\"ask\"'"),
        ("ask yes call-1 no", "UnknownCallError: two of these answers are for one call: 'call-1' (ask, asked by B). Nothing was "
         "answered: name each call once, by its id. See them: %adk pending"),
        ('{"a": tru', "UsageError: %adk answer: {a: tru begins like JSON and is none: Expecting property name enclosed in double "
         "quotes: line 1 column 2 (char 1). If it is text, write it as JSON text: '\"{a: tru\"'"),
        ("yes do it", "UsageError: %adk answer: 3 words are no pairs of a call and its answer. Put quotes around an answer with "
         "spaces: %adk answer 'yes, do it'"),
        ("cal-1 yes", "UnknownCallError: the session has no long-running call 'cal-1'. Did you mean 'call-1'?"),
        ("{a:1}", "UsageError: %adk answer: {a:1} begins like JSON and is none: Expecting property name enclosed in double "
         "quotes: line 1 column 2 (char 1). If it is text, write it as JSON text: '\"{a:1}\"'"),
        ("yes --sesion chat", "UsageError: %adk answer: there is no option '--sesion'. Did you mean '--session'?"),
    ],
)  # fmt: skip
def test_mistakes(asking: Notebook, line: str, message: str) -> None:
    asking.run("%%pipeline p --resumable\ngo", "run")
    assert asking.fail(f"%adk answer {line}") == message


def test_nothing_to_answer(asking: Notebook) -> None:
    assert "there is no run" in asking.fail("%adk answer yes")
    asking.run("%%pipeline p --resumable\ngo", "run")
    asking.run("%adk answer yes")
    assert "'call-1' (ask, asked by B) has one" in asking.fail("%adk answer yes")


def test_rules_that_nobody_recorded(asking: Notebook) -> None:
    assert "resumable=True follows ADK Java" in asking.fail("%%pipeline p --resumable --rules go\ngo")
    asking.run("%adk use --rules go")
    assert "resumable=True follows ADK Java" in asking.fail("%adk use --resumable on")


def test_a_waiting_run_is_not_continued(asking: Notebook) -> None:
    asking.run("%%pipeline p --resumable\ngo", "run")
    for verb in ("continue", "step"):
        assert "waits for the answer to 'call-1' (ask, asked by B). Answer it" in asking.fail(f"%adk {verb}")


def test_lint_knows_that_runs_wait(asking: Notebook) -> None:
    assert "nothing-pauses" in asking.run("%adk lint").text
    asking.run("%adk use --resumable on")
    assert "nothing-pauses" not in asking.run("%adk lint").text
    asking.run("%adk use --resumable off")
    asking.run("%%pipeline p --resumable\ngo", "run")
    assert "nothing-pauses" not in asking.run("%adk lint").text
    asking.run("%adk use --rules go")
    assert "nothing-pauses" in asking.run("%adk lint").text


@pytest.mark.parametrize(("resumable", "is_said"), [("off", True), ("on", False)])
def test_cards_know_it_too(asking: Notebook, resumable: str, is_said: bool) -> None:
    asking.run(f"%adk use --resumable {resumable}")
    for shown in (asking.run("%%agent B --key b --tools ask\nB asks.", "B"), asking.run("%adk order A B C")):
        assert ("nothing waits for the answer" in " ".join(shown.text.split())) is is_said


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("yes", ["yes", None, []]),
        ('{"a": "x y"}', ['{"a": "x y"}', None, []]),
        ('call-1 [1, {"b": null}] call-2 {}', ["call-1", '[1, {"b": null}]', ["call-2", "{}"]]),
        ("'{\"a\": 1}'", ['{"a": 1}', None, []]),
        ("'see {\"a\": 1}'", ['see {"a": 1}', None, []]),
        ("call-1 '[it is] fine'", ["call-1", "[it is] fine", []]),
        ("[x]", ["[x]", None, []]),
    ],
)
def test_json_needs_no_quotes(line: str, read: list[Any]) -> None:
    options = VERBS["answer"].parse(line)
    assert [options.call, options.value, options.more] == read


def test_what_is_no_whole_word_stays() -> None:
    for line in ('{"a": 1}x', 'a{"b": 1}', "{broken", "[1", ""):
        assert quoted_json(line) == line


def test_several_in_one_turn(notebook: Notebook) -> None:
    notebook.names["ask"] = ASK
    notebook.names["two"] = ScriptedModel({"B": [[asks(id="call-1"), asks(id="call-2")], "done"]})
    notebook.run("%%agent B --pipeline p --tools ask --model two\nB", "B")
    notebook.run("%%pipeline p --resumable\ngo", "run")
    assert "2 calls wait for an answer" in notebook.fail("%adk answer yes")
    notebook.run("%adk answer call-1 yes call-2 {}")
    assert [answer.response for answer in notebook.last.message.function_responses] == [{"result": "yes"}, {}]
    assert (notebook.last.output, notebook.last.notes) == ("done", [])


def test_tab_offers_the_calls(asking: Notebook) -> None:
    asking.run("%%pipeline p --resumable\ngo", "run")
    assert complete(asking.bench, VERBS, "%adk answer ") == ("", ["call-1"])
    assert complete(asking.bench, VERBS, "%adk answer call-1 yes c") == ("c", ["call-1"])
