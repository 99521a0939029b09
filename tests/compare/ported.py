"""Small pipelines under several ADKs' rules, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adknb import FunctionCall, LlmAgent, Part, Portability, ScriptedModel, SequentialAgent, ToolContext, portability


def read_state(key: str, tool_context: ToolContext) -> dict[str, Any]:
    """Read a value from session state by key."""
    return {"value": str(tool_context.state.get(key) or "")}


def shared_key() -> SequentialAgent:
    """A writer, and a reader that asks for the writer's key by a tool and writes under the same key."""
    writer = LlmAgent(name="writer", instruction="Write.", output_key="secret")
    reader = LlmAgent(name="reader", instruction="Read.", tools=[read_state], output_key="secret")
    return SequentialAgent(name="shared", sub_agents=[writer, reader])


def call(name: str, **args: Any) -> Part:
    return Part(function_call=FunctionCall(name, args))


SHARED_REPLIES = ScriptedModel({"writer": ["SECRET_42"], "reader": [call("read_state", key="secret"), "done"]})


def said(result: Portability, rules: str) -> list[tuple[str, str, list[str]]]:
    """Every change under a rule set: step, aspect, the names of its rules."""
    return [
        (deviation.step, change.aspect, [cause.name for cause in change.causes])
        for deviation in result.of(rules)
        for change in deviation.changes
    ]


def pair(
    first: Mapping[str, Any], second: Mapping[str, Any], replies: Mapping[str, Sequence[Any]], **options: Any
) -> Portability:
    """Two agents A and B in a row, under java, go and js."""
    root = SequentialAgent(name="p", sub_agents=[LlmAgent(name="A", **first), LlmAgent(name="B", **second)])
    return portability(root, options.pop("inputs", "hi"), model=ScriptedModel(replies), **options)


def plain(change: Any) -> tuple[str, str, str]:
    return change.aspect, change.before, change.after
