"""A model that counts how often it is asked, and requests to record with it."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from pathlib import Path

from adknb.core.content import Content
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.usage import Usage
from adknb.models.replay import ReplayModel
from tests.models.asking import ask, request, text


class Asked:
    """A model that numbers its replies, from 1; `say` makes the text."""

    def __init__(
        self, name: str = "any", say: Callable[[int, LlmRequest], str] = lambda number, _: f"reply {number}"
    ) -> None:
        self.name = name
        self.count = 0
        self._say = say

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        self.count += 1
        words = self._say(self.count, request)
        if stream:
            yield LlmResponse(Content.model(words[:3]), partial=True)
        yield LlmResponse(Content.model(words), Usage(10, self.count), finish_reason="STOP", note="live")


def about(topic: str, agent: str = "DraftAgent", ordinal: int = 0, repeat: int = 0) -> LlmRequest:
    return replace(request(agent, [Content.user(topic)], ordinal=ordinal), repeat=repeat)


async def said(model: Model, sent: LlmRequest) -> str:
    (response,) = await ask(model, sent)
    return text(response)


async def record(path: Path, *topics: str, name: str = "any") -> None:
    with ReplayModel(path, model=Asked(name), mode="new") as model:
        for topic in topics:
            await said(model, replace(about(topic), model=name))
