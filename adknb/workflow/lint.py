"""Lint of a workflow: what its steps say that will not come out as meant, and what lint says of their agents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from adknb.analysis.findings import SEVERITIES, Finding, Lint
from adknb.analysis.lint import lint as lint_agent
from adknb.rules.base import Rules
from adknb.workflow.agents import as_agent
from adknb.workflow.errors import WriteConflictError
from adknb.workflow.functions import FunctionAgent
from adknb.workflow.keys import INPUT, PAYLOAD
from adknb.workflow.plan import plan
from adknb.workflow.step import Step
from adknb.workflow.uses import step_keys


def lint(workflow: str, steps: Sequence[Step], rules: Rules, context: Iterable[str] = ()) -> Lint:
    """The findings, errors first, then in the order of the steps. `context` names what a run is given to start with."""
    found: list[Finding] = []
    known = set(context)
    for step in steps:
        keys = step_keys(step, rules)
        found += _step_findings(step, known)
        for value in (step.agent, step.fallback):
            agent = None if value is None else as_agent(value, step.name)
            if agent is not None and not isinstance(agent, FunctionAgent):
                found += lint_agent(agent, rules=rules, state=known)
        known |= keys.writes
    try:
        plan(workflow, steps, rules)
    except WriteConflictError as error:
        found.append(Finding("write-conflict", "error", workflow, None, str(error)))
    return Lint(workflow, sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))


def _step_findings(step: Step, known: set[str]) -> Iterator[Finding]:
    if f"{step.name}_output" != step.output_key:
        yield Finding(
            "output-key-renamed", "info", step.name, None,
            f"a placeholder cannot name {step.name + '_output'!r}, so the output is in the state as {step.output_key!r} too.",
            f"Write {{{step.output_key}}} in instructions.",
        )  # fmt: skip
    for key in step.reads or ():
        if key not in known and key not in (PAYLOAD, INPUT):
            yield Finding(
                "unwritten-read", "warning", step.name, None,
                f"the step says that it reads {key!r}, which no earlier step is known to write.",
                "Name it among the writes of the step that does, or give it as context.",
            )  # fmt: skip
