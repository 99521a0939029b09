"""What an OpenAI-compatible API answers, and a model that asks it."""

from typing import Any

import pytest
from pydantic import BaseModel

from adknb.core.errors import ModelError
from adknb.core.requests import LlmRequest
from adknb.models.openai import OpenAIModel
from tests.models.asking import ask
from tests.models.servers import FakeApi, Reply, serving


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
    with serving(*replies) as api:
        with pytest.raises(ModelError) as caught:
            await ask(model_of(api, **options), sent, stream)
        assert caught.value.agent == "DraftAgent"
        assert (caught.value.__cause__, caught.value.__context__) == (None, None)
        return caught.value, api


class Triage(BaseModel):
    category: str
    urgency: int
