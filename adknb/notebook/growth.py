"""How the input tokens of a run add up, step after step and turn after turn, under each variant."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from adknb.compare.comparison import Comparison


class Growth(NamedTuple):
    """`totals` holds for each variant the tokens sent up to each place: means over the trials that came there, added up.

    A place is a step, behind its turn where conversations have several (`has_turns`). None where no trial of the variant came.
    """

    variants: Sequence[str]
    places: Sequence[str]
    totals: Sequence[Sequence[float | None]]
    has_turns: bool


def growth(comparison: Comparison) -> Growth:
    sent: dict[tuple[int, str], dict[str, list[int]]] = {}
    for row in comparison.rows:
        if row["step"] and not row["error"]:
            by_variant = sent.setdefault((row["turn"], row["step"]), {})
            by_variant.setdefault(row["variant"], []).append(row["input_tokens"])
    ordered = sorted(sent, key=lambda place: place[0])
    several = len({turn for turn, _ in ordered}) > 1
    places = [f"{turn} · {step}" if several else step for turn, step in ordered]
    totals = [_totals([sent[place].get(variant, []) for place in ordered]) for variant in comparison.names]
    return Growth(comparison.names, places, totals, several)


def _totals(sent: Sequence[Sequence[int]]) -> list[float | None]:
    means = [sum(tokens) / len(tokens) if tokens else 0.0 for tokens in sent]
    return [total if tokens else None for total, tokens in zip(accumulate(means), sent, strict=True)]
