"""What a workflow's run shows: what every policy did and when, the output, what was left for later steps."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from adknb.core.escape import one_line
from adknb.notebook.cards import text
from adknb.notebook.cards.error_card import error_box, error_text
from adknb.notebook.cards.html import block, box, card, chip, cut, div, facts, head, heading, span
from adknb.notebook.cards.words import counted, duration
from adknb.notebook.cards.workflow_steps import steps, timeline_html, timeline_text
from adknb.notebook.workflow_timeline import Timeline, timeline
from adknb.workflow.data import PipelineData
from adknb.workflow.observers import ObserverFault
from adknb.workflow.result import WorkflowResult

OUTPUT: Final = 800
"""Characters of an output that is shown whole."""
STATUS_KINDS: Final = {"completed": "good", "failed": "bad", "interrupted": "bad", "running": "warn"}


def workflow_html(result: WorkflowResult) -> str:
    """The run as HTML that needs nothing else."""
    is_over, drawn = _drawn(result)
    pieces = [
        head(result.workflow, chip(result.status, STATUS_KINDS[result.status]),
             span(" · ".join(_summary(result, drawn)), "adknb-dim"))
    ]  # fmt: skip
    given = _input(result)
    if given:
        pieces.append(f'<div class="adknb-message"><span class="adknb-dim">Input:</span> {cut(given, 200)}</div>')
    pieces.extend(box(cut(warning, 300), "warn") for warning in _warnings(result))
    pieces.append(timeline_html(drawn) or div("No step has begun yet.", "adknb-dim"))
    if result.error is not None:
        pieces.append(error_box(result.error))
    if is_over and drawn.stretches:
        pieces += [heading(_output_heading(result)), _output(result.data.text)]
        pieces.append(_context(result.data))
        pieces.append(div(_hint(result, drawn), "adknb-dim adknb-hint"))
    return card(*pieces)


def workflow_text(result: WorkflowResult) -> str:
    """The run as plain text, with no character that a terminal would obey."""
    is_over, drawn = _drawn(result)
    lines = [one_line(f"{result.workflow}: {result.status} · {' · '.join(_summary(result, drawn))}", 400)]
    given = _input(result)
    if given:
        lines.append(f"input: {one_line(given, 200)}")
    lines.extend(f"! {one_line(warning, 400)}" for warning in _warnings(result))
    lines.extend(["", timeline_text(drawn) if drawn.stretches else "No step has begun yet."])
    if result.error is not None:
        lines.extend(["", error_text(result.error)])
    if is_over and drawn.stretches:
        lines.extend(["", one_line(_output_heading(result), 400), text.passage(result.data.text)])
        rows = [[key, PipelineData(value).text] for key, value in result.data.context.items()]
        if rows:
            lines.extend(["", text.columns(["Context", "Value"], rows)])
        lines.extend(["", one_line(_hint(result, drawn), 400)])
    return "\n".join(lines)


def _drawn(result: WorkflowResult) -> tuple[bool, Timeline]:
    is_over = result.status != "running"
    return is_over, timeline(result.events, result.limit, None if is_over else datetime.now(UTC))


def _summary(result: WorkflowResult, drawn: Timeline) -> list[str]:
    limit = f" of {result.limit:,}" if result.limit is not None else ""
    begun = len(steps(drawn))
    number = (
        counted(len(result.steps), "step") if begun >= len(result.steps) else f"{begun} of {len(result.steps)} steps"
    )
    kept = [counted(drawn.checkpoints, "checkpoint")] if drawn.checkpoints else []
    return [number, duration(drawn.ms), f"{result.token_used:,}{limit} tokens", *kept, f"run {result.run_id}"]


def _input(result: WorkflowResult) -> str:
    """What the run was given."""
    return next((event.data.text for event in result.events if event.data is not None), "")


def _warnings(result: WorkflowResult) -> list[str]:
    """The errors with which the workflow went on, then the observers that raised."""
    went_on = [f"{error.step} failed, and the workflow went on: {error}" for error in result.data.warnings]
    return [*went_on, *(_fault(fault) for fault in result.faults)]


def _fault(fault: ObserverFault) -> str:
    observer, error, count = fault
    times = f", {count:,} times" if count > 1 else ""
    return f"Observer {type(observer).__name__} raised {type(error).__name__}: {error}{times}"


def _output_heading(result: WorkflowResult) -> str:
    by = f", by {result.metadata.step_name}" if result.metadata.step_name else ""
    return f"Output{by}" if result.status == "completed" else f"The data when it ended{by}"


def _output(said: str) -> str:
    """The whole output; a long one begins, and a click shows the rest."""
    return block(said) if len(said) <= OUTPUT else cut(said, OUTPUT // 2)


def _context(data: PipelineData) -> str:
    if not data.context:
        return ""
    rows = [(one_line(key, 60), [cut(PipelineData(value).text)]) for key, value in data.context.items()]
    summary = f"Context: {counted(len(rows), 'value')}"
    return f"<details><summary>{summary}</summary>{facts(rows)}</details>"


def _hint(result: WorkflowResult, drawn: Timeline) -> str:
    if result.status != "completed" and drawn.checkpoints:
        return f"Go on: workflow.resume({result.run_id!r}), or %adk workflow resume {result.run_id}"
    asked = next((name for name in result.steps if result.runs.get(name)), None)
    runs = f"result.run_of({asked!r}), " if asked is not None else ""
    return f"More: {runs}result.to_frame(), %adk workflow plan; %%workflow … --out result binds it"
