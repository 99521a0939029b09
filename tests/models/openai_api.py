"""What an OpenAI-compatible API answers, and a model that asks it."""

from typing import Any

from pydantic import BaseModel

from adknb.core.errors import ModelError
from adknb.core.requests import LlmRequest
from adknb.models.openai import OpenAIModel
from tests.models.asking import failure_of
from tests.models.servers import FakeApi, Reply


def completion(content: str | None = "Because.", finish: str = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": USAGE}


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call_delta(**fields: Any) -> dict[str, Any]:
    return delta(tool_calls=[fields])


USAGE = {"prompt_tokens": 12, "completion_tokens": 5}
OK = Reply(completion())


def model_of(api: FakeApi, **options: Any) -> OpenAIModel:
    return OpenAIModel("small", base_url=f"{api.url}/v1", **options)


async def failure(
    sent: LlmRequest, *replies: Reply, stream: bool = False, **options: Any
) -> tuple[ModelError, FakeApi]:
    return await failure_of(model_of, sent, *replies, stream=stream, **options)


class Triage(BaseModel):
    category: str
    urgency: int
