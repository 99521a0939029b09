"""The runs of a workflow that can be resumed: how far each is, and how it goes on."""

from __future__ import annotations

from typing import Final

from adknb.core.escape import one_line
from adknb.notebook.cards import text
from adknb.notebook.cards.html import card, chip, cut, div, head, span, table
from adknb.notebook.cards.words import counted
from adknb.workflow.checkpoints import Checkpoint, Checkpoints

_COLUMNS: Final = (
    ("Run", "adknb-name"), ("Input", ""), ("Begun (UTC)", ""), ("Last stored (UTC)", ""), ("Done", ""), ("Next", ""),
    ("Tokens", "adknb-num"),
)  # fmt: skip
_TIME: Final = "%Y-%m-%d %H:%M:%S"


def checkpoints_html(checkpoints: Checkpoints) -> str:
    """The list as HTML that needs nothing else."""
    title = head(checkpoints.workflow, chip("checkpoints"), span(_summary(checkpoints), "adknb-dim"))
    if not checkpoints:
        return card(title)
    rows = [[cut(cell, 60) for cell in _row(each)] for each in checkpoints]
    return card(title, table(_COLUMNS, rows), div(_hint(checkpoints), "adknb-dim adknb-hint"))


def checkpoints_text(checkpoints: Checkpoints) -> str:
    """The list as plain text, with no character that a terminal would obey."""
    first = one_line(f"{checkpoints.workflow}: checkpoints · {_summary(checkpoints)}", 400)
    if not checkpoints:
        return first
    rows = [_row(each) for each in checkpoints]
    table = text.fitted([name for name, _ in _COLUMNS], rows, right=(6,))
    return f"{first}\n\n{table}\n\n{one_line(_hint(checkpoints), 400)}"


def _summary(checkpoints: Checkpoints) -> str:
    return f"{counted(len(checkpoints), 'run')} can be resumed" if checkpoints else "no run can be resumed"


def _row(checkpoint: Checkpoint) -> list[str]:
    done = f"{len(checkpoint.done)} of {len(checkpoint.steps)}"
    return [
        checkpoint.run_id, checkpoint.data.text, checkpoint.begun.strftime(_TIME), checkpoint.updated.strftime(_TIME),
        f"{done}: {', '.join(checkpoint.done)}" if checkpoint.done else done, ", ".join(checkpoint.next_steps[:1]),
        f"{checkpoint.token_used:,}",
    ]  # fmt: skip


def _hint(checkpoints: Checkpoints) -> str:
    newest = checkpoints[-1].run_id
    return f"Go on: workflow.resume({newest!r}), or %adk workflow resume {newest}"
