"""The calls of an attempt: each is looked for in the cache, checked against the budget before it is made, counted after."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.usage import Usage
from adknb.models.request_key import model_identity
from adknb.tokens.channels import part_text, pieces
from adknb.tokens.counter import default_counter
from adknb.workflow.budget import TokenBudget
from adknb.workflow.cache import ResultCache
from adknb.workflow.kept_answers import reply_data, reply_key, reply_of


@dataclass(slots=True)
class Meter:
    """What an attempt's calls of models and functions cost: `tokens` in and out, as reported where a model reports them, else
    as counted. `usage` has those that were reported, apart. `hits` of the `calls` were answered by the cache."""

    budget: TokenBudget
    step: str = ""
    cache: ResultCache | None = None
    tokens: int = 0
    calls: int = 0
    hits: int = 0
    usage: Usage | None = None

    @property
    def is_cached(self) -> bool:
        """Nothing was asked: every answer was kept from before."""
        return self.calls > 0 and self.hits == self.calls

    def reported(self, usage: Usage) -> int:
        """Note what a model reported of a call: its tokens, in and out."""
        own = self.usage or Usage(0, 0)
        self.usage = Usage(
            own.input_tokens + usage.input_tokens,
            own.output_tokens + usage.output_tokens,
            own.cached_tokens + usage.cached_tokens,
            own.reasoning_tokens + usage.reasoning_tokens,
        )
        return _total(usage)


meter: ContextVar[Meter] = ContextVar("adknb_meter")
"""The meter of the attempt that this code is part of."""


class MeteredCall:
    """The block is a call of a model by an attempt: its counted prompt is reserved before it, what it used is counted after it.

    A call that fails costs nothing; one that is cancelled costs its prompt. Raises `BudgetExceededError` instead of entering
    the block when the prompt is more than what remains.
    """

    def __init__(self, own: Meter, request: LlmRequest) -> None:
        self._own = own
        self._request = request
        self._limited = own.budget.limit is not None
        self._prompt = count_prompt(request) if self._limited else 0
        self._usage: Usage | None = None
        self._said = 0

    def __enter__(self) -> Self:
        self._own.calls += 1
        self._reservation = self._own.budget.reserve(self._prompt)
        return self

    def heard(self, reply: LlmResponse) -> None:
        self._usage = reply.usage or self._usage
        self._said += count_reply(reply) if self._usage is None and not reply.partial else 0

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, Exception):
            used = 0
        elif self._usage is not None:
            used = self._own.reported(self._usage)
        elif error is not None:
            used = self._prompt
        else:
            used = (self._prompt if self._limited else count_prompt(self._request)) + self._said
        self._own.tokens += used
        self._reservation.settle(used)


class MeteredModel:
    """`model`, asked within the budget of the attempt that is under way, as a `MeteredCall`."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.name = model.name
        self.identity = model_identity(model)

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        own = meter.get()
        if own.cache is not None:
            yield await self._kept(request, own, own.cache)
            return
        async with aclosing(self._asked(request, own, stream)) as replies:
            async for reply in replies:
                yield reply

    async def _kept(self, request: LlmRequest, own: Meter, cache: ResultCache) -> LlmResponse:
        """The reply, whole; one that says that it failed is not kept."""
        own_answers: list[LlmResponse] = []

        async def ask() -> dict[str, Any]:
            last = LlmResponse()
            async with aclosing(self._asked(request, own, stream=False)) as replies:
                async for reply in replies:
                    last = reply
            own_answers.append(last)
            return reply_data(last)

        def is_good(_: object) -> bool:
            return own_answers[0].content is not None and not own_answers[0].error_code

        data = await cache.get_or_execute(reply_key(own.step, request, self.identity), ask, keep=is_good)
        if own_answers:
            return own_answers[0]
        own.calls += 1
        own.hits += 1
        return reply_of(data)

    async def _asked(self, request: LlmRequest, own: Meter, stream: bool) -> AsyncGenerator[LlmResponse]:
        with MeteredCall(own, request) as call:
            async with aclosing(self.model.generate_content_async(request, stream=stream)) as replies:
                async for reply in replies:
                    call.heard(reply)
                    yield reply


def metered(resolve: Callable[[Any], Model]) -> Callable[[Any], Model]:
    """`resolve`, whose models are metered."""
    return lambda value: MeteredModel(resolve(value))


def prepare_counting() -> None:
    """Load the tokenizer. It may take a second, which is no attempt's and counts against no step's timeout."""
    default_counter().count("a")


def count_prompt(request: LlmRequest) -> int:
    """The tokens of a request, counted offline."""
    return sum(piece.tokens for piece in pieces(request, default_counter()))


def count_reply(reply: LlmResponse) -> int:
    parts = reply.content.parts if reply.content is not None else ()
    return sum(default_counter().count(part_text(part)) for part in parts)


def _total(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens
