"""Workflows of small functions for tests: time that does not pass by itself, and functions that fail as they are told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from adknb.workflow.result import WorkflowResult
from adknb.workflow.step import Step
from adknb.workflow.workflow import SequentialWorkflow


class Time:
    """A clock that only sleeping moves; `slept` are the waits, in seconds."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Function:
    """A step's function: raises its errors in order, one a call, then returns `make(payload)`. `seen` are its payloads."""

    def __init__(self, make: Callable[[Any], Any], errors: Iterable[Exception] = ()) -> None:
        self._make = make
        self._errors = iter(errors)
        self.seen: list[Any] = []

    async def __call__(self, payload: Any) -> Any:
        self.seen.append(payload)
        error = next(self._errors, None)
        if error is not None:
            raise error
        return self._make(payload)


def adds(text: str, *errors: Exception) -> Function:
    """A function that appends `text` to the payload, after it has raised the errors."""
    return Function(lambda payload: f"{payload}{text}", errors)


def broken(error: Exception) -> Function:
    """A function that always raises."""

    def fail(_: object) -> None:
        raise error

    return Function(fail)


def workflow(*steps: Step, **settings: Any) -> SequentialWorkflow:
    """A workflow whose time is its own."""
    time = Time()
    return SequentialWorkflow(steps, **{"clock": time, "sleep": time.sleep, **settings})


def told(result: WorkflowResult, *skipped: str) -> list[str]:
    """The events of the steps in a few words: `a started 1`."""
    return [
        f"{event.step_name} {event.action} {event.attempt}"
        for event in result.events
        if event.step_name and event.action not in skipped
    ]


def left_behind() -> set[str]:
    """What other tasks than the tests' own are running."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    names = {getattr(task.get_coro(), "__qualname__", "") for task in others}
    return {name for name in names if not name.startswith("TestRunner.")}
