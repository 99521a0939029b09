# google-adk is not installed where types are checked.
# mypy: ignore-errors
"""The tools that a case may name."""

from __future__ import annotations

from typing import Any

from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from google.genai import types


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


def exit_loop(tool_context: ToolContext) -> None:
    """Leave the loop."""
    tool_context.actions.escalate = True


def finish(text: str, tool_context: ToolContext) -> dict[str, Any]:
    """Finish with a result."""
    tool_context.actions.skip_summarization = True
    return {"result": text}


def fail(text: str) -> dict[str, Any]:
    """Fail."""
    raise ValueError(f"tool failed: {text}")


def typed(n: int, items: list[str], opts: dict[str, Any], x: float = 1.5, flag: bool = False) -> dict[str, Any]:
    """Typed arguments."""
    return {"n": n, "x": x, "flag": flag, "items": items, "opts": opts}


async def save_note(name: str, text: str, tool_context: ToolContext) -> dict[str, Any]:
    """Save a note."""
    await tool_context.save_artifact(name, types.Part(text=text))
    return {"ok": True}


def ask(question: str) -> dict[str, Any]:
    """Ask a person."""
    return {"status": "pending"}


def ask_none(question: str) -> None:
    """Ask a person later."""


TOOLS = {
    **{f.__name__: FunctionTool(f) for f in (read_state, write_state, echo, exit_loop, finish, fail, typed, save_note)},
    **{f.__name__: LongRunningFunctionTool(f) for f in (ask, ask_none)},
}
