"""The bench as documents: what is written is read back, a change is noted by what it changed, objects by their names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adknb import InMemorySessionService, Run, ScriptedModel, SessionStoreError, StaleSessionError
from adknb.core.protocols import Note
from adknb.notebook.answering import Recording
from adknb.notebook.bench import Bench
from adknb.notebook.bench_documents import Contents, Identity, Reader, Writer
from adknb.notebook.bench_log import KIND, BenchLog, Change
from adknb.notebook.chosen_places import SaidHere
from adknb.notebook.pipelines import AgentOptions
from adknb.notebook.records import TurnRequest

pytestmark = pytest.mark.anyio


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.namespace["model"] = ScriptedModel(lambda request: f"{request.agent} says {request.ordinal + 1}")
    bench.use(model=bench.namespace["model"])
    guarded = AgentOptions("a", "none", tools=("look",), callbacks={"before_agent": ("guard",)}, config={"top_p": 0.5})
    bench.put_agent("p", "A", "Agent A\u2028{x}.", guarded, cell="c1")
    bench.put_agent("p", "A", "Agent A.", AgentOptions(key="a"), cell="c1")
    bench.put_agent("q", "B", "B \ud800 reads {a?}.", AgentOptions(key="b"))
    bench.run("p", TurnRequest("hi", session="chat", cell="c2"), strategy="none")
    bench.run("q", "hi", models={"B": bench.namespace["model"]})
    return bench


def contents(bench: Bench) -> Contents:
    return Contents(bench.pipelines, bench.settings, bench.records, bench.current, bench.sessions)


def read(
    bench: Bench, document: Any, namespace: dict[str, Any] | None = None, said: SaidHere | None = None
) -> tuple[Contents, Reader]:
    runs = {run.id: run for run in bench.runs}
    sessions = {Identity.of(run.session): run.session for run in bench.runs}
    reader = Reader(
        bench.namespace if namespace is None else namespace, lambda _, run: runs.get(run), said or SaidHere()
    )
    return reader.contents(json.loads(json.dumps(document)), sessions.get), reader


def test_what_is_written_is_read_back(bench: Bench) -> None:
    bench.use(strategy={"A": "none"}, record=Recording("r.jsonl", "new"), base_url="http://here", stream=True, user="u")
    said = SaidHere()
    document = Writer(lambda: bench.namespace, said).document(contents(bench))
    found, reader = read(bench, document, said=said)
    assert found == contents(bench)
    assert (reader.remarks, reader.missing) == ([], [])


def test_what_did_not_change_is_the_same_object(bench: Bench) -> None:
    writer = Writer(lambda: bench.namespace, SaidHere())
    before = writer.document(contents(bench))
    bench.put_agent("p", "A", "Another.", AgentOptions(key="a"), cell="c1")
    after = writer.document(contents(bench))
    assert after["pipelines"][1]["agents"][0] is before["pipelines"][1]["agents"][0]
    assert after["records"][0] is before["records"][0]
    versions = [document["pipelines"][0]["agents"][0]["versions"] for document in (before, after)]
    assert (versions[1][0] is versions[0][0], len(versions[0]), len(versions[1])) == (True, 1, 2)


def test_objects_are_kept_by_name_or_said_to_be_gone(bench: Bench) -> None:
    unnamed = ScriptedModel({})
    bench.use(model=unnamed, base_url="http://me:secret@here")
    document = Writer(lambda: bench.namespace, SaidHere()).document(contents(bench))
    assert "secret" not in json.dumps(document)
    found, reader = read(bench, document, {})
    assert (found.settings.model, found.settings.base_url) == (None, None)
    assert [dict(record.options) for record in found.records] == [{"strategy": "none"}, {}]
    last = bench.last
    assert last is not None
    assert reader.remarks == [
        "the setting model is not set: it was an object (ScriptedModel), which no variable held.",
        "the setting base_url is not set: it was an address with a password, which is not kept.",
        f"run {last.id}: the option models of B is not set: it was the variable model (ScriptedModel). Run the cell that "
        "defines it, then set it again.",
    ]
    bench.use(model=bench.namespace["model"], base_url=None)
    document = Writer(lambda: bench.namespace, SaidHere()).document(contents(bench))
    assert read(bench, document)[0].settings.model is bench.namespace["model"]
    assert read(bench, document, {"model": "text"})[1].remarks[0] == (
        "the setting model is not set: it was the variable model (ScriptedModel). Run the cell that defines it, then set it "
        "again."
    )


def test_runs_that_are_gone_are_named(bench: Bench) -> None:
    document = Writer(lambda: bench.namespace, SaidHere()).document(contents(bench))
    reader = Reader(bench.namespace, lambda _, run: None, SaidHere())
    found = reader.contents(document, lambda _: None)
    assert (found.records, found.sessions, reader.missing) == ((), {}, [run.id for run in bench.runs])


def change(number: int) -> Change:
    runs: list[Any] = [{"run": f"r{each}"} for each in range(number + 1)]
    return Change(f"change {number}", {"records": runs[:-1]}, {"records": runs})


async def test_a_note_says_only_what_changed_and_all_of_it_is_read_back() -> None:
    service = InMemorySessionService()
    log = BenchLog(service, "tickets.ipynb", "me")
    for number in range(300):
        await log.add(change(number))
    notes = await service.get_notes(KIND, "tickets.ipynb")
    assert notes[299] == Note(
        KIND,
        "tickets.ipynb",
        299,
        {
            "format": 1,
            "writer": "me",
            "label": "change 299",
            "since": None,
            "change": {"set": {"records": {"keep": 299, "then": [{"run": "r299"}], "end": 0}}, "drop": []},
        },
    )
    changes = await BenchLog(service, "tickets.ipynb", "other").read()
    assert changes == [change(number) for number in range(100, 300)]


async def test_a_change_that_is_taken_back_is_forgotten_and_the_next_takes_its_number() -> None:
    service = InMemorySessionService()
    log = BenchLog(service, "n", "me", limit=3)
    for number in range(5):
        await log.add(change(number))
    await log.take_back()
    other = BenchLog(service, "n", "me", limit=3)
    assert await other.read() == [change(1), change(2), change(3)]
    await other.add(change(4))
    assert [note.number for note in await service.get_notes(KIND, "n")] == [0, 1, 2, 3, 4]
    assert await BenchLog(service, "n", "me", limit=3).read() == [change(2), change(3), change(4)]


async def test_what_others_changed_in_between_stands_apart() -> None:
    service = InMemorySessionService()
    log = BenchLog(service, "n", "me")
    on = Identity("adknb", "user", "chat")
    await log.add(change(0))
    moved = Change(
        "later", {"records": [], "marks": {"chat": 1}}, {"records": [1], "marks": {"chat": 1}}, on, None, None, ["x"]
    )
    await log.add(moved)
    assert (await service.get_notes(KIND, "n"))[1].data["since"] == {
        "set": {"records": {"keep": 0, "then": [], "end": 0}, "marks": {"value": {"chat": 1}}},
        "drop": [],
    }
    assert await BenchLog(service, "n", "me").read() == [change(0), moved]


async def test_another_kernel_s_change_is_noticed() -> None:
    service = InMemorySessionService()
    mine, yours = BenchLog(service, "n", "process 1"), BenchLog(service, "n", "process 2")
    await mine.add(change(0))
    await mine.check()
    await yours.read()
    await yours.add(change(1))
    await yours.check()
    with pytest.raises(StaleSessionError, match="'n' since: process 2; this is process 1"):
        await mine.check()
    await mine.read()
    await mine.check()
    await BenchLog(service, "another", "process 3").add(change(0))
    await mine.check()


async def test_notes_of_a_newer_form_are_refused() -> None:
    service = InMemorySessionService()
    await service.put_notes([Note(KIND, "n", 0, {"format": 2})])
    with pytest.raises(SessionStoreError, match="was written by a newer adknb"):
        await BenchLog(service, "n", "me").read()


def test_a_run_is_kept_by_its_id(bench: Bench) -> None:
    run: Run = bench.runs[0]
    document = Writer(lambda: bench.namespace, SaidHere()).document(contents(bench))
    assert document["records"][0] == {
        "run": run.id, "at": ["adknb", "user", "chat"], "pipeline": "p", "cell": "c2", "session": "chat", "trial": False,
        "options": {"strategy": "none"},
    }  # fmt: skip
