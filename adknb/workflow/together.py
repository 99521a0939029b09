"""The steps of a group at once: all from the same data, each kept as it ends, none lost, none left behind."""

from __future__ import annotations

from collections.abc import Sequence

from adknb.workflow.data import PipelineData
from adknb.workflow.errors import WriteConflictError
from adknb.workflow.keeping import Keeper
from adknb.workflow.outcome import StepOutcome
from adknb.workflow.performing import Ended, Performance, Performer
from adknb.workflow.takeover import own_session
from adknb.workflow.under_way import UnderWay


async def perform_alone(
    run: UnderWay, keeper: Keeper, performer: Performer, data: PipelineData, outcomes: list[StepOutcome]
) -> None:
    """One step, on the session as it is. Its outcome is added to `outcomes` when it is kept."""
    ended = await Performance(run, performer, data, keeper.session).end()
    await _keep(run, keeper, performer, ended)
    outcomes.append(ended.outcome)


async def perform_together(
    run: UnderWay,
    keeper: Keeper,
    performers: Sequence[Performer],
    data: PipelineData,
    done: Sequence[StepOutcome],
    outcomes: list[StepOutcome],
) -> None:
    """Several steps, at most `max_parallel` at a time; each outcome is added to `outcomes` when it is kept. Beside them
    those are `done` that a checkpoint holds.

    When one fails for good, those that are under way are let finish and are kept, so that resuming need not pay for them
    again; no other begins. The error is that of the first such step in the workflow's order. A cancellation or an
    interrupt in one of them ends them all at once. Raises `WriteConflictError` when two wrote the same key without having
    said so.
    """
    import anyio

    base = own_session(keeper.session, (), share_history=run.policies.share_history)
    room = anyio.Semaphore(run.policies.max_parallel)
    failures: dict[int, Exception] = {}
    interrupts: list[BaseException] = []
    writers: dict[str, str] = {}
    for outcome in done:
        _claim(writers, outcome)

    async def perform(performer: Performer) -> None:
        async with room:
            if failures:
                return
            try:
                ended = await Performance(run, performer, data, base).end()
                _claim(writers, ended.outcome)
                await _keep(run, keeper, performer, ended)
            except Exception as error:
                failures[performer.index] = error
                return
            except BaseException as error:  # the group alone would take a step's own cancellation for its end
                interrupts.append(error)
                group.cancel_scope.cancel()
                return
            outcomes.append(ended.outcome)

    async with anyio.create_task_group() as group:
        for waiting, performer in enumerate(performers):
            if waiting >= run.policies.max_parallel:
                run.tell(
                    performer.index, performer.step.name, "waiting", detail="for one of the steps beside it to end"
                )
            group.start_soon(perform, performer)
    if interrupts:
        raise interrupts[0]
    if failures:
        raise failures[min(failures)]


async def _keep(run: UnderWay, keeper: Keeper, performer: Performer, ended: Ended) -> None:
    await keeper.keep(run.run_id, ended, performer.agent.root.name)
    if keeper.notes is not None:
        run.tell(performer.index, performer.step.name, "checkpoint", attempt=ended.outcome.attempts)


def _claim(writers: dict[str, str], outcome: StepOutcome) -> None:
    """Note which keys the step wrote."""
    step = outcome.step
    for key in sorted({*outcome.context, *outcome.wrote}):
        other = writers.setdefault(key, step)
        if other != step:
            raise WriteConflictError(
                f"steps {other!r} and {step!r} ran together, and both wrote {key!r}: one of the values would be lost. Say so: "
                f"put {key!r} among the writes of {other!r} and the reads of {step!r}, which then runs after it."
            )
