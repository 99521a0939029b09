"""The same request asked again: repeats that a cassette keeps apart, each with a seed of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.models.request_key import model_identity


def seed_of(config: Mapping[str, Any], repeat: int, seed: int | None) -> int | None:
    """The seed that the `repeat`-th request of this config goes with; None where there is none."""
    first: int | None = config.get("seed", seed)
    return None if first is None else first + repeat


class Repeated:
    """A model asked for the `repeat`-th time (from 0).

    Each request carries the repeat's number, which is not sent. Where the agent's config has a seed, or else `seed` is
    given, the repeat is added to it: a fixed seed would give every repeat the same answer.
    """

    def __init__(self, model: Model, repeat: int, seed: int | None = None) -> None:
        self._model = model
        self._repeat = repeat
        self._seed = seed
        self.name = model.name

    @classmethod
    def of(cls, model: Model, repeat: int, seed: int | None = None) -> Model:
        """`model` as it is where there is nothing to say: the first repeat, without a seed."""
        return cls(model, repeat, seed) if repeat or seed is not None else model

    @property
    def identity(self) -> str:
        return model_identity(self._model)

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        asked = request.copy()
        asked.repeat = self._repeat
        seed = seed_of(asked.config, self._repeat, self._seed)
        if seed is not None:
            asked.config["seed"] = seed
        async with aclosing(self._model.generate_content_async(asked, stream)) as replies:
            async for reply in replies:
                yield reply
