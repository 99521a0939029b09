"""How the input tokens of a run add up, step after step and turn after turn, under each variant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from adknb.compare.comparison import Comparison


class Growth(NamedTuple):
    """`totals` holds for each variant the tokens that a trial has sent up to each place: means over its whole trials, so
    that a step which runs in some alone raises the line by its share.

    A place is a step, behind its turn where conversations have several (`has_turns`). None where no such trial came.
    """

    variants: Sequence[str]
    places: Sequence[str]
    totals: Sequence[Sequence[float | None]]
    has_turns: bool


def growth(comparison: Comparison) -> Growth:
    sent: dict[tuple[int, str], dict[str, list[int]]] = {}
    whole = Counter(record.variant for record in comparison.records if not record.error)
    for record in comparison.records:
        for step in record.steps:
            by_variant = sent.setdefault((step.turn, step.step), {})
            if not record.error:
                by_variant.setdefault(record.variant, []).append(step.input_tokens)
    ordered = sorted(sent, key=lambda place: place[0])
    several = len({turn for turn, _ in ordered}) > 1
    places = [f"{turn} · {step}" if several else step for turn, step in ordered]
    totals = [
        _totals([sent[place].get(variant, []) for place in ordered], whole[variant]) for variant in comparison.names
    ]
    return Growth(comparison.names, places, totals, several)


def _totals(sent: Sequence[Sequence[int]], trials: int) -> list[float | None]:
    means = [sum(tokens) / trials if tokens else 0.0 for tokens in sent]
    return [total if tokens else None for total, tokens in zip(accumulate(means), sent, strict=True)]
