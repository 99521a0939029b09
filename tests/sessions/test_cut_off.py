"""Runs that are cut off while an event is being stored, and stores that fail when a run ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection

from adknb import (
    CallbackContext,
    Content,
    Event,
    LlmAgent,
    Run,
    Runner,
    SequentialAgent,
    Session,
    SessionStoreError,
    StaleSessionError,
)
from adknb.models.scripted import ScriptedModel
from adknb.runtime import branch
from adknb.sessions.database import DatabaseSessionService
from tests.sessions.conftest import Opener

pytestmark = pytest.mark.anyio
PIPELINE = SequentialAgent(
    name="p", sub_agents=[LlmAgent(name=name, instruction=name, output_key=name.lower()) for name in "AB"]
)


def runner(service: DatabaseSessionService, root: LlmAgent | SequentialAgent = PIPELINE) -> Runner:
    return Runner(root, model=ScriptedModel({"A": ["a"], "B": ["b"]}), session_service=service, app_name="a")


async def read(service: DatabaseSessionService) -> Session:
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert session is not None
    return session


class SlowAppend:
    """Lets the append of the event with this text take until the task that waits for it is cancelled."""

    def __init__(self, service: DatabaseSessionService, text: str) -> None:
        self._append, self._write = service.append_events, service._database.write
        self._text = text
        self._begun, self._go_on = asyncio.Event(), threading.Event()
        self._service = service
        service.append_events = self._append_events  # type: ignore[assignment, method-assign]

    async def _append_events(self, session: Session, events: list[Event], *rest: Any) -> None:
        if events[0].text == self._text:
            self._service._database.write = self._slow_write  # type: ignore[assignment, method-assign]
        await self._append(session, events, *rest)

    async def _slow_write(self, work: Callable[[Connection], Any], *rest: Any) -> Any:
        self._service._database.write = self._write  # type: ignore[method-assign]

        def slowly(connection: Connection) -> Any:
            assert self._go_on.wait(20)
            return work(connection)

        self._begun.set()
        return await self._write(slowly, *rest)

    async def cancel(self, task: asyncio.Task[Run]) -> None:
        await self._begun.wait()
        task.cancel()
        await asyncio.sleep(0)
        self._go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task


def what_stands_in(session: Session) -> dict[str, Any]:
    return {
        "events": [event.text for event in session.events],
        "history": [event.text for event in session.history],
        "turns": [(run.id, run.status, [event.text for event in run.turn_events]) for run in session.turns],
        "state": session.state,
    }


@pytest.mark.parametrize(
    ("text", "state"), [("hi", {}), ("a", {"a": "a"}), ("b", {"a": "a", "b": "b"})]
)  # fmt: skip
async def test_an_event_that_was_stored_while_the_run_was_cancelled_is_the_runs(
    opened: Opener, text: str, state: dict[str, str]
) -> None:
    service = opened()
    driver = runner(service)
    slow = SlowAppend(service, text)
    await slow.cancel(asyncio.ensure_future(driver.run_async("hi", session="s", user_id="u")))
    session, run = await read(service), driver.last_run
    assert run is not None
    texts = ["hi", "a", "b"][: ["hi", "a", "b"].index(text) + 1]
    expected = {"events": texts, "history": texts, "turns": [(run.id, "interrupted", texts)], "state": state}
    assert what_stands_in(session) == expected
    assert what_stands_in(await read(opened())) == expected
    again = await runner(service).run_async("again", session="s", user_id="u", pause=True)
    assert (again.turn, list(again.lead), [event.text for event in again.past]) == (1, [], texts)


async def test_a_turn_that_is_run_again_and_cut_off_at_its_message_is_the_turn(opened: Opener) -> None:
    service = opened()
    driver = runner(service)
    first = await driver.run_async("hi", session="s", user_id="u")
    engine = driver._engine

    async def rerun() -> Run:
        return await engine.finish(await branch.rerun(engine, first, Content.user("other"), {}, (), False, None))

    await SlowAppend(service, "other").cancel(asyncio.ensure_future(rerun()))
    run = driver.last_run
    assert run is not None
    assert run is not first
    expected = {
        "events": ["hi", "a", "b", "other"],
        "history": ["other"],
        "turns": [(run.id, "interrupted", ["other"])],
        "state": {},
    }
    assert what_stands_in(await read(service)) == expected
    assert what_stands_in(await read(opened())) == expected


async def test_the_error_of_a_run_is_not_hidden_by_a_session_that_was_deleted(opened: Opener) -> None:
    one, two = opened(), opened()

    async def delete(callback_context: CallbackContext) -> None:
        await two.delete_session(app_name="a", user_id="u", session_id="s")

    driver = runner(one, LlmAgent(name="A", instruction="a", before_agent_callback=delete))
    with pytest.raises(StaleSessionError, match="was deleted since it was read") as raised:
        await driver.run_async("hi", session="s", user_id="u")
    assert raised.value.run is driver.last_run
    assert driver.last_run is not None
    assert driver.last_run.notes[-1].startswith("how it ended could not be stored: session 's' was deleted")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_the_disk_is_full_when_a_run_ends(opened: Opener) -> None:
    service = opened()

    async def fill(callback_context: CallbackContext) -> None:
        def work(connection: Connection) -> None:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

        await service._database.read(work)

    agent = LlmAgent(name="A", instruction="a", before_agent_callback=fill)
    driver = Runner(agent, model=ScriptedModel({"A": ["a" * 100_000]}), session_service=service, app_name="a")
    with pytest.raises(SessionStoreError, match="the disk is full") as raised:
        await driver.run_async("hi", session="s", user_id="u")
    run = driver.last_run
    assert run is not None
    assert (raised.value.run, run.error, run.status) == (run, raised.value, "failed")


async def test_a_session_that_another_process_begins_at_the_same_time_is_gone_on_with(opened: Opener) -> None:
    one, two = opened(), opened()
    create = one.create_session

    async def be_overtaken(**names: Any) -> Session:
        theirs = await two.create_session(**names)
        await two.append_event(theirs, Event("A", Content.model("theirs")))
        return await create(**names)

    one.create_session = be_overtaken  # type: ignore[method-assign]
    run = await runner(one).run_async("hi", session="s", user_id="u")
    assert (run.status, [event.text for event in run.lead]) == ("completed", ["theirs"])
    assert [event.text for event in (await read(opened())).events] == ["theirs", "hi", "a", "b"]
