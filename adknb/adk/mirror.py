"""Agents of google-adk as adknb's descriptions, so that tables, contracts and comparisons read them as any others.

Each keeps its `original`. What a description cannot say (a toolset, a planner, a plugin) stays there and runs as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from google.adk.agents import (
    BaseAgent as GoogleAgent,
    LlmAgent as GoogleLlmAgent,
    LoopAgent as GoogleLoopAgent,
    ParallelAgent as GoogleParallelAgent,
    SequentialAgent as GoogleSequentialAgent,
)
from google.adk.apps import App
from google.adk.tools import FunctionTool as GoogleTool
from google.genai import types

from adknb.core.errors import NotSupported, SpecError
from adknb.core.schema import gemini_schema
from adknb.core.specs import BaseAgent, GenerateContentConfig, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adknb.core.tools import FunctionTool, LongRunningFunctionTool

AGENT_CALLBACKS: Final = ("before_agent_callback", "after_agent_callback")
MODEL_CALLBACKS: Final = (
    "before_model_callback", "after_model_callback", "before_tool_callback", "after_tool_callback",
)  # fmt: skip


class Mirrored(BaseAgent):
    """What describes an agent of google-adk. `app` is the app whose root it is, for its plugins."""

    original: Any
    app: Any = None


class MirroredLlmAgent(LlmAgent, Mirrored):
    """An LlmAgent of google-adk."""


class MirroredSequentialAgent(SequentialAgent, Mirrored):
    """A SequentialAgent of google-adk."""


class MirroredParallelAgent(ParallelAgent, Mirrored):
    """A ParallelAgent of google-adk."""


class MirroredLoopAgent(LoopAgent, Mirrored):
    """A LoopAgent of google-adk."""


class MirroredAgent(Mirrored):
    """An agent of the user's own class, or of one that adknb has no word for."""

    def _run_async_impl(self, ctx: Any) -> Any:
        raise NotSupported(f"agent {self.name!r} is google-adk's; it runs under rules='python' only.")


A = TypeVar("A", bound=Mirrored)

_WORKFLOWS: Final[tuple[tuple[type[Any], type[Mirrored]], ...]] = (
    (GoogleSequentialAgent, MirroredSequentialAgent),
    (GoogleParallelAgent, MirroredParallelAgent),
    (GoogleLoopAgent, MirroredLoopAgent),
)


def mirrored(value: Any) -> BaseAgent:
    """The description of an agent or an app of google-adk. Raises `NotSupported` for a Workflow, which is no agent."""
    app = value if isinstance(value, App) else None
    root = app.root_agent if app is not None else value
    if not isinstance(root, GoogleAgent):
        raise NotSupported(
            f"{type(root).__name__} {getattr(root, 'name', '')!r} is a graph of google-adk and no agent; adknb runs its "
            "agents: LlmAgent, SequentialAgent, ParallelAgent, LoopAgent and subclasses of BaseAgent."
        )
    return _mirrored(root, app)


def _mirrored(agent: GoogleAgent, app: App | None = None) -> BaseAgent:
    fields: dict[str, Any] = {"original": agent, "app": app, **said(agent)}
    fields["sub_agents"] = [_mirrored(child) for child in agent.sub_agents]
    if isinstance(agent, GoogleLlmAgent):
        return MirroredLlmAgent(**fields)
    for google, own in _WORKFLOWS:
        if isinstance(agent, google) and type(agent)._run_async_impl is google._run_async_impl:
            return own(**fields)
    return MirroredAgent(**{name: value for name, value in fields.items() if name != "max_iterations"})


def said(agent: GoogleAgent) -> dict[str, Any]:
    """What a description says of one agent beside its sub-agents; of what it cannot say, nothing."""
    fields: dict[str, Any] = {"name": agent.name, "description": agent.description or None}
    for name in AGENT_CALLBACKS:
        fields[name] = _listed(getattr(agent, name))
    if isinstance(agent, GoogleLoopAgent):
        limit = agent.max_iterations
        fields["max_iterations"] = None if limit is None else max(limit, 0)
    if not isinstance(agent, GoogleLlmAgent):
        return fields
    for name in MODEL_CALLBACKS:
        fields[name] = _listed(getattr(agent, name))
    for name in ("instruction", "global_instruction", "disallow_transfer_to_parent", "disallow_transfer_to_peers"):
        fields[name] = getattr(agent, name)
    return fields | {
        "model": agent.model or None,
        "output_key": agent.output_key or None,
        "output_schema": _schema(agent.output_schema),
        "include_contents": agent.include_contents,
        "tools": _tools(agent),
        "generate_content_config": _config(agent.generate_content_config),
    }


def _listed(callbacks: Any) -> tuple[Any, ...]:
    return () if callbacks is None else tuple(callbacks) if isinstance(callbacks, list) else (callbacks,)


def _schema(schema: Any) -> Mapping[str, Any] | None:
    try:
        if isinstance(schema, types.Schema):
            return schema.model_dump(mode="json", exclude_none=True, by_alias=True)
        return None if schema is None else gemini_schema(schema)
    except (NotSupported, SpecError):
        return None


def _tools(agent: GoogleLlmAgent) -> list[FunctionTool]:
    """The tools that are plain functions which adknb can declare; the others are google-adk's alone."""
    result: dict[str, FunctionTool] = {}
    for tool in agent.tools:
        function = tool.func if isinstance(tool, GoogleTool) else tool
        if not callable(function):
            continue
        kind = LongRunningFunctionTool if getattr(tool, "is_long_running", False) else FunctionTool
        try:
            described = kind(function)
        except (NotSupported, SpecError):
            continue
        result.setdefault(described.name, described)
    return list(result.values())


def _config(config: types.GenerateContentConfig | None) -> GenerateContentConfig | None:
    if config is None:
        return None
    dumped = config.model_dump(exclude_none=True, include=set(GenerateContentConfig.model_fields))
    return GenerateContentConfig(**dumped) if dumped else None
