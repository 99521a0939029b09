"""A run of a workflow, from its first step, or the first without a checkpoint, to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adknb.workflow.checkpoints import clear_checkpoint
from adknb.workflow.data import PipelineData
from adknb.workflow.errors import StepFailedError, WorkflowTimeoutError
from adknb.workflow.events import StepAction
from adknb.workflow.keeping import Keeper
from adknb.workflow.metering import prepare_counting
from adknb.workflow.outcome import StepOutcome, after
from adknb.workflow.performing import Performer
from adknb.workflow.result import WorkflowResult, WorkflowState, WorkflowStatus
from adknb.workflow.together import perform_alone, perform_together
from adknb.workflow.under_way import UnderWay


@dataclass(slots=True, eq=False)
class Execution:
    """Runs groups of steps in order. `done` are the outcomes of the steps that a checkpoint holds, by their index."""

    run: UnderWay
    keeper: Keeper
    groups: Sequence[Sequence[Performer]]
    data: PipelineData
    done: Mapping[int, StepOutcome]
    status: WorkflowStatus = "running"
    outcomes: tuple[StepOutcome, ...] = ()
    ms: float = 0.0

    async def to_end(self) -> WorkflowResult:
        """The result. What ends the run is raised, `StepFailedError` and `WorkflowTimeoutError` with the result so far."""
        if self.run.budget.limit is not None:
            prepare_counting()
        clock = self.run.policies.clock
        started = clock()
        error: BaseException | None = None
        self._tell("run_started")
        try:
            await self._in_time()
            self.status = "completed"
        except BaseException as raised:
            error = raised
            self.status = "failed" if isinstance(raised, Exception) else "interrupted"
            raise
        finally:
            self.ms = (clock() - started) * 1000
            self._tell("run_completed" if error is None else "run_failed", error)
            if isinstance(error, (StepFailedError, WorkflowTimeoutError)):
                error.result = self.result(error)
        if self.keeper.notes is not None:
            await clear_checkpoint(self.keeper.notes, self.run.run_id)
        return self.result()

    def result(self, error: BaseException | None = None) -> WorkflowResult:
        """The run as far as it is."""
        steps = tuple(performer.step.name for group in self.groups for performer in group)
        state = WorkflowState(self.run.run_id, self.status, self.data, self.outcomes, self.run.tokens)
        return WorkflowResult(
            self.run.workflow, steps, state, tuple(self.run.events), self.run.runs, self.keeper.session, self.ms,
            self.run.budget.limit, error, self.run.observers.faults,
        )  # fmt: skip

    async def _in_time(self) -> None:
        seconds = self.run.policies.timeout
        if seconds is None:
            await self._all_groups()
            return
        import anyio

        self.run.deadline = self.run.policies.clock() + seconds
        with anyio.move_on_after(seconds):
            await self._all_groups()
            return
        raise self._too_late()

    async def _all_groups(self) -> None:
        for group in self.groups:
            deadline = self.run.deadline
            if deadline is not None and self.run.policies.clock() >= deadline:
                raise self._too_late()
            await self._group(group)

    async def _group(self, group: Sequence[Performer]) -> None:
        """The group's steps that are not done yet; then the data after all of them."""
        known = [self.done[performer.index] for performer in group if performer.index in self.done]
        for outcome in known:
            self.run.tokens += outcome.tokens
            self.outcomes += (outcome,)
            self.run.tell(
                outcome.index, outcome.step, "resumed", attempt=outcome.attempts, error=outcome.error,
                data=after(self.data, [outcome]), latency_ms=outcome.metadata.latency_ms, tokens=outcome.tokens,
            )  # fmt: skip
        left = [performer for performer in group if performer.index not in self.done]
        said: list[StepOutcome] = []
        before = self.outcomes[: len(self.outcomes) - len(known)]
        try:
            if len(group) == 1 and left:
                await perform_alone(self.run, self.keeper, left[0], self.data, said)
            elif left:
                await perform_together(self.run, self.keeper, left, self.data, known, said)
        finally:  # of a group that failed, what ended well is kept and said too
            ended = sorted([*known, *said], key=lambda outcome: outcome.index)
            self.outcomes = (*before, *ended)
        self.data = after(self.data, ended)

    def _too_late(self) -> WorkflowTimeoutError:
        names = [performer.step.name for group in self.groups for performer in group]
        place = len(self.outcomes)
        where = f" at step {place + 1} ({names[place]})" if place < len(names) else ""
        return WorkflowTimeoutError(
            f"workflow {self.run.workflow!r} took longer than its {self.run.policies.timeout:g} s{where}. Give it longer "
            "(timeout=…); with checkpoint=True a run can be resumed."
        )

    def _tell(self, action: StepAction, error: BaseException | None = None) -> None:
        problem = None
        if isinstance(error, Exception):
            problem = self.run.policies.classifier.classify(error).pipeline_error(error, "")
        self.run.tell(
            -1, "", action, error=problem, data=self.data, latency_ms=self.ms, tokens=self.run.tokens,
            detail="interrupted" if self.status == "interrupted" else "",
        )  # fmt: skip
