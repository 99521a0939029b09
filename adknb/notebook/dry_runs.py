"""The runs of the bench whose prompts a dry comparison works out."""

from __future__ import annotations

from collections.abc import Iterable

from adknb.core.run import Run
from adknb.notebook.records import Record


def newest_runs(records: Iterable[Record], pipeline: str) -> dict[tuple[str, ...], Run]:
    """The newest run of a pipeline on each conversation: its messages, the run's own last.

    Runs that sent no request do not count, nor do trials; a comparison's counts where there is no other.
    """
    newest: dict[tuple[str, ...], Run] = {}
    own_last = sorted(records, key=lambda record: record.variant is None)
    for record in own_last:
        has_asked = any(step.requests for step in record.run.step_runs)
        if record.pipeline == pipeline and has_asked and not record.trial:
            conversation = _conversation(record.run)
            newest.pop(conversation, None)
            newest[conversation] = record.run
    return newest


def _conversation(run: Run) -> tuple[str, ...]:
    messages, turn = [run.message.text], run.previous
    while turn is not None:
        messages.append(turn.run.message.text)
        turn = turn.previous
    return tuple(reversed(messages))
