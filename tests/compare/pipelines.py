"""Pipelines, callbacks, tools and models of the lab's tests. Other processes import them from here."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from adknb import CallbackContext, Content, LlmAgent, LlmRequest, LlmResponse, SequentialAgent, ToolContext
from adknb.compare.comparison import Comparison
from adknb.core.content import FunctionCall, Part
from adknb.core.events import Event
from adknb.core.protocols import History

Answer = Callable[[LlmRequest], Any]


class Asked:
    """A model that answers by a function, or by agent, and notes each request. All of one name are the same to a store."""

    def __init__(self, answer: Answer | Mapping[str, str], name: str = "scripted") -> None:
        self.name = name
        self.requests: list[LlmRequest] = []
        self._answer = answer

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        self.requests.append(request)
        reply = self._answer[request.agent] if isinstance(self._answer, Mapping) else self._answer(request)
        reply = await reply if inspect.isawaitable(reply) else reply
        yield LlmResponse(Content.model(reply) if isinstance(reply, str) else Content("model", tuple(reply)))

    @property
    def agents(self) -> list[str]:
        return [request.agent for request in self.requests]


def system(request: LlmRequest) -> str:
    return str(request.system_instruction)


def texts(request: LlmRequest) -> list[str]:
    """The texts of a request's contents."""
    return [part.text for content in request.contents for part in content.parts if part.text is not None]


def picked(comparison: Comparison, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in comparison.rows]


def call(name: str, **arguments: Any) -> list[Part]:
    """A reply that is one function call."""
    return [Part(function_call=FunctionCall(name, arguments))]


def two_steps(**second: Any) -> SequentialAgent:
    """A, which writes `a`, and B, which reads it and writes `b`."""
    return SequentialAgent(
        name="two",
        sub_agents=[
            LlmAgent(name="A", instruction="Say a.", output_key="a"),
            LlmAgent(**{"name": "B", "instruction": "Say b after {a}.", "output_key": "b", **second}),
        ],
    )


def look(what: str) -> dict[str, Any]:
    """Look something up."""
    return {"found": what.upper()}


def leave(tool_context: ToolContext) -> dict[str, Any]:
    """Leave the loop."""
    tool_context.actions.escalate = True
    return {}


def greet(context: CallbackContext) -> None:
    context.state["greeting"] = "hello"


def refuse(context: CallbackContext) -> Content:
    return Content.model("refused")


def crash(context: CallbackContext) -> None:
    """Ends the worker's process, as a lack of memory does."""
    if context.user_content.text == "crash":
        os._exit(3)


class OnlyUser:
    """A context strategy that sends what the user said and nothing else."""

    name = "only_user"

    def contents(self, history: History) -> list[tuple[Content, Event | None]]:
        return [(event.content, event) for event in history.events if event.author == "user" and event.content]


def exit_at_two(context: CallbackContext) -> None:
    if context.user_content.text == "two":
        sys.exit(7)
