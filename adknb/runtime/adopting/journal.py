"""The journal of a stored turn: the pipeline is walked as a run walks it, and each step found takes its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from adknb.core.events import Event
from adknb.core.run import JournalEntry
from adknb.core.specs import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adknb.runtime.adopting.steps import Found, above
from adknb.runtime.tree import Node


class Stopped(Exception):
    """Control flow: the conversation holds no more, although the pipeline has not ended. Never reaches a user."""


class Walk:
    """Walks the pipeline from the agent that the turn started with.

    `entries` is the journal. `stopped_before` is the agent that should have spoken next when the conversation stops before the
    pipeline does. `silent` are agents that left no event although later ones did.
    """

    def __init__(self, start: Node, found: Sequence[Found], events: Sequence[Event], both_callbacks: bool) -> None:
        self._left = list(found)
        self._places = {event.id: index for index, event in enumerate(events)}
        self._events = list(events)
        self._both_callbacks = both_callbacks
        self._own: dict[str, list[Event]] = {}
        for event in events[1:]:
            self._own.setdefault(event.author, []).append(event)
        self.entries: list[JournalEntry] = []
        self.stopped_before: Node | None = None
        self.silent: list[Node] = []
        try:
            self._walk(start)
        except Stopped:
            return

    @property
    def unplaced(self) -> list[Found]:
        """Steps that the pipeline, as it is, has no place for."""
        return self._left

    def _walk(self, node: Node) -> bool:
        """Through `node`; whether something escalated in it."""
        if not isinstance(node.agent, (SequentialAgent, LoopAgent)):
            return self._step(node)
        if self._callback(node, "before"):
            return False
        escalated = self._loop(node, node.agent) if isinstance(node.agent, LoopAgent) else self._children(node)
        if not (escalated and self._is_left_at_once(node)):
            self._callback(node, "after")
        return escalated

    def _children(self, node: Node) -> bool:
        escalated = False
        for child in node.children:
            escalated = self._walk(child) or escalated
            if escalated and self._is_left_at_once(node):
                break
        return escalated

    def _is_left_at_once(self, node: Node) -> bool:
        """Whether an event that escalates in `node` ends a loop around it there and then."""
        return node.rules.escalate_ends_at_once and any(isinstance(each.agent, LoopAgent) for each in above(node))

    def _loop(self, node: Node, agent: LoopAgent) -> bool:
        limit = node.rules.loop_limit(agent.max_iterations)
        rounds = 0
        while node.children and (limit is None or rounds < limit):
            before = len(self._left)
            if rounds and before and not self._is_in(self._left[0], node):
                return False  # what comes next stands behind the loop
            rounds += 1
            if any(self._walk(child) for child in node.children):
                return True
            if len(self._left) == before:
                return False
        return False

    def _step(self, node: Node) -> bool:
        """One entry: the steps of `node`, those that it transferred to and those below it."""
        taken: list[Found] = []
        while self._left and self._belongs(self._left[0], node, taken):
            taken.append(self._left.pop(0))
        is_over = bool(taken) and not self._left and taken[-1].is_unfinished
        if not taken and not self._left and any(isinstance(agent, LlmAgent) for agent in node.agent.walk()):
            self.stopped_before = node
            self.entries.append(JournalEntry(node.path, "step"))
            raise Stopped
        if not taken:
            self.silent.append(node)
        events = [event for each in taken for event in each.step.events]
        events.extend(self._own.pop(node.name, []) if isinstance(node.agent, ParallelAgent) else [])
        events.sort(key=lambda event: self._places[event.id])
        self.entries.append(JournalEntry(node.path, "step", events, [each.step for each in taken]))
        if is_over:
            self.stopped_before = taken[-1].node
            raise Stopped
        return any(event.actions.escalate for event in events)

    def _belongs(self, found: Found, node: Node, taken: Sequence[Found]) -> bool:
        if found.came_from in taken:
            return True
        if found.node is None:
            return bool(taken)
        if not self._is_in(found, node):
            return False
        if isinstance(node.agent, ParallelAgent):  # a second round starts with an agent that has spoken
            return not any(each.node is found.node and each.step.start < found.step.start for each in taken) or any(
                isinstance(each.agent, LoopAgent) for each in node.walk()
            )
        return not taken or found.node is not node

    def _is_in(self, found: Found, node: Node) -> bool:
        return found.node is not None and (found.node is node or found.node.path.startswith(f"{node.path}/"))

    def _callback(self, node: Node, moment: Literal["before", "after"]) -> bool:
        """The entry of a workflow agent's callback; whether it answered in the agent's place."""
        agent = node.agent
        own = agent.before_agent_callback if moment == "before" else agent.after_agent_callback
        if not own and not (self._both_callbacks and (agent.before_agent_callback or agent.after_agent_callback)):
            return False
        said = self._own.get(node.name, [])
        next_step = self._places[self._left[0].step.events[0].id] if self._left else len(self._events)
        is_next = bool(own and said) and self._places[said[0].id] < next_step
        events = [said.pop(0)] if is_next else []
        self.entries.append(JournalEntry(node.path, moment, events))
        return moment == "before" and bool(events) and events[0].content is not None
