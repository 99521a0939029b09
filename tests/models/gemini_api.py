"""What the Gemini API answers, and a model that asks it."""

from typing import Any

from adknb.core.errors import ModelError
from adknb.core.requests import LlmRequest
from adknb.models.gemini import GeminiModel
from tests.models.asking import failure_of
from tests.models.servers import FakeApi, Reply


def answer(*parts: dict[str, Any], finish: str | None = "STOP", usage: Any = None, **more: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts)}
    return {"candidates": [{"content": content, "finishReason": finish, **more}], "usageMetadata": usage}


OK = Reply(answer({"text": "Because."}))
USAGE = {"promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": 4, "cachedContentTokenCount": 2}


def model_of(api: FakeApi, **options: Any) -> GeminiModel:
    return GeminiModel("gemini-2.5-flash", base_url=api.url, **options)


async def failure(
    sent: LlmRequest, *replies: Reply, stream: bool = False, **options: Any
) -> tuple[ModelError, FakeApi]:
    return await failure_of(model_of, sent, *replies, stream=stream, **options)
