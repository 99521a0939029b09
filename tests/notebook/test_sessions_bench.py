"""The bench in a database: another process finds it as it was, undo goes on there, and nothing is doubled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from adknb import (
    MissingKeyError,
    RunStateError,
    ScriptedModel,
    SessionStoreError,
    StaleSessionError,
)
from adknb.core.protocols import Note
from adknb.core.views import table
from adknb.notebook.bench import Bench
from adknb.notebook.bench_tables import run_rows
from adknb.notebook.pipelines import AgentCell, AgentOptions, Pipeline
from adknb.notebook.records import Settings, TurnRequest
from adknb.sessions.database import DatabaseSessionService

Kernel = Callable[..., Bench]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'tickets.db'}"


@pytest.fixture
def kernel(url: str) -> Iterator[Kernel]:
    """Makes benches, each as in a process of its own, in the notebook `n`. Their variable `model` holds a model."""
    made: list[Bench] = []

    def start(notebook: str = "n", opened: bool = True) -> Bench:
        bench = Bench({"model": ScriptedModel(lambda request: f"{request.agent} says {request.ordinal + 1}")})
        made.append(bench)
        if opened:
            bench.open(url, notebook)
        return bench

    yield start
    for bench in made:
        bench.open("memory")


@pytest.fixture
def first(kernel: Kernel) -> Bench:
    bench = kernel()
    bench.use(model=bench.namespace["model"])
    for name, prompt in (("A", "Agent A."), ("B", "B reads {a}."), ("C", "C reads {b}.")):
        bench.put_agent("p", name, prompt, AgentOptions(key=name.lower()), cell=f"cell {name}")
    return bench


def turn(bench: Bench, message: str, cell: str | None = None, **options: Any) -> Any:
    return bench.run("p", TurnRequest(message, session="chat", cell=cell, **options))


def rows(bench: Bench) -> list[Mapping[str, Any]]:
    return list(run_rows(bench.records))


def test_another_kernel_finds_the_bench_as_it_was(first: Bench, kernel: Kernel) -> None:
    fresh = first.run("p", TurnRequest("hi", state={"user:tier": "gold"}))
    turn(first, "one", "c1")
    turn(first, "two", "c2")
    turn(first, "uno", "c1")
    first.run_from("B", fresh.id, strategy="none")
    first.try_step("B", "Another {a}.", fresh.id)
    first.rewind("C")
    second = kernel()
    assert rows(second) == rows(first)
    assert (second.pipelines, second.settings.model, second.current) == (
        first.pipelines,
        second.namespace["model"],
        "p",
    )
    assert [change.label for change in second.home.undo] == [change.label for change in first.home.undo]
    assert second.namespace["B"].instruction == "B reads {a}."
    for one, other in zip(first.runs, second.runs, strict=True):
        assert other is not one
        for name in ("steps", "state", "state_history", "events", "tokens"):
            assert table(other, name).equals(table(one, name))
        for step in one.step_runs:
            assert other.prompt(step.name).equals(one.prompt(step.name))


def test_undo_goes_on_in_another_kernel(first: Bench, kernel: Kernel) -> None:
    states = []

    def note() -> None:
        chain = first.sessions["chat"].turns if "chat" in first.sessions else []
        states.append(
            (rows(first), first.pipelines, [run.id for run in chain], dict(chain[-1].session.state) if chain else {})
        )

    note()
    labels = []
    for change in (
        lambda: turn(first, "one", "c1", state={"x": 1}),
        lambda: first.put_agent("p", "B", "B reads {a} anew.", AgentOptions(key="b"), cell="cell B"),
        lambda: turn(first, "two", "c2"),
        lambda: turn(first, "uno", "c1"),
        lambda: first.rewind("B"),
        lambda: first.continue_run(),
        lambda: first.order(["C", "B", "A"]),
        lambda: first.run("p", "fresh", models="echo"),
    ):
        with suppress(MissingKeyError):  # C reads what B has not written yet
            change()
        note()
        labels.append(first.last_change)
    second = kernel()
    for label in reversed(labels):
        chain = second.sessions["chat"].turns if "chat" in second.sessions else []
        state = dict(chain[-1].session.state) if chain else {}
        assert (rows(second), second.pipelines, [run.id for run in chain], state) == states.pop()
        assert second.undo() == label
    third = kernel()
    assert (rows(third), third.pipelines, third.last_change) == ([], first.pipelines | second.pipelines, "p: C added")


def test_runs_go_on_where_they_stood(first: Bench, kernel: Kernel) -> None:
    paused = first.run("p", TurnRequest("hi", session="chat", cell="c1", pause=True))
    second = kernel()
    assert (second.last, second.last.status if second.last else "") == (second.runs[0], "paused")
    stepped = second.step()
    assert [step.name for step in stepped.step_runs] == ["A"]
    third = kernel()
    done = third.continue_run()
    assert (done.output, done.session.id, done.parent.id if done.parent else "") == ("C says 1", "chat", stepped.id)
    assert [(run.id, run.turn) for run in third.sessions["chat"].turns] == [(done.id, 0)]
    fourth = kernel()
    assert [run.id for run in fourth.runs] == [paused.id, stepped.id, done.id]
    again = fourth.run_from("B")
    assert ([step.replayed for step in again.step_runs], again.status) == ([True, False, False], "completed")


def test_a_cell_that_runs_again_in_another_kernel_replaces_its_turn(first: Bench, kernel: Kernel) -> None:
    turn(first, "one", "c1")
    turn(first, "two", "c2")
    second = kernel()
    again = turn(second, "uno", "c1")
    added = turn(second, "three", "c3")
    assert [(run.id, run.message.text, run.stale) for run in second.sessions["chat"].turns] == [
        (again.id, "uno", False),
        (second.runs[1].id, "two", True),
        (added.id, "three", False),
    ]
    for name, prompt in (("A", "Agent A."), ("B2", "B reads {a}.")):
        second.put_agent("p", name, prompt, AgentOptions(key=name[0].lower()), cell=f"cell {name[0]}")
    assert second.pipelines["p"].names() == ["A", "B2", "C"]
    assert second.pipelines["p"]["A"].versions == ()


def test_what_a_kernel_wrote_before_it_opened_the_database_wins(first: Bench, kernel: Kernel) -> None:
    first.put_agent("q", "D", "Agent D.", AgentOptions())
    first.put_agent("p", "E", "Agent E.", AgentOptions(), cell="cell A2")
    second = kernel(opened=False)
    second.put_agent("p", "B", "Edited.", AgentOptions(key="b"), cell="cell B")
    second.put_agent("p", "A", "Agent A.", AgentOptions(key="a"), cell="cell A")
    second.put_agent("p", "C", "By A's cell.", AgentOptions(key="c"), cell="cell A2")
    second.use(user="u")
    second.run("p", TurnRequest("in memory", session="chat"), models="echo")
    second.open(first.home.url, "n")
    assert second.pipelines["p"].names() == ["A", "B", "C", "E"]
    assert [version.prompt for version in second.pipelines["p"]["B"].versions] == ["B reads {a}."]
    assert (second.pipelines["p"]["C"].prompt, second.pipelines["p"]["C"].cell) == ("By A's cell.", None)
    assert (second.pipelines["q"], second.settings.user, second.runs) == (first.pipelines["q"], "u", [])
    assert second.undo() == "what was written before the database was opened"
    assert (second.pipelines, second.settings.user) == (first.pipelines, "user")
    second.open("memory")
    assert ([run.message.text for run in second.runs], list(second.sessions)) == (["in memory"], ["chat"])


def test_a_cell_that_wrote_several_agents_before_the_database_was_opened(kernel: Kernel) -> None:
    def written(bench: Bench, *names: str) -> None:
        cells = tuple(AgentCell(name, f"Agent {name}.", AgentOptions(), "cell") for name in names)
        bench.put_pipelines([Pipeline("p", cells)], "p written", "cell")

    first = kernel(opened=False)
    written(first, "A", "B", "C")
    first.open(first_url := kernel().home.url, "n")
    assert first.pipelines["p"].names() == ["A", "B", "C"]
    first.put_agent("p", "A", "Agent A, edited.", cell="other")
    second = kernel(opened=False)
    written(second, "C", "A")
    second.open(first_url, "n")
    assert second.pipelines["p"].names() == ["C", "A"]
    assert [version.prompt for version in second.pipelines["p"]["A"].versions] == ["Agent A.", "Agent A, edited."]
    third = kernel(opened=False)
    written(third, "C", "A")
    third.open(first_url, "n")
    assert third.last_change == "what was written before the database was opened"
    assert third.pipelines == second.pipelines


def test_shared_values_hold_across_sessions_and_undo_takes_them_back(first: Bench, kernel: Kernel) -> None:
    first.put_agent("w", "W", "Write.", AgentOptions(key="user:tier"))
    first.put_agent("w2", "R", "Tier {user:tier?}.", AgentOptions())
    first.run("w", "hi")
    second = kernel()
    assert tier_read(second) == "Tier W says 1."
    second.undo()
    assert second.undo() == f"run {first.runs[0].id} of w"
    assert tier_read(kernel()) == "Tier ."


def tier_read(bench: Bench) -> str:
    """What the agent R of the pipeline w2 is told."""
    text = bench.run("w2", "hi").step("R").requests[0].sent.system_instruction or ""
    return text.partition("\n")[0]


async def sessions_of(url: str) -> list[str]:
    service = DatabaseSessionService(url)
    try:
        return [session.id for session in await service.list_sessions(app_name="adknb")]
    finally:
        await service.aclose()


@pytest.mark.anyio
async def test_a_session_that_an_undone_run_began_is_gone_unless_others_went_on(
    first: Bench, kernel: Kernel, url: str
) -> None:
    turn(first, "one")
    first.run("p", "fresh")
    assert len(await sessions_of(url)) == 2
    first.undo()
    assert await sessions_of(url) == ["chat"]
    other = kernel("other")
    other.use(model=other.namespace["model"])
    other.put_agent("p", "A", "Agent A.")
    turn(other, "two")
    with pytest.raises(StaleSessionError):
        turn(first, "three")
    assert [run.message.text for run in first.runs] == ["one", "two"]
    first.undo()
    assert (first.runs, await sessions_of(url)) == ([], ["chat"])
    assert [run.message.text for run in kernel("third").pick_up("chat").turns] == ["one", "two"]


def test_one_run_in_another_database(first: Bench, kernel: Kernel, tmp_path: Path) -> None:
    elsewhere = f"sqlite:///{tmp_path / 'other.db'}"
    run = first.run("p", TurnRequest("hi", session="chat"), db=elsewhere)
    assert (list(first.sessions), run.status) == ([], "completed")
    again = first.run("p", TurnRequest("more", session="chat"), db=elsewhere)
    assert (again.session is run.session, again.turn) == (True, 1)
    first.rewind("B")
    assert (first.runs[-1].status, first.runs[-1].session) == ("paused", run.session)
    assert first.run("p", "hi", db=first.home.url) is first.last
    assert first.records[-1].is_at_home
    first.undo()
    in_memory = first.run("p", "hi", db="memory")
    assert first.step("A", in_memory.id).session is in_memory.session
    second = kernel()
    assert rows(second) == []
    assert turn(second, "here").turn == 0
    third = kernel()
    assert third.run("p", TurnRequest("there", session="chat"), db=elsewhere).turn == 2


def test_a_change_costs_the_same_after_many_changes(first: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    put = DatabaseSessionService.put_notes

    async def counted(service: DatabaseSessionService, notes: Sequence[Note]) -> None:
        written.append(len(str([note.data for note in notes])))
        await put(service, notes)

    monkeypatch.setattr(DatabaseSessionService, "put_notes", counted)
    for number in range(60):
        first.put_agent("p", "A", f"Prompt {number:02}.", AgentOptions(key="a"), cell="cell A")
    assert max(written) < 800
    assert len(set(written[-50:])) == 1


def test_old_runs_stay_in_the_database(first: Bench, kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adknb.notebook.bench_notes.SHOWN_RUNS", 2)
    ids = [first.run("p", "hi").id for _ in range(3)]
    second = kernel(opened=False)
    assert second.open(first.home.url, "n") == ("1 older run is not on the bench, but in the database: %adk sessions",)
    assert [run.id for run in second.runs] == ids[1:]
    second.run("p", "more")
    third = kernel()
    assert [run.id for run in third.runs] == [run.id for run in second.runs[1:]]


def test_a_database_that_cannot_be_opened_changes_nothing(first: Bench, tmp_path: Path) -> None:
    first.run("p", "hi")
    (tmp_path / "text.db").write_text("no database")
    before = (rows(first), first.home, first.notebook)
    for bad in (f"sqlite:///{tmp_path / 'text.db'}", f"sqlite:///{tmp_path / 'missing' / 'x.db'}"):
        with pytest.raises(SessionStoreError):
            first.open(bad, "other")
    assert (rows(first), first.home, first.notebook) == before


def test_what_could_not_be_kept_is_said(first: Bench, kernel: Kernel) -> None:
    first.use(model=ScriptedModel(lambda request: "unnamed"))
    second = kernel(opened=False)
    assert second.open(first.home.url, "n") == (
        "the setting model is not set: it was an object (ScriptedModel), which no variable held.",
    )
    assert second.settings == Settings()
    with pytest.raises(RunStateError, match="there is no run yet"):
        kernel("another notebook").continue_run()


def test_what_cannot_be_noted_did_not_happen(first: Bench, kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    turn(first, "one", "c1")
    before = (first.pipelines, rows(first), first.settings, [change.label for change in first.home.undo])

    async def full(*arguments: object) -> None:
        raise SessionStoreError("the disk is full")

    with monkeypatch.context() as broken:
        for name in ("put_notes", "append_events", "save", "delete_session"):
            broken.setattr(DatabaseSessionService, name, full)
        for change in (
            lambda: first.put_agent("p", "A", "Edited.", AgentOptions(key="a"), cell="cell A"),
            lambda: first.use(user="u"),
            lambda: turn(first, "two", "c2"),
            lambda: first.run("p", "fresh"),
            first.undo,
        ):
            with pytest.raises(SessionStoreError):
                change()
    assert (first.pipelines, rows(first), first.settings, [change.label for change in first.home.undo]) == before
    first.undo()
    turn(first, "two", "c2")
    assert rows(kernel()) == rows(first)


def test_opening_again_reads_what_others_changed(first: Bench, kernel: Kernel) -> None:
    in_memory = first.run("p", "hi", db="memory")
    second = kernel()
    second.put_agent("p", "A", "By another.", AgentOptions(key="a"), cell="cell A")
    first.open(first.home.url)
    assert (first.pipelines, first.runs) == (second.pipelines, [in_memory])


def test_undoing_a_run_elsewhere_leaves_the_session_of_its_name_here(
    first: Bench, kernel: Kernel, tmp_path: Path
) -> None:
    here = turn(first, "here")
    first.run("p", TurnRequest("there", session="chat"), db=f"sqlite:///{tmp_path / 'other.db'}")
    second = kernel()
    second.undo()
    third = kernel()
    assert [run.id for run in third.runs] == [here.id]
    assert [run.id for run in third.sessions["chat"].turns] == [here.id]


def test_a_session_that_was_deleted_elsewhere(first: Bench, kernel: Kernel) -> None:
    turn(first, "one")
    kernel("other").delete_session("chat")
    with pytest.raises(StaleSessionError, match="was deleted since it was read"):
        turn(first, "two")
    assert (first.runs, first.sessions) == ([], {})
    assert turn(first, "two").turn == 0


def test_a_session_that_cannot_be_taken_in_is_not_kept(first: Bench, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*arguments: object) -> None:
        raise SessionStoreError("the disk is full")

    run = first.run("p", "hi", db="memory")
    with monkeypatch.context() as broken:
        broken.setattr(DatabaseSessionService, "put_notes", full)
        with pytest.raises(SessionStoreError):
            first.take_in(run.session, "taken")
    assert (first.kept_sessions(), first.sessions) == ([], {})
    first.take_in(run.session, "taken")
    assert [each.identity.id for each in first.kept_sessions()] == ["taken"]
    first.undo()
    assert first.kept_sessions() == []
