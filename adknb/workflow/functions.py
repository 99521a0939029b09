"""A plain function as a step's agent, so that a step leaves a Run whatever it is made of."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from adknb.core.content import Content
from adknb.core.errors import SpecError
from adknb.core.events import Event
from adknb.core.json_values import fault
from adknb.core.protocols import InvocationContext
from adknb.core.specs import BaseAgent
from adknb.runtime import threads
from adknb.runtime.context import InvocationContext as RunningContext
from adknb.workflow.data import PipelineData
from adknb.workflow.kept_answers import function_key, returned_data, returned_of
from adknb.workflow.metering import meter

NOTHING: Final = object()


@dataclass(slots=True)
class Handed:
    """What goes to a step's function, and what comes back."""

    data: PipelineData
    returned: Any = NOTHING


handed: ContextVar[Handed] = ContextVar("adknb_handed")


class FunctionAgent(BaseAgent):
    """Calls `function` with the step's payload, or with all of the data where its parameter asks for that.

    A parameter asks by its annotation `PipelineData` or its name `data`. Sync functions run in worker threads: one that
    is still running when its step is over is left alone, and what it returns then is discarded.
    """

    function: Callable[..., Any]
    takes_data: bool
    is_async: bool

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event]:
        own = handed.get()
        argument = own.data if self.takes_data else own.data.payload
        own.returned = await self._answer(ctx, argument)
        said = own.returned if isinstance(own.returned, PipelineData) else PipelineData(own.returned)
        yield Event(self.name, Content.model(said.text), invocation_id=ctx.invocation_id, branch=ctx.branch)

    async def _answer(self, ctx: InvocationContext, argument: Any) -> Any:
        """What the function returns, or the cache has kept of it."""
        own = meter.get()
        own.calls += 1
        if own.cache is None:
            return await self._call(ctx, argument)
        asked = False

        async def ask() -> dict[str, Any]:
            nonlocal asked
            asked = True
            return returned_data(await self._call(ctx, argument))

        data = await own.cache.get_or_execute(function_key(own.step, self.function, argument), ask)
        own.hits += not asked
        return returned_of(data)

    async def _call(self, ctx: InvocationContext, argument: Any) -> Any:
        if self.is_async:
            value = await self.function(argument)
        else:
            value = await threads.run_abandonable(lambda: self.function(argument), lambda: self._abandon(ctx))
            if inspect.isawaitable(value):
                value = await value
        if value is None or (not isinstance(value, PipelineData) and (found := fault("the output", value)) is not None):
            reason = "it returned None" if value is None else found
            raise SpecError(
                f"step function {self.name!r}: {reason}. Return the step's output: text, a number, a list or a dict of "
                "these, or the changed PipelineData."
            )
        return value

    def _abandon(self, ctx: InvocationContext) -> None:
        if isinstance(ctx, RunningContext):
            ctx.invocation.run.notes.append(
                f"function {self.name!r} was still running when its step was over; its result is discarded"
            )


def function_agent(name: str, function: Callable[..., Any]) -> FunctionAgent:
    return FunctionAgent(name=name, function=function, takes_data=takes_data(function), is_async=is_async(function))


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it only makes a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def takes_data(function: Callable[..., Any]) -> bool:
    """Whether the function wants the whole data: its first parameter is annotated so, or called `data`."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a function of C's without a signature
        return False
    if not parameters:
        return False
    return parameters[0].name == "data" or parameters[0].annotation in (PipelineData, "PipelineData")
