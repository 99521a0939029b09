"""Requests and replies for tests of middleware."""

from __future__ import annotations

import json
from typing import Any

from adknb.workflow.data import PipelineData
from adknb.workflow.middleware import StepReply, StepRequest


def request(payload: Any, key: str | None = None, step: str = "research") -> StepRequest:
    """A request of the step; its key is `key` with the payload."""
    key_of = None if key is None else lambda data: f"{key} {json.dumps(data.payload, sort_keys=True)}"
    return StepRequest("news", "run-1", 0, step, 1, PipelineData(payload, context={"tone": "neutral"}), key_of)


class Agent:
    """Answers `about PAYLOAD`, or raises these errors first; keeps what it was asked."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.asked: list[StepRequest] = []

    async def __call__(self, request: StepRequest) -> StepReply:
        self.asked.append(request)
        if self.errors:
            raise self.errors.pop(0)
        return StepReply(f"about {request.data.text}", tokens=10)

    @property
    def payloads(self) -> list[Any]:
        return [request.data.payload for request in self.asked]
