"""One input of a comparison: what every variant was sent and answered, step by step beside the first variant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from adknb.compare.inputs import Input
from adknb.compare.measured import Row
from adknb.compare.records import Prompt, SentPiece, StepRecord, TrialRecord
from adknb.core.views import Viewed

if TYPE_CHECKING:
    from adknb.compare.comparison import Comparison

_NAMES: Final = {"system": "system instruction", "tools": "tool declarations", "schema": "output schema"}


@dataclass(frozen=True, slots=True)
class StepComparison:
    """One step of one turn (from 1): its record and its row of the comparison by variant, of those that came to it."""

    step: str
    turn: int
    records: Mapping[str, StepRecord]
    rows: Mapping[str, Row]


@dataclass(frozen=True, slots=True)
class InputComparison(Viewed):
    """One input, once, under every variant. `repeat` counts from 0.

    `trials` holds the records by variant, in the order of the variants; a trial that was not done is left out.
    """

    comparison: Comparison
    input: Input
    repeat: int = 0

    @property
    def trials(self) -> dict[str, TrialRecord]:
        wanted = (self.input.name, self.repeat)
        return {record.variant: record for record in self.comparison.records if (record.input, record.repeat) == wanted}

    @property
    def steps(self) -> list[StepComparison]:
        """The steps of all variants, in the order of the first variant that has them."""
        wanted = (self.input.name, self.repeat)
        rows: dict[tuple[int, str], dict[str, Row]] = {}
        for row in self.comparison.rows:
            if (row["input"], row["repeat"]) == wanted and row["step"]:
                rows.setdefault((row["turn"], row["step"]), {})[row["variant"]] = row
        records: dict[tuple[int, str], dict[str, StepRecord]] = {}
        for variant, trial in self.trials.items():
            for step in trial.steps:
                records.setdefault((step.turn, step.step), {})[variant] = step
        return [
            StepComparison(step, turn, found, rows.get((turn, step), {}))
            for (turn, step), found in sorted(records.items(), key=lambda item: item[0][0])
        ]


def prompt_text(prompts: Sequence[Prompt]) -> str:
    """A step's requests as one text: every passage behind a line that says whose it is; its words are as they were sent.

    Such as `[system instruction]`, `[user, by TriageAgent]`; from the second request on with `[request 2]` before.
    """
    return "\n\n".join(_passages(prompts))


def _passages(prompts: Sequence[Prompt]) -> Iterator[str]:
    for number, prompt in enumerate(prompts, 1):
        if number > 1:
            yield f"[request {number}]"
        for _, group in groupby(prompt, lambda piece: (piece.role, piece.content)):
            pieces = list(group)
            between = "" if pieces[0].role == "system" else "\n"
            yield f"[{_whose(pieces[0])}]\n{between.join(piece.text for piece in pieces)}"


def _whose(piece: SentPiece) -> str:
    if piece.content is None:
        return _NAMES.get(piece.role, piece.role)
    role = piece.role or "no role"
    return f"{role}, by {piece.author}" if piece.author and piece.author != piece.role else role
