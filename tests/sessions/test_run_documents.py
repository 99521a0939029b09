"""What is written of a run and when: only what is new, every field, trials and replaced runs; damaged documents."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import json
import weakref
from collections.abc import AsyncGenerator

import pytest

from adknb import (
    BaseAgent,
    CallbackContext,
    Content,
    Event,
    InvocationContext,
    LlmAgent,
    LlmRequest,
    LlmResponse,
    LoopAgent,
    ModelError,
    ParallelAgent,
    Run,
    RunConfig,
    Runner,
    SequentialAgent,
    SessionStoreError,
    Usage,
)
from adknb.core.requests import Request, Segment
from adknb.core.run import JournalEntry, Session, StepRun
from adknb.models.scripted import ScriptedModel
from adknb.sessions.request_documents import Contents
from adknb.sessions.run_documents import Changes, RunDocuments
from adknb.sessions.run_reader import RunPart
from tests.factories import ticket_run
from tests.sessions.document_store import DocumentStore, run_data


def pipeline() -> SequentialAgent:
    return SequentialAgent(
        name="p",
        sub_agents=[
            LlmAgent(name="A", instruction="a", output_key="a"),
            LlmAgent(name="B", instruction="b {a}", output_key="b"),
            LlmAgent(name="C", instruction="c {b}", output_key="c"),
        ],
    )


def size(changes: Changes) -> int:
    return sum(len(part.data) for part in changes.parts) + sum(map(len, changes.blobs.values()))


def test_an_append_in_a_long_run_writes_what_is_new_and_no_more() -> None:
    """A request of 400 contents names them in some 60 entries; listed one by one they would be 14,000 characters."""
    root = LoopAgent(name="loop", max_iterations=400, sub_agents=[LlmAgent(name="A", instruction="say")])
    store = DocumentStore()
    run = Runner(root, model=ScriptedModel(lambda request: "word"), session_service=store).run("go", session="s")
    assert len(run.turn_events) == 401
    assert max(size(changes) for changes in store.written[2:401]) < 4_000
    written = {tuple(part.part for part in changes.parts) for changes in store.written[2:401]}
    assert written == {("events", "more"), ("more",)}  # an event; the end of a step, before the next one asks
    assert run_data(store.disk.read()[1][run.id]) == run_data(run)


def test_a_step_that_is_done_is_stored_before_the_next_one_asks() -> None:
    store = DocumentStore()
    found: list[Run] = []

    def says(request: LlmRequest) -> str:
        if request.agent == "B" and not found:
            found.extend(store.disk.read()[1].values())  # as another process would, were this one killed now
        return request.agent

    def notes(request: LlmRequest) -> str:
        asked.append(request.agent)
        return request.agent

    asked: list[str] = []
    root = SequentialAgent(name="p", sub_agents=[LlmAgent(name=name) for name in "ABC"])
    Runner(root, model=ScriptedModel(says), session_service=store).run("go", session="s")
    (run,) = found
    assert (run.status, [(step.name, step.status) for step in run.step_runs]) == ("interrupted", [("A", "completed")])
    assert Runner(root, model=ScriptedModel(notes)).continue_run(run).status == "completed"
    assert asked == ["B", "C"]


def test_a_content_is_stored_once_and_long_lists_share_what_they_have_in_common() -> None:
    root = LoopAgent(name="loop", max_iterations=40, sub_agents=[LlmAgent(name="A"), LlmAgent(name="B")])
    store = DocumentStore()
    run = Runner(root, model=ScriptedModel(lambda request: "the same " * 500), session_service=store).run("go")
    said = [request.sent.contents for step in run.step_runs for request in step.requests]
    assert len(said[-1]) > 32
    everything = [*store.disk.blobs.values(), *store.disk.parts.values()]
    assert (
        sum(text.count("the same the same") for text in everything) == 2 * 250
    )  # each one's words, as the other reads them
    assert [sum(f"[{name}] said" in text for text in everything) for name in "AB"] == [1, 1]


def test_nothing_new_is_nothing_to_write_and_what_was_not_stored_comes_again() -> None:
    run = ticket_run()
    documents = RunDocuments()
    changes = documents.changes(run)
    assert documents.changes(run) == changes
    documents.stored(run, changes)
    assert not documents.changes(run)
    run.stale = True
    changes = documents.changes(run)
    assert [part.part for part in changes.parts] == ["state"]
    documents.stored(run, changes)
    assert not documents.changes(run)


def test_a_session_that_nobody_holds_is_let_go_with_its_runs() -> None:
    store = DocumentStore()
    runner = Runner(pipeline(), model=ScriptedModel(lambda request: "x"), session_service=store)
    for message in ("one", "two"):
        session = runner.run(message, session="s").session
    held = weakref.ref(session)
    documents = store.documents
    del session, runner, store
    gc.collect()
    assert held() is None
    assert not documents._sessions


def test_what_is_read_is_known_to_be_stored() -> None:
    run = ticket_run()
    changes = RunDocuments().changes(run)
    documents = RunDocuments()
    session = Session("s1")
    again = documents.read_runs(changes.parts, changes.blobs, session, {event.id: event for event in run.turn_events})
    assert not documents.changes(again[run.id])
    again[run.id].stale = True
    assert [part.part for part in documents.changes(again[run.id]).parts] == ["state"]


def test_a_run_that_was_going_on_is_interrupted_and_that_is_written_next_time() -> None:
    store = DocumentStore(copies=True)
    Runner(pipeline(), model=ScriptedModel(lambda request: "x"), session_service=store).run("go", session="s")
    disk = store.deaths[2]
    session, runs = disk.read()
    [run] = runs.values()
    assert (run.status, [step.status for step in run.step_runs]) == ("interrupted", ["completed", "interrupted"])
    documents = RunDocuments()
    parts = [RunPart(*key, data) for key, data in disk.parts.items()]
    [run] = documents.read_runs(parts, disk.blobs, session, {event.id: event for event in session.events}).values()
    [part] = documents.changes(run).parts
    assert (part.part, json.loads(part.data)["status"]) == ("state", "interrupted")


def test_replaced_runs_rewound_runs_and_trials_are_kept_and_find_their_parents() -> None:
    store = DocumentStore()
    answers = iter(range(100))
    runner = Runner(
        pipeline(), model=ScriptedModel(lambda request: f"{request.agent}{next(answers)}"), session_service=store
    )
    first = runner.run("one", session="s")
    second = runner.run("two", session=first.session)
    rewound = runner.rewind(first, "B")
    stepped = runner.step(rewound)
    trial = runner.step(stepped, trial=True)
    again = runner.run_from(first, "C")
    session, read = store.disk.read()
    runs = {run.id: run for run in (first, second, rewound, stepped, trial, again)}
    assert {name: run_data(run) for name, run in read.items()} == {name: run_data(run) for name, run in runs.items()}
    assert [run.id for run in session.turns] == [again.id, second.id]
    assert read[second.id].stale
    assert [event.id for event in session.history] == [event.id for event in first.session.history]
    copy = read[trial.id].session
    assert copy.is_copy
    assert [event.id for event in copy.history] == [event.id for event in trial.session.history]
    assert (copy.state, [run.id for run in copy.turns]) == (trial.session.state, [trial.id])
    assert trial.turn_events[-1].id not in [event.id for event in session.events]


class Pair(BaseAgent):
    """Runs an agent of its own making."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event]:
        async for event in ctx.run_agent(LlmAgent(name="inner", instruction="made here")):
            yield event
        yield Event("C", Content.model("done"))


