"""A workflow whose every text is hostile: names, payloads, context, errors, keys, the ids of runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adknb.core.run import Session
from adknb.rules.resolve import resolve_rules
from adknb.workflow.checkpoints import Checkpoint, Checkpoints
from adknb.workflow.data import PipelineData, PipelineMetadata
from adknb.workflow.events import StepEvent
from adknb.workflow.observers import ObserverFault
from adknb.workflow.outcome import StepOutcome
from adknb.workflow.plan import plan
from adknb.workflow.result import WorkflowResult, WorkflowState
from adknb.workflow.step import Step
from tests.notebook.workflow_events import BEGIN, error, event


def made(
    events: list[StepEvent], status: Any = "completed", data: PipelineData | None = None, **more: Any
) -> WorkflowResult:
    """The result of a workflow in which these events happened."""
    names = tuple(dict.fromkeys(each.step_name for each in events))
    used = sum(each.tokens for each in events)
    state = WorkflowState("run-1", status, data or PipelineData("Done."), (), used)
    return WorkflowResult("news", names, state, tuple(events), {}, Session("s"), 2140, **more)


def resumable(payload: str = "tides", name: str = "research") -> Checkpoints:
    """One run that can be resumed, whose id and input are the payload."""
    outcome = StepOutcome(0, name, "completed", PipelineMetadata("id", name, BEGIN), payload, tokens=1210)
    steps = (name, "writing")
    run = Checkpoint("news", payload, "app", "user", BEGIN, PipelineData(payload), steps, ({}, {}), (outcome,))
    return Checkpoints("news", [run])


def hostile(payload: str) -> Iterator[tuple[str, object]]:
    """Each view of a workflow by its name."""
    data = PipelineData(
        payload, PipelineMetadata(step_name=payload), {payload: payload}, warnings=(error(payload, payload),)
    )
    events = [
        event(0, 0, payload, "started", data=PipelineData(payload)),
        event(1, 0, payload, "continued", error=error(payload, payload, payload), data=data, detail=payload),
    ]
    fault = ObserverFault(3, ValueError(payload), 1)
    yield "workflow's run", made(events, data=data, error=ValueError(payload), faults=(fault,))
    step = Step(name="x", agent=str.upper, reads=(payload,), writes=(payload,))
    yield "workflow's plan", plan(payload, [step], resolve_rules("java"))
    yield "workflow's checkpoints", resumable(payload, payload)
