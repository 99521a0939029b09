"""What n inputs, each done under two variants, say about the variants: intervals, tests, and how many inputs it takes.

The unit is the input: repeats are averaged within it first. A comparison makes many claims together (a step, a measure
and a variant each), so every interval and test is at 1 - 0.05 / claims (Bonferroni): together they hold at 95 %.
"""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from adknb.compare.exchange import Counts, disagreement_between, disagreement_within, exchange_p
from adknb.compare.resampling import ROUNDING, binomial_p, mean_interval, sign_flip_p
from adknb.core.errors import SpecError

WRONG: Final = 0.05
"""The chance that any of the claims made together is wrong."""
POWER: Final = 0.8
LARGEST: Final = 1e100
"""Beyond it a number measures nothing, and its square is not a number any more."""
MISSING: Final = "none"
"""Stands for an answer without a category."""


def least_inputs(claims: int = 1) -> int:
    """The smallest n at which the sign-flip test can reach 0.05 / `claims` at all: when all n go one way, p = 2 / 2**n."""
    return math.ceil(1 + math.log2(_known(claims) / WRONG))


@dataclass(frozen=True, slots=True)
class Claim:
    """One of `claims` claims made together about `n` inputs. `p` is its own, to be held against `level`."""

    n: int
    claims: int
    p: float

    @property
    def level(self) -> float:
        return WRONG / self.claims

    @property
    def confidence(self) -> float:
        """Of this claim's interval and test, so that all claims together hold at 95 %: 0.9944 for one of 9."""
        return 1 - self.level

    @property
    def least(self) -> int:
        """The number of inputs below which nothing can be concluded."""
        return least_inputs(self.claims)

    @property
    def concluded(self) -> bool:
        """Whether a difference is shown."""
        return self.n >= self.least and self.p <= self.level


@dataclass(frozen=True, slots=True)
class PairedDifference(Claim):
    """A measure under two variants: the means, and after less before with its bootstrap `interval` at `confidence`.

    `p` is of the sign-flip test, whose null is that the variants could be exchanged within each input. That is held to
    5 %. Variants that differ in a lopsided way around one mean are something else: on fewer than 20 inputs, of exponential
    differences 7 % are taken for a difference in means, of lognormal ones 12 %.

    `deviation` is the standard deviation of the differences (0 of a single one). Without inputs the means are NaN and the
    interval is endless. Below `least` inputs the interval is too short to be believed.
    """

    before: float
    after: float
    difference: float
    deviation: float
    interval: tuple[float, float]

    @property
    def relative(self) -> float | None:
        """The difference as a share of the mean before. None when that is 0."""
        change = self.difference / self.before if self.before else math.nan
        return change if math.isfinite(change) else None

    @property
    def concluded(self) -> bool:
        """Whether a difference is shown: enough inputs, an interval without 0, and p at most `level`."""
        low, high = self.interval
        return self.n >= self.least and self.p <= self.level and not low <= 0 <= high

    @property
    def equal(self) -> bool:
        """Whether there was no difference on any input, and there are at least `least`."""
        return self.n >= self.least and self.difference == self.deviation == 0

    @property
    def needed(self) -> int | None:
        """How many inputs a conclusion takes. None when it is made, and when the mean difference is 0 on enough inputs.

        Below `least` it is `least`. From there on: at how many inputs a difference of this size and deviation is shown with
        80 % power (normal approximation), in any case more than there are; at most 10**9.
        """
        if self.n < self.least:
            return self.least
        if self.concluded or not self.difference:
            return None
        normal = NormalDist()
        reach = (normal.inv_cdf(1 - self.level / 2) + normal.inv_cdf(POWER)) * self.deviation / abs(self.difference)
        return max(self.n + 1, math.ceil(min(reach, 10**4.5) ** 2))


