"""Pipelines whose step B asks a person, for tests of resumable mode."""

from __future__ import annotations

from typing import Any

from adknb import (
    FunctionCall,
    LlmAgent,
    LongRunningFunctionTool,
    LoopAgent,
    Part,
    Run,
    Runner,
    ScriptedModel,
    SequentialAgent,
)


def ask(question: str) -> dict[str, Any]:
    """Ask a person."""
    return {"status": "pending"}


ASK = LongRunningFunctionTool(ask)


def asks(question: str = "ok?", id: str | None = "call-1") -> Part:
    return Part(function_call=FunctionCall("ask", {"question": question}, id))


def agent(name: str, **fields: Any) -> LlmAgent:
    """Its key is its name in small letters."""
    return LlmAgent(**{"name": name, "instruction": name, "output_key": name.lower(), "tools": [ASK], **fields})


def three(**fields: Any) -> SequentialAgent:
    return SequentialAgent(
        name="p", sub_agents=[agent("A"), agent("B"), agent("C", instruction="C reads {b}")], **fields
    )


def looped() -> SequentialAgent:
    """A, then B and C in a loop, then D."""
    loop = LoopAgent(name="l", max_iterations=2, sub_agents=[agent("B"), agent("C")])
    return SequentialAgent(name="p", sub_agents=[agent("A"), loop, agent("D")])


def replies(**of: list[Any]) -> ScriptedModel:
    """Each agent's own replies first, then `a1`, `a2` …"""
    return ScriptedModel(
        {name: [*of.get(name, []), *(f"{name.lower()}{number}" for number in range(1, 9))] for name in "ABCD"}
    )


def runner(root: Any = None, *, resumable: bool = True, **of: list[Any]) -> Runner:
    return Runner(root if root is not None else three(), model=replies(**(of or {"B": [asks()]})), resumable=resumable)


def outputs(run: Run) -> list[str]:
    """`B b1` of each step, in order."""
    return [f"{step.name} {step.output}".rstrip() for step in run.step_runs]
