"""A model that repeats the message: it shows what reaches an agent, and needs nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

from adknb.core.content import Content
from adknb.core.requests import LlmRequest, LlmResponse

NOTE: Final = "echo: repeats the message"


class EchoModel:
    """Answers with the text of the request's last content of role `user`, its parts joined as they are.

    Thoughts, tool calls and tool responses are no text. When there is no such content the answer is "".
    """

    def __init__(self, name: str = "echo") -> None:
        self.name = name

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        """Yield the one answer, whole; there is nothing to stream."""
        text = next((content.text for content in reversed(request.contents) if content.role == "user"), "")
        yield LlmResponse(Content.model(text), note=NOTE)

    def __repr__(self) -> str:
        return f"EchoModel({self.name!r})"
