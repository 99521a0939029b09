"""Whether answers differ more between two variants than one variant's repeats differ from each other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from adknb.compare.resampling import random_draws

Counts: TypeAlias = Counter[str]
"""How often one variant gave each answer to one input."""

LATTICE: Final = 50_000
"""Points of the test's distribution up to which it is worked out whole. Five repeats of 200 inputs have about 40,000."""


def disagreement_between(before: Counts, after: Counts) -> float:
    """The share (0 to 1) of pairs, one answer from each variant, that differ."""
    alike = sum(times * after[answer] for answer, times in before.items())
    return 1 - alike / (before.total() * after.total())


def disagreement_within(answers: Counts) -> float | None:
    """The share (0 to 1) of pairs of different repeats that differ. None of a single answer."""
    repeats = answers.total()
    if repeats < 2:
        return None
    return 1 - sum(times * (times - 1) for times in answers.values()) / (repeats * (repeats - 1))


def exchange_p(pairs: Sequence[tuple[Counts, Counts]], level: float, seed: int) -> float:
    """The permutation test of disagreement between variants less disagreement within them, one-sided, summed over inputs.

    When the variants do not differ, any of an input's answers could as well have come from the other variant. All such
    exchanges are counted where the sum takes at most `LATTICE` values; else random ones, and the observed one.
    """
    sized = [(_Sizes(one.total(), other.total()), one, other) for one, other in pairs]
    unit = math.lcm(*(size.unit for size, _, _ in sized))
    observed = 0
    inputs: Counter[_Pool] = Counter()
    for size, one, other in sized:
        if size.has_repeats:
            observed += sum(size.worth(one[answer], other[answer], unit) for answer in one | other)
            inputs[_Pool(size.ordered, tuple(sorted((one + other).values())))] += 1
    pools = [(pool.scores(unit), times) for pool, times in sorted(inputs.items())]
    points = sum(times * (max(scores) - min(scores)) for scores, times in pools) + 1
    if points <= LATTICE:
        return _counted(pools, observed)
    return _drawn(pools, observed, unit, random_draws(level), seed)


@dataclass(frozen=True, slots=True, order=True)
class _Sizes:
    """How many answers to one input there are of each variant."""

    first: int
    second: int

    @property
    def has_repeats(self) -> bool:
        return max(self.first, self.second) > 1

    @property
    def ordered(self) -> _Sizes:
        """Which variant has more does not matter to the test."""
        return _Sizes(min(self.first, self.second), max(self.first, self.second))

    @property
    def unit(self) -> int:
        """The least whole number that makes every `worth` whole."""
        within = [2 * size * (size - 1) for size in (self.first, self.second) if size > 1]
        return math.lcm(self.first * self.second, *within)

    def worth(self, one: int, other: int, unit: int) -> int:
        """What an answer given `one` and `other` times adds to agreement within less agreement between, in 1 / `unit`."""
        both = 2 if min(self.first, self.second) > 1 else 1
        within = sum(
            unit // (both * size * (size - 1)) * times * (times - 1)
            for size, times in ((self.first, one), (self.second, other))
            if size > 1
        )
        return within - unit // (self.first * self.second) * one * other


@dataclass(frozen=True, slots=True, order=True)
class _Pool:
    """The answers to one input, of both variants together: how often each occurs. Which answers they are is nothing to the
    test."""

    sizes: _Sizes
    totals: tuple[int, ...]

    def scores(self, unit: int) -> Mapping[int, int]:
        """In how many ways the pool can be dealt to the variants with each score."""
        dealt = Counter({(0, 0): 1})
        for total in self.totals:
            further: Counter[tuple[int, int]] = Counter()
            for (taken, score), ways in dealt.items():
                for one in range(min(total, self.sizes.first - taken) + 1):
                    worth = self.sizes.worth(one, total - one, unit)
                    further[taken + one, score + worth] += ways * math.comb(total, one)
            dealt = further
        return {score: ways for (taken, score), ways in sorted(dealt.items()) if taken == self.sizes.first}


def _counted(pools: Iterable[tuple[Mapping[int, int], int]], observed: int) -> float:
    """The probability of at least `observed`, from the whole distribution of the sum."""
    import numpy as np

    lowest, chances = 0, np.ones(1)
    for scores, times in pools:
        least, ways = min(scores), sum(scores.values())
        span = max(scores) - least
        for _ in range(times):
            further = np.zeros(chances.size + span)
            for score, own in scores.items():
                further[score - least : score - least + chances.size] += chances * (own / ways)
            lowest, chances = lowest + least, further
    return min(1.0, float(chances[max(0, observed - lowest) :].sum()))


def _drawn(pools: Iterable[tuple[Mapping[int, int], int]], observed: int, unit: int, count: int, seed: int) -> float:
    """The share of `count` random exchanges, and of the observed one, with at least `observed`."""
    import numpy as np

    generator, sums = np.random.default_rng(seed), np.zeros(count)
    for scores, times in pools:
        ways = sum(scores.values())
        drawn = generator.multinomial(times, [own / ways for own in scores.values()], size=count)
        sums += drawn @ np.array([score / unit for score in scores])
    beyond = int((sums >= observed / unit - 1e-9).sum())
    return (beyond + 1) / (count + 1)
