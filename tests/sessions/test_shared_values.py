"""`app:` and `user:` values: shared by the sessions of a service at once, and by those of others when they are read."""

from __future__ import annotations

import asyncio

import pytest

from adknb import (
    CallbackContext,
    Event,
    EventActions,
    InMemorySessionService,
    LlmAgent,
    Runner,
    SequentialAgent,
    Session,
)
from adknb.core.state import REMOVED
from adknb.models.scripted import ScriptedModel
from adknb.sessions.database import DatabaseSessionService
from adknb.sessions.database.shared import SharedValues
from tests.sessions.conftest import Opener

pytestmark = pytest.mark.anyio


async def write(service: DatabaseSessionService, session: Session, **delta: object) -> None:
    await service.append_event(
        session, Event("A", actions=EventActions({k.replace("_", ":"): v for k, v in delta.items()}))
    )


async def read(service: DatabaseSessionService, name: str, user: str = "u", app: str = "a") -> Session:
    session = await service.get_session(app_name=app, user_id=user, session_id=name)
    assert session is not None
    return session


async def test_they_are_of_an_app_and_of_a_user_of_it(opened: Opener) -> None:
    service = opened()
    one = await service.create_session(app_name="a", user_id="u", session_id="one")
    await write(service, one, app_k=1, user_k=2, k=3)
    for app, user, state in (
        ("a", "u", {"app:k": 1, "user:k": 2}), ("a", "v", {"app:k": 1}), ("b", "u", {}), ("b", "v", {}),
    ):  # fmt: skip
        for each in (service, opened()):
            session = await each.create_session(app_name=app, user_id=user)
            assert session.state == state


async def test_sessions_of_one_service_see_them_at_once_and_others_when_they_read(opened: Opener) -> None:
    service, other = opened(), opened()
    one = await service.create_session(app_name="a", user_id="u", session_id="one")
    two = await service.create_session(app_name="a", user_id="u", session_id="two")
    theirs = await read(other, "two")
    await write(service, one, app_k=[1], user_k="x")
    assert two.scopes.app == {"k": [1]}
    assert theirs.scopes.app == {}
    assert await read(other, "two") is theirs  # its own log is as it was
    assert theirs.state == {"app:k": [1], "user:k": "x"}
    await write(other, theirs, app_k=REMOVED, user_l=2)
    assert (await read(service, "one")).scopes.app == {}
    assert (await read(opened(), "one")).state == {"user:k": "x", "user:l": 2}


async def test_both_kernels_keys_stand_and_the_last_value_of_one(opened: Opener) -> None:
    services = [opened(), opened()]
    sessions = [
        await service.create_session(app_name="a", user_id="u", session_id=name)
        for service, name in zip(services, ("one", "two"), strict=True)
    ]
    for number in range(3):
        for service, session in zip(services, sessions, strict=True):
            await write(service, session, **{f"user_{session.id}": number, "user_both": session.id})
    assert (await read(opened(), "one")).state == {"user:one": 2, "user:two": 2, "user:both": "two"}


async def test_what_a_rewind_takes_back_is_stored_and_leaves_the_others(opened: Opener) -> None:
    service, other = opened(), opened()
    runner = Runner(
        LlmAgent(name="A", output_key="user:k"),
        model=ScriptedModel({"A": ["a"]}),
        session_service=service,
        app_name="a",
    )
    run = await runner.run_async("hi", session="s", user_id="u", state={"user:begun": 1})
    theirs = await other.create_session(app_name="a", user_id="u")
    await write(other, theirs, user_l=2)
    runner.rewind(run, "A")
    assert (await read(opened(), "s")).state == {"user:begun": 1, "user:l": 2}
    assert (await read(other, theirs.id)).scopes.user == {"begun": 1, "l": 2}


async def test_values_that_a_session_began_with_are_its_own_until_they_are_shared(opened: Opener) -> None:
    service = opened()
    await service.create_session(app_name="a", user_id="u", session_id="s", state={"user:k": "mine", "app:l": "mine"})
    assert (await read(opened(), "s")).state == {"user:k": "mine", "app:l": "mine"}
    two = await service.create_session(app_name="a", user_id="u")
    assert two.state == {}
    await write(service, two, user_k="ours")
    assert (await read(opened(), "s")).state == {"user:k": "ours", "app:l": "mine"}


async def test_a_value_that_others_removed_does_not_come_back_with_a_session_that_saw_it(opened: Opener) -> None:
    service, other = opened(), opened()
    theirs = await other.create_session(app_name="a", user_id="u")
    await write(other, theirs, user_k=1, user_l=1)
    agent = LlmAgent(name="A", output_key="a")
    runner = Runner(agent, model=ScriptedModel({"A": ["x"]}), session_service=service, app_name="a")
    await service.create_session(app_name="a", user_id="u", session_id="s", state={"user:k": 0})
    run = await runner.run_async("hi", session="s", user_id="u", state={"user:k": 2})
    assert run.start_state == {"user:k": 1, "user:l": 1}
    await write(other, theirs, user_k=REMOVED, user_l=REMOVED)
    assert (await read(opened(), "s")).state == {"a": "x"}


