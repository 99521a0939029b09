"""What a workflow tells those who watch it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from adknb.core.usage import Usage
from adknb.workflow.data import PipelineData, PipelineError

StepAction: TypeAlias = Literal[
    "run_started",  # of the run itself: step_index -1, step_name empty
    "run_completed",
    "run_failed",
    "started",  # an attempt begins
    "completed",  # the step has its output
    "skipped",  # its condition said no, or it failed under ErrorAction.SKIP: then with the error
    "retry",  # an attempt failed and another follows in `wait` seconds
    "waiting",  # the step waits `wait` seconds, or for room, before it may begin
    "failed",  # the last attempt failed; what was done about it follows
    "fallback",  # the fallback gave the output
    "continued",  # the workflow goes on with the error in the data
    "cache_hit",  # the output was kept from before
    "budget",  # a call was refused: its prompt does not fit the token budget
    "checkpoint",  # data and position are stored
    "resumed",  # the step's output was read from a checkpoint
]


@dataclass(frozen=True, slots=True)
class StepEvent:
    """One thing that happened to a step of a workflow run.

    `step_index` counts from 0, `attempt` from 1 (0: before any). `data` is the step's input with `started` and its output with
    `completed`, `fallback` and `cache_hit`. `latency_ms` is the time of the attempt that ended, in milliseconds; `tokens` are
    what it used, in and out, and `usage` has them apart where the model reported them; with a run's end `tokens` are the
    run's. `wait` is in seconds; `detail` says why, where the action alone does not.
    """

    workflow: str
    run_id: str
    step_index: int
    step_name: str
    action: StepAction
    attempt: int = 0
    error: PipelineError | None = None
    data: PipelineData | None = None
    latency_ms: float = 0.0
    tokens: int = 0
    usage: Usage | None = None
    wait: float = 0.0
    detail: str = ""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
