"""The workflow's own say about errors, and calls of the user's functions around a step."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeAlias

from adknb.core.errors import SpecError
from adknb.runtime.interrupts import UsersCode
from adknb.workflow.actions import ErrorAction
from adknb.workflow.classifier import Classification
from adknb.workflow.data import PipelineData
from adknb.workflow.step import Step

Decision: TypeAlias = ErrorAction | str | PipelineData | None


class ErrorHandler(Protocol):
    """Is asked what to do about a step that failed for good, before its own `on_error` counts; sync or async.

    It returns an `ErrorAction`, or data to go on with as a fallback's output, or None: then `step.on_error` decides.
    """

    def __call__(
        self, step: Step, data: PipelineData, error: Exception, classification: Classification
    ) -> Decision | Awaitable[Decision]: ...


async def decide(
    handler: ErrorHandler | None, step: Step, data: PipelineData, error: Exception, classification: Classification
) -> ErrorAction | PipelineData:
    """What is to be done about the error. Raises `SpecError` for an answer that is none."""
    answer = None if handler is None else await call(handler, step, data, error, classification)
    if answer is None:
        return ErrorAction(step.on_error)
    if isinstance(answer, PipelineData):
        return answer
    if isinstance(answer, str) and answer in list(ErrorAction):
        action = ErrorAction(answer)
        if action is not ErrorAction.FALLBACK or step.fallback is not None:
            return action
    raise SpecError(
        f"the error handler answered {answer!r} about step {step.name!r}. Return an ErrorAction (fallback only where the step "
        "has one), PipelineData to go on with, or None."
    )


async def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a user's function, sync or async. Ctrl-C ends it at once."""
    with UsersCode():
        value = function(*arguments)
        return await value if inspect.isawaitable(value) else value


async def updates_of(context_updates: Any, data: PipelineData) -> Mapping[str, Any]:
    """What `Step.context_updates` adds to the context, given the data with the step's output. Raises `SpecError`."""
    if context_updates is None:
        return {}
    updates = context_updates if isinstance(context_updates, Mapping) else await call(context_updates, data)
    if updates is None:
        return {}
    if not isinstance(updates, Mapping):
        raise SpecError(f"context_updates returned {updates!r}; return a dict of what the context gets, or None")
    return updates
