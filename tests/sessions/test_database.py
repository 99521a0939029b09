"""Sessions in a database: made, read, listed, deleted, appended to, the same in SQLite and in PostgreSQL."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from adknb import (
    Content,
    Event,
    EventActions,
    LlmAgent,
    Part,
    Runner,
    RunStateError,
    Session,
    StaleSessionError,
    StateValueError,
)
from adknb.core.content import FunctionCall
from adknb.core.protocols import KeepsNotes, KeepsTurns, Note
from adknb.core.state import REMOVED
from adknb.core.usage import Usage
from adknb.models.scripted import ScriptedModel
from adknb.sessions.database import DatabaseSessionService
from tests.sessions.conftest import Opener

pytestmark = pytest.mark.anyio
HOSTILE = "a\x00b\ud800\\u0000\u2028\"'; DROP TABLE adknb_log; -- \U0001f600"


async def read(service: DatabaseSessionService, name: str = "s", app: str = "a", user: str = "u") -> Session:
    session = await service.get_session(app_name=app, user_id=user, session_id=name)
    assert session is not None
    return session


async def test_an_event_comes_back_as_it_was_stored(opened: Opener) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    event = Event(
        "A",
        Content("model", (Part(text="hi", thought=True), Part(function_call=FunctionCall("f", {"x": [1, -0.0]}, "c1")))),
        EventActions({"k": {"n": 10**400}, "gone": REMOVED}, {"file": 2}, "B", True, True),
        "inv", "A.B", frozenset({"c1"}), False, Usage(5, 6, 1, 2), "E1", "broken", timestamp=12.5,
    )  # fmt: skip
    assert await service.append_event(session, event) is event
    again = await read(opened())
    assert [each.to_dict() for each in again.events] == [event.to_dict()]
    assert again.events[0].content == event.content
    assert again.events[0].actions.state_delta["gone"] is REMOVED
    assert str(again.events[0].content.parts[1].function_call.args["x"][1]) == "-0.0"  # type: ignore[union-attr]
    assert again.state == {"k": {"n": 10**400}}
    assert again.history == again.events


async def test_a_session_that_nobody_else_wrote_to_stays_the_same_object(opened: Opener) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event("A"))
    assert await read(service) is session
    assert await service.get_session(app_name="a", user_id="u", session_id="t") is None
    assert await service.get_session(app_name="a", user_id="v", session_id="s") is None


async def test_ids_are_of_an_app_and_a_user(opened: Opener) -> None:
    service = opened()
    for app, user in (("a", "u"), ("a", "v"), ("b", "u")):
        await service.create_session(app_name=app, user_id=user, session_id="s", state={"is": app + user})
    with pytest.raises(RunStateError, match="session 's' exists already"):
        await service.create_session(app_name="a", user_id="u", session_id="s")
    other = opened()
    assert (await read(other, "s", "a", "v")).state == {"is": "av"}
    listed = await other.list_sessions(app_name="a")
    assert [(each.id, each.app_name, each.user_id, each.events) for each in listed] == [
        ("s", "a", "u", []), ("s", "a", "v", []),
    ]  # fmt: skip
    assert [each.user_id for each in await other.list_sessions(app_name="a", user_id="v")] == ["v"]


async def test_a_listed_session_and_a_strange_one_are_not_written_to(opened: Opener) -> None:
    service = opened()
    await service.create_session(app_name="a", user_id="u", session_id="s")
    (listed,) = await service.list_sessions(app_name="a")
    for session in (listed, Session("s", "a", "u"), await read(opened())):
        with pytest.raises(RunStateError, match="session 's' is not one that this service can store"):
            await service.append_event(session, Event("A"))
        assert session.events == []


async def test_a_deleted_session_is_gone_and_cannot_be_appended_to(opened: Opener) -> None:
    service, other = opened(), opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event("A"))
    await other.delete_session(app_name="a", user_id="u", session_id="s")
    assert await service.get_session(app_name="a", user_id="u", session_id="s") is None
    with pytest.raises(StaleSessionError, match="session 's' was deleted since it was read"):
        await service.append_event(session, Event("A"))
    assert len(session.events) == 1
    anew = await service.create_session(app_name="a", user_id="u", session_id="s")
    assert anew.events == []
    with pytest.raises(StaleSessionError, match="was deleted"):  # the new one is not taken for it
        await service.append_event(session, Event("A"))


async def test_temp_keys_are_never_stored(opened: Opener) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"temp:a": 1, "b": 2})
    assert session.state == {"temp:a": 1, "b": 2}
    event = Event("A", actions=EventActions({"temp:c": 3, "d": 4}))
    await service.append_event(session, event)
    assert event.actions.state_delta == {"temp:c": 3, "d": 4}  # the turn still reads it
    assert session.state == {"temp:a": 1, "b": 2, "temp:c": 3, "d": 4}
    again = await read(opened())
    assert again.state == {"b": 2, "d": 4}
    assert again.events[0].actions.state_delta == {"d": 4}


async def test_hostile_names_and_values_come_back_as_they_were(opened: Opener) -> None:
    service = opened()
    session = await service.create_session(
        app_name=HOSTILE, user_id=HOSTILE, session_id=HOSTILE, state={HOSTILE: HOSTILE}
    )
    delta = {f"app:{HOSTILE}": HOSTILE, f"user:{HOSTILE}": [HOSTILE], HOSTILE + "2": {HOSTILE: HOSTILE}}
    await service.append_event(session, Event(HOSTILE, Content.model(HOSTILE), EventActions(dict(delta))))
    await service.put_notes([Note(HOSTILE, HOSTILE, 3, {HOSTILE: HOSTILE})])
    other = opened()
    again = await read(other, HOSTILE, HOSTILE, HOSTILE)
    assert again.state == {HOSTILE: HOSTILE, **delta}
    assert (again.events[0].author, again.events[0].text) == (HOSTILE, HOSTILE)
    assert await other.get_notes(HOSTILE) == [Note(HOSTILE, HOSTILE, 3, {HOSTILE: HOSTILE})]
    assert [each.id for each in await other.list_sessions(app_name=HOSTILE)] == [HOSTILE]


async def test_notes_are_replaced_read_in_order_and_forgotten(opened: Opener) -> None:
    service, other = opened(), opened()
    assert isinstance(service, KeepsNotes)
    assert isinstance(service, KeepsTurns)
    await service.put_notes(
        [Note("k", "b", 1, [1]), Note("k", "a", 10, None), Note("k", "a", 9, "x"), Note("l", "a", 1, 0)]
    )
    await other.put_notes([Note("k", "b", 1, [2])])
    assert await service.get_notes("k") == [Note("k", "a", 9, "x"), Note("k", "a", 10, None), Note("k", "b", 1, [2])]
    assert await service.get_notes("k", "b") == [Note("k", "b", 1, [2])]
    await service.delete_notes("k", "a", 10)
    assert await other.get_notes("k", "a") == [Note("k", "a", 9, "x")]
    await service.delete_notes("k", "a")
    assert await other.get_notes("k", "a") == []
    assert await other.get_notes("l") == [Note("l", "a", 1, 0)]


async def test_events_and_notes_are_stored_together_or_not_at_all(opened: Opener) -> None:
    service, other = opened(), opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    stale = await read(other)
    events = [Event("A", actions=EventActions({"n": number, "user:n": number})) for number in (1, 2)]
    await service.append_events(session, events, [Note("k", "n", 1, "first")])
    with pytest.raises(StaleSessionError):
        await other.append_events(
            stale, [Event("B", actions=EventActions({"user:n": 3}))], [Note("k", "n", 1, "second")]
        )
    assert await other.get_notes("k") == [Note("k", "n", 1, "first")]
    assert (await read(other)).state == {"n": 2, "user:n": 2}
    assert [event.id for event in (await read(other)).events] == [event.id for event in events]


async def test_what_is_no_json_is_refused_before_anything_is_stored(opened: Opener) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    for value in ({1, 2}, object(), 10**5000):
        with pytest.raises(StateValueError, match="cannot be stored: the state_delta: 'k'"):
            await service.append_events(session, [Event("A"), Event("A", actions=EventActions({"k": value}))])
        with pytest.raises(StateValueError):
            await service.put_notes([Note("k", "n", 1, [value])])
        with pytest.raises(StateValueError):
            await service.create_session(app_name="a", user_id="u", session_id="t", state={"k": value})
    assert (session.events, (await read(opened())).events) == ([], [])
    assert [each.id for each in await service.list_sessions(app_name="a")] == ["s"]


async def test_sessions_that_nobody_holds_are_let_go(opened: Opener) -> None:
    service = opened()
    runner = Runner(
        LlmAgent(name="A", instruction="a"), model=ScriptedModel({"A": ["a", "b"]}), session_service=service
    )
    run = await runner.run_async("hi", session="s")
    await runner.step_async(run, "A", trial=True)
    sessions = [weakref.ref(run.session)]
    del run, runner
    gc.collect()
    session = await service.get_session(app_name="adknb", user_id="user", session_id="s")
    assert session is not None
    assert [each.output for each in service.runs(session)] == ["a", "a"]
    sessions.append(weakref.ref(session))
    del session
    gc.collect()
    assert [each() for each in sessions] == [None, None]


async def test_a_service_that_nobody_holds_ends_its_thread(url: str) -> None:
    before = threading.active_count()
    service = DatabaseSessionService(url)
    await service.create_session(app_name="a", user_id="u")
    assert threading.active_count() > before
    del service
    gc.collect()
    assert threading.active_count() == before
