"""Checkpoints: what is behind a run is kept, and resuming asks none of it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from adknb.core.content import Content
from adknb.core.errors import SpecError
from adknb.core.events import Event
from adknb.core.protocols import Note
from adknb.core.requests import LlmResponse
from adknb.core.run import Session
from adknb.core.specs import LlmAgent
from adknb.core.usage import Usage
from adknb.models.scripted import ScriptedModel
from adknb.sessions.memory import InMemorySessionService
from adknb.workflow.checkpoints import KIND
from adknb.workflow.errors import CheckpointError, StepFailedError, WorkflowChangedError
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow
from tests.workflow.flows import adds, told, workflow

pytestmark = pytest.mark.anyio

ODD = ValueError("odd")


async def fail(flow: SequentialWorkflow, payload: Any = "in:", **given: Any) -> None:
    with pytest.raises(StepFailedError):
        await flow.execute(payload, run_id="run-1", **given)


async def test_resuming_goes_on_after_the_last_checkpoint() -> None:
    a, b, c = adds("a"), adds("b", ODD), adds("c")
    flow = workflow(
        *[Step(name=name, agent=agent) for name, agent in zip("abc", (a, b, c), strict=True)], checkpoint=True
    )
    await fail(flow, context={"tone": "calm"})
    result = await flow.resume_async("run-1")
    assert (result.output, result.run_id, result.status) == ("in:abc", "run-1", "completed")
    assert (a.seen, b.seen, c.seen) == (["in:"], ["in:a", "in:a"], ["in:ab"])
    assert told(result, "checkpoint") == [
        "a resumed 1", "b started 1", "b completed 1", "c started 1", "c completed 1",
    ]  # fmt: skip
    assert result.session.state == {"tone": "calm", "a_output": "in:a", "b_output": "in:ab", "c_output": "in:abc"}
    assert [(event.author, event.text) for event in result.session.events] == [
        ("a", "in:a"), ("b", "in:ab"), ("c", "in:abc"),
    ]  # fmt: skip


async def test_a_resumed_run_ends_like_one_that_was_not_interrupted() -> None:
    def steps(*errors: Exception) -> list[Step]:
        return [
            Step(name="a", agent=adds("a", ODD), on_error="continue"),
            Step(
                name="b", agent=adds("b"), condition=lambda data: data.error is not None, context_updates={"seen": True}
            ),
            Step(name="c", agent=adds("c", ODD), on_error="fallback", fallback=adds("!")),
            Step(name="d", agent=adds("d", *errors), reads="input"),
            Step(name="e", agent=adds("e"), reads="input"),
            Step(name="f", agent=lambda payload: payload),
        ]

    whole = await workflow(*steps()).execute("in:")
    flow = workflow(*steps(ODD), checkpoint=True)
    await fail(flow)
    resumed = await flow.resume_async("run-1")
    assert resumed.output == whole.output == {"c": "in:b!", "d": "in:d", "e": "in:e"}
    assert resumed.data.context == whole.data.context
    assert (resumed.data.error, resumed.data.warnings) == (whole.data.error, whole.data.warnings)
    assert [outcome.status for outcome in resumed.outcomes] == [outcome.status for outcome in whole.outcomes]
    assert resumed.session.state == whole.session.state


async def test_of_steps_that_ran_together_only_those_without_a_checkpoint_are_called() -> None:
    a, b = adds("a"), adds("b", ODD)
    flow = workflow(Step(name="a", agent=a, reads="input"), Step(name="b", agent=b, reads="input"), checkpoint=True)
    await fail(flow)
    assert (await flow.resume_async("run-1")).output == {"a": "in:a", "b": "in:b"}
    assert (len(a.seen), len(b.seen)) == (1, 2)


async def test_the_events_and_the_checkpoint_are_one_write() -> None:
    writes: list[tuple[list[str], list[int]]] = []

    class Watched(InMemorySessionService):
        async def append_events(self, session: Session, events: Sequence[Event], notes: Sequence[Note] = ()) -> None:
            writes.append(([event.author for event in events], [note.number for note in notes]))
            await super().append_events(session, events, notes)

    flow = SequentialWorkflow(
        [
            Step(name="a", agent=LlmAgent(name="search", output_key="found")),
            Step(name="b", agent=adds("b"), condition=lambda data: False),
            Step(name="c", agent=adds("c", ODD), on_error="skip"),
        ],
        model=ScriptedModel(["yes"]), session_service=Watched(), checkpoint=True,
    )  # fmt: skip
    await flow.execute("in")
    assert writes == [(["user", "search", "search"], [1]), ([], [2]), ([], [3])]


async def test_tokens_of_before_count_against_the_budget() -> None:
    agent = LlmAgent(name="a")
    steps = [Step(name="a", agent=agent), Step(name="b", agent=adds("b", ODD)), Step(name="c", agent=agent)]
    replies = [LlmResponse(Content.model("one"), Usage(80, 10))] * 2
    flow = SequentialWorkflow(steps, model=ScriptedModel(replies), token_budget=100, checkpoint=True)
    await fail(flow)
    assert flow.checkpoints()[0].token_used == 90
    with pytest.raises(StepFailedError, match="10 are left of the budget of 100") as caught:
        await flow.resume_async("run-1")
    assert caught.value.result is not None
    assert caught.value.result.token_used == 90


async def test_a_completed_run_leaves_no_checkpoint() -> None:
    service = InMemorySessionService()
    flow = workflow(Step(name="a", agent=adds("a")), session_service=service, checkpoint=True)
    await flow.execute("in", run_id="run-1")
    assert await service.get_notes(KIND) == []
    with pytest.raises(CheckpointError, match="workflow 'workflow' has no checkpoint of a run 'run-1'"):
        await flow.resume_async("run-1")


async def test_without_checkpoints_nothing_is_kept_of_a_run() -> None:
    service = InMemorySessionService()
    flow = workflow(Step(name="a", agent=adds("a")), Step(name="b", agent=adds("b", ODD)), session_service=service)
    await fail(flow)
    assert await service.get_notes(KIND) == []
    assert not flow.checkpoints()


async def test_what_can_be_resumed_is_listed_and_can_be_forgotten() -> None:
    service = InMemorySessionService()
    flow = workflow(
        Step(name="a", agent=adds("a")), Step(name="b", agent=adds("b", ODD, ODD)), name="news", session_service=service,
        checkpoint=True,
    )  # fmt: skip
    other = workflow(Step(name="x", agent=adds("x", ODD)), name="other", session_service=service, checkpoint=True)
    for each, run_id in [(flow, "run-1"), (flow, "run-2"), (other, "run-3")]:
        with pytest.raises(StepFailedError):
            await each.execute("in", run_id=run_id)
    found = flow.checkpoints()
    assert [(each.run_id, each.done, each.next_steps, each.data.payload) for each in found] == [
        ("run-1", ("a",), ("b",), "in"), ("run-2", ("a",), ("b",), "in"),
    ]  # fmt: skip
    assert repr(found) == "Checkpoints('news', run-1, run-2)"
    assert list(found.to_frame()["next"]) == ["b", "b"]
    flow.prune_checkpoints(["run-1"])
    assert [each.run_id for each in flow.checkpoints()] == ["run-2"]
    assert [each.run_id for each in other.checkpoints()] == ["run-3"]


async def test_a_run_in_memory_is_resumed_by_the_workflow_that_began_it() -> None:
    flow = workflow(Step(name="a", agent=adds("a")), Step(name="b", agent=adds("b", ODD)), checkpoint=True)
    await fail(flow)
    assert [each.run_id for each in flow.checkpoints()] == ["run-1"]
    assert (await flow.resume_async("run-1")).output == "in:ab"
    assert not flow.checkpoints()


async def test_a_checkpoint_that_cannot_be_read_says_so() -> None:
    service = InMemorySessionService()
    flow = workflow(Step(name="a", agent=adds("a", ODD)), session_service=service, checkpoint=True)
    await fail(flow)
    await service.put_notes([Note(KIND, "run-1", 1, {"index": 0})])
    with pytest.raises(
        CheckpointError, match=r"run 'run-1' cannot be read: KeyError: 'metadata'.*prune_checkpoints\(\['run-1'\]\)"
    ):
        await flow.resume_async("run-1")


async def test_a_deleted_session_cannot_be_gone_on_with() -> None:
    service = InMemorySessionService()
    flow = workflow(Step(name="a", agent=adds("a", ODD)), session_service=service, checkpoint=True)
    await fail(flow)
    await service.delete_session(app_name="adknb", user_id="user", session_id="run-1")
    with pytest.raises(CheckpointError, match="the session of workflow run 'run-1' was deleted"):
        await flow.resume_async("run-1")


def test_a_store_without_notes_cannot_keep_checkpoints() -> None:
    class Plain:
        create_session = get_session = list_sessions = delete_session = append_event = None

    with pytest.raises(
        SpecError, match="checkpoint=True needs a session service that keeps notes, and a Plain does not"
    ):
        SequentialWorkflow([Step(name="a", agent=str)], session_service=Plain(), checkpoint=True)  # type: ignore[arg-type]


# a workflow that was changed


def first(payload: str) -> str:
    return f"{payload}a"


def changed(payload: str) -> str:
    return f"{payload}A"


def steps_of(**changes: Any) -> list[Step]:
    """`first`, then a step that fails, then one more; `changes` are of the first."""
    return [
        Step(**{"name": "a", "agent": first, **changes}),
        Step(name="b", agent=adds("b", ODD)),
        Step(name="c", agent=adds("c")),
    ]


async def resumed(steps: list[Step], despite_changes: bool = False, **settings: Any) -> Any:
    """What a run that was begun by `steps_of()` comes to when these steps resume it."""
    service = InMemorySessionService()
    await fail(workflow(*steps_of(), session_service=service, checkpoint=True))
    flow = workflow(*steps, session_service=service, checkpoint=True, **settings)
    return (await flow.resume_async("run-1", despite_changes=despite_changes)).output


@pytest.mark.parametrize(
    ("change", "aspect"),
    [
        ({"agent": changed}, "agent"),
        ({"agent": LlmAgent(name="a", instruction="new", model="echo")}, "agent"),
        ({"transformer": changed}, "transformer"),
        ({"condition": bool}, "condition"),
        ({"context_updates": {"k": 1}}, "context_updates"),
        ({"reads": "input"}, "reads"),
        ({"model": "echo"}, "model"),
        ({"on_error": "fallback", "fallback": changed}, "fallback"),
        ({"agent": changed, "transformer": changed}, "agent, transformer"),
    ],
)
async def test_a_step_that_is_done_and_is_another_now_is_refused_and_named(change: dict[str, Any], aspect: str) -> None:
    steps = steps_of(**change)
    with pytest.raises(WorkflowChangedError) as caught:
        await resumed(steps)
    assert str(caught.value) == (
        f"run 'run-1' cannot be resumed, since steps that are done are others now: step 'a': {aspect} changed. Put them back, run "
        "the workflow anew, or keep what they said: resume(run_id, despite_changes=True), in a cell --despite-changes."
    )
    steps[1] = Step(name="b", agent=adds("b"))
    assert await resumed(steps, despite_changes=True) == "in:abc"


async def test_the_workflow_s_own_settings_count_too() -> None:
    with pytest.raises(WorkflowChangedError, match="step 'a': settings changed"):
        await resumed(steps_of(), rules="go")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["b", "c"], "step 'a', which was number 1, is gone"),
        (["b", "a", "c"], "step 'a', which was number 1, is number 2"),
    ],
)
async def test_a_step_that_is_done_and_stands_elsewhere_is_refused(names: list[str], words: str) -> None:
    by_name = {step.name: step for step in steps_of()}
    with pytest.raises(WorkflowChangedError, match=words):
        await resumed([by_name[name] for name in names], despite_changes=True)


async def test_steps_to_come_may_be_changed_added_and_left_out() -> None:
    a = steps_of()[0]
    assert await resumed([a, Step(name="b", agent=adds("B"))]) == "in:aB"
    more = [a, Step(name="x", agent=adds("x")), Step(name="y", agent=adds("y")), Step(name="z", agent=adds("z"))]
    assert await resumed(more) == "in:axyz"


@pytest.mark.parametrize("change", [{"timeout": 5}, {"on_error": "skip"}, {"writes": "k"}])
async def test_what_a_step_s_output_does_not_depend_on_may_change(change: dict[str, Any]) -> None:
    steps = steps_of(**change)
    steps[1] = Step(name="b", agent=adds("b"))
    assert await resumed(steps) == "in:abc"


async def test_a_run_that_was_gone_on_with_by_other_steps_can_be_resumed_again_by_these() -> None:
    service = InMemorySessionService()
    await fail(workflow(*steps_of(), session_service=service, checkpoint=True))
    steps = [steps_of()[0], Step(name="x", agent=first), Step(name="y", agent=adds("y", ODD))]
    flow = workflow(*steps, session_service=service, checkpoint=True)
    with pytest.raises(StepFailedError):
        await flow.resume_async("run-1")
    assert (await flow.resume_async("run-1")).output == "in:aay"
