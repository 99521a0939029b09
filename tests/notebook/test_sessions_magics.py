"""`%adk use --db` and `%adk sessions`: what they show, change, refuse, and take back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adknb import LlmRequest, ScriptedModel
from adknb.notebook.complete import complete
from adknb.notebook.verbs import VERBS
from tests.notebook.notebook import Notebook
from tests.runtime.asking import ASK, asks


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    return tmp_path


@pytest.fixture
def kept(notebook: Notebook) -> Iterator[Notebook]:
    """A notebook in a database, with the pipeline p and two turns of the session chat."""
    notebook.run("%adk use --db sqlite:///tickets.db")
    notebook.three_agents()
    notebook.run("%%pipeline p --session chat\none", "c1")
    notebook.run("%%pipeline p --session chat\ntwo", "c2")
    yield notebook
    notebook.run("%adk use --db memory")


def words(text: str) -> str:
    return " ".join(text.removeprefix("Out[0]: ").split())


def test_use_says_where_sessions_live_and_how_durable(kept: Notebook, folder: Path) -> None:
    said = (
        f"sessions in {folder / 'tickets.db'}, each event on disk before the run goes on · notebook default: 2 runs, the last "
        f"change: run {kept.last.id} of p"
    )
    assert words(kept.run("%adk use").text).endswith(said)
    assert words(kept.run("%adk use --db memory").text).endswith("user user · sessions in memory, gone with the kernel")
    assert kept.run("%adk use").text.endswith("user user\n")
    assert "notebook a.ipynb: 0 runs" in words(kept.run("%adk use --db sqlite:///tickets.db --notebook a.ipynb").text)


def test_use_says_when_a_database_is_gone_with_the_kernel(notebook: Notebook) -> None:
    said = words(notebook.run("%adk use --db sqlite://").text)
    assert "sessions in the database in memory, gone with the kernel" in said
    notebook.run("%adk use --db memory")


def test_use_says_where_the_runs_of_before_are(notebook: Notebook) -> None:
    notebook.three_agents()
    notebook.run("%%pipeline p\none")
    said = words(notebook.run("%adk use --db sqlite:///tickets.db").text)
    assert said.endswith("! 1 run made before: in memory, until the kernel ends. %adk use --db memory goes back there.")
    assert "made before" not in notebook.run("%adk use --db sqlite:///tickets.db").text
    assert "made before" not in notebook.run("%adk use --db memory").text
    assert len(notebook.bench.runs) == 1


def test_a_relative_path_is_that_of_the_folder_as_it_is_now(kept: Notebook, folder: Path) -> None:
    kept.run("%%pipeline p --session far --db sqlite:///far.db\nhi")
    far = kept.last.id
    (folder / "sub").mkdir()
    kept.run("import os; os.chdir('sub')")
    kept.run("%adk rewind B")
    assert kept.last.parent is not None
    assert (kept.last.parent.id, list((folder / "sub").iterdir())) == (far, [])
    kept.run("%adk use --db sqlite:///tickets.db")
    assert (folder / "sub" / "tickets.db").exists()
    assert kept.bench.runs == []
    kept.run("%adk use --db sqlite:///../tickets.db")
    assert [run.message.text for run in kept.bench.sessions["chat"].turns] == ["one", "two"]


def test_a_bench_survives_the_file_that_was_deleted(kept: Notebook, folder: Path) -> None:
    (folder / "tickets.db").unlink()
    assert "the file was deleted, moved or replaced" in kept.fail("%%pipeline p --session chat\nthree")
    said = kept.fail("%adk undo")
    assert "the database has nothing of notebook 'default' any more" in said
    assert "Put the file back" in said
    assert len(kept.bench.runs) == 2
    kept.run("%adk use --db sqlite:///tickets.db")
    assert (list(kept.bench.pipelines), kept.bench.runs) == (["p"], [])
    kept.run("%%pipeline p --session chat\nfour")
    assert kept.last.status == "completed"


@pytest.mark.parametrize(
    ("variable", "environment", "name"),
    [
        (None, None, "default"),
        (None, "/home/ann/t.ipynb", "t.ipynb"),
        ("/home/ann/s.ipynb", "/home/ann/t.ipynb", "s.ipynb"),
    ],
)
def test_the_notebook_is_known_by_what_the_front_end_tells(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, variable: str | None, environment: str | None, name: str
) -> None:
    if environment is not None:
        monkeypatch.setenv("JPY_SESSION_NAME", environment)
    if variable is not None:
        notebook.names["__vsc_ipynb_file__"] = variable
    assert f"notebook {name}: 0 runs" in words(notebook.run("%adk use --db sqlite://").text)
    assert "notebook mine: 0 runs" in words(notebook.run("%adk use --db sqlite:// --notebook mine").text)
    notebook.run("%adk use --db memory")


def test_the_sessions_as_a_table(kept: Notebook) -> None:
    kept.run("%%pipeline p --session other --user <b>u</b>\nhi")
    table = kept.run("df = %adk sessions\ndf").value
    assert table[["session", "user", "app", "turns", "events", "status", "on_bench"]].to_numpy().tolist() == [
        ["other", "<b>u</b>", "adknb", 1, 4, "completed", True],
        ["chat", "user", "adknb", 2, 8, "completed", True],
    ]
    assert all(size > 1000 for size in table["bytes"])
    assert all(writer.startswith("process ") for writer in table["writer"])
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", time) for time in table["last_write"])
    assert list(kept.run("%adk sessions --user user").value["session"]) == ["chat"]
    kept.run("%%pipeline p\nfresh")
    assert list(kept.run("%adk sessions").value["on_bench"]) == [True, True, True]
    kept.run("%adk use --db sqlite:///tickets.db --notebook another")
    assert list(kept.run("%adk sessions").value["on_bench"]) == [False, False, False]
    html = kept.run("%adk sessions").value._repr_mimebundle_()["text/html"]
    assert ("&lt;b&gt;u&lt;/b&gt;" in html, "<b>u" in html) == (True, False)


def test_what_waits_is_answered_from_another_kernel(kept: Notebook) -> None:
    def say(request: LlmRequest) -> Any:
        return asks(id="call-1") if request.agent == "Q" and request.ordinal == 0 else f"{request.agent} is done"

    kept.names["ask"], kept.names["asker"] = ASK, ScriptedModel(say)
    kept.run("%adk use --model asker")
    kept.run("%%agent Q --pipeline q --tools ask\nQ", "Q")
    kept.run("%%pipeline q --session asking --resumable\ngo")
    kept.bench._homes.clear()  # as in another process
    kept.run("%adk use --db sqlite:///tickets.db")
    row = kept.run("%adk sessions").value.set_index("session").loc["asking"]
    assert (row["status"], row["waits_for"]) == ("waiting", "Q: ok?")
    kept.run("%adk answer yes --session asking")
    assert (kept.last.output, kept.last.turn) == ("Q is done", 1)
    row = kept.run("%adk sessions").value.set_index("session").loc["asking"]
    assert (row["status"], row["waits_for"]) == ("completed", "")


def test_in_memory_the_named_sessions_are_listed(notebook: Notebook) -> None:
    notebook.three_agents()
    assert len(notebook.run("%adk sessions").value) == 0
    notebook.run("%%pipeline p --session chat\none")
    table = notebook.run("%adk sessions").value
    assert table[["session", "turns", "events", "writer"]].to_numpy().tolist() == [["chat", 1, 4, "this kernel"]]
    session = notebook.bench.sessions["chat"]
    assert notebook.run("%adk sessions chat").value is session
    notebook.run("%adk sessions --delete chat")
    assert (notebook.bench.runs, notebook.bench.sessions) == ([], {})
    notebook.run("%adk undo")
    assert (len(notebook.bench.runs), notebook.bench.sessions) == (1, {"chat": session})


def test_a_session_of_another_notebook_is_picked_up(kept: Notebook) -> None:
    ids = [run.id for run in kept.bench.runs]
    kept.run("%%pipeline p\nfresh")
    fresh = kept.last.session.id
    kept.run("%adk use --db sqlite:///tickets.db --notebook other")
    assert kept.bench.runs == []
    assert "Session chat" in kept.run("s = %adk sessions chat\ns").text
    assert [run.id for run in kept.bench.runs] == ids
    kept.run("%adk sessions " + fresh[:6])
    kept.run("%%pipeline p --session chat\nthree", "c3")
    assert [run.message.text for run in kept.names["s"].turns] == ["one", "two", "three"]
    assert "A says 3" in kept.run(f"%adk prompt B --run {kept.last.id}").text
    for _ in range(3):
        kept.run("%adk undo")
    assert (kept.bench.runs, kept.bench.sessions) == ([], {})
    assert set(kept.run("%adk sessions").value["session"]) == {"chat", fresh}


def test_a_deleted_session_comes_back(kept: Notebook) -> None:
    before = kept.run("%adk runs").value
    state = dict(kept.bench.sessions["chat"].state)
    kept.run("%adk step B")
    again = kept.last.id
    said = kept.run("%adk sessions --delete chat").text
    assert "Session chat is deleted; %adk undo brings it back." in said
    assert (kept.bench.runs, kept.bench.sessions, len(kept.run("%adk sessions").value)) == ([], {}, 0)
    kept.run("%adk use --db sqlite:///tickets.db")
    assert words(kept.run("%adk undo").text) == "Undone: session chat deleted."
    assert kept.last.id == again
    kept.run("%adk undo")
    assert kept.run("%adk runs").value.equals(before)
    assert kept.bench.sessions["chat"].state == state
    kept.run("%%pipeline p --session chat\nthree")
    assert kept.last.turn == 2


def test_a_deleted_session_comes_back_with_trials_and_runs_that_were_put_aside(kept: Notebook) -> None:
    kept.run("%%step B\nTry {a}.")
    kept.run("%%pipeline p --session chat\nTWO", "c2")
    before = kept.run("%adk runs").value
    assert list(before["note"].fillna("")) == ["", "replaced", "trial", ""]
    kept.run("%adk sessions --delete chat")
    kept.run("%adk undo")
    assert kept.run("%adk runs").value.equals(before)
    kept.run("%adk undo")
    assert [turn.run.message.text for turn in kept.bench.sessions["chat"].chain] == ["one", "two"]


@pytest.mark.parametrize("name", ["../../etc/x", "x" * 600, "a\x00b"])
def test_a_session_of_any_name_comes_back(kept: Notebook, name: str) -> None:
    kept.run(f"%%pipeline p --session {name}\nhi")
    run = kept.last.id
    kept.run(f"%adk sessions --delete {name}")
    kept.run("%adk undo")
    assert (kept.last.id, kept.last.session.id) == (run, name)


def test_old_sessions_are_pruned_and_those_of_the_bench_stay(kept: Notebook) -> None:
    kept.run("%adk use --db sqlite:///tickets.db --notebook other")
    kept.three_agents()
    for name in ("x", "y", "z"):
        kept.run(f"%%pipeline p --session {name}\nhi")
    kept.run("%adk sessions --delete y")
    kept.run("%adk use --db sqlite:///tickets.db --notebook third")
    kept.run("%adk sessions z")
    dry = words(kept.run("%adk sessions --prune --keep 0 --dry-run").text)
    assert dry.startswith("Would go: 2 sessions of ")
    assert dry.endswith(
        "Nothing is deleted. Pruning cannot be undone. ! x (user user, 1 turn) ! chat (user user, 2 turns)"
    )
    assert len(kept.run("%adk sessions").value) == 3
    assert words(kept.run("%adk sessions --prune --older-than 30d").text).startswith("There is nothing to prune")
    assert "chat (user user, 2 turns)" in kept.run("%adk sessions --prune --keep 2").text
    assert words(kept.run("%adk sessions --prune --keep 0").text).startswith("Pruned: 1 session of ")
    assert list(kept.run("%adk sessions").value["session"]) == ["z"]
    again = words(kept.run("%adk use --db sqlite:///tickets.db --notebook default").text)
    assert "! 2 runs are gone with a deleted session: " in again
    assert kept.bench.runs == []


def test_a_session_goes_through_a_file(kept: Notebook, folder: Path) -> None:
    turns = kept.bench.sessions["chat"].turns
    said = words(kept.run("%adk sessions chat --export chat.json").text)
    assert said == "Session chat is in chat.json, with its runs: %adk sessions --import chat.json"
    kept.run("%adk use --db sqlite:///elsewhere.db")
    kept.run("%adk sessions --import chat.json")
    assert [run.id for run in kept.bench.runs] == [run.id for run in turns]
    assert kept.last.prompt("B").equals(turns[1].prompt("B"))
    kept.run("%adk rewind B")
    kept.run("%adk continue")
    kept.run("%adk sessions copy --import chat.json")
    assert set(kept.run("%adk sessions").value["session"]) == {"chat", "copy"}
    kept.run(f"%adk rewind B --run {turns[1].id}")  # of two runs of this id, that of the last import
    assert kept.last.session.id == "copy"
    kept.run("%adk undo")
    kept.run("%adk undo")
    assert list(kept.run("%adk sessions").value["session"]) == ["chat"]
    kept.run("%adk use --db memory")
    kept.run("%adk sessions --import chat.json")
    kept.run("%%pipeline p --session chat\nthree")
    assert [run.message.text for run in kept.bench.sessions["chat"].turns] == ["one", "two", "three"]


def test_what_adk_s_web_page_saved_becomes_turns_of_the_pipeline(kept: Notebook, folder: Path) -> None:
    document = {
        "id": "from-adk", "appName": "app", "userId": "u", "state": {"a": "said"}, "lastUpdateTime": 2.0,
        "events": [
            {"id": "1", "invocationId": "i", "author": "user", "timestamp": 1.0, "content": {"role": "user", "parts": [{"text": "hi"}]}},
            {"id": "2", "invocationId": "i", "author": "A", "timestamp": 2.0, "actions": {"stateDelta": {"a": "said"}},
             "content": {"role": "model", "parts": [{"text": "said"}]}},
        ],
    }  # fmt: skip
    (folder / "adk.json").write_text(json.dumps(document))
    kept.run("%adk sessions --import adk.json --pipeline p")
    assert [(step.name, step.output) for step in kept.last.step_runs] == [("A", "said")]
    assert "Agent A." in kept.run("%adk prompt A").text
    assert kept.run("%adk sessions").value.iloc[0][["session", "user", "app", "turns"]].tolist() == [
        "from-adk",
        "u",
        "app",
        1,
    ]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("%adk sessions chta", "RunStateError: there is no session 'chta'. Did you mean 'chat'?"),
        ("%adk sessions --delete cha", "RunStateError: there is no session 'cha'. Name it in full: chat"),
        ("%adk sessions --delete", "UsageError: %adk sessions: --delete needs a value. Write --delete NAME: delete this session, named in full; undo brings it back."),
        ("%adk sessions chat --delete chat", "UsageError: 'chat' is one word too many: --delete says which sessions by itself"),
        ("%adk sessions --prune", "UsageError: say which sessions to prune: --older-than 30d, --keep 10 (all but the newest), or both"),
        ("%adk sessions --prune --older-than soon", "UsageError: --older-than takes a number of minutes, hours, days or weeks (30m, 12h, 30d, 4w), not 'soon'"),
        ("%adk sessions --prune --keep few", "UsageError: --keep takes a whole number, not 'few'"),
        ("%adk sessions --keep 3", "UsageError: --keep is for --prune: say that too"),
        ("%adk sessions chat --force", "UsageError: --force is for --export: say that too"),
        ("%adk sessions --export x.json", "UsageError: --export needs the session's name: %adk sessions NAME --export FILE"),
        ("%adk sessions --delete x --prune", "UsageError: say --delete or --prune, not both"),
        ("%adk sessions --deleet chat", "UsageError: %adk sessions: there is no option '--deleet'. Did you mean '--delete'?"),
        ("%adk sessions --import gone.json", "SpecError: cannot read gone.json: No such file or directory"),
        ("%adk sessions --import chat.json", "RunStateError: there is a session 'chat' already. Take this one under another name: %adk sessions NAME --import FILE"),
        ("%adk sessions chat --export chat.json", "SpecError: chat.json exists already. Take another name, or say --force to write over it."),
        ("%adk use --notebook n", "UsageError: --notebook names what is kept in a database: say --db URL too"),
    ],
)  # fmt: skip
def test_mistakes_change_nothing(kept: Notebook, line: str, error: str) -> None:
    kept.run("%adk sessions chat --export chat.json")
    assert kept.fail(line) == error


@pytest.mark.parametrize("path", ["../out.json", "/tmp/out.json", "in/../../out.json", "link/out.json", "~/out.json"])
@pytest.mark.parametrize("line", ["%adk sessions chat --export {}", "%adk sessions --import {}"])
def test_no_file_outside_the_folder(kept: Notebook, folder: Path, path: str, line: str) -> None:
    (folder / "link").symlink_to(folder.parent)
    (folder.parent / "out.json").write_text("{}")
    assert kept.fail(line.format(path)) == (
        f"SpecError: {path} is outside the notebook's folder ({folder}). Sessions are written and read inside it: name a file "
        "there."
    )
    assert (folder.parent / "out.json").read_text() == "{}"


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"format": "adknb session"}', '{"id": "../x", "appName": "a"}', "[" * 100_000]
)
def test_what_is_no_session_is_refused(kept: Notebook, folder: Path, text: str) -> None:
    (folder / "bad.json").write_text(text)
    assert kept.fail("%adk sessions --import bad.json").startswith("SessionFormatError: ")


def test_force_writes_over_a_file(kept: Notebook, folder: Path) -> None:
    (folder / "chat.json").write_text("old")
    kept.run("%adk sessions chat --export chat.json --force")
    assert json.loads((folder / "chat.json").read_text())["id"] == "chat"


def test_tab_offers_the_sessions(kept: Notebook) -> None:
    kept.run("%adk use --db sqlite:///tickets.db --notebook other")
    for line in ("%adk sessions ch", "%adk sessions --delete ch", "%%pipeline p --session ch"):
        assert complete(kept.bench, VERBS, line) == ("ch", ["chat"])


def test_portability_takes_the_notebook_s_functions_for_a_run_that_was_read(kept: Notebook) -> None:
    functions = "def guard(callback_context): return None\ndef look(city: str) -> dict:\n    'Looks.'\n    return {}"
    kept.run(functions)
    kept.run("%%agent T --pipeline t --key t --before-agent guard --tools look\nAgent T.", "T")
    kept.run("%%agent U --key u\nAgent U reads {t}.", "U")
    kept.run("%%pipeline t\nhi")
    before = kept.run("%adk portability").value.to_frame()
    assert len(before) > 0
    kept.bench._homes.clear()  # as in another process: nothing of the sessions is in memory
    kept.run("%adk use --db sqlite:///tickets.db")
    assert "<stored function guard>" in repr(kept.last.root)
    assert kept.run("%adk portability").value.to_frame().equals(before)
    kept.run("del guard, look")
    kept.run("True")  # T is no variable any more, once the next cell runs
    assert kept.fail("%adk portability") == (
        f"RunStateError: run {kept.last.id} was read from a database, where functions are kept by name only, and the notebook "
        "defines no guard, look. Run the cells that define them first."
    )
