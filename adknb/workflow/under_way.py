"""What all steps of one run share while it is under way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from adknb.core.run import Run
from adknb.workflow.budget import TokenBudget
from adknb.workflow.classifier import ErrorClassifier
from adknb.workflow.events import StepAction, StepEvent
from adknb.workflow.handler import ErrorHandler
from adknb.workflow.middleware import Middleware
from adknb.workflow.observers import Observers
from adknb.workflow.retry import Clock, RetryPolicy, Sleep


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies of a workflow that count for every step. `timeout` is for a whole run, in seconds."""

    classifier: ErrorClassifier
    retry_policy: RetryPolicy | None
    error_handler: ErrorHandler | None
    middleware: Sequence[Middleware]
    timeout: float | None
    max_parallel: int
    share_history: bool
    sleep: Sleep | None
    clock: Clock


@dataclass(slots=True, eq=False)
class UnderWay:
    """One run. `given` is the payload that it was given; `deadline` a time of the policies' clock; `tokens` are those of all
    attempts so far; `runs` the attempts of each step."""

    workflow: str
    run_id: str
    policies: Policies
    given: Any
    budget: TokenBudget
    observers: Observers
    deadline: float | None = None
    tokens: int = 0
    events: list[StepEvent] = field(default_factory=list)
    runs: dict[str, list[Run]] = field(default_factory=dict)

    def tell(self, index: int, step: str, action: StepAction, **fields: Any) -> None:
        """Note what happened, and tell the observers."""
        event = StepEvent(self.workflow, self.run_id, index, step, action, **fields)
        self.events.append(event)
        self.observers.notify(event)
