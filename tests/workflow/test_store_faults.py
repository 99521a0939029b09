"""A store that fails, and one that is cancelled when it has stored already: what is told and what is stored agree."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from adknb.core.errors import SessionStoreError
from adknb.core.events import Event
from adknb.core.protocols import Note
from adknb.core.run import Session
from adknb.core.specs import LlmAgent
from adknb.models.scripted import ScriptedModel
from adknb.sessions.memory import InMemorySessionService
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow
from tests.workflow.flows import adds, workflow

pytestmark = pytest.mark.anyio


class Failing(InMemorySessionService):
    """Raises `error` at the append of this number, before or after it stored."""

    def __init__(self, at: int, error: BaseException, *, stores: bool) -> None:
        super().__init__()
        self.at, self.error, self.stores = at, error, stores

    async def append_events(self, session: Session, events: Sequence[Event], notes: Sequence[Note] = ()) -> None:
        self.at -= 1
        if self.at != 0 or self.stores:
            await super().append_events(session, events, notes)
        if self.at == 0:
            raise self.error


def flow_on(service: InMemorySessionService) -> SequentialWorkflow:
    steps = [Step(name=name, agent=LlmAgent(name=name, output_key=f"{name}_key")) for name in "abc"]
    replies = {"a": ["one"], "b": ["two", "two again"], "c": ["three"]}
    return SequentialWorkflow(steps, model=ScriptedModel(replies), session_service=service, checkpoint=True)


async def session_of(service: InMemorySessionService) -> Session:
    session = await service.get_session(app_name="adknb", user_id="user", session_id="run-1")
    assert session is not None
    return session


async def test_a_step_that_could_not_be_stored_is_not_in_the_session_and_is_done_again() -> None:
    full = SessionStoreError("the disk is full")
    service = Failing(2, full, stores=False)
    flow = flow_on(service)
    with pytest.raises(SessionStoreError) as caught:
        await flow.execute("in", run_id="run-1")
    assert caught.value is full
    session = await session_of(service)
    assert [run.root.name for run in session.turns] == ["a"]
    assert session.under_way is None
    assert session.state == {"a_key": "one", "a_output": "one"}
    assert flow.checkpoints()[0].done == ("a",)
    result = await flow.resume_async("run-1")
    assert (result.output, len(result.session.turns)) == ("three", 3)
    assert result.session.state["b_output"] == "two"


async def test_a_step_that_was_cancelled_when_it_was_stored_is_there_and_not_done_again() -> None:
    service = Failing(2, asyncio.CancelledError(), stores=True)
    flow = flow_on(service)
    with pytest.raises(asyncio.CancelledError):
        await flow.execute("in", run_id="run-1")
    session = await session_of(service)
    assert [run.root.name for run in session.turns] == ["a", "b"]
    assert session.under_way is None
    assert flow.checkpoints()[0].done == ("a", "b")
    result = await flow.resume_async("run-1")
    assert [outcome.step for outcome in result.outcomes] == ["a", "b", "c"]
    assert list(result.runs) == ["c"]
    assert result.session.state["b_output"] == "two"


async def test_a_store_that_fails_beside_other_steps_ends_the_run_with_its_error() -> None:
    service = Failing(1, SessionStoreError("the disk is full"), stores=False)
    steps = [Step(name=name, agent=adds(name), reads="input") for name in "ab"]
    with pytest.raises(SessionStoreError, match="the disk is full"):
        await workflow(*steps, session_service=service, checkpoint=True, max_parallel=2).execute("in")


async def test_a_session_id_that_is_taken_is_an_error_before_anything_is_asked() -> None:
    service = InMemorySessionService()
    function = adds("a")
    flow = workflow(Step(name="a", agent=function), session_service=service)
    await flow.execute("in", run_id="run-1")
    with pytest.raises(Exception, match="session 'run-1' exists already"):
        await flow.execute("in", run_id="run-1")
    assert function.seen == ["in"]
