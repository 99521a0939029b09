"""Agents as documents: descriptions come back whole, and what is not stored stands there by its name and says so when used."""

from __future__ import annotations

import enum
import functools
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from adknb import (
    BaseAgent,
    Content,
    Event,
    GenerateContentConfig,
    IncludeContents,
    InvocationContext,
    LlmAgent,
    LlmRequest,
    LongRunningFunctionTool,
    LoopAgent,
    ModelError,
    ParallelAgent,
    RunStateError,
)
from adknb.models.scripted import ScriptedModel
from adknb.rules.resolve import resolve_rules
from adknb.sessions.agent_documents import agent_document, read_agent


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


def order(size: Size, count: int = 3, more: int = 0, extras: list[str] | None = None, note: str = "") -> dict[str, Any]:
    """Order something."""
    return {"ordered": count}


async def ask(question: str) -> None:
    """Ask a person."""


def guard(context: Any, word: str = "") -> None:
    """Nothing happens here."""


class Own(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event]:
        yield Event(self.name, Content.model("x"))


def pipeline() -> LoopAgent:
    first = LlmAgent(
        name="A",
        description="the first",
        model=ScriptedModel([]),
        instruction=lambda context: "made up",
        global_instruction="be brief {key?}",
        output_key="user:a",
        output_schema={"type": "object", "properties": {"n": {"type": "integer"}}},
        include_contents=IncludeContents.NONE,
        tools=[order, LongRunningFunctionTool(ask)],
        generate_content_config=GenerateContentConfig(temperature=0.5, stop_sequences=("END",)),
        disallow_transfer_to_parent=True,
        before_agent_callback=[guard, functools.partial(guard, word="x")],
        after_tool_callback=guard,
    )
    second = ParallelAgent(name="B", sub_agents=[LlmAgent(name="C", model="gemini-2.5-flash"), Own(name="D")])
    return LoopAgent(name="root", sub_agents=[first, second], max_iterations=2, after_agent_callback=guard)


def read_back(agent: BaseAgent) -> BaseAgent:
    return read_agent(json.loads(json.dumps(agent_document(agent))))


def test_a_description_comes_back_whole() -> None:
    root, again = pipeline(), read_back(pipeline())
    assert [(type(agent).__name__, agent.name) for agent in again.walk()] == [
        ("LoopAgent", "root"), ("LlmAgent", "A"), ("ParallelAgent", "B"), ("LlmAgent", "C"), ("StoredAgent", "D"),
    ]  # fmt: skip
    assert agent_document(again) == agent_document(root)
    first = again.sub_agents[0]
    assert isinstance(first, LlmAgent)
    assert isinstance(again, LoopAgent)
    assert (first.output_key, first.output_schema, first.include_contents, again.max_iterations) == (
        "user:a", {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}}, IncludeContents.NONE, 2,
    )  # fmt: skip
    assert first.generate_content_config == GenerateContentConfig(temperature=0.5, stop_sequences=("END",))
    assert repr(first.before_agent_callback) == "(<stored function guard>, <stored function guard>)"
    assert [tool.long_running for tool in first.function_tools] == [False, True]


@pytest.mark.parametrize("rules", ["java", "go", "js"])
def test_a_stored_tool_is_declared_as_the_tool(rules: str) -> None:
    chosen = resolve_rules(rules)
    first, again = pipeline().sub_agents[0], read_back(pipeline()).sub_agents[0]
    assert isinstance(first, LlmAgent)
    assert isinstance(again, LlmAgent)
    for tool, stored in zip(first.function_tools, again.function_tools, strict=True):
        assert chosen.declaration(stored) == chosen.declaration(tool)


def test_what_is_not_stored_says_so_when_it_is_used() -> None:
    again = read_back(pipeline())
    first, second = again.sub_agents
    assert isinstance(first, LlmAgent)
    way_out = "Go on with the pipeline itself"
    with pytest.raises(
        RunStateError, match=rf"^of the function 'guard' only the name was stored with its run\. {way_out}"
    ):
        first.after_tool_callback[0]()  # type: ignore[index]
    with pytest.raises(
        ModelError, match=rf"^of the model 'scripted' only the name was stored with its run\. {way_out}"
    ):
        first.model.generate_content_async(LlmRequest("A", "m"))
    own = second.sub_agents[1]
    with pytest.raises(
        RunStateError, match=rf"^agent 'D': of its class Own only the name was stored with its run\. {way_out}"
    ):
        own._run_async_impl(None)  # type: ignore[arg-type]