def test_parallel_steps_agents_outside_the_tree_and_streamed_replies() -> None:
    class Streaming:
        name = "streaming"

        async def generate_content_async(
            self, request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse]:
            yield LlmResponse(Content.model("half"), partial=True)
            yield LlmResponse(Content.model("half and half"), Usage(3, 4, 1, 2), finish_reason="STOP", note="n")

    root = ParallelAgent(name="both", sub_agents=[LlmAgent(name="A"), LlmAgent(name="B"), Pair(name="C")])
    store = DocumentStore(copies=True)
    run = Runner(root, model=Streaming(), session_service=store).run(
        "go", session="s", config=RunConfig(streaming=True)
    )
    again = store.disk.read()[1][run.id]
    assert run_data(again) == run_data(run)
    assert {part for _, part, _ in store.disk.parts} == {
        "head",
        "state",
        "events",
        "more",
    }  # all that they say is in the log
    inner = again.step("inner")
    assert isinstance(inner.agent, LlmAgent)
    assert inner.agent.instruction == "made here"
    assert inner.requests[0].usage == Usage(3, 4, 1, 2)
    for death in store.deaths:
        [dead] = death.read()[1].values()
        assert "running" not in [step.status for step in dead.step_runs]


def test_a_request_under_way_is_written_when_it_is_made_and_when_it_is_answered() -> None:
    """Not with each event that another step says meanwhile."""

    class Slow:
        name = "slow"

        async def generate_content_async(
            self, request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse]:
            while request.agent == "A" and request.sources[0] is not None and len(store.written) < 6:
                await asyncio.sleep(0)
            yield LlmResponse(Content.model(request.agent))

    many = LoopAgent(name="many", max_iterations=5, sub_agents=[LlmAgent(name="B")])
    store = DocumentStore()
    run = Runner(
        ParallelAgent(name="both", sub_agents=[LlmAgent(name="A"), many]), model=Slow(), session_service=store
    ).run("go", session="s")
    assert [event.author for event in run.turn_events[1:]] == ["B"] * 5 + ["A"]
    more = [json.loads(data) for (_, part, _), data in store.disk.parts.items() if part == "more"]
    records = [record for each in more for record in each.get("requests", ()) if record["step"] == 0]
    assert [(list(record), record["reply"] is None) for record in records] == [
        (["step", "at", "sent", "seen", "reply", "ms"], True),
        (["step", "at", "reply", "ms"], False),
    ]
    assert run_data(store.disk.read()[1][run.id]) == run_data(run)


