"""A dry comparison, one row a request and strategy."""

from __future__ import annotations

from typing import Final

from adknb.compare.dry import DryPrompt, PromptComparison, percent
from adknb.tables.frame import Kind, Row
from adknb.tokens.channels import CHANNELS, OVERHEAD

_COUNTED: Final = tuple(channel for channel in CHANNELS if channel != OVERHEAD)
PROMPTS: Final[dict[str, Kind]] = {
    "step": "text", "agent": "text", "request": "count", "strategy": "text", **dict.fromkeys(_COUNTED, "count"),
    "total": "count", "sent_twice": "count", "twice": "text", "saved": "count", "saved_percent": "number",
    "left_out": "text", "as_sent": "flag", "counted_by": "text", "note": "text",
}  # fmt: skip


def comparison_rows(comparison: PromptComparison) -> list[Row]:
    """All tokens are counts, by one tokenizer. `saved` is against the first strategy, `saved_percent` of its total;
    `left_out` names the events that the first strategy includes and this one does not."""
    return [_row(comparison, prompts[0], prompt) for prompts in comparison.rows() for prompt in prompts]


def _row(comparison: PromptComparison, first: DryPrompt, prompt: DryPrompt) -> Row:
    saved = prompt.saves(first)
    return {
        "step": prompt.step.name,
        "agent": prompt.step.agent.name,
        "request": prompt.number,
        "strategy": prompt.strategy,
        **{channel: getattr(prompt.channels, channel) for channel in _COUNTED},
        "total": prompt.tokens,
        "sent_twice": sum(prompt.twice.values()),
        "twice": ", ".join(prompt.twice),
        "saved": saved,
        "saved_percent": round(percent(saved, first.tokens), 1),
        "left_out": ", ".join(prompt.left_out),
        "as_sent": prompt.is_as_sent,
        "counted_by": comparison.counted_by,
        "note": prompt.note,
    }
