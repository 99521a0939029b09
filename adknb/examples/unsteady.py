"""A model that stands for what real ones do to a pipeline: it takes its time, and now and then it fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping

from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse


class UnsteadyModel:
    """Answers as `model` does, after so many `seconds` a call, but first raises the `errors` of the agent that asks, one a call.

    `name` tells two of them apart where answers are kept by model, as in a cache. `calls` counts, by agent.

    >>> from adknb import ModelError, ScriptedModel
    >>> model = UnsteadyModel(ScriptedModel(["hello"]), errors={"Helper": [ModelError("503: overloaded")]})
    """

    def __init__(
        self,
        model: Model,
        *,
        errors: Mapping[str, Iterable[Exception]] | None = None,
        seconds: float = 0.0,
        name: str | None = None,
    ) -> None:
        self.name = name or model.name
        self.seconds = seconds
        self.calls: dict[str, int] = {}
        self._model = model
        self._errors = {agent: list(each) for agent, each in (errors or {}).items()}

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        self.calls[request.agent] = self.calls.get(request.agent, 0) + 1
        await asyncio.sleep(self.seconds)
        left = self._errors.get(request.agent)
        if left:
            raise left.pop(0).with_traceback(None)
        async for reply in self._model.generate_content_async(request, stream=stream):
            yield reply
