"""A chain around every call of a step's agent: each link may change what is sent and what came, or answer itself."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeAlias

from adknb.core.errors import AdknbError, SpecError
from adknb.core.escape import one_line
from adknb.core.run import Run
from adknb.workflow.cache import ResultCache
from adknb.workflow.data import PipelineData
from adknb.workflow.observers import LOGGER
from adknb.workflow.retry import Clock


@dataclass(frozen=True, slots=True)
class StepRequest:
    """One attempt to call a step's agent.

    `data.payload` is what the agent is sent, after the step's input adapter and transformer; `data.context` comes with it.
    `attempt` counts from 1. `key` stands for all that the answer depends on: the same key, the same question. It is None where
    that is not known, as with a shared history; `key_of` makes it of the data.
    """

    workflow: str
    run_id: str
    step_index: int
    step_name: str
    attempt: int
    data: PipelineData
    key_of: Callable[[PipelineData], str | None] | None = field(default=None, repr=False, compare=False)

    @property
    def key(self) -> str | None:
        return self.key_of(self.data) if self.key_of is not None else None

    def with_payload(self, payload: Any) -> StepRequest:
        """The same request with another payload, and so with another key."""
        return replace(self, data=self.data.with_(payload=payload))


@dataclass(frozen=True, slots=True)
class StepReply:
    """What the agent said: `payload`, and `context` where it also changes that. `run` is None where no agent was asked.

    `tokens` are what it used, in and out. `cached` says that the answer was kept from before. `state` is what its agents wrote
    to the state (null: removed): what is written where no agent was asked, beside the payload under the agent's output_key.
    """

    payload: Any
    context: dict[str, Any] | None = None
    tokens: int = 0
    run: Run | None = None
    cached: bool = False
    state: Mapping[str, Any] | None = None

    def with_payload(self, payload: Any) -> StepReply:
        return replace(self, payload=payload)


CallNext: TypeAlias = Callable[[StepRequest], Awaitable[StepReply]]


class Middleware(Protocol):
    """Gets a request and what comes after it in the chain; gives the reply. What it raises is an error of the step.

    A plain `async def` of these two parameters is one too. It may call `call_next` with a changed request, change the reply,
    call it again, or not at all.

    >>> import anyio
    >>> async def shout(request: StepRequest, call_next: CallNext) -> StepReply:
    ...     reply = await call_next(request)
    ...     return reply.with_payload(reply.payload.upper())
    >>> async def agent(request: StepRequest) -> StepReply:
    ...     return StepReply(f"about {request.data.payload}")
    >>> request = StepRequest("news", "run-1", 0, "research", 1, PipelineData("bees"))
    >>> anyio.run(chain([shout], agent), request).payload
    'ABOUT BEES'
    """

    async def __call__(self, request: StepRequest, call_next: CallNext) -> StepReply: ...


def chain(middleware: Iterable[Middleware], handler: CallNext) -> CallNext:
    """`handler` inside the middleware, the first of which is the outermost."""
    links = list(middleware)
    for link in links:
        if not callable(link):
            raise SpecError(f"{link!r} is no middleware: an async function of (request, call_next) is needed")
    for link in reversed(links):
        handler = partial(_called, link, handler)
    return handler


async def _called(link: Middleware, call_next: CallNext, request: StepRequest) -> StepReply:
    reply = await link(request, call_next)
    if not isinstance(reply, StepReply):
        raise AdknbError(
            f"step {request.step_name!r}: middleware {_name(link)} gave a {type(reply).__name__}, not a StepReply. "
            "Return what call_next gave, or reply.with_payload(…)."
        )
    return reply


class LoggingMiddleware:
    """Writes what each attempt was sent and what came to a logger, `adknb.workflow` by default, each cut to `width`."""

    def __init__(
        self,
        logger: logging.Logger = LOGGER,
        level: int = logging.DEBUG,
        width: int = 200,
        clock: Clock = time.monotonic,
    ) -> None:
        self._logger = logger
        self._level = level
        self._width = width
        self._clock = clock

    async def __call__(self, request: StepRequest, call_next: CallNext) -> StepReply:
        self._say(request, "is sent", request.data.text)
        began = self._clock()
        try:
            reply = await call_next(request)
        except Exception as error:
            self._say(request, f"raised after {self._clock() - began:.3f} s", f"{type(error).__name__}: {error}")
            raise
        self._say(request, f"said after {self._clock() - began:.3f} s", str(reply.payload))
        return reply

    def _say(self, request: StepRequest, what: str, text: str) -> None:
        where = f"[{request.workflow}] step {request.step_name} (attempt {request.attempt})"
        self._logger.log(self._level, "%s", f"{where} {what}: {one_line(text, self._width)}")


class CacheMiddleware:
    """Answers from a `ResultCache` what was asked before. A request without a `key` is always asked."""

    def __init__(self, cache: ResultCache) -> None:
        self._cache = cache

    async def __call__(self, request: StepRequest, call_next: CallNext) -> StepReply:
        key = request.key
        if key is None:
            return await call_next(request)
        own: list[StepReply] = []

        async def ask() -> dict[str, Any]:
            own.append(await call_next(request))
            return {"payload": own[0].payload, "context": own[0].context, "state": own[0].state}

        kept = await self._cache.get_or_execute(key, ask)
        return own[0] if own else StepReply(kept["payload"], kept["context"], cached=True, state=kept.get("state"))


def _name(link: object) -> str:
    return getattr(link, "__name__", type(link).__name__)
