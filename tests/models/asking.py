"""Requests made by hand, and a model's answers to them."""

from collections.abc import Sequence
from typing import Any

from adknb.core.content import Content
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse, Segment


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
