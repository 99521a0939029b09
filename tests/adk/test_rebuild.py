"""google-adk builds a stored request again: nothing of the user's is called but instruction functions, and that is said."""

from __future__ import annotations

from typing import Any, Never

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: pip install 'adknb[adk]'")

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.plugins import BasePlugin
from google.adk.tools.base_toolset import BaseToolset

from adknb import Content, Event, EventActions, Session, Usage, adopt


def never(*arguments: Any, **named: Any) -> Never:
    raise AssertionError("called")


class Server(BaseToolset):
    """Asks a server which tools it has."""

    async def get_tools(self, readonly_context: Any = None) -> Never:
        never()

    async def close(self) -> None:
        never()


class Watching(BasePlugin):
    async def before_model_callback(self, **named: Any) -> Never:
        never()


def lookup(order: str) -> dict[str, str]:
    """Look an order up."""
    return never(order)


def session() -> Session:
    events = [
        Event("user", Content.user("hi"), EventActions({"k": "v"}), "i1"),
        Event("A", Content.model("so"), invocation_id="i1", usage=Usage(7, 3)),
    ]
    return Session("s", state={"k": "v"}, events=events, history=list(events))


def test_nothing_is_called() -> None:
    agent = LlmAgent(
        name="A", model="gemini-2.5-flash", instruction="Say {k}.", tools=[lookup, Server()], before_agent_callback=never,
        after_agent_callback=never, before_model_callback=never, after_model_callback=never, before_tool_callback=never,
    )  # fmt: skip
    run = adopt(session(), App(name="app", root_agent=agent, plugins=[Watching(name="watching")])).turns[0]
    request = run.step("A").requests[0]
    assert request.sent.system_instruction == 'Say v.\n\nYou are an agent. Your internal name is "A".'
    assert (list(request.sent.tools), request.sent.model, request.usage) == (
        ["lookup"],
        "gemini-2.5-flash",
        Usage(7, 3),
    )
    assert run.step("A").notes == [
        "before_model_callback (never) may have changed its requests, which are shown as they were before it",
        "after_model_callback (never) may have changed its replies, which are shown as they were stored",
        "its toolset Server was not asked for its tools, which are not among the declarations",
        "plugins of the app may have changed its requests; they were not asked",
    ]
    assert agent.before_model_callback is never


def test_a_value_that_is_not_stored() -> None:
    agent = LlmAgent(name="A", model="gemini-2.5-flash", instruction="Say {lost} {artifact.a.txt}.")
    step = adopt(session(), agent).turns[0].step("A")
    assert (step.requests[0].sent.system_instruction or "").startswith(
        "Say ⟨lost: not stored⟩ ⟨artifact a.txt: not stored⟩."
    )
    assert [note.split(":")[0] for note in step.notes] == [
        "lost was in the state, since the agent was asked; its value then is not stored",
        "artifact a.txt is not in the session",
    ]
