"""Where a pipeline runs differently under another ADK: one row a difference."""

from __future__ import annotations

from typing import Final

from adknb.compare.portability import Portability
from adknb.tables.frame import Kind, Row

PORTABILITY: Final[dict[str, Kind]] = {
    "rules": "text", "input": "text", "turn": "count", "step": "text", "aspect": "text", "before": "text",
    "after": "text", "tokens_before": "count", "tokens_after": "count", "rule": "text", "sentence": "text",
}  # fmt: skip


def portability_rows(result: Portability) -> list[Row]:
    """`step` is empty for a turn as a whole; `rule` and `sentence` have a line for each cause, and are empty without any."""
    return [
        {
            "rules": deviation.rules,
            "input": deviation.input,
            "turn": deviation.turn,
            "step": deviation.step,
            "aspect": change.aspect,
            "before": change.before,
            "after": change.after,
            "tokens_before": deviation.tokens[0],
            "tokens_after": deviation.tokens[1],
            "rule": "\n".join(cause.name for cause in change.causes),
            "sentence": "\n".join(cause.sentence for cause in change.causes),
        }
        for deviation in result.deviations
        for change in deviation.changes
    ]
