"""The magics, cell by cell, in an IPython shell: undo, history, looking; without a front end."""

from __future__ import annotations

import argparse
import signal
from pathlib import Path
from typing import Any

import pytest

from adknb import BaseAgent
from adknb.notebook.verbs import VERBS
from tests.notebook.notebook import Notebook

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


def test_ctrl_c_while_a_line_is_read(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def interrupted(self: argparse.ArgumentParser, words: list[str]) -> Any:
        signal.raise_signal(signal.SIGINT)
        read.append(words)
        return original(self, words)

    original = argparse.ArgumentParser.parse_known_intermixed_args
    monkeypatch.setattr(argparse.ArgumentParser, "parse_known_intermixed_args", interrupted)
    with pytest.raises(KeyboardInterrupt):
        VERBS["runs"].parse("--traceback")
    assert read == [["--traceback"]]
