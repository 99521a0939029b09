"""A database that anybody may have written does not choose where prompts, replies and keys go."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from adknb import ScriptedModel
from adknb.notebook.answering import Recording
from adknb.notebook.bench import Bench
from adknb.notebook.chosen_places import SaidHere
from adknb.notebook.records import Settings, TurnRequest

ELSEWHERE = {"model": "openai/small", "base_url": "http://elsewhere.example/v1", "record": Recording("r.jsonl", "all")}
CHOICE = "and a database cannot choose where prompts go. If that is right, say it again:"


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    return "sqlite:///s.db"


def theirs(url: str) -> None:
    """A database whose settings and runs name a server, a file, a model behind an API."""
    bench = Bench()
    bench.put_agent("p", "A", "Agent A.")
    bench.open(url)
    bench.use(model="echo")
    for options in ({"base_url": ELSEWHERE["base_url"]}, {"models": "echo"}, {"base_url": ELSEWHERE["base_url"]}):
        bench.run("p", TurnRequest("hi"), **options)
    bench.use(strategy="none", **ELSEWHERE)


def test_another_kernel_takes_none_of_it(url: str) -> None:
    theirs(url)
    bench = Bench()
    assert bench.open(url) == (
        f"the setting model is not set: it was 'openai/small', {CHOICE} --model",
        f"the setting base_url is not set: it was 'http://elsewhere.example/v1', {CHOICE} --base-url",
        f"the setting record is not set: it was Recording(file='r.jsonl', mode='all'), {CHOICE} --record",
        f"an earlier run's option base_url is not set: it was 'http://elsewhere.example/v1', {CHOICE} --base-url",
    )
    assert bench.settings == Settings(strategy="none")
    assert [dict(record.options) for record in bench.records] == [{}, {"models": "echo"}, {}]
    bench.undo()
    assert bench.settings == Settings(model="echo")


def test_what_this_kernel_said_stays_when_the_database_is_read_again(url: str) -> None:
    bench = Bench()
    bench.open(url)
    bench.use(**ELSEWHERE)
    said = bench.settings
    assert bench.open("memory") == ()
    assert bench.open(url) == ()
    assert bench.settings == said
    theirs("sqlite:///other.db")
    bench.use(base_url=None)
    bench.use(model=ScriptedModel({}), record=None)
    assert len(bench.open("sqlite:///other.db")) == 4


def test_a_forged_run_does_not_go_on_in_another_database(url: str) -> None:
    bench = Bench()
    bench.put_agent("p", "A", "Agent A.")
    bench.use(model="echo")
    bench.open(url)
    bench.run("p", "hi")
    with sqlite3.connect("s.db") as database:
        forged = '"options":{"db":"sqlite:///elsewhere.db"}'
        database.execute(
            """UPDATE adknb_notes SET data = replace(data, '"trial":false,"options":{}', ?)""",
            (f'"trial":false,{forged}',),
        )
    database.close()
    other = Bench()
    remarks = other.open(url)
    assert f"an earlier run's option db is not set: it was 'sqlite:///elsewhere.db', {CHOICE} --db" in remarks
    assert "db" not in other.records[0].options
    assert not Path("elsewhere.db").exists()


@pytest.mark.parametrize(
    ("name", "kept", "is_forbidden"),
    [
        ("base_url", "http://x", True),
        ("base_url", None, False),
        ("record", {"recording": {"file": "r.jsonl", "mode": "once"}}, True),
        ("db", "sqlite:///x.db", True),
        ("model", "openai/gpt", True),
        ("model", "gemini-2.5-flash", True),
        ("model", "registered-1", True),
        ("model", "echo", False),
        ("model", "local:m.gguf", False),
        ("model", "replay:r.jsonl", False),
        ("model", {"object": "Mine", "variable": "mine"}, False),
        ("models", {"json": {"A": "echo", "B": "openai/gpt"}}, True),
        ("models", {"json": {"A": "echo"}}, False),
        ("models", {"each": {"A": {"object": "Mine", "variable": "mine"}, "B": "gemini-x"}}, True),
        ("strategy", "none", False),
        ("user", "openai/gpt", False),
    ],
)
def test_places(name: str, kept: Any, is_forbidden: bool) -> None:
    said = SaidHere()
    assert said.forbids(name, kept) is is_forbidden
    said.add(name, kept)
    assert not said.forbids(name, kept)
    assert said.forbids("base_url", "http://y")