@dataclass(frozen=True, slots=True)
class PairedShare(PairedDifference):
    """Shares of answers that are right, 0 to 1, and on how many inputs they rose (`gained`) and fell (`lost`).

    `right` counts the inputs with a right answer before and after; None when an input's share can lie between 0 and 1.
    Then `p` is the sign-flip test's; of 0 and 1 that is McNemar's exact test.
    """

    gained: int
    lost: int
    right: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Flips(Claim):
    """Answers under two variants: on how many inputs they are the `same`, which way the others changed, and the noise.

    With repeats an input has the answer that most of them gave; where no answer leads, all of them count, each with its
    share. `disagreement` is the mean share of pairs, one answer from each variant, that differ; `floor_before` and
    `floor_after` are those of two repeats of one variant (None without repeats). `repeats` is the most that an input has.

    With repeats `p` asks whether variants differ more than a variant differs from itself. Without, that is not known:
    `p` asks only whether changes go one way, on the most lopsided pair of answers, corrected for the number of such pairs.
    `one_way` is that way, and `ways` are the changes that way and back.
    """

    repeats: int
    same: int
    directions: Counter[str]
    disagreement: float
    floor_before: float | None
    floor_after: float | None
    one_way: str = ""
    ways: tuple[int, int] = (0, 0)

    @property
    def changed(self) -> int:
        return self.n - self.same

    @property
    def floor(self) -> float | None:
        """How much a variant differs from itself: the mean over both. None without repeats."""
        known = [floor for floor in (self.floor_before, self.floor_after) if floor is not None]
        return math.fsum(known) / len(known) if known else None


def paired_difference(
    before: Sequence[float], after: Sequence[float], *, claims: int = 1, seed: int = 0
) -> PairedDifference:
    """Compare a measure's values, one an input, in the same order under both variants.

    Raises `SpecError` for lists of different length and for values that are no finite numbers.
    """
    one, other = _numbers(before, after)
    differences = _differences(one, other)
    if not differences:
        nothing = math.nan
        return PairedDifference(0, _known(claims), 1.0, nothing, nothing, nothing, 0.0, (-math.inf, math.inf))
    mean, level = _mean(differences), WRONG / _known(claims)
    return PairedDifference(
        n=len(differences),
        claims=claims,
        p=sign_flip_p(differences, level, seed),
        before=_mean(one),
        after=_mean(other),
        difference=mean,
        deviation=_deviation(differences, mean),
        interval=mean_interval(differences, level, seed),
    )


def paired_share(before: Sequence[float], after: Sequence[float], *, claims: int = 1, seed: int = 0) -> PairedShare:
    """Compare how often answers are right: 0, 1, or the share of right repeats, one an input, in the same order.

    Raises `SpecError` as `paired_difference` does, and for values outside 0 to 1.
    """
    one, other = _numbers(before, after)
    for value in (*one, *other):
        if not 0 <= value <= 1:
            raise SpecError(f"a share of right answers lies between 0 and 1; there is {value!r}")
    compared = paired_difference(one, other, claims=claims, seed=seed)
    differences = _differences(one, other)
    return PairedShare(
        n=compared.n,
        claims=claims,
        p=compared.p,
        before=compared.before,
        after=compared.after,
        difference=compared.difference,
        deviation=compared.deviation,
        interval=compared.interval,
        gained=sum(each > 0 for each in differences),
        lost=sum(each < 0 for each in differences),
        right=(int(sum(one)), int(sum(other))) if {*one, *other} <= {0.0, 1.0} else None,
    )


def flips(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]], *, claims: int = 1, seed: int = 0) -> Flips:
    """Compare answers, or their categories: for each input, in the same order, the list of its repeats' answers.

    Raises `SpecError` for lists of different length, and for an input without an answer or with a text in place of a list.
    """
    _paired_up(before, after)
    pairs = [(_counts(one), _counts(other)) for one, other in zip(before, after, strict=True)]
    level = WRONG / _known(claims)
    directions = Counter(f"{_usual(one)}→{_usual(other)}" for one, other in pairs if not _same(one, other))
    repeats = max((each.total() for pair in pairs for each in pair), default=1)
    p, one_way, ways = 1.0, "", (0, 0)
    if repeats > 1:
        p = exchange_p(pairs, level, seed)
    elif directions:
        p, one_way, ways = _lopsided(Counter((*one, *other) for one, other in pairs if one != other))
    return Flips(
        n=len(pairs),
        claims=claims,
        p=p,
        repeats=repeats,
        same=len(pairs) - directions.total(),
        directions=directions,
        disagreement=_mean(disagreement_between(one, other) for one, other in pairs),
        floor_before=_floor(one for one, _ in pairs),
        floor_after=_floor(other for _, other in pairs),
        one_way=one_way,
        ways=ways,
    )


