"""What there is in a database, what is pruned, and sessions that come from elsewhere."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from adknb import (
    Content,
    Event,
    EventActions,
    LlmAgent,
    Runner,
    RunStateError,
    SequentialAgent,
    Session,
    SessionFormatError,
)
from adknb.models.scripted import ScriptedModel
from adknb.sessions.database import DatabaseSessionService
from adknb.sessions.database.summaries import SessionSummary
from tests.sessions.conftest import Opener

pytestmark = pytest.mark.anyio
PIPELINE = SequentialAgent(
    name="p",
    sub_agents=[
        LlmAgent(name="A", instruction="a", output_key="a"),
        LlmAgent(name="B", instruction="{a}", output_key="user:b"),
    ],
)


def runner(service: DatabaseSessionService) -> Runner:
    return Runner(
        PIPELINE, model=ScriptedModel({"A": ["a1", "a2"], "B": ["b1", "b2"]}), session_service=service, app_name="a"
    )


async def read(service: DatabaseSessionService, name: str = "s", user: str = "user") -> Session:
    session = await service.get_session(app_name="a", user_id=user, session_id=name)
    assert session is not None
    return session


def what_stands_in(session: Session) -> dict[str, Any]:
    return {
        "events": [event.to_dict() for event in session.events],
        "history": [event.id for event in session.history],
        "state": session.state,
        "turns": [[run.id, run.status, [event.id for event in run.turn_events], run.start] for run in session.turns],
        "prompts": [[r.sent.system_instruction for s in run.step_runs for r in s.requests] for run in session.turns],
        "notes": session.notes,
    }


async def test_summaries_say_what_there_is(opened: Opener) -> None:
    service = opened()
    empty = await service.create_session(app_name="a", user_id="v", session_id="empty", state={"k": "x" * 100})
    run = await runner(service).run_async("hi", session="s", user_id="user")
    await runner(service).run_async("again", session="s", user_id="user", pause=True)
    other = opened()
    found = await other.summaries()
    assert [(each.id, each.user_id, each.turns, each.events, each.status) for each in found] == [
        ("s", "user", 2, 4, "paused"), ("empty", "v", 0, 0, None),
    ]  # fmt: skip
    assert (found[0].last_writer, found[1].last_writer) == (service.writer, None)
    assert found[1].size == len('{"k":"' + "x" * 100 + '"}')
    assert found[0].size > sum(len(json.dumps(event.to_dict())) for event in run.turn_events)
    assert found[1].begun == found[1].last_write <= found[0].begun < found[0].last_write
    assert [each.id for each in await other.summaries(user_id="v")] == ["empty"]
    assert [each.id for each in await other.summaries(app_name="b")] == []
    assert empty.events == []


async def test_prune_takes_the_old_and_leaves_the_newest(opened: Opener) -> None:
    service = opened()
    for name in ("one", "two", "three"):
        session = await service.create_session(app_name="a", user_id="u", session_id=name)
        await service.append_event(session, Event("A", actions=EventActions({"user:k": name})))
    with pytest.raises(RunStateError, match="say which sessions to prune: older_than"):
        await service.prune()
    assert await service.prune(older_than=3600.0) == []
    assert await service.prune(keep=0, app_name="b") == []
    would = await service.prune(keep=1, dry_run=True)
    assert [each.id for each in would] == ["two", "one"]
    assert len(await service.list_sessions(app_name="a")) == 3
    with pytest.raises(RunStateError, match="keep \\(how many\\) are 0 or more"):
        await service.prune(keep=-1)
    assert await service.prune(older_than=0.0, keep=1, spare=[("a", "u", "one"), ("a", "v", "two")]) == would[:1]
    assert await service.prune(older_than=0.0, keep=1) == would[1:]
    assert [each.id for each in await service.list_sessions(app_name="a")] == ["three"]
    assert (await read(opened(), "three", "u")).state == {"user:k": "three"}
    other = await service.create_session(app_name="a", user_id="u", session_id="one")
    assert (other.events, other.state) == ([], {"user:k": "three"})


async def test_a_session_that_is_written_to_while_it_is_pruned_stays(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, other = opened(), opened()
    for name in ("one", "two"):
        await service.append_event(await service.create_session(app_name="a", user_id="u", session_id=name), Event("A"))
    look = service.summaries

    async def look_and_be_overtaken(**names: str | None) -> list[SessionSummary]:
        found = await look(**names)
        monkeypatch.setattr("adknb.sessions.database.changes.time.time", lambda: found[0].last_write + 3600)
        await other.append_event(await read(other, "one", "u"), Event("B"))
        monkeypatch.undo()
        return found

    monkeypatch.setattr(service, "summaries", look_and_be_overtaken)
    await service.prune(older_than=0.0)
    assert [each.id for each in await other.list_sessions(app_name="a")] == ["one"]


async def test_an_exported_session_comes_back_whole(opened: Opener) -> None:
    service = opened()
    driver = runner(service)
    await driver.run_async("hi", session="s", user_id="user", state={"start": 1})
    second = await driver.run_async("again", session="s", user_id="user")
    session = await read(service)
    driver.rewind(second, "B")
    await service.append_event(session, Event("A", Content.model("after"), EventActions({"k": 1})))
    document = json.loads(json.dumps(await service.export_session(app_name="a", user_id="user", session_id="s")))
    before = what_stands_in(session)
    with pytest.raises(RunStateError, match="session 's' exists already"):
        await service.import_session(document)
    copy = await service.import_session(document, session_id="copy", user_id="new")
    assert (copy.id, copy.user_id, copy.app_name) == ("copy", "new", "a")
    assert what_stands_in(copy) == before
    assert [run.id for run in service.runs(copy)] == [run.id for run in service.runs(session)]
    await service.append_event(copy, Event("A", Content.model("more")))
    other = opened()
    again = await read(other, "copy", "new")
    assert [event.text for event in again.history] == ["hi", "a1", "b1", "again", "a2", "after", "more"]
    run = await runner(other).step_async(again.turns[0], "B", trial=True)
    assert [step.output for step in run.step_runs] == ["a1", "b1"]


async def test_the_names_of_runs_in_a_document_may_be_of_any_text(opened: Opener) -> None:
    service = opened()
    await runner(service).run_async("hi", session="s", user_id="user")
    document = await service.export_session(app_name="a", user_id="user", session_id="s")
    for name in ("a\\b", "\x00", "\ud800"):
        document["turns"][0]["run"] = name
        document["parts"] = [[name, *part[1:]] for part in document["parts"]]
        copy = await service.import_session(document, session_id=f"copy {name}")
        assert [(run.id, run.status, len(run.step_runs)) for run in copy.turns] == [(name, "completed", 2)]


async def test_imported_shared_values_do_not_push_others_aside(opened: Opener) -> None:
    service = opened()
    await runner(service).run_async("hi", session="s", user_id="user")
    document = await service.export_session(app_name="a", user_id="user", session_id="s")
    session = await read(service)
    await service.append_event(session, Event("A", actions=EventActions({"user:b": "mine"})))
    copy = await service.import_session(document, session_id="copy")
    assert copy.state == {"a": "a1", "user:b": "mine"}
    elsewhere = await service.import_session(document, session_id="copy", user_id="new")
    assert elsewhere.state == {"a": "a1", "user:b": "b1"}


async def test_what_holds_no_session_stores_nothing(opened: Opener) -> None:
    service = opened()
    await runner(service).run_async("hi", session="s", user_id="user")
    document = await service.export_session(app_name="a", user_id="user", session_id="s")
    document["turns"][0]["run"] = "nowhere"
    wrongs: list[Any] = [document, {}, [], {**document, "version": 2}]
    for wrong in wrongs:
        with pytest.raises(SessionFormatError):
            await service.import_session(wrong, session_id="copy")
    assert [session.id for session in await service.list_sessions(app_name="a")] == ["s"]
    with pytest.raises(RunStateError, match=r"there is no session 't' of user 'user'. There is: 's'"):
        await service.export_session(app_name="a", user_id="user", session_id="t")


async def test_runs_that_were_put_aside_and_trials_are_kept(opened: Opener) -> None:
    service = opened()
    driver = runner(service)
    first = await driver.run_async("hi", session="s", user_id="user")
    trial = await driver.step_async(first, "B", trial=True)
    rewound = driver.rewind(first, "B")
    assert [run.id for run in service.runs(first.session)] == [first.id, trial.id, rewound.id]
    other = opened()
    session = await read(other)
    kept = {run.id: run for run in other.runs(session)}
    assert list(kept) == [first.id, trial.id, rewound.id]
    assert [(run.status, run.output) for run in kept.values()] == [
        ("completed", "b1"),
        ("completed", "b1"),
        ("paused", "a1"),
    ]
    assert session.turns == [kept[rewound.id]]
    assert kept[rewound.id].parent is kept[first.id]
    assert session.state == {"a": "a1"}
    assert [event.text for event in session.events] == ["hi", "a1", "b1"]
    finished = await asyncio.to_thread(runner(other).continue_run, session.turns[0])
    assert (finished.status, finished.output, session.state) == ("completed", "b1", {"a": "a1", "user:b": "b1"})
