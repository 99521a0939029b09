"""Models of google-adk's own classes that answer from a list and keep what they were sent: no network, no key."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import BaseAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, Gemini, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from pydantic import PrivateAttr

Replies = dict[str, list[list[dict[str, Any]]]]


class Answering(BaseLlm):  # type: ignore[misc,unused-ignore]
    """Answers each agent with its next reply; an agent is known by the label that google-adk puts on a request."""

    _replies: Replies = PrivateAttr(default_factory=dict)
    _log: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[Any]:
        self._log.append(
            {
                **json.loads(llm_request.model_dump_json(exclude={"tools_dict"}, exclude_none=True, fallback=str)),
                "tools": sorted(llm_request.tools_dict),
            }
        )
        replies = self._replies[(llm_request.config.labels or {}).get("adk_agent_name", "")]
        parts = [types.Part.model_validate(part) for part in replies.pop(0)]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


class Plain(Answering):
    """Of no class that google-adk knows."""


class OfGemini(Answering, Gemini):  # type: ignore[misc,unused-ignore]
    """A Gemini, of which google-adk asks more than its class."""


def replying(of: type[Any], replies: Replies, name: str = "some-model") -> Any:
    model = of(model=name)
    model._replies = {agent: list(parts) for agent, parts in replies.items()}
    return model


async def alone(root: BaseAgent | App, *turns: str) -> None:
    """Each message as google-adk's own Runner takes it."""
    runner = InMemoryRunner(app=root) if isinstance(root, App) else InMemoryRunner(agent=root, app_name="app")
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="user")
    for turn in turns:
        message = types.Content(role="user", parts=[types.Part(text=turn)])
        async for _ in runner.run_async(user_id="user", session_id=session.id, new_message=message):
            continue


def without_chance(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ids that google-adk makes up, by the order in which they come."""
    text = json.dumps(log)
    for number, found in enumerate(dict.fromkeys(re.findall(r"adk-[0-9a-f-]{36}", text))):
        text = text.replace(found, f"adk-{number}")
    result: list[dict[str, Any]] = json.loads(text)
    return result
