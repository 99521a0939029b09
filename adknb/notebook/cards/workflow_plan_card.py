"""A workflow's plan: which steps run together and which wait, as a picture and as a table."""

from __future__ import annotations

from typing import Final

from adknb.core.escape import one_line
from adknb.notebook.cards import text
from adknb.notebook.cards.html import card, chip, cut, head, span, table
from adknb.notebook.cards.words import counted
from adknb.notebook.cards.workflow_steps import drawn
from adknb.notebook.workflow_graph import plan_svg, waits
from adknb.workflow.plan import Plan

_COLUMNS: Final = (("Group", "adknb-num"), ("Step", "adknb-name"), ("Reads", ""), ("Writes", ""), ("Waits for", ""))


def plan_html(plan: Plan) -> str:
    """The plan as HTML that needs nothing else."""
    picture = drawn(plan_svg(plan), f"Groups of steps: {plan!r}")
    rows = [
        [number, cut(name, 60), cut(reads), cut(writes), cut(waited)]
        for number, name, reads, writes, waited in _rows(plan)
    ]
    return card(head(plan.workflow, chip("plan"), span(_summary(plan), "adknb-dim")), picture, table(_COLUMNS, rows))


def plan_text(plan: Plan) -> str:
    """The plan as plain text, with no character that a terminal would obey."""
    table = text.fitted([name for name, _ in _COLUMNS], _rows(plan), right=(0,))
    return f"{one_line(f'{plan.workflow}: plan · {_summary(plan)}', 400)}\n\n{table}"


def _summary(plan: Plan) -> str:
    together = max((len(group) for group in plan.groups), default=0)
    said = [counted(len(plan.steps), "step"), f"in {counted(len(plan.groups), 'group')}"]
    if together > 1:
        said.append(
            f"up to {min(together, plan.max_parallel)} at once"
            if plan.max_parallel > 1
            else f"{together} could run at once: max_parallel is 1"
        )
    return " · ".join(said)


def _rows(plan: Plan) -> list[list[str]]:
    return [
        [
            f"{step.group + 1}",
            step.name,
            ", ".join(step.reads),
            ", ".join(step.writes),
            waits(plan.waits_for(step.name)),
        ]
        for step in plan.steps
    ]
