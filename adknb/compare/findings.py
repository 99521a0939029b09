"""What follows from a comparison: of each step and of the whole, under each variant but the first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from adknb.compare.dry import shown
from adknb.compare.measured import is_done_row
from adknb.compare.statistics import (
    Flips,
    PairedDifference,
    PairedShare,
    flips,
    least_inputs,
    paired_difference,
    paired_share,
)
from adknb.compare.words import difference_sentence, flips_sentence, share_sentence

if TYPE_CHECKING:
    from adknb.compare.comparison import Comparison
    from adknb.compare.measured import Row

WHOLE: Final = ""
"""Stands in place of a step's name for the whole pipeline."""


class Unit(NamedTuple):
    """One step (or the whole) of one trial: its input tokens, what its answers are told apart by, whether as expected."""

    tokens: int
    answer: str
    expected: float | None


Units = Mapping[str, Mapping[str, Mapping[int, Unit]]]
"""The units of one step by variant, input and repeat; of what failed or was interrupted there is none."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One variant against the first, at one step (`step` is empty for the whole pipeline).

    `tokens` are the input tokens of a run, `answers` the changed categories, or answers where there are none:
    `by_category` says which. `expected` is the share of answers that were as expected. What was not measured is None.
    """

    variant: str
    base: str
    step: str
    tokens: PairedDifference | None
    answers: Flips | None
    expected: PairedShare | None
    by_category: bool

    @property
    def place(self) -> str:
        """`NONE on DraftAgent`, or `NONE over all steps`."""
        return f"{shown(self.variant)} on {self.step}" if self.step else f"{shown(self.variant)} over all steps"

    @property
    def concluded(self) -> bool:
        """Whether any difference is shown."""
        return any(claim.concluded for claim in (self.tokens, self.answers, self.expected) if claim is not None)

    @property
    def sentence(self) -> str:
        """`NONE on DraftAgent: 25 % fewer input tokens (…); categories equal on 39 of 40 (…)`."""
        return f"{self.place}: {'; '.join(self.clauses)}"

    @property
    def clauses(self) -> list[str]:
        """What the sentence says of tokens, of answers, and of expected answers, as far as each was measured."""
        if self.tokens is None:
            return ["nothing to compare, no input has it under both variants"]
        said = [difference_sentence(self.tokens, "input tokens", per="a run")]
        if self.tokens.n >= self.tokens.least:  # else the first says already that nothing can be concluded
            if self.answers is not None:
                what = "categories" if self.by_category else "answers"
                said.append(f"{what} {flips_sentence(self.answers, ways=self.by_category)}")
            if self.expected is not None and self.expected.n:
                said.append(share_sentence(self.expected))
        return said


class Findings:
    """All findings of a comparison.

    `claims` is how many differences are judged together: the interval and the test of each are at 1 - 0.05 / `claims`, so
    that all of them hold together at 95 %. `least` is the number of inputs below which none of them can be concluded.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._seed = comparison.seed or 0
        self._asks = comparison.kind != "dry"
        self._categories = comparison.measured.rules
        first, *others = comparison.names
        pairs = []
        for step in (*comparison.steps, WHOLE):
            units = _units(comparison.rows, step, step.partition("#")[0] in self._categories)
            pairs += [(variant, step, _Pairs(units, first, variant)) for variant in others]
        pairs.sort(key=lambda pair: others.index(pair[0]))
        self.claims = max(1, sum(self._claims(step, pair) for _, step, pair in pairs))
        self.least = least_inputs(self.claims)
        self.listed = [self._finding(first, variant, step, pair) for variant, step, pair in pairs]

    def _claims(self, step: str, pairs: _Pairs) -> int:
        """How many differences of a step are judged; answers of a dry comparison are none, and those of the whole are its
        steps'."""
        if not pairs.inputs:
            return 0
        return 1 + int(self._asks and step != WHOLE) + int(bool(pairs.expected()[0]))

    def _finding(self, first: str, variant: str, step: str, pairs: _Pairs) -> Finding:
        by_category = step.partition("#")[0] in self._categories
        if not pairs.inputs:
            return Finding(variant, first, step, None, None, None, by_category)
        tokens = paired_difference(*pairs.tokens(), claims=self.claims, seed=self._seed)
        answers = expected = None
        if self._asks and step != WHOLE:
            answers = flips(*pairs.answers(), claims=self.claims, seed=self._seed)
        if pairs.expected()[0]:
            expected = paired_share(*pairs.expected(), claims=self.claims, seed=self._seed)
        return Finding(variant, first, step, tokens, answers, expected, by_category)


class _Pairs:
    """The inputs that both variants have, and their values side by side: a repeat that failed under one is left out of both."""

    def __init__(self, units: Units, first: str, variant: str) -> None:
        before, after = units.get(first, {}), units.get(variant, {})
        repeats = {name: [each for each in before[name] if each in after[name]] for name in before if name in after}
        self.inputs = [name for name, both in repeats.items() if both]
        self._sides = [
            [[side[name][each] for each in repeats[name]] for name in self.inputs] for side in (before, after)
        ]

    def tokens(self) -> tuple[list[float], list[float]]:
        """Means over the repeats of each input."""
        before, after = ([_mean(unit.tokens for unit in units) for units in side] for side in self._sides)
        return before, after

    def answers(self) -> tuple[list[list[str]], list[list[str]]]:
        """Each input's answers, one a repeat."""
        before, after = ([[unit.answer for unit in units] for units in side] for side in self._sides)
        return before, after

    def expected(self) -> tuple[list[float], list[float]]:
        """Each input's share of answers as expected, of inputs that expect something on both sides."""
        before, after = [], []
        for one, other in zip(*self._sides, strict=True):
            shares = _share(one), _share(other)
            if shares[0] is not None and shares[1] is not None:
                before.append(shares[0])
                after.append(shares[1])
        return before, after


def _units(rows: Iterable[Row], step: str, by_category: bool) -> dict[str, dict[str, dict[int, Unit]]]:
    """The step's units. A step that runs in several turns is one unit: tokens added up, answers joined."""
    answers = "category" if by_category else "answer"
    trials: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        if step in (WHOLE, row["step"]):
            trials.setdefault((row["variant"], row["input"], row["repeat"]), []).append(row)
    units: dict[str, dict[str, dict[int, Unit]]] = {}
    for (variant, name, repeat), own in trials.items():
        if not all(map(is_done_row, own)):
            continue
        unit = Unit(
            sum(row["input_tokens"] for row in own),
            " / ".join(row[answers] or "none" for row in own) if step != WHOLE else "",
            _known_mean(row["as_expected"] for row in own),
        )
        units.setdefault(variant, {}).setdefault(name, {})[repeat] = unit
    return units


def _share(units: Sequence[Unit]) -> float | None:
    return _known_mean(unit.expected for unit in units)


def _known_mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return _mean(known) if known else None


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)
