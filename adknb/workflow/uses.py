"""Which keys of context and state each step reads and writes, declared or as its agents and functions show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adknb.analysis.functions import mentions
from adknb.analysis.uses import Uses
from adknb.rules.base import Rules
from adknb.workflow.agents import as_agent
from adknb.workflow.functions import FunctionAgent
from adknb.workflow.keys import PAYLOAD
from adknb.workflow.step import Step


@dataclass(frozen=True, slots=True)
class StepKeys:
    """What a step reads and writes, `"payload"` and `"input"` among its reads.

    `named` are the further texts in the code of its functions: where such a text is a key that an earlier step writes, it
    counts as read.
    """

    step: Step
    reads: frozenset[str]
    writes: frozenset[str]
    named: frozenset[str] = frozenset()

    @property
    def reads_payload(self) -> bool:
        return PAYLOAD in self.reads

    def read_of(self, written: frozenset[str]) -> frozenset[str]:
        """Which of these keys the step reads, or may read."""
        return written & (self.reads | self.named)


def step_keys(step: Step, rules: Rules) -> StepKeys:
    """What the step reads and writes. A step that declares nothing reads the payload."""
    reads = set(step.reads) if step.reads is not None else {PAYLOAD}
    writes = {*step.output_names, *step.writes}
    named: set[str] = set()
    for value in (step.agent, step.fallback):
        if value is not None:
            _add_agent(Uses(as_agent(value, step.name), rules), reads, writes, named)
    if isinstance(step.context_updates, Mapping):
        writes.update(step.context_updates)
    for function in _functions(step):
        found = mentions(function)
        named.update(found.named | found.stored)
    return StepKeys(step, frozenset(reads), frozenset(writes), frozenset(named))


def _add_agent(uses: Uses, reads: set[str], writes: set[str], named: set[str]) -> None:
    written = {write.key for write in uses.writes}
    reads.update(read.key for read in uses.reads if read.key not in written)
    writes.update(written)
    for function in uses.functions:
        if isinstance(function.node.agent, FunctionAgent):
            found = mentions(function.node.agent.function)
            named.update(found.named | found.stored)
            continue
        named.update(function.named)
        if function.may_write:
            writes.update(function.stored)


def _functions(step: Step) -> Iterator[Callable[..., Any]]:
    """The functions around the step's agent that see the data."""
    for value in (step.condition, step.context_updates, step.transformer, step.input_adapter):
        if callable(value):
            yield value
