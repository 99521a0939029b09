"""Two writers on one session: the second is told, nothing of it is stored, and it goes on from what is there."""

from __future__ import annotations

import asyncio
import os

import pytest

from adknb import (
    Content,
    Event,
    EventActions,
    LlmAgent,
    LlmRequest,
    LongRunningFunctionTool,
    Part,
    Runner,
    SequentialAgent,
    Session,
    StaleSessionError,
)
from adknb.core.content import FunctionCall
from adknb.models.scripted import ScriptedModel
from adknb.sessions.database import DatabaseSessionService
from tests.sessions.conftest import Opener

pytestmark = pytest.mark.anyio


async def read(service: DatabaseSessionService, app: str = "a") -> Session:
    session = await service.get_session(app_name=app, user_id="u", session_id="s")
    assert session is not None
    return session


def says(text: str) -> Event:
    return Event("A", Content.model(text), EventActions({"said": text}))


async def test_the_error_names_both_writers_and_nothing_changes(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = opened()
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/mia/tickets.ipynb")
    two = opened()
    mine = await one.create_session(app_name="a", user_id="u", session_id="s")
    theirs = await read(two)
    await two.append_event(theirs, says("second"))
    with pytest.raises(StaleSessionError) as raised:
        await one.append_event(mine, says("first"))
    assert f"was written to by {two.writer} since it was read here, by {one.writer}. Nothing was stored" in str(
        raised.value
    )
    assert f"process {os.getpid()} on " in two.writer
    assert ", notebook tickets.ipynb (" in two.writer
    assert "notebook" not in one.writer
    assert (one.conflicts, two.conflicts) == (1, 0)
    assert (mine.events, mine.history, mine.state) == ([], [], {})
    again = await read(one)
    assert again is not mine
    assert [event.text for event in again.events] == ["second"]
    await one.append_event(again, says("first"))
    assert [event.text for event in (await read(two)).events] == ["second", "first"]
    with pytest.raises(StaleSessionError):  # the old object stays what it is
        await one.append_event(mine, says("third"))
    assert one.conflicts == 2


async def test_a_save_on_a_stale_session_is_refused_too(opened: Opener) -> None:
    one, two = opened(), opened()
    runner = Runner(
        SequentialAgent(
            name="p", sub_agents=[LlmAgent(name="A", instruction="a"), LlmAgent(name="B", instruction="b")]
        ),
        model=ScriptedModel({"A": ["a"], "B": ["b"]}),
        session_service=one,
        app_name="a",
    )
    run = await runner.run_async("hi", session="s", user_id="u")
    await two.append_event(await read(two), says("second"))
    with pytest.raises(StaleSessionError):
        runner.rewind(run, "B")
    stored = await read(opened())
    assert [turn.id for turn in stored.turns] == [run.id]
    assert [event.text for event in stored.history] == ["hi", "a", "b", "second"]


async def test_a_runner_reads_again_where_nothing_was_stored_yet(opened: Opener) -> None:
    """The other one writes between the read and the first append."""
    one, two = opened(), opened()
    await one.create_session(app_name="a", user_id="u", session_id="s")
    get = one.get_session
    disturbed: list[Event] = []

    async def get_and_be_overtaken(**names: str) -> Session | None:
        session = await get(**names)
        if not disturbed:
            disturbed.append(await two.append_event(await read(two), says("second")))
        return session

    one.get_session = get_and_be_overtaken  # type: ignore[method-assign]
    asked: list[LlmRequest] = []

    def answer(request: LlmRequest) -> str:
        asked.append(request)
        return "a"

    runner = Runner(
        LlmAgent(name="A", instruction="{said}"), model=ScriptedModel(answer), session_service=one, app_name="a"
    )
    run = await runner.run_async("hi", session="s", user_id="u")
    assert (run.status, one.conflicts, len(asked)) == ("completed", 1, 1)
    assert asked[0].system[0].text == "second"
    assert [event.text for event in (await read(opened())).events] == ["second", "hi", "a"]


async def test_a_run_that_is_overtaken_fails_and_what_it_stored_stays(opened: Opener) -> None:
    one, two = opened(), opened()

    async def overtake(callback_context: object) -> None:
        await two.append_event(await read(two), says("second"))

    agent = LlmAgent(name="A", instruction="a", before_agent_callback=overtake)
    runner = Runner(agent, model=ScriptedModel({"A": ["a"]}), session_service=one, app_name="a")
    with pytest.raises(StaleSessionError) as raised:
        await runner.run_async("hi", session="s", user_id="u")
    assert raised.value.run is runner.last_run
    stored = await read(opened())
    assert [event.text for event in stored.events] == ["hi", "second"]
    assert [turn.status for turn in stored.turns] == ["failed"]


async def test_an_append_that_was_begun_is_finished_when_its_task_is_cancelled(opened: Opener) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    task = asyncio.ensure_future(service.append_event(session, says("first")))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [event.text for event in session.events] == ["first"]
    assert session.state == {"said": "first"}
    assert [event.text for event in (await read(opened())).events] == ["first"]
    await service.append_event(session, says("second"))


async def test_a_conflict_of_a_cancelled_task_is_a_cancellation(opened: Opener) -> None:
    one, two = opened(), opened()
    session = await one.create_session(app_name="a", user_id="u", session_id="s")
    await two.append_event(await read(two), says("second"))
    task = asyncio.ensure_future(one.append_event(session, says("first")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert session.events == []
    assert one.conflicts == 1


async def test_many_tasks_append_to_their_sessions_at_once(opened: Opener) -> None:
    service = opened()
    sessions = [await service.create_session(app_name="a", user_id="u", session_id=f"s{number}") for number in range(4)]

    async def append(session: Session) -> None:
        for number in range(5):
            await service.append_event(
                session, Event("A", actions=EventActions({"n": number, f"app:{session.id}": number}))
            )

    await asyncio.gather(*map(append, sessions))
    other = opened()
    for session in sessions:
        stored = await other.get_session(app_name="a", user_id="u", session_id=session.id)
        assert stored is not None
        assert [event.actions.state_delta["n"] for event in stored.events] == [0, 1, 2, 3, 4]
        assert {key: value for key, value in stored.state.items() if key != "n"} == {f"app:s{n}": 4 for n in range(4)}


async def test_a_session_that_is_read_while_it_is_written_to_stays_the_same_object(opened: Opener) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    for _ in range(10):
        _, found, again = await asyncio.gather(service.append_event(session, says("x")), read(service), read(service))
        assert found is again is session
    assert len(session.events) == 10


async def test_tasks_may_append_to_one_session_object_at_once(opened: Opener) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await asyncio.gather(*(service.append_events(session, [says(f"{n}a"), says(f"{n}b")]) for n in range(5)))
    expected = [f"{n}{letter}" for n in range(5) for letter in "ab"]
    assert [event.text for event in session.events] == expected
    assert [event.text for event in (await read(opened())).events] == expected
    assert (service.conflicts, session.state) == (0, {"said": "4b"})


async def test_a_call_that_another_process_answers_at_that_moment_is_not_answered_twice(opened: Opener) -> None:
    """An answer runs the later steps again, so it is not simply tried once more, as another message is."""

    def ask() -> dict[str, str]:
        """Ask a person."""
        return {"status": "pending"}

    call = Part(function_call=FunctionCall("ask", {}, "call-1"))
    agent = LlmAgent(name="A", tools=[LongRunningFunctionTool(ask)])
    runners = [
        Runner(
            agent,
            model=ScriptedModel({"A": [[call], "so be it"]}),
            session_service=opened(),
            app_name="a",
            resumable=True,
        )
        for _ in range(2)
    ]
    waiting = await runners[0].run_async("hi", session="s", user_id="u")
    assert waiting.status == "waiting"
    service = runners[1]._engine.sessions
    get = service.get_session

    async def get_and_be_overtaken(**names: str) -> Session | None:
        session = await get(**names)
        if runners[0].last_run is waiting:
            await runners[0].answer_async(None, "yes", session="s", user_id="u")
        return session

    service.get_session = get_and_be_overtaken  # type: ignore[method-assign]
    with pytest.raises(StaleSessionError, match="was written to by"):
        await runners[1].answer_async(None, "no", session="s", user_id="u")
    stored = await read(opened())
    answers = [
        answer.response for event in stored.events if event.author == "user" for answer in event.function_responses
    ]
    assert answers == [{"result": "yes"}]
