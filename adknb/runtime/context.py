"""What is shared while a run goes on (`Invocation`), and what one agent sees of it (`InvocationContext`)."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from adknb.core.content import Content
from adknb.core.errors import LlmCallsLimitExceededError
from adknb.core.events import Event
from adknb.core.protocols import ArtifactService, ContextStrategy
from adknb.core.run import Run, RunConfig, Session, StepRun
from adknb.core.specs import BaseAgent
from adknb.core.state import State, refuse
from adknb.rules.base import Rules
from adknb.runtime.interrupts import own_items
from adknb.runtime.journal import Journal
from adknb.runtime.tree import LlmNode, Node, make_node
from adknb.runtime.turns import effects_before

RunNode = Callable[["InvocationContext"], AsyncGenerator[Event]]


class NeverStored(BaseException):
    """Control flow: a step that runs on unheard would ask its model again. Never reaches a user."""


@dataclass(slots=True, eq=False)
class Invocation:
    """One run under way. `unheard` counts the steps that run on although their loop was left, `resumable` says that a
    long-running call pauses it. `save` makes durable what its steps came to, where a store keeps turns."""

    run: Run
    session: Session
    root: Node
    rules: Rules
    strategy: ContextStrategy
    artifacts: ArtifactService
    config: RunConfig
    journal: Journal
    complete: Callable[[LlmNode], None]
    run_node: RunNode
    asked: dict[str, int]
    observer: Callable[[Run], object] | None = None
    llm_calls: int = 0
    executions: dict[str, int] = field(default_factory=dict)
    claimed: set[str] = field(default_factory=set)
    unheard: int = 0
    resumable: bool = False
    watched: float = 0.0
    save: Callable[[Run], Awaitable[None]] | None = None

    def count_llm_call(self) -> None:
        """Raises `LlmCallsLimitExceededError` for the call after the last allowed one."""
        self.llm_calls += 1
        limit = self.config.max_llm_calls
        if 0 < limit < self.llm_calls:
            raise LlmCallsLimitExceededError(
                f"the run asked its models {limit} times, which is the limit. Raise it with "
                "RunConfig(max_llm_calls=…), or give a loop max_iterations."
            ).as_adk("LlmCallsLimitExceededException", f"Max number of llm calls limit of {limit} exceeded")

    def next_ordinal(self, agent: str) -> int:
        """How often the agent was asked before in this session; counts the request that is about to be made."""
        ordinal = self.asked.get(agent, 0)
        self.asked[agent] = ordinal + 1
        return ordinal

    def begin_step(self, node: Node, branch: str | None) -> StepRun:
        number = self.executions.get(node.name, 0) + 1
        self.executions[node.name] = number
        step = StepRun(node.agent, number, branch, start=len(self.run.turn_events), repeated=number > 1)
        note = effects_before(self.run, node.name, number)
        if note is not None:
            step.notes.append(note)
        if number == 2:
            for earlier in self.run.step_runs:
                earlier.repeated = earlier.repeated or earlier.agent.name == node.name
        self.run.step_runs.append(step)
        self.run.journal[-1].steps.append(step)
        self.observe()
        return step

    def observe(self) -> None:
        """Tell whoever shows the run live that something changed."""
        if self.observer is not None:
            started = time.perf_counter()
            self.observer(self.run)
            self.watched += time.perf_counter() - started

    def clock(self) -> float:
        """Seconds, without those that the observer took: showing a run is no part of what it costs."""
        return time.perf_counter() - self.watched

    def state(self, delta: dict[str, Any]) -> State:
        """The session's state, whose changes are noted in `delta`."""
        return State(self.session.state, delta, self.rules.check_state_value)


class InvocationContext:
    """One agent's view of a run. Contexts are cheap: each agent execution gets its own.

    `in_step` says that an enclosing agent is a step already, so that this one is part of it and no place to pause.
    """

    __slots__ = ("branch", "in_step", "invocation", "node")

    def __init__(self, invocation: Invocation, node: Node, branch: str | None = None, in_step: bool = False) -> None:
        self.invocation = invocation
        self.node = node
        self.branch = branch
        self.in_step = in_step

    @property
    def agent(self) -> BaseAgent:
        return self.node.agent

    @property
    def session(self) -> Session:
        return self.invocation.session

    @property
    def invocation_id(self) -> str:
        return self.invocation.run.invocation_id

    @property
    def user_content(self) -> Content:
        return self.invocation.run.message

    @property
    def state(self) -> State:
        """The state as it is now. To change it, yield an event with a `state_delta`."""
        return State(self.invocation.session.state, check=refuse)

    def child(self, node: Node) -> InvocationContext:
        """The context of an agent that this one runs."""
        branch = self.branch
        if branch is not None:
            branch = self.invocation.rules.nested_branch(branch, node.name)
        return InvocationContext(self.invocation, node, branch, self.in_step)

    def run_agent(self, agent: BaseAgent) -> AsyncGenerator[Event]:
        """Run another agent here, in the tree or not (for custom agents)."""
        node = self.node.root.locate(agent) or make_node(agent, self.node, self.invocation.rules)
        return own_items(self.invocation.run_node(self.child(node)))

    def event(self, content: Content | None = None, **fields: Any) -> Event:
        """A new event of this agent (author, branch and invocation id filled in)."""
        return Event(
            author=self.node.name, content=content, invocation_id=self.invocation_id, branch=self.branch, **fields
        )
