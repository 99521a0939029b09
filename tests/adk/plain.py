"""Cases played by google-adk alone, with nothing of adknb in between: what adknb must have seen, too."""

from __future__ import annotations

import json
import warnings
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from google.adk.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import ToolContext
from google.genai import types
from pydantic import PrivateAttr

USER, APP = "user-42", "app"
Log = dict[str, list[dict[str, Any]]]


class Scripted(BaseLlm):
    """Answers one agent's calls with the case's replies, and logs every request."""

    _agent: str = PrivateAttr()
    _replies: list[Any] = PrivateAttr()
    _log: Log = PrivateAttr()

    def __init__(self, agent: str, replies: list[Any], log: Log) -> None:
        super().__init__(model="scripted")
        self._agent, self._replies, self._log = agent, list(replies), log

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse]:
        self._log.setdefault(self._agent, []).append(
            {
                "system_instruction": llm_request.config.system_instruction,
                "contents": [content_json(content) for content in llm_request.contents],
                "tools": sorted(llm_request.tools_dict),
            }
        )
        if not self._replies:
            raise RuntimeError("script exhausted")
        parts = [types.Part.model_validate(part) for part in self._replies.pop(0)]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def read_state(key: str, tool_context: ToolContext) -> dict[str, Any]:
    """Read a value from session state by key."""
    value = tool_context.state.get(key)
    return {"value": "" if value is None else str(value)}


def write_state(key: str, value: str, tool_context: ToolContext) -> dict[str, Any]:
    """Write a value to session state."""
    tool_context.state[key] = value
    return {"ok": True}


def echo(text: str) -> dict[str, Any]:
    """Echo the text."""
    return {"echo": text}


TOOLS = {"read_state": read_state, "write_state": write_state, "echo": echo}


def guarded(spec: Mapping[str, Any], state: Any) -> str | None:
    """What a case's `guard` answers; sets what it sets."""
    raw = state.get(spec["key"])
    try:
        value = raw if isinstance(raw, dict) else json.loads(str(raw))
    except ValueError:
        value = None
    fits = isinstance(value, dict) and all(value.get(name) is not None for name in spec["require"])
    for key, new in spec.get("ok_set" if fits else "fail_set", {}).items():
        state[key] = new
    return None if fits else spec["return"]


def guard(spec: Mapping[str, Any]) -> Callable[..., types.Content | None]:
    def require(callback_context: Any) -> types.Content | None:
        return said(guarded(spec, callback_context.state))

    return require


def setter(spec: Mapping[str, Any]) -> Callable[..., types.Content | None]:
    def set_state(callback_context: Any) -> types.Content | None:
        for key, value in spec["set"].items():
            callback_context.state[key] = value
        return said(spec.get("return"))

    return set_state


def said(text: str | None) -> types.Content | None:
    return None if text is None else types.Content(role="model", parts=[types.Part(text=text)])


def build(node: Mapping[str, Any], log: Log) -> BaseAgent:
    """A case's agents, each LlmAgent with a model of its own that logs its requests."""
    fields: dict[str, Any] = {"name": node["name"], "description": node.get("description") or ""}
    for field, make in (("guard", guard), ("before", setter)):
        if node.get(field):
            fields["before_agent_callback"] = make(node[field])
    if node.get("after"):
        fields["after_agent_callback"] = setter(node["after"])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"(Sequential|Parallel|Loop)Agent is deprecated")
        if node["type"] != "llm":
            fields["sub_agents"] = [build(child, log) for child in node["sub_agents"]]
            if node["type"] == "loop":
                return LoopAgent(**fields, max_iterations=node["max_iterations"])
            return {"sequential": SequentialAgent, "parallel": ParallelAgent}[node["type"]](**fields)
    if node.get("output_schema"):
        fields["output_schema"] = types.Schema.model_validate(node["output_schema"])
    return LlmAgent(
        **fields,
        model=Scripted(node["name"], node["replies"], log),
        instruction=node["instruction"],
        include_contents=node.get("include_contents", "default"),
        output_key=node.get("output_key") or None,
        tools=[TOOLS[name] for name in node.get("tools", ())],
    )


async def recorded(case: Mapping[str, Any]) -> dict[str, Any]:
    """The requests by agent, the events, the state after them and the error of a case, as google-adk has them."""
    log: Log = {}
    events: list[dict[str, Any]] = []
    runner = InMemoryRunner(agent=build(case["root"], log), app_name=APP)
    sessions = runner.session_service
    session = await sessions.create_session(app_name=APP, user_id=USER, state=dict(case.get("state", {})))
    error = None
    try:
        for turn in case["turns"]:
            message = types.Content(role="user", parts=[types.Part(text=turn)])
            async for event in runner.run_async(user_id=USER, session_id=session.id, new_message=message):
                events.append(
                    {
                        "author": event.author,
                        "content": content_json(event.content) if event.content else None,
                        "state_delta": dict(event.actions.state_delta),
                        "final": event.is_final_response(),
                        "branch": event.branch,
                    }
                )
    except Exception as raised:
        error = [type(raised).__name__, str(raised)]
    end = await sessions.get_session(app_name=APP, user_id=USER, session_id=session.id)
    assert end is not None
    return {"requests": log, "events": events, "state": dict(end.state), "error": error}


def content_json(content: Any) -> dict[str, Any]:
    """A content of google-genai, or of adknb, which uses the same names. Ids of calls, random ones, are left out."""
    return {"role": content.role, "parts": [part_json(part) for part in content.parts or ()]}


def part_json(part: Any) -> dict[str, Any]:
    if part.function_call:
        return {"call": part.function_call.name, "args": dict(part.function_call.args or {})}
    if part.function_response:
        return {"answer": part.function_response.name, "response": dict(part.function_response.response or {})}
    return {"text": part.text or "", "thought": bool(part.thought)}
