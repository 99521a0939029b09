"""A model that notes what it is asked, for tests of comparisons on the bench."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from adknb import Comparison, Content, LlmRequest, LlmResponse
from tests.notebook.notebook import Notebook


class Asked:
    """Answers with the agent's name and the message, unless `answer` says otherwise."""

    name = "asked"

    def __init__(self) -> None:
        self.requests: list[LlmRequest] = []
        self.answer: Callable[[LlmRequest], str] = lambda request: f"{request.agent}: {message_of(request)}"

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        self.requests.append(request)
        yield LlmResponse(Content.model(self.answer(request)))

    def take(self) -> list[tuple[str, str]]:
        """Agent and message of each request since the last time, sorted."""
        taken = sorted((request.agent, message_of(request)) for request in self.requests)
        self.requests.clear()
        return taken


def message_of(request: LlmRequest) -> str:
    """The first text of the request's contents."""
    return next((part.text or "" for content in request.contents for part in content.parts), "")


def newest(notebook: Notebook) -> Comparison:
    """The comparison that the last cell made."""
    found = notebook.bench.newest
    assert isinstance(found, Comparison)
    return found


def messages(comparison: Comparison) -> list[tuple[str, ...]]:
    return [each.messages for each in comparison.inputs]
