"""Requests made by hand, and a model's answers to them."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from adknb.core.content import Content
from adknb.core.errors import ModelError
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse, Segment
from tests.models.servers import FakeApi, Reply, serving


def request(
    agent: str = "DraftAgent",
    contents: Sequence[Content] = (Content.user("Why is the sky blue?"),),
    system: str | None = None,
    ordinal: int = 0,
    **config: Any,
) -> LlmRequest:
    segments = [Segment(system, "instruction")] if system is not None else []
    return LlmRequest(agent, "any", segments, list(contents), [None] * len(contents), config=config, ordinal=ordinal)


async def ask(model: Model, sent: LlmRequest, stream: bool = False) -> list[LlmResponse]:
    return [response async for response in model.generate_content_async(sent, stream)]


async def answer(model: Model, agent: str = "DraftAgent", ordinal: int = 0) -> LlmResponse:
    """The one answer to a plain request, the agent's `ordinal`-th of its session (from 0)."""
    (response,) = await ask(model, request(agent, ordinal=ordinal))
    return response


def text(response: LlmResponse) -> str:
    assert response.content is not None
    return response.content.text


async def failure_of(
    model_of: Callable[..., Model], sent: LlmRequest, *replies: Reply, stream: bool = False, **options: Any
) -> tuple[ModelError, FakeApi]:
    """The error of a model that is answered so, and what its server received.

    The error hides nothing behind it: a provider's own error could carry a secret.
    """
    with serving(*replies) as api:
        with pytest.raises(ModelError) as caught:
            await ask(model_of(api, **options), sent, stream)
        assert caught.value.agent == "DraftAgent"
        assert (caught.value.__cause__, caught.value.__context__) == (None, None)
        return caught.value, api
