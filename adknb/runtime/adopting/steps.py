"""The events of a turn as the steps that they came from: who ran, how often, and what each call of a model could see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from adknb.core.events import USER, Event
from adknb.core.run import StepRun
from adknb.core.specs import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adknb.runtime.adopting.words import ABORTED, Words, answers_by_tool
from adknb.runtime.tree import LlmNode, Node

Phase = Literal["running", "answered", "transferred", "ended"]


@dataclass(slots=True, eq=False)
class Found:
    """A step of a turn. `node` is its agent's place, None for an agent that the pipeline has not.

    `calls` holds, for each call of its model, the reply's place among the turn's events and how many of them there were
    when it was asked. `came_from` is the step that transferred to it.
    """

    step: StepRun
    node: Node | None
    phase: Phase = "running"
    calls: list[tuple[int, int]] = field(default_factory=list)
    came_from: Found | None = None
    last: int = 0

    @property
    def is_unfinished(self) -> bool:
        """Whether its model was to be asked again when the events end."""
        return self.phase == "running" and isinstance(self.step.agent, LlmAgent)


class StepFinder:
    """Puts the events of one turn to steps. `found` are the steps, in the order in which they began."""

    def __init__(self, tree: Node, events: Sequence[Event], words: Words) -> None:
        self._tree = tree
        self._events = events
        self._words = words
        self._nodes = [tree.find(event.author) for event in events]
        self._rounds: dict[str, tuple[int, set[str]]] = {}
        self.found: list[Found] = []
        for index in range(1, len(events)):
            self._take(index)
        for each in self.found:
            each.step.repeated = sum(other.step.agent.name == each.step.agent.name for other in self.found) > 1

    def _take(self, index: int) -> None:
        event, node = self._events[index], self._nodes[index]
        agent = BaseAgent(name=event.author) if node is None else node.agent
        if event.author == USER or isinstance(agent, (SequentialAgent, LoopAgent, ParallelAgent)):
            return
        current = self._current(index, node, agent)
        last = self._events[current.last] if current.last else None
        if isinstance(agent, LlmAgent):
            if self._words.is_reply(event, agent, last):
                current.calls.append((index, self._seen(index, current)))
                if event.content is not None and not self._words.is_sure(event, agent):
                    current.step.notes.append("the events do not tell whether its model or a callback said this")
            self._move_on(current, event)
        current.step.events.append(event)
        current.last = index
        each: Found | None = current
        while each is not None:
            each.step.stop = index + 1
            each = each.came_from

    def _current(self, index: int, node: Node | None, agent: BaseAgent) -> Found:
        """The step that the event belongs to: the one that runs, or a new one."""
        event = self._events[index]
        same = [each for each in self.found if each.step.agent.name == agent.name and each.step.branch == event.branch]
        open_step = same[-1] if same else None
        if open_step is not None and self._goes_on(open_step, index, agent):
            return open_step
        start = self._begins(index, node)
        number = sum(each.step.agent.name == agent.name for each in self.found) + 1
        step = StepRun(agent, number, event.branch, start=start, stop=index + 1, status="completed")
        found = Found(step, node, came_from=self._asker(event))
        self.found.append(found)
        return found

    def _goes_on(self, current: Found, index: int, agent: BaseAgent) -> bool:
        event = self._events[index]
        if event.function_responses or event.error_code == ABORTED:
            return True
        between = self._events[current.last + 1 : index]
        others = any(each.author not in (event.author, USER) and each.branch == event.branch for each in between)
        if not isinstance(agent, LlmAgent):
            return not others
        if current.phase == "running":
            return True
        if current.phase == "transferred":
            return self._goes_on_after_transfer(current, index, agent)
        said_after = bool(agent.after_agent_callback) and current.phase == "answered" and not others
        if event.content is None and event.error_code is None:
            return said_after
        if not self._words.is_reply(event, agent, self._events[current.last]):
            return not others
        return said_after and not self._words.is_sure(event, agent) and not _alone_in_a_loop(current.node)

    def _goes_on_after_transfer(self, current: Found, index: int, agent: LlmAgent) -> bool:
        """Whether an agent that transferred speaks on: the other one gave no answer, or a callback comes after it.

        One that the other transferred back to is a new step.
        """
        event, before = self._events[index], self._events[index - 1]
        if before.actions.transfer_to_agent == agent.name:
            return False
        if answers_by_tool(self._events[current.last]) and not event.function_calls:
            return True
        if self._words.is_reply(event, agent, before):
            return not before.is_final_response()
        return bool(agent.after_agent_callback)

    def _move_on(self, current: Found, event: Event) -> None:
        """How far the step is after the event."""
        ends_loop = event.actions.escalate and any(isinstance(node.agent, LoopAgent) for node in above(current.node))
        if event.actions.transfer_to_agent is not None:
            current.phase = "transferred"
        elif ends_loop or (current.phase == "answered" and not event.function_responses):
            current.phase = "ended"
        elif event.content is not None or event.error_code is not None:
            current.phase = "answered" if event.is_final_response() else "running"

    def _asker(self, event: Event) -> Found | None:
        """The step that transferred to the event's author."""
        for each in reversed(self.found):
            if each.phase == "transferred":
                last = each.step.events[-1]
                return each if last.actions.transfer_to_agent == event.author else None
        return None

    # what a call could see

    def _begins(self, index: int, node: Node | None) -> int:
        """How many of the turn's events there were when the step began."""
        fan = next((each for each in reversed(list(above(node))) if isinstance(each.agent, ParallelAgent)), None)
        if fan is None or node is None:
            return index
        start, begun = self._rounds.get(fan.path, (index, set()))
        if node.path in begun and not any(
            isinstance(each.agent, LoopAgent) for each in above(node) if each.path.startswith(f"{fan.path}/")
        ):
            start, begun = index, set()  # a loop around the parallel runs it again
        begun.add(node.path)
        self._rounds[fan.path] = (start, begun)
        return self._back(index, node, start)

    def _seen(self, index: int, current: Found) -> int:
        return current.step.start if not current.step.events else self._back(index, current.node, current.last + 1)

    def _back(self, index: int, node: Node | None, lowest: int) -> int:
        """Back over what ran beside the agent of `node`: its request was built right after its own last event."""
        while index > lowest and run_at_once(node, self._nodes[index - 1]):
            index -= 1
        return index


def run_at_once(one: Node | None, other: Node | None) -> bool:
    """Whether a parallel runs both at the same time."""
    if one is None or other is None or one is other:
        return False
    around = [one, *above(one)]
    meeting = next((node for node in (other, *above(other)) if node in around), None)
    return meeting not in (None, one, other) and meeting is not None and isinstance(meeting.agent, ParallelAgent)


def above(node: Node | None) -> Iterator[Node]:
    """The agents around the one at `node`, the nearest first."""
    while node is not None and node.parent is not None:
        node = node.parent
        yield node


def _alone_in_a_loop(node: Node | None) -> bool:
    parent = node.parent if node is not None else None
    return parent is not None and isinstance(parent.agent, LoopAgent) and len(parent.children) == 1


def llm_node(found: Found) -> LlmNode | None:
    return found.node if isinstance(found.node, LlmNode) else None
