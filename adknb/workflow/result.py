"""What a workflow run leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from adknb.core.errors import RunStateError, near_names
from adknb.core.run import Run, Session
from adknb.core.views import Viewed, table
from adknb.workflow.data import PipelineData, PipelineMetadata
from adknb.workflow.events import StepEvent
from adknb.workflow.observers import ObserverFault
from adknb.workflow.outcome import StepOutcome

if TYPE_CHECKING:
    import pandas as pd

WorkflowStatus: TypeAlias = Literal["running", "completed", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class WorkflowState:
    """Where a run stands: the data, and how each step ended that is behind it. `token_used` counts failed attempts too."""

    run_id: str
    status: WorkflowStatus
    data: PipelineData
    outcomes: tuple[StepOutcome, ...] = ()
    token_used: int = 0

    @property
    def done(self) -> tuple[str, ...]:
        """The steps that are behind it, skipped ones included."""
        return tuple(outcome.step for outcome in self.outcomes)


@dataclass(frozen=True, slots=True, eq=False)
class WorkflowResult(Viewed):
    """A run of a workflow: its output, and everything on the way to it.

    `steps` are the names of all steps; `state` says how each ended. `runs` holds, for each step that asked its agent, the
    Run of each attempt and last that of the fallback; `session` holds a turn for each agent's that succeeded, and an event of
    each function's output. `limit` is that
    of the token budget, `ms` the wall time in milliseconds. `error` ended the run; `faults` are the observers that raised.
    """

    workflow: str
    steps: tuple[str, ...]
    state: WorkflowState
    events: tuple[StepEvent, ...]
    runs: Mapping[str, Sequence[Run]]
    session: Session
    ms: float = 0.0
    limit: int | None = None
    error: BaseException | None = None
    faults: tuple[ObserverFault, ...] = ()

    @property
    def output(self) -> Any:
        """The last payload: text, or what the last adapter or a group of steps made of it."""
        return self.state.data.payload

    @property
    def data(self) -> PipelineData:
        return self.state.data

    @property
    def metadata(self) -> PipelineMetadata:
        """That of the last output."""
        return self.state.data.metadata

    @property
    def token_used(self) -> int:
        """Tokens in and out of all attempts, those that failed included."""
        return self.state.token_used

    @property
    def status(self) -> WorkflowStatus:
        return self.state.status

    @property
    def run_id(self) -> str:
        return self.state.run_id

    @property
    def outcomes(self) -> tuple[StepOutcome, ...]:
        return self.state.outcomes

    def outcome_of(self, step: str) -> StepOutcome:
        """How a step ended. Raises `RunStateError` for one that is not behind the run."""
        for outcome in self.outcomes:
            if outcome.step == step:
                return outcome
        raise RunStateError(
            f"workflow run {self.run_id} did not get past a step {step!r}.{near_names(step, self.steps)}"
        )

    def run_of(self, step: str) -> Run:
        """The Run of the step's last attempt: its prompts, tokens, state. Raises `RunStateError` where it has none."""
        if not self.runs.get(step):
            raise RunStateError(
                f"step {step!r} asked nothing in workflow run {self.run_id}: it was skipped, resumed or cached, or never "
                f"reached.{near_names(step, [name for name, runs in self.runs.items() if runs])}"
            )
        return self.runs[step][-1]

    def to_frame(self) -> pd.DataFrame:
        """One row an event: `step`, `action`, `attempt`, `at`, `latency_ms`, `tokens`, `wait`, `error`, `detail`."""
        return table(self, "timeline")

    def to_steps(self) -> pd.DataFrame:
        """One row a step: `step`, `status`, `attempts`, `latency_ms`, `tokens`, `cached`, `error`, `payload`."""
        return table(self, "steps")

    def __repr__(self) -> str:
        return (
            f"WorkflowResult({self.workflow!r}, {self.run_id!r}, {self.status}, "
            f"{len(self.outcomes)} of {len(self.steps)} steps, {self.token_used:,} tokens)"
        )