def test_an_event_that_a_callback_appends_by_itself_is_none_of_the_run() -> None:
    store = DocumentStore()

    async def note(context: CallbackContext) -> None:
        await store.append_event(context.session, Event("somebody", Content.model("a note")))

    root = SequentialAgent(name="p", sub_agents=[LlmAgent(name="A", before_agent_callback=note), LlmAgent(name="B")])
    run = Runner(root, model=ScriptedModel(lambda request: "x"), session_service=store).run("go", session="s")
    assert [event.author for event in run.turn_events] == ["user", "A", "B"]
    assert [event.author for event in run.session.events] == ["user", "somebody", "A", "B"]
    assert run_data(store.disk.read()[1][run.id]) == run_data(run)


def test_a_failed_run_keeps_its_errors_with_causes_and_notes() -> None:
    error = ModelError("down").as_adk("RuntimeException", None)
    error.add_note("ask later")
    error.__cause__ = TimeoutError("no answer")
    store = DocumentStore()
    runner = Runner(pipeline(), model=ScriptedModel({"A": ["a"], "B": [error]}), session_service=store)
    with pytest.raises(ModelError):
        runner.run("go", session="s")
    run = runner.last_run
    assert run is not None
    again = store.disk.read()[1][run.id]
    assert run_data(again) == run_data(run)
    assert isinstance(again.error, ModelError)
    assert (str(again.error), again.error.adk_type, again.error.agent, again.error.run) == (
        "agent 'B': down", "RuntimeException", "B", again,
    )  # fmt: skip
    cause = again.error.__cause__
    assert (type(cause).__name__, str(cause), again.error.__notes__) == ("TimeoutError", "no answer", ["ask later"])


def test_every_field_of_what_is_kept_is_known_here() -> None:
    """A new field must be stored, or be named here as one that is not."""
    not_stored = {StepRun: {"partial"}, Request: set(), Run: set(), LlmRequest: set(), LlmResponse: set()}
    kept = {
        Run: {
            "root", "session", "message", "start_state", "turn", "previous", "lead", "start", "asked", "rules", "strategy",
            "temp_keys", "config", "user_id", "label", "parent", "id", "invocation_id", "status", "error", "turn_events",
            "step_runs", "journal", "notes", "stale", "ms", "since",
        },
        StepRun: {
            "agent", "number", "branch", "start", "stop", "status", "requests", "events", "ms", "error", "notes", "replayed",
            "repeated",
        },
        JournalEntry: {"path", "moment", "events", "steps"},
        Request: {"sent", "seen", "reply", "ms"},
        LlmRequest: {"agent", "model", "system", "contents", "sources", "tools", "config", "ordinal", "repeat"},
        LlmResponse: {
            "content", "usage", "partial", "finish_reason", "error_code", "error_message", "note",
        },
        RunConfig: {"max_llm_calls", "streaming"},
    }  # fmt: skip
    for kind, names in kept.items():
        assert {field.name for field in dataclasses.fields(kind)} == names | not_stored.get(kind, set())
    assert Segment._fields == ("text", "origin", "key")


@pytest.mark.parametrize(
    ("part", "data"),
    [
        ("head", "{}"), ("head", "[1]"), ("head", '{"root": "no such blob"}'), ("state", "null"), ("events", "[[0, 1]]"),
        ("events", '[0, ["no such event"]]'), ("head", "{"), ("other", "{}"), ("state", "[" * 100_000),
    ],
)  # fmt: skip
def test_damaged_documents_are_named(part: str, data: str) -> None:
    run = ticket_run()
    changes = RunDocuments().changes(run)
    parts = [*(each for each in changes.parts if each.part != part), RunPart(run.id, part, 0, data)]
    events = {event.id: event for event in run.turn_events}
    with pytest.raises(
        SessionStoreError, match=r"run run-turn-1 of session 's1' cannot be read: its documents are damaged"
    ):
        RunDocuments().read_runs(parts, changes.blobs, Session("s1"), events)


def test_damage_in_what_is_read_later_is_named_then() -> None:
    run = ticket_run()
    changes = RunDocuments().changes(run)
    parts = [part._replace(data='{"steps": [{"at": 3}]}') if part.part == "more" else part for part in changes.parts]
    events = {event.id: event for event in run.turn_events}
    again = RunDocuments().read_runs(parts, changes.blobs, Session("s1"), events)[run.id]
    assert again.output == run.output
    with pytest.raises(SessionStoreError, match="its documents are damaged"):
        again.step_runs  # noqa: B018  # reading it is what fails


def test_contents_are_hashed_once() -> None:
    contents = Contents()
    content = Content.model("x")
    name = contents.put_content(content)
    assert contents.put_content(content) == contents.put_content(Content.model("x")) == name
    assert list(contents.waiting) == [name]
