"""A workflow's run in a database: its checkpoints, and its session with the runs of its agents, read by another service."""

from __future__ import annotations

import pytest

from adknb import DatabaseSessionService, LlmAgent, ScriptedModel, SequentialWorkflow, Step
from adknb.core.errors import StaleSessionError
from adknb.core.run import Session
from adknb.workflow.checkpoints import KIND
from adknb.workflow.errors import StepFailedError
from tests.sessions.conftest import Opener
from tests.workflow.flows import adds

pytestmark = pytest.mark.anyio


def flow_on(service: DatabaseSessionService, *errors: Exception) -> SequentialWorkflow:
    agent = LlmAgent(name="writer", instruction="Write about {topic}.", output_key="user:last")
    return SequentialWorkflow(
        [
            Step(name="write", agent=agent),
            Step(name="fact-check", agent=adds("!", *errors), reads="write_output"),
            Step(name="count", agent=lambda payload: len(payload), reads="input"),
            Step(name="edit", agent=agent),
        ],
        model=ScriptedModel(["first", "second"]), session_service=service, checkpoint=True, max_parallel=2,
    )  # fmt: skip


async def read(service: DatabaseSessionService) -> Session:
    session = await service.get_session(app_name="adknb", user_id="user", session_id="run-1")
    assert session is not None
    return session


async def test_a_run_is_resumed_by_another_service_and_read_by_a_third(opened: Opener) -> None:
    first = flow_on(opened(), ValueError("odd"))
    with pytest.raises(StepFailedError):
        await first.execute("in", {"topic": "bees"}, run_id="run-1")
    second = opened()
    flow = flow_on(second)
    assert [(each.done, each.next_steps) for each in await flow.checkpoints_async()] == [
        (("write",), ("fact-check", "count", "edit"))
    ]
    result = await flow.resume_async("run-1")
    assert result.output == "second"
    assert [outcome.payload for outcome in result.outcomes] == ["first", "in!", 2, "second"]
    assert await second.get_notes(KIND) == []
    session = await read(opened())
    assert session.state == result.session.state == {
        "topic": "bees", "user:last": "second", "write_output": "first", "fact-check_output": "in!",
        "fact_check_output": "in!", "count_output": 2, "edit_output": "second",
    }  # fmt: skip
    assert [(event.author, event.text) for event in session.events] == [
        (event.author, event.text) for event in result.session.events
    ]
    assert [run.output for run in session.turns] == ["first", "second"]
    sent = session.turns[1].step("writer").requests[0].sent
    assert sent.system_instruction is not None
    assert sent.system_instruction.startswith("Write about bees.")
    assert [content.text for content in sent.contents] == ['{"fact-check": "in!", "count": 2}']


async def test_two_that_resume_the_same_run_do_not_mix(opened: Opener) -> None:
    with pytest.raises(StepFailedError):
        await flow_on(opened(), ValueError("odd")).execute("in", {"topic": "bees"}, run_id="run-1")
    slow, fast = opened(), opened()
    loser = flow_on(slow)
    held = await read(slow)  # read before the other goes on, and so stale
    assert (await flow_on(fast).resume_async("run-1")).output == "second"
    with pytest.raises(StaleSessionError):
        await slow.append_events(held, [held.events[-1]])
    assert not await loser.checkpoints_async()
