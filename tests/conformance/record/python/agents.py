# google-adk is not installed where types are checked.
# mypy: ignore-errors
"""A case's nodes as agents, each LlmAgent with a model that answers with the case's replies."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from google.adk.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.genai import types
from pydantic import PrivateAttr
from tools import TOOLS
from traces import request_json, to_part

Spec = Mapping[str, Any]

COPIED = (
    "instruction", "global_instruction", "include_contents", "output_key", "output_schema", "disallow_transfer_to_parent",
    "disallow_transfer_to_peers",
)  # fmt: skip


class Scripted(BaseLlm):
    """Answers one agent's calls with the case's replies, and keeps every request."""

    _node: Spec = PrivateAttr()
    _replies: list[Any] = PrivateAttr()
    _requests: list[Any] = PrivateAttr()

    @classmethod
    def of(cls, node: Spec, requests: list[Any]) -> Scripted:
        made = cls(model=node.get("model", "scripted"))
        made._node, made._replies, made._requests = node, list(node["replies"]), requests
        return made

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self._requests.append(request_json(self._node["name"], llm_request))
        if not self._replies:
            raise RuntimeError("script exhausted")
        parts = [to_part(part) for part in self._replies.pop(0)]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def set_state(context: Any, values: Spec, text: str | None = None) -> types.Content | None:
    """Set the state, and return the text that stands for the agent's, if the case has one."""
    for key, value in values.items():
        context.state[key] = value
    return types.Content(role="model", parts=[types.Part(text=text)]) if text is not None else None


def setter(spec: Spec) -> Callable[..., types.Content | None]:
    return lambda callback_context: set_state(callback_context, spec.get("set", {}), spec.get("return"))


def guard(spec: Spec) -> Callable[..., types.Content | None]:
    def require(callback_context: Any) -> types.Content | None:
        value = callback_context.state.get(spec["key"])
        try:
            fields = value if isinstance(value, dict) else json.loads(str(value))
        except ValueError:
            fields = None
        if isinstance(fields, dict) and all(fields.get(name) is not None for name in spec["require"]):
            return set_state(callback_context, spec.get("ok_set", {}))
        return set_state(callback_context, spec.get("fail_set", {}), spec["return"])

    return require


def model_setter(spec: Spec) -> Callable[..., LlmResponse | None]:
    """On every call of the model, or on the one that `when` counts from 0."""
    calls = itertools.count()

    def act(callback_context: Any, **subject: Any) -> LlmResponse | None:
        call = next(calls)
        content = setter(spec)(callback_context) if spec.get("when") in (None, call) else None
        return LlmResponse(content=content) if content else None

    return act


def tool_setter(spec: Spec) -> Callable[..., Any]:
    def act(tool: Any, args: Any, tool_context: Any, **result: Any) -> Any:
        if tool.name != spec.get("tool", tool.name):
            return None
        set_state(tool_context, spec.get("set", {}))
        return spec.get("return")

    return act


CALLBACKS: Mapping[str, tuple[str, Callable[[Spec], Callable[..., Any]]]] = {
    "guard": ("before_agent_callback", guard),
    "before": ("before_agent_callback", setter),
    "after": ("after_agent_callback", setter),
    "before_model": ("before_model_callback", model_setter),
    "after_model": ("after_model_callback", model_setter),
    "before_tool": ("before_tool_callback", tool_setter),
    "after_tool": ("after_tool_callback", tool_setter),
}


def build(node: Spec, requests: list[Any]) -> BaseAgent:
    fields: dict[str, Any] = {"name": node["name"], "description": node.get("description") or ""}
    fields["sub_agents"] = [build(child, requests) for child in node.get("sub_agents", ())]
    for name, (field, make) in CALLBACKS.items():
        if node.get(name) is not None:
            fields[field] = make(node[name])
    kind = node["type"]
    if kind == "sequential":
        return SequentialAgent(**fields)
    if kind == "parallel":
        return ParallelAgent(**fields)
    if kind == "loop":
        return LoopAgent(**fields, max_iterations=node["max_iterations"])
    fields |= {name: node[name] for name in COPIED if node.get(name)}
    dynamic = node.get("dynamic_instruction")
    if dynamic is not None:
        fields["instruction"] = lambda context: dynamic
    if "output_schema" in fields:
        fields["output_schema"] = types.Schema.model_validate(fields["output_schema"])
    if node.get("generate_config"):
        fields["generate_content_config"] = types.GenerateContentConfig(**node["generate_config"])
    tools = [TOOLS[name] for name in node.get("tools", ())]
    return LlmAgent(**fields, tools=tools, model=Scripted.of(node, requests))
