"""Which steps run together: neighbours that need nothing of one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adknb.core.views import Viewed, table
from adknb.rules.base import Rules
from adknb.workflow.errors import WriteConflictError
from adknb.workflow.keys import PAYLOAD
from adknb.workflow.step import Step
from adknb.workflow.uses import StepKeys, step_keys

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Edge:
    """`target` waits for `source` because it reads `key` (`"payload"`: what the source puts out)."""

    source: str
    target: str
    key: str


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step in its group, which counts from 0. `reads` and `writes` are keys of context and state, sorted."""

    index: int
    name: str
    group: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan(Viewed):
    """The groups of a workflow, in the order in which they run; the steps of one run together, `max_parallel` at a time.

    All steps of a group start from the data before it. The payload after a group of several is a dict of their outputs by
    step name, whatever `max_parallel` is: the limit changes when things happen, not what comes out.
    """

    workflow: str
    steps: tuple[PlannedStep, ...]
    edges: tuple[Edge, ...]
    max_parallel: int = 1

    @property
    def groups(self) -> tuple[tuple[PlannedStep, ...], ...]:
        count = self.steps[-1].group + 1 if self.steps else 0
        return tuple(tuple(step for step in self.steps if step.group == group) for group in range(count))

    def waits_for(self, step: str) -> tuple[Edge, ...]:
        """Why the step cannot begin earlier."""
        return tuple(edge for edge in self.edges if edge.target == step)

    def to_frame(self) -> pd.DataFrame:
        """One row a step: `group`, `step`, `reads`, `writes`, `waits_for`."""
        return table(self, "plan")

    def __repr__(self) -> str:
        groups = " → ".join(" | ".join(step.name for step in group) for group in self.groups)
        return f"Plan({self.workflow!r}: {groups})"


def plan(workflow: str, steps: Sequence[Step], rules: Rules, max_parallel: int = 1) -> Plan:
    """The plan of these steps. Raises `WriteConflictError` when two that would run together write the same key."""
    planned: list[PlannedStep] = []
    edges: list[Edge] = []
    earlier: list[StepKeys] = []
    group: list[StepKeys] = []
    before: list[StepKeys] = []
    number = -1
    for index, step in enumerate(steps):
        keys = step_keys(step, rules)
        if not group or keys.reads_payload or any(keys.read_of(member.writes) for member in group):
            before, group, number = group, [], number + 1
        for member in group:
            _check_conflict(member, keys)
        edges += _edges(keys, before, earlier)
        group.append(keys)
        earlier.append(keys)
        planned.append(PlannedStep(index, step.name, number, tuple(sorted(keys.reads)), tuple(sorted(keys.writes))))
    return Plan(workflow, tuple(planned), tuple(edges), max_parallel)


def _edges(keys: StepKeys, before: Sequence[StepKeys], earlier: Sequence[StepKeys]) -> list[Edge]:
    name = keys.step.name
    found = [Edge(source.step.name, name, PAYLOAD) for source in before] if keys.reads_payload else []
    known: set[str] = set()
    for source in reversed(earlier):  # a key's last writer is the one that is waited for
        for key in sorted(keys.read_of(source.writes) - known):
            found.append(Edge(source.step.name, name, key))
            known.add(key)
    return found


def _check_conflict(one: StepKeys, other: StepKeys) -> None:
    both = one.writes & other.writes
    if not both:
        return
    keys = ", ".join(map(repr, sorted(both)))
    raise WriteConflictError(
        f"steps {one.step.name!r} and {other.step.name!r} would run together, but both write {keys}: one of the values "
        f"would be lost. Let each write its own key, or put {sorted(both)[0]!r} among the reads of {other.step.name!r}, "
        "which then runs after it."
    )
