"""A loaded pipeline or a database names files: those in the notebook's folder are taken, no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from adknb.core.errors import SpecError
from adknb.notebook import files
from adknb.notebook.answering import Recording
from adknb.notebook.bench_documents import Contents, Reader, Writer
from adknb.notebook.bench_values import NOT_KEPT, from_json
from adknb.notebook.chosen_places import SaidHere
from adknb.notebook.pipelines import AgentCell, AgentOptions, Pipeline, Version
from adknb.notebook.records import Settings

OUTSIDE = ["../secret.txt", "/etc/passwd", "~/secret", "in/../../secret", "link", "\x00", "~nobody-of-this-name/x"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The notebook's folder, with a link out of it and a folder in it."""
    inside = tmp_path / "notebook"
    (inside / "in").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    (inside / "link").symlink_to(tmp_path / "secret.txt")
    (inside / "in" / "prompt.md").write_text("the prompt")
    monkeypatch.chdir(inside)
    return inside


@pytest.mark.parametrize("path", [path for path in OUTSIDE if path != "\x00"])
@pytest.mark.parametrize(("option", "prefix"), [("--prompt-file", ""), ("--model", "replay:"), ("--model", "local:")])
def test_a_loaded_file_chooses_none_outside(path: str, option: str, prefix: str, folder: Path) -> None:
    body = "" if option == "--prompt-file" else "prompt\n"
    (folder / "p.txt").write_text(f"%%agents p\n%agent A {option} {prefix}{path}\n{body}")
    with pytest.raises(SpecError) as refused:
        files.load("p.txt")
    assert str(refused.value) == (
        f"p.txt: agent 'A' names a file outside the notebook's folder: {option} {prefix}{path}. A file that is loaded cannot "
        "choose that. Take the option out there, and say it in a cell of your own."
    )


def test_a_loaded_file_may_name_those_beside_it(folder: Path) -> None:
    (folder / "p.txt").write_text("%%agents p\n%agent A --prompt-file in/prompt.md --model replay:in/replies.jsonl\n")
    agent = files.load("p.txt")[0].agents[0]
    assert (agent.text(), agent.options.model) == ("the prompt", "replay:in/replies.jsonl")
    (folder / "p.txt").write_text("%%agents p\n%agent A --model gemini-2.5-flash\nprompt\n")
    assert files.load("p.txt")[0].agents[0].options.model == "gemini-2.5-flash"


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_database_chooses_none_outside(path: str) -> None:
    remarks: list[str] = []
    assert from_json("record", {"recording": {"file": path, "mode": "once"}}, {}, remarks) is NOT_KEPT
    assert from_json("model", f"replay:{path}", {}, remarks) is NOT_KEPT
    assert remarks == [
        f"{name} is not set: it was {said}, outside the notebook's folder, which a database cannot choose. Say it again."
        for name, said in (("record", path), ("model", f"replay:{path}"))
    ]
    kept = from_json("models", {"json": {"A": "echo", "B": f"replay:{path}"}}, {}, remarks)
    assert (kept, remarks[2:]) == (NOT_KEPT, [remarks[1].replace("model is", "models is")])
    del remarks[2:]
    kept = from_json("record", {"recording": {"file": "in/r.jsonl", "mode": "new"}}, {}, remarks)
    assert (kept, len(remarks)) == (Recording("in/r.jsonl", "new"), 2)


def test_agents_of_a_database_lose_such_options(folder: Path) -> None:
    bad = AgentOptions(prompt_file="/etc/passwd", model="local:../model.gguf", key="k")
    cell = AgentCell("A", "prompt", bad, None, (Version("old", bad),))
    good = AgentCell("B", "", AgentOptions(prompt_file="in/prompt.md", model="echo"))
    contents = Contents({"p": Pipeline("p", (cell, good))}, Settings(model="local:/m.gguf"), (), None, {})
    reader = Reader({}, lambda identity, run: None, SaidHere())
    found = reader.contents(Writer(dict, SaidHere()).document(contents), lambda identity: None)
    first, second = found.pipelines["p"].agents
    assert first == AgentCell("A", "prompt", AgentOptions(key="k"), None, (Version("old", AgentOptions(key="k")),))
    assert second == good
    assert found.settings.model is None
    said = "outside the notebook's folder, which a database cannot choose. Say it again."
    assert sorted(reader.remarks) == [
        f"an agent's --model is not set: it was local:../model.gguf, {said}",
        f"an agent's --prompt-file is not set: it was /etc/passwd, {said}",
        f"the setting model is not set: it was local:/m.gguf, {said}",
    ]
