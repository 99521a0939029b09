"""What a `ResultCache` keeps for a step: the replies of its models, and what its function returned.

The key covers all that the answer depends on, so an edited prompt, another model or another state never gets an old one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from adknb.compare.fingerprint import fingerprint
from adknb.core.content import Content
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.usage import Usage
from adknb.models.request_key import request_key
from adknb.workflow.data import PipelineData

NOTE = "from the cache"


def reply_key(step: str, request: LlmRequest, identity: str) -> str:
    """The key of a model's reply: the step, the agent, and everything that the model is asked (`request_key`)."""
    return _hash([step, request.agent, request_key(request, identity)])


def function_key(step: str, function: Callable[..., Any], argument: Any) -> str:
    """The key of a function's answer: the step, the function's code, and what it is given."""
    return _hash(
        [step, fingerprint(function), data_given(argument) if isinstance(argument, PipelineData) else argument]
    )


def data_given(data: PipelineData) -> dict[str, Any]:
    """What of the data an answer may depend on. Its metadata are none of that: they are new in each run."""
    problems = [None if each is None else asdict(each) for each in (data.error, *data.warnings)]
    return {"payload": data.payload, "context": data.context, "problems": problems}


def reply_data(reply: LlmResponse) -> dict[str, Any]:
    """The reply as JSON, which `reply_of` reads."""
    return {
        "content": reply.content.to_dict() if reply.content is not None else None,
        "usage": reply.usage.to_dict() if reply.usage is not None else None,
        "finish_reason": reply.finish_reason,
    }


def reply_of(data: Mapping[str, Any]) -> LlmResponse:
    content, usage = data["content"], data["usage"]
    return LlmResponse(
        Content.from_dict(content) if content is not None else None,
        Usage.from_dict(usage) if usage is not None else None,
        finish_reason=data["finish_reason"],
        note=NOTE,
    )


def returned_data(value: Any) -> dict[str, Any]:
    """What a function returned as JSON, which `returned_of` reads."""
    return {"data": value.to_dict()} if isinstance(value, PipelineData) else {"value": value}


def returned_of(data: Mapping[str, Any]) -> Any:
    return PipelineData.from_dict(data["data"]) if "data" in data else data["value"]


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=dict)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
