"""Simulated comparisons of variants that do not differ: of conclusions at most one in twenty is wrong; and real differences
are found.

Each simulation draws whole comparisons from a seed. A bound is what at most 1 in 1,000 seeds goes beyond by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from scipy import stats

from adknb.compare.statistics import flips, paired_difference, paired_share

Random: TypeAlias = np.random.Generator
Values: TypeAlias = list[float]
Draw: TypeAlias = Callable[[Random, int], tuple[Values, Values]]

BRIEF: Final = 300
LONG: Final = 5_000
LENGTHS: Final = [BRIEF, pytest.param(LONG, marks=pytest.mark.soak)]


def allowed(simulations: int, share: float = 0.05) -> int:
    """The most wrong ones that chance brings about, where each is wrong with probability `share`."""
    return int(stats.binom.ppf(0.999, simulations, share))


def listed(before: Any, after: Any) -> tuple[Values, Values]:
    return before.tolist(), after.tolist()


def normal(random: Random, n: int) -> tuple[Values, Values]:
    """Tokens of inputs of different length, with noise."""
    inputs = random.normal(150, 50, n)
    return listed(inputs + random.normal(0, 10, n), inputs + random.normal(0, 10, n))


def skewed(random: Random, n: int) -> tuple[Values, Values]:
    """Latencies: most are short, some very long."""
    return listed(random.lognormal(5, 1.5, n), random.lognormal(5, 1.5, n))


def discrete(random: Random, n: int) -> tuple[Values, Values]:
    """Retries: small counts, many equal."""
    return listed(random.poisson(1, n).astype(float), random.poisson(1, n).astype(float))


def right(random: Random, n: int) -> tuple[Values, Values]:
    """Answers right or wrong, on inputs easy and hard."""
    ease = random.beta(2, 1, n)
    return listed((random.random(n) < ease) * 1.0, (random.random(n) < ease) * 1.0)


@pytest.mark.parametrize("simulations", LENGTHS)
@pytest.mark.parametrize("n", [6, 12, 40])
@pytest.mark.parametrize("draw", [normal, skewed, discrete, right])
def test_one_claim(draw: Draw, n: int, simulations: int) -> None:
    random = np.random.default_rng(n)
    compare = paired_share if draw is right else paired_difference
    wrong = sum(compare(*draw(random, n), seed=each).concluded for each in range(simulations))
    assert wrong <= allowed(simulations)


@pytest.mark.parametrize("simulations", LENGTHS)
def test_nine_claims_hold_together(simulations: int) -> None:
    """Three steps of three measures. A comparison is wrong when any of its nine conclusions is."""
    random = np.random.default_rng(9)
    wrong = sum(
        any(
            paired_difference(*draw(random, 20), claims=9, seed=each).concluded
            for draw in (normal, skewed, discrete)
            for _ in range(3)
        )
        for each in range(simulations)
    )
    assert wrong <= allowed(simulations)


def answers(random: Random, n: int, repeats: int, sides: int = 2) -> list[list[list[str]]]:
    """Answers of variants that do not differ: each input has its own chances, from sure to a toss among three."""
    chances = random.dirichlet([0.3, 0.3, 0.1], n)
    return [
        [list(random.choice(["APPROVE", "REJECT", "ESCALATE"], repeats, p=own)) for own in chances]
        for _ in range(sides)
    ]


@pytest.mark.parametrize("simulations", LENGTHS)
@pytest.mark.parametrize(("n", "repeats"), [(6, 1), (40, 1), (6, 3), (40, 2), (40, 3)])
def test_noise_is_no_change_of_answers(n: int, repeats: int, simulations: int) -> None:
    random = np.random.default_rng(10 * n + repeats)
    wrong = sum(flips(*answers(random, n, repeats), seed=each).concluded for each in range(simulations))
    assert wrong <= allowed(simulations)


@pytest.mark.parametrize("simulations", LENGTHS)
@pytest.mark.parametrize("repeats", [1, 3])
def test_nine_claims_on_answers_hold_together(repeats: int, simulations: int) -> None:
    random = np.random.default_rng(repeats)
    wrong = sum(
        any(flips(*answers(random, 20, repeats), claims=9, seed=each).concluded for _ in range(9))
        for each in range(simulations)
    )
    assert wrong <= allowed(simulations)


@pytest.mark.parametrize("simulations", LENGTHS)
@pytest.mark.parametrize(
    ("n", "is_skewed", "covered"),
    [(6, False, 0.93), (12, False, 0.94), (40, False, 0.94), (6, True, 0.89), (12, True, 0.915), (40, True, 0.93)],
)
def test_an_interval_holds_the_true_mean(n: int, is_skewed: bool, covered: float, simulations: int) -> None:
    """Of normal and of exponential differences around 20; `covered` is the share that the docstring of the interval gives,
    less one point for the simulation that it was measured by."""
    random = np.random.default_rng(n)
    missed = 0
    for each in range(simulations):
        differences = random.exponential(20, n) if is_skewed else random.normal(20, 20, n)
        low, high = paired_difference([0.0] * n, differences.tolist(), seed=each).interval
        missed += not low <= 20 <= high
    assert missed <= allowed(simulations, 1 - covered)


@pytest.mark.parametrize("simulations", LENGTHS)
def test_nine_intervals_hold_together(simulations: int) -> None:
    random, n = np.random.default_rng(3), 40
    missed = 0
    for each in range(simulations // 5):
        drawn = random.normal(5, 20, (9, n))
        intervals = [paired_difference([0.0] * n, row.tolist(), claims=9, seed=each).interval for row in drawn]
        missed += any(not low <= 5 <= high for low, high in intervals)
    assert missed <= allowed(simulations // 5, 0.06)


def found(results: list[bool]) -> float:
    return sum(results) / len(results)


def test_real_differences_are_found() -> None:
    """40 inputs, where the difference is 0.7 standard deviations: a t-test would find 99 % of them, and 86 % of 9 claims."""
    random = np.random.default_rng(1)
    drawn = [random.normal(7, 10, 40).tolist() for _ in range(100)]
    assert found([paired_difference([0.0] * 40, each).concluded for each in drawn]) >= 0.95
    assert found([paired_difference([0.0] * 40, each, claims=9).concluded for each in drawn]) >= 0.75


def test_the_inputs_said_to_be_needed_are_enough_four_times_in_five() -> None:
    random = np.random.default_rng(2)
    first = paired_difference([0.0] * 20, stats.norm(3, 10).ppf(np.linspace(0.025, 0.975, 20)).tolist())
    assert not first.concluded
    assert first.needed is not None
    drawn = [random.normal(first.difference, first.deviation, first.needed).tolist() for _ in range(200)]
    assert found([paired_difference([0.0] * first.needed, each).concluded for each in drawn]) == pytest.approx(
        0.8, abs=0.08
    )


@pytest.mark.parametrize("repeats", [1, 3])
def test_changed_answers_are_found(repeats: int) -> None:
    """The other variant turns a quarter of 40 approvals into rejections."""
    random = np.random.default_rng(4)
    results = []
    for _ in range(60):
        before, after = answers(random, 40, repeats)
        turned = [["REJECT"] * repeats if random.random() < 0.25 else own for own in after]
        kept = [["APPROVE"] * repeats if own[0] == "REJECT" else own for own in before]
        results.append(
            flips(
                kept, [own if own[0] != "APPROVE" else other for own, other in zip(turned, kept, strict=True)]
            ).concluded
        )
    assert found(results) >= 0.95


def test_ten_steps_of_five_measures_of_200_inputs_are_compared() -> None:
    random = np.random.default_rng(5)
    compared = [paired_difference(*normal(random, 200), claims=50) for _ in range(50)]
    assert {each.n for each in compared} == {200}
    assert sum(each.concluded for each in compared) <= allowed(50, 0.001)
