"""The pipeline as a strip of steps: sequences, parallels and loops as what they are, each step with what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from adknb.core.run import StepRun
from adknb.core.specs import BaseAgent, LoopAgent, ParallelAgent, SequentialAgent
from adknb.notebook.explorer.reading import Reading

Kind = Literal["sequence", "parallel", "loop", "step"]
NOT_RUN: Final = "not run yet"
SHOWN: Final = 12
"""Executions of one agent that the strip draws; of more it draws the first, the last and those beside the selected one."""


@dataclass(frozen=True, slots=True)
class Box:
    """One execution of an agent, or an agent that has not run: what the user selects.

    `tokens_in` and `tokens_out` are None until they are known. `wrote` holds state keys, `stale` what was read from an
    earlier turn (`triage: turn 1`). `copied` says that the run took the step over from its parent.
    """

    name: str
    status: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    wrote: tuple[str, ...] = ()
    stale: str = ""
    copied: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """One agent of the tree. `boxes` are its executions, one that has not run if there is none; none for a workflow agent.

    `left_out` counts executions between the drawn ones. `rounds` is the most that a loop goes round, None for no limit.
    `changed` says that the agent ran otherwise than it is written now.
    """

    name: str
    kind: Kind
    boxes: tuple[Box, ...] = ()
    left_out: int = 0
    children: tuple[Node, ...] = ()
    rounds: int | None = None
    changed: bool = False

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class Strip:
    """The tree, which box is selected, and the names of all that are drawn in the order in which arrows go through them."""

    root: Node
    selected: str

    @property
    def names(self) -> list[str]:
        return [box.name for node in self.root.walk() for box in node.boxes]


def strip(root: BaseAgent, reading: Reading | None, selected: str, written: BaseAgent | None = None) -> Strip:
    """The strip of the tree `root` and of a run of it. `written` is the tree as it is written now."""
    return Strip(_node(root, reading, selected, written), selected)


def kind_of(agent: BaseAgent) -> Kind:
    if isinstance(agent, LoopAgent):
        return "loop"
    if isinstance(agent, ParallelAgent):
        return "parallel"
    return "sequence" if isinstance(agent, SequentialAgent) else "step"


def _node(agent: BaseAgent, reading: Reading | None, selected: str, written: BaseAgent | None) -> Node:
    kind = kind_of(agent)
    children = tuple(_node(child, reading, selected, written) for child in agent.sub_agents)
    if kind != "step":
        rounds = agent.max_iterations if isinstance(agent, LoopAgent) else None
        return Node(agent.name, kind, children=children, rounds=rounds)
    steps = [step for step in reading.run.step_runs if step.agent.name == agent.name] if reading is not None else []
    drawn = _drawn(steps, selected)
    now = written.find_agent(agent.name) if written is not None else None
    return Node(
        agent.name, kind,
        tuple(_box(step, reading) for step in drawn) if reading is not None and drawn else (Box(agent.name, NOT_RUN),),
        len(steps) - len(drawn), children,
        changed=bool(steps) and now is not None and _own(now) != _own(steps[-1].agent),
    )  # fmt: skip


def _own(agent: BaseAgent) -> BaseAgent:
    """The agent without its children, which have boxes of their own."""
    return agent.model_copy(update={"sub_agents": ()}) if agent.sub_agents else agent


def _drawn(steps: Sequence[StepRun], selected: str) -> list[StepRun]:
    if len(steps) <= SHOWN:
        return list(steps)
    here = next((place for place, step in enumerate(steps) if step.name == selected), len(steps) - 1)
    ends, beside = SHOWN // 4, SHOWN // 4
    return [
        step
        for place, step in enumerate(steps)
        if place < ends or place >= len(steps) - ends or abs(place - here) <= beside
    ]


def _box(step: StepRun, reading: Reading) -> Box:
    costs = reading.costs(step)
    is_over = step.status != "running"
    return Box(
        step.name, step.status,
        sum(cost.channels.total for cost in costs) if costs else None,
        sum(cost.output for cost in costs) if costs and is_over else None,
        tuple(step.state_delta), reading.stale(step), step.replayed,
    )  # fmt: skip