def test_only_what_changed_is_written() -> None:
    shared = SharedValues()
    shared.refresh([("k", "[1]"), ("l", '"x"')])
    assert shared.values == {"k": [1], "l": "x"}
    assert shared.changes([], "app:") == {}
    assert shared.changes([{"app:m": 1, "user:m": 2, "m": 3, "app:l": REMOVED}], "app:") == {"m": "1", "l": None}
    shared.values["k"] = [1]  # put back to an equal value
    assert shared.changes([], "app:") == {}
    shared.values["k"] = [True]
    del shared.values["l"]
    assert shared.changes([], "app:") == {"k": "[true]", "l": None}
    shared.refresh([("k", "[2]"), ("n", "1")])  # what others wrote does not undo what is still to be stored
    assert shared.values == {"k": [True], "n": 1}
    changes = shared.changes([], "app:")
    assert changes == {"k": "[true]"}
    shared.note_stored(changes)
    assert shared.changes([], "app:") == {}
    shared.refresh([])
    assert shared.values == {}


def test_a_value_that_is_taken_back_to_what_it_was_before_others_changed_it_is_written() -> None:
    shared = SharedValues()
    shared.refresh([("k", "1")])
    assert shared.changes([], "app:") == {}
    shared.refresh([("k", "2")])
    shared.values["k"] = 1
    assert shared.changes([], "app:") == {"k": "1"}


async def what_others_wrote_stays(service: DatabaseSessionService | InMemorySessionService) -> None:
    """Another session writes `user:k` while this one, which wrote it in its first turn, is in its second."""
    other = await service.create_session(app_name="a", user_id="u", session_id="other")
    begun: list[str] = []

    async def be_interrupted(callback_context: CallbackContext) -> None:
        begun.append(callback_context.invocation_id)
        if len(begun) == 2:
            await service.append_event(other, Event("B", actions=EventActions({"user:k": "during it"})))
            raise asyncio.CancelledError

    agent = LlmAgent(name="A", output_key="user:k", before_agent_callback=be_interrupted)
    model = ScriptedModel({"A": ["one", "two"]})
    runner = Runner(agent, model=model, session_service=service, app_name="a")
    await runner.run_async("hi", session="s", user_id="u")
    assert other.scopes.user == {"k": "one"}
    with pytest.raises(asyncio.CancelledError):
        await runner.run_async("hi", session="s", user_id="u")
    assert other.scopes.user == {"k": "during it"}
    paused = await runner.run_async("hi", session="s", user_id="u", pause=True)
    await service.append_event(other, Event("B", actions=EventActions({"user:k": "while it is paused"})))
    stepped = await runner.step_async(paused)
    assert (stepped.status, stepped.start_state) == ("completed", {"user:k": "during it"})
    assert other.scopes.user == {"k": "two"}
    await service.append_event(other, Event("B", actions=EventActions({"user:k": "after it"})))
    assert runner.rewind(stepped, "A").session.state == {"user:k": "during it"}  # back to before it


async def test_what_other_sessions_wrote_stays_until_a_turn_is_taken_back(opened: Opener) -> None:
    await what_others_wrote_stays(opened())
    assert (await read(opened(), "other")).scopes.user == {"k": "during it"}
    await what_others_wrote_stays(InMemorySessionService())


async def test_a_paused_turn_that_goes_on_takes_nothing_back(opened: Opener) -> None:
    service = opened()
    other = await service.create_session(app_name="a", user_id="u", session_id="other")
    root = SequentialAgent(name="p", sub_agents=[LlmAgent(name="A", output_key="user:k"), LlmAgent(name="B")])
    model = ScriptedModel({"A": ["one", "two"], "B": ["b", "b"]})
    runner = Runner(root, model=model, session_service=service, app_name="a")
    await runner.run_async("hi", session="s", user_id="u")
    paused = await runner.run_async("hi", session="s", user_id="u", pause=True)
    after_a = await runner.step_async(paused)
    assert other.scopes.user == {"k": "two"}
    await service.append_event(other, Event("B", actions=EventActions({"user:k": "theirs"})))
    run = await runner.step_async(after_a)
    assert (run.status, run.session.state, other.scopes.user) == ("completed", {"user:k": "theirs"}, {"k": "theirs"})
    assert (await read(opened(), "s")).state == {"user:k": "theirs"}


async def test_a_turn_begins_with_what_others_shared_since_also_in_a_session_that_is_held(opened: Opener) -> None:
    service, other = opened(), opened()
    agent = LlmAgent(name="A", instruction="{user:k?} {user:l?} {user:own?}")
    model = ScriptedModel({"A": ["x", "y", "z"]})
    runner = Runner(agent, model=model, session_service=service, app_name="a")
    session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"user:own": 0})
    theirs = await other.create_session(app_name="a", user_id="u")
    sent = []
    for delta in ({"user_k": 1, "user_l": 2}, {"user_k": REMOVED}, {"user_l": 3}):
        await write(other, theirs, **delta)
        run = await runner.run_async("hi", session=session, user_id="u")
        assert run.session is session
        sent.append((run.step_runs[0].requests[0].sent.system_instruction or "").partition("\n")[0])
        assert session.state == (await read(opened(), "s")).state
    assert sent == ["1 2 0", " 2 0", " 3 0"]
