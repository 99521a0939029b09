"""Pipelines made from a seed, in which what comes next follows from the session alone: who goes on gets to the same end."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

from adknb import (
    BaseAgent,
    CallbackContext,
    Event,
    FunctionCall,
    IncludeContents,
    LlmAgent,
    LlmRequest,
    LoopAgent,
    ParallelAgent,
    Part,
    Runner,
    SequentialAgent,
    Session,
    ToolContext,
)
from adknb.core.protocols import SessionService
from adknb.core.state import TEMP_PREFIX
from adknb.models.scripted import ScriptedModel

MESSAGES = ("the first message", "the second one")
SCOPES = ("", "user:", "app:")


def count(key: str, tool_context: ToolContext) -> dict[str, Any]:
    """Count a key up by one."""
    value = tool_context.state.get(key)
    tool_context.state[key] = value + 1 if isinstance(value, int) else 1
    return {"count": tool_context.state[key]}


def leave(tool_context: ToolContext) -> dict[str, Any]:
    """Leave the loop."""
    tool_context.actions.escalate = True
    return {"left": True}


def answer(request: LlmRequest) -> Any:
    """A text, or after a person's or another agent's word perhaps a call first; decided by what the agent reads."""
    said = f"{request.agent}|{request.system_instruction}"
    last = request.contents[-1] if request.contents else None
    if last is not None and last.function_responses:
        return f"{said} {last.function_responses[0].response}"[-60:]
    choice = hashlib.sha256(said.encode()).digest()[0]
    if "leave" in request.tools and choice % 3 == 0:
        return Part(function_call=FunctionCall("leave", {}))
    if "count" in request.tools and choice % 2 == 0:
        return Part(function_call=FunctionCall("count", {"key": f"counted_{request.agent}"}))
    return f"{choice} {said}"[:60]


class Maker:
    """Makes agents from a seed. Those that run at once read and write nothing of each other's."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._agents = 0

    def root(self) -> BaseAgent:
        return SequentialAgent(name="root", sub_agents=[self._agent(2) for _ in range(self._random.randint(1, 3))])

    def _agent(self, depth: int, at_once: bool = False, in_loop: bool = False) -> BaseAgent:
        self._agents += 1
        name = f"A{self._agents}"
        kind = self._random.choice(("llm", "llm", "sequential", "loop", "parallel")) if depth else "llm"
        if kind == "llm":
            return self._llm(name, at_once, in_loop)
        children = [
            self._agent(depth - 1, at_once or kind == "parallel", in_loop or kind == "loop")
            for _ in range(self._random.randint(1, 3))
        ]
        callbacks = {} if at_once else self._callbacks(name)
        if kind == "sequential":
            return SequentialAgent(name=name, sub_agents=children, **callbacks)
        if kind == "parallel":
            return ParallelAgent(name=name, sub_agents=children, **callbacks)
        return LoopAgent(name=name, sub_agents=children, max_iterations=self._random.randint(1, 3), **callbacks)

    def _llm(self, name: str, at_once: bool, in_loop: bool) -> LlmAgent:
        own = self._random.choice(SCOPES) + f"said_{name}"
        read = (
            own if at_once else self._random.choice((own, "plain", "user:tier", "app:count", "said_A1", "counted_A2"))
        )
        tools = [count] if self._random.random() < 0.4 else []
        return LlmAgent(
            name=name,
            instruction=f"As {name} say {{{read}?}} {{temp:of_{name}?}}",
            output_key=own if self._random.random() < 0.8 else None,
            # NONE begins at the newest event of another agent, of whichever of those at once that is
            include_contents=IncludeContents.DEFAULT if at_once else self._random.choice(list(IncludeContents)),
            tools=[*tools, leave] if in_loop and not at_once and self._random.random() < 0.5 else tools,
            **self._callbacks(name),
        )

    def _callbacks(self, name: str) -> dict[str, Any]:
        """Before: counts, writes a `temp:` value that only this agent reads, and stands in for it from some count on."""
        callbacks: dict[str, Any] = {}
        if self._random.random() < 0.4:
            scope, limit = self._random.choice(SCOPES), self._random.randint(1, 4)

            def before(context: CallbackContext) -> str | None:
                key = f"{scope}before_{name}"
                context.state[key] = context.state.get(key, 0) + 1
                context.state[f"temp:of_{name}"] = context.state[key]
                return f"{name} had enough" if context.state[key] > limit else None

            callbacks["before_agent_callback"] = before
        if self._random.random() < 0.3:

            def after(context: CallbackContext) -> None:
                context.state[f"after_{name}"] = [context.state.get(f"before_{name}"), "done"]

            callbacks["after_agent_callback"] = after
        return callbacks


def finish(seed: int, service: SessionService) -> Session:
    """Do what is left of the pipeline's turns in the session "s"."""
    runner = Runner(Maker(seed).root(), model=ScriptedModel(answer), session_service=service)
    session = asyncio.run(service.get_session(app_name="adknb", user_id="user", session_id="s"))
    if session is not None and session.turns and session.turns[-1].status != "completed":
        runner.continue_run(session.turns[-1])
    done = len(session.turns) if session is not None else 0
    for message in MESSAGES[done:]:
        start = {"plain": 1, "user:tier": "gold"} if message is MESSAGES[0] else None
        session = runner.run(message, session="s", state=start).session
    assert session is not None
    return session


def end(session: Session) -> dict[str, Any]:
    """How it ended: what was said and written in each turn, whatever the order of those at once, and the state."""
    return {
        "turns": [Counter(map(said, run.turn_events)) for run in session.turns],
        "statuses": [run.status for run in session.turns],
        "state": without_temp(session.state),
    }


def said(event: Event) -> str:
    """An event without its ids and its time."""
    parts = event.content.parts if event.content is not None else ()
    calls = [(call.name, dict(call.args)) for call in event.function_calls]
    responses = [(response.name, dict(response.response)) for response in event.function_responses]
    delta = without_temp(event.actions.state_delta)
    return repr(
        (event.author, event.branch, [part.text for part in parts], calls, responses, delta, event.actions.escalate)
    )


def without_temp(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if not key.startswith(TEMP_PREFIX)}