def _known(claims: int) -> int:
    if isinstance(claims, bool) or not isinstance(claims, int) or claims < 1:
        raise SpecError(f"claims is how many differences are judged together, from 1; it is {claims!r}")
    return claims


def _paired_up(before: Sequence[object], after: Sequence[object]) -> None:
    if len(before) != len(after):
        raise SpecError(
            f"{len(before)} inputs before and {len(after)} after: each input needs both. Leave out what only one variant has."
        )


def _numbers(before: Sequence[float], after: Sequence[float]) -> tuple[list[float], list[float]]:
    _paired_up(before, after)
    return _finite("before", before), _finite("after", after)


def _finite(side: str, values: Sequence[object]) -> list[float]:
    found = []
    for place, value in enumerate(values, 1):
        try:
            number = float(value) if isinstance(value, numbers.Real) else math.nan
        except OverflowError:
            number = math.inf
        if not abs(number) < LARGEST:
            raise SpecError(
                f"input {place} is {value!r} {side}: a measure is a finite number. Leave out what has none."
            )
        found.append(number)
    return found


def _differences(before: Sequence[float], after: Sequence[float]) -> list[float]:
    """After less before. What differs by rounding alone is equal, so that no conclusion follows from how a mean was added up."""
    pairs = list(zip(before, after, strict=True))
    differences = [
        0.0 if abs(other - one) <= ROUNDING * max(abs(one), abs(other)) else other - one for one, other in pairs
    ]
    largest = max((abs(value) for value in (*before, *after)), default=0.0)
    if differences and max(differences) - min(differences) <= ROUNDING * largest:
        return [_mean(differences)] * len(differences)
    return differences


def _mean(values: Iterable[float]) -> float:
    """The mean, rounded once: the same in any order. NaN of nothing."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else math.nan


def _deviation(values: Sequence[float], mean: float) -> float:
    scale = max(abs(value - mean) for value in values)
    if not scale:
        return 0.0
    return scale * math.sqrt(math.fsum(((value - mean) / scale) ** 2 for value in values) / (len(values) - 1))


def _counts(answers: Sequence[str]) -> Counts:
    if isinstance(answers, str) or not answers:
        raise SpecError(f"each input has a list of at least one answer, one a repeat; there is {answers!r}")
    return Counter(answer or MISSING for answer in answers)


def _floor(answers: Iterable[Counts]) -> float | None:
    """The mean share of pairs of repeats that differ, over the inputs that have repeats."""
    known = [share for counts in answers if (share := disagreement_within(counts)) is not None]
    return _mean(known) if known else None


def _usual(counts: Counts) -> str:
    """The most frequent answer; where none leads, all of them: `A/B`, `2 A/2 B/1 C`."""
    (answer, most), *others = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if not others or others[0][1] < most:
        return answer
    ranked = [(answer, most), *others]
    if others[-1][1] == most:
        return "/".join(name for name, _ in ranked)
    return "/".join(f"{times} {name}" for name, times in ranked)


def _same(one: Counts, other: Counts) -> bool:
    """Whether one answer leads on both sides; where none leads, whether all answers have the same shares."""
    leaders = [[answer for answer, times in counts.items() if times == max(counts.values())] for counts in (one, other)]
    if len(leaders[0]) == len(leaders[1]) == 1:
        return leaders[0] == leaders[1]
    shares = [{answer: times / counts.total() for answer, times in counts.items()} for counts in (one, other)]
    return shares[0] == shares[1]


def _lopsided(changes: Counter[tuple[str, ...]]) -> tuple[float, str, tuple[int, int]]:
    """Of the pairs of answers, the one whose changes go one way most: its corrected p, that way, and changes there and back."""
    found = []
    for pair in {tuple(sorted(change)) for change in changes}:
        one, other = sorted((pair, pair[::-1]), key=lambda change: (-changes[change], change))
        ways = changes[one], changes[other]
        found.append((binomial_p(*ways), -ways[0], "→".join(one), ways))
    p, _, one_way, ways = min(found)
    return min(1.0, p * len(found)), one_way, ways
