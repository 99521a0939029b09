"""The bench's own tables: its runs and its pipelines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from adknb.notebook.cards.waiting import answered
from adknb.notebook.pipelines import Pipeline
from adknb.notebook.records import Record
from adknb.tables.frame import Kind, Row
from adknb.tables.session import message_text

RUNS: Final[dict[str, Kind]] = {
    "run": "text", "pipeline": "text", "status": "text", "session": "text", "turn": "count", "message": "text",
    "steps": "count", "output": "text", "strategy": "text", "rules": "text", "ms": "number", "from_run": "text",
    "note": "text",
}  # fmt: skip

PIPELINES: Final[dict[str, Kind]] = {
    "pipeline": "text", "agents": "text", "keys": "text", "runs": "count", "last_run": "text", "in_use": "flag",
}  # fmt: skip


def run_rows(records: Iterable[Record]) -> Iterator[Row]:
    """One row a run, oldest first. `turn` counts from 1; `note` says trial, mixed, stale, replaced, answered, or of which
    variant."""
    for record in records:
        run = record.run
        is_current = run.turn < len(run.session.chain) and run.session.chain[run.turn].run is run
        notes = [
            "trial" if record.trial else "",
            f"last of a comparison: {record.variant}" if record.variant is not None else "",
            run.label,
            "stale: an earlier turn was run again" if run.stale else "",
            "" if is_current or record.trial else "replaced",
            answered(run),
        ]
        yield {
            "run": run.id,
            "pipeline": record.pipeline,
            "status": run.status,
            "session": record.session or "",
            "turn": run.turn + 1,
            "message": message_text(run.message),
            "steps": len(run.step_runs),
            "output": run.output,
            "strategy": run.strategy,
            "rules": run.rules,
            "ms": run.ms,
            "from_run": run.parent.id if run.parent is not None else "",
            "note": ", ".join(note for note in notes if note),
        }


def pipeline_rows(pipelines: Iterable[Pipeline], records: Iterable[Record], current: str | None) -> Iterator[Row]:
    """One row a pipeline, in the order in which they were written."""
    records = list(records)
    for pipeline in pipelines:
        runs = [record.run for record in records if record.pipeline == pipeline.name]
        yield {
            "pipeline": pipeline.name,
            "agents": " → ".join(pipeline.names()),
            "keys": ", ".join(agent.options.key for agent in pipeline.agents if agent.options.key is not None),
            "runs": len(runs),
            "last_run": runs[-1].id if runs else "",
            "in_use": pipeline.name == current,
        }
