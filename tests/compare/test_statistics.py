"""Paired numbers: intervals, tests and the inputs that a conclusion takes, against hand calculation and scipy's own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from adknb.compare.resampling import EXACT, binomial_p, mean_interval, sign_flip_p
from adknb.compare.statistics import PairedDifference, least_inputs, paired_difference, paired_share
from adknb.core.errors import SpecError


def against_zero(differences: Sequence[float], claims: int = 1, seed: int = 0) -> PairedDifference:
    return paired_difference([0.0] * len(differences), differences, claims=claims, seed=seed)


@pytest.mark.parametrize(("claims", "least"), [(1, 6), (2, 7), (3, 7), (4, 8), (9, 9), (50, 11), (300, 14)])
def test_the_least_n_is_the_first_at_which_all_going_one_way_reaches_the_level(claims: int, least: int) -> None:
    assert least_inputs(claims) == least
    assert 2 / 2**least <= 0.05 / claims < 2 / 2 ** (least - 1)
    result = against_zero([1.0, *range(2, least + 1)], claims)
    assert result.p == 2 / 2**least
    assert result.concluded
    fewer = against_zero([1.0, *range(2, least)], claims)
    assert (fewer.concluded, fewer.least, fewer.needed) == (False, least, least)


def test_claims_share_the_five_percent() -> None:
    one, nine = against_zero([1, 2, 3]), against_zero([1, 2, 3], claims=9)
    assert (one.confidence, one.level, one.claims) == (0.95, 0.05, 1)
    assert nine.confidence == pytest.approx(0.994444, abs=1e-6)
    assert nine.claims == 9


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1, 2, 3, 4, 5], 0.0625),  # all of five one way: 2 of 32
        ([1, 2, 3, 4, 5, 6], 0.03125),
        ([1, 2, 3], 0.25),  # 2 of 8
        ([3, 1, -1], 0.75),  # of 3 ± 1 ± 1, three of four reach 3
        ([3, 1, -1, 0, 0], 0.75),  # inputs without a difference tell nothing
        ([1, 2, -3], 1.0),
        ([-4, -4, -4, -4, -4, -4], 0.03125),
        ([0, 0, 0], 1.0),
        ([0.1, 0.2, -0.3], 1.0),  # 0.1 + 0.2 - 0.3 is not quite 0
        ([7], 1.0),
    ],
)
def test_the_sign_flip_test_by_hand(differences: list[float], p: float) -> None:
    assert against_zero(differences).p == p


@pytest.mark.parametrize("seed", range(8))
def test_the_exact_sign_flip_test_is_scipys(seed: int) -> None:
    generator = np.random.default_rng(seed)
    drawn = generator.normal(0.5, 1, 11) if seed % 2 else generator.integers(-3, 6, 11)
    differences = [float(each) for each in drawn]
    scipys = stats.permutation_test(
        (np.array(differences),), np.mean, permutation_type="samples", n_resamples=2**11, vectorized=True
    )
    assert against_zero(differences).p == pytest.approx(float(scipys.pvalue), abs=1e-12)


@pytest.mark.parametrize("n", [EXACT, EXACT + 1, 200])
def test_the_sign_flip_test_of_many_is_near_scipys(n: int) -> None:
    """Both draw at random beyond 30 differences; the standard error of each p is at most 0.005."""
    differences = np.random.default_rng(n).exponential(1, n) - 1 + 1.2 / n**0.5
    scipys = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=9_999, batch=500, vectorized=True, rng=1
    )
    assert 0.02 < scipys.pvalue < 0.95
    assert against_zero(differences.tolist()).p == pytest.approx(float(scipys.pvalue), abs=0.015)


def test_random_signs_count_the_observed_one_and_reach_any_level() -> None:
    all_up = [float(each) for each in range(1, 101)]
    assert against_zero(all_up).p == 1 / 10_000
    assert against_zero(all_up, claims=1_000).p == 1 / 200_000
    assert against_zero(all_up, claims=1_000).concluded


@pytest.mark.parametrize(
    ("one", "other", "p"),
    [(0, 6, 0.03125), (6, 0, 0.03125), (1, 9, 0.021484375), (10, 10, 1.0), (0, 0, 1.0), (0, 300, 2 / 2**300)],
)
def test_mcnemar(one: int, other: int, p: float) -> None:
    assert binomial_p(one, other) == pytest.approx(p, rel=1e-9)
    shares = paired_share([1] * one + [0] * other + [1] * 5, [0] * one + [1] * other + [1] * 5)
    assert shares.p == pytest.approx(p, rel=1e-9)
    assert (shares.gained, shares.lost, shares.right) == (other, one, (one + 5, other + 5))


def test_a_difference_in_full() -> None:
    result = paired_difference([100, 200, 300, 400, 500, 600], [90, 170, 260, 350, 440, 530])
    assert (result.n, result.before) == (6, 350)
    assert result.after == pytest.approx(306.6667)
    assert result.difference == pytest.approx(-43.3333)
    assert result.relative == pytest.approx(-0.1238095)
    assert result.deviation == pytest.approx(math.sqrt(466.6667))
    assert result.p == 0.03125
    low, high = result.interval
    assert -70 <= low < -43.33 < high < -15
    assert (result.concluded, result.equal, result.needed) == (True, False, None)


def test_the_interval_is_scipys_bca_with_tails_widened_by_students_t() -> None:
    """At n = 12 and 95 %: sqrt(12 / 11) * t(0.975; 11) = 2.2989, whose normal tail is 0.010756."""
    differences = np.random.default_rng(5).exponential(10, 12)
    scipys = stats.bootstrap(
        (differences,), np.mean, confidence_level=1 - 2 * 0.010756, n_resamples=99_999, batch=5_000, rng=3
    )
    assert against_zero(differences.tolist()).interval == pytest.approx(tuple(scipys.confidence_interval), rel=0.03)


def test_the_interval_of_many_is_scipys_bca() -> None:
    differences = np.random.default_rng(6).exponential(10, 400)
    for claims, confidence in ((1, 0.95), (9, 1 - 0.05 / 9)):
        scipys = stats.bootstrap(
            (differences,), np.mean, confidence_level=confidence, n_resamples=9_999, batch=500, rng=3
        )
        assert against_zero(differences.tolist(), claims).interval == pytest.approx(
            tuple(scipys.confidence_interval), rel=0.02
        )


def test_more_claims_make_a_wider_interval() -> None:
    differences = [3, 5, 1, 9, 2, 6, 4, 4, 7, 1.5]
    ends = [against_zero(differences, claims).interval for claims in (1, 9, 100)]
    assert ends[2][0] < ends[1][0] < ends[0][0] < ends[0][1] < ends[1][1] < ends[2][1]
    assert ends[2][0] >= 1
    assert ends[2][1] <= 9


def test_differences_that_mirror_each_other_have_an_interval_that_does() -> None:
    low, high = against_zero([-9, -4, -4, -1, 1, 4, 4, 9]).interval
    assert low == -high
    assert 4 < high < 9


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        ([5, 6, 7, 8, 9, 10], [8, 9, 10, 11, 12, 13], 3),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.2, 0.3, 0.4, 0.5, 0.6, 0.7], 0.1),  # 0.3 - 0.2 is not quite 0.1
        ([4], [6], 2),
    ],
)
def test_equal_differences_have_an_interval_of_one_point(
    before: list[float], after: list[float], difference: float
) -> None:
    result = paired_difference(before, after)
    assert result.interval == (result.difference, result.difference)
    assert result.difference == pytest.approx(difference)
    assert result.deviation == 0
    assert result.concluded is (len(before) >= 6)


def test_what_differs_by_rounding_alone_is_equal() -> None:
    result = paired_difference([0.1 + 0.2, 1.1 + 2.2, 1e9] * 3, [0.3, 3.3, 1e9 * (1 + 2e-16)] * 3)
    assert (result.difference, result.interval, result.p, result.concluded, result.equal) == (0, (0, 0), 1, False, True)


def test_no_difference_on_any_input() -> None:
    assert [against_zero([0] * n).equal for n in (1, 5, 6, 40)] == [False, False, True, True]
    result = against_zero([0] * 40)
    assert (result.interval, result.p, result.concluded, result.needed) == ((0, 0), 1, False, None)


def test_without_inputs_nothing_is_known() -> None:
    result = paired_difference([], [], claims=9)
    assert (result.n, result.p, result.concluded, result.equal, result.needed) == (0, 1, False, False, 9)
    assert result.interval == (-math.inf, math.inf)
    assert math.isnan(result.before)
    assert result.relative is None
    assert paired_share([], []).needed == 6


def test_the_inputs_needed() -> None:
    """Mean 1 and standard deviation 2 * sqrt(10 / 9): ((1.95996 + 0.84162) * 2.10819) ** 2 = 34.88."""
    assert against_zero([-1, 3] * 5).needed == 35
    # 0.05 / 9 two-sided is 2.77314 standard deviations: ((2.77314 + 0.84162) * 2.10819) ** 2 = 58.07
    assert against_zero([-1, 3] * 5, claims=9).needed == 59
    assert against_zero([-1, 3] * 2).needed == 6
    assert against_zero([-1, 1] * 5).needed is None
    assert against_zero([10] * 5 + [0]).needed == 7  # by the approximation fewer than there are
    assert against_zero([1] * 10 + [-1] * 10 + [1e-9]).needed == 10**9


def test_interval_and_test_must_both_speak() -> None:
    kept = PairedDifference(20, 1, 0.01, 5.0, 6.0, 1.0, 2.0, (-0.1, 2.1))
    assert not kept.concluded
    assert PairedDifference(20, 1, 0.01, 5.0, 6.0, 1.0, 2.0, (0.1, 2.1)).concluded
    assert not PairedDifference(20, 1, 0.06, 5.0, 6.0, 1.0, 2.0, (0.1, 2.1)).concluded
    assert not PairedDifference(20, 9, 0.01, 5.0, 6.0, 1.0, 2.0, (0.1, 2.1)).concluded
    assert not PairedDifference(5, 1, 0.01, 5.0, 6.0, 1.0, 2.0, (0.1, 2.1)).concluded


def test_shares_of_repeats_take_the_sign_flip_test() -> None:
    result = paired_share([1 / 3, 0, 2 / 3, 1, 0, 1 / 3, 1], [1, 1 / 3, 1, 1, 1, 2 / 3, 1])
    assert (result.n, result.right, result.gained, result.lost) == (7, None, 5, 0)
    assert result.p == 0.0625
    assert not result.concluded
    assert paired_share([True, False], [1, 0.0]).right == (1, 1)


finite = st.floats(-1e6, 1e6, allow_subnormal=False) | st.integers(-5, 5).map(float)
paired = st.lists(st.tuples(finite, finite), min_size=1, max_size=40)


@given(paired, st.randoms(use_true_random=False), st.sampled_from([1, 9]))
@settings(max_examples=60, deadline=None)
def test_exchanging_the_variants_negates_and_the_order_of_inputs_is_nothing(
    pairs: list[tuple[float, float]], random: Any, claims: int
) -> None:
    result = paired_difference(*zip(*pairs, strict=True), claims=claims)
    mirrored = paired_difference(*zip(*((after, before) for before, after in pairs), strict=True), claims=claims)
    assert (mirrored.before, mirrored.after, mirrored.p) == (result.after, result.before, result.p)
    assert mirrored.difference == -result.difference
    assert mirrored.interval == (-result.interval[1], -result.interval[0])
    assert (mirrored.concluded, mirrored.needed) == (result.concluded, result.needed)
    shuffled = random.sample(pairs, len(pairs))
    assert paired_difference(*zip(*shuffled, strict=True), claims=claims) == result
    low, high = result.interval
    assert low <= result.difference <= high
    assert 0 < result.p <= 1


@given(st.lists(st.floats(-1e99, 1e99), min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_numbers_of_any_size_have_an_interval_within_them(differences: list[float]) -> None:
    result = against_zero(differences)
    low, high = result.interval
    allowed = 1e-9 * max(map(abs, differences))
    assert min(differences) - allowed <= low <= high <= max(differences) + allowed
    assert math.isfinite(result.deviation)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_the_sign_flip_test_counts_every_choice_of_signs(differences: list[int]) -> None:
    choices = [
        abs(sum(sign * each for sign, each in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    expected = sum(choice >= abs(sum(differences)) for choice in choices) / len(choices)
    assert sign_flip_p([float(each) for each in differences], 0.05, 0) == pytest.approx(expected, abs=1e-12)


def test_the_same_seed_gives_the_same_numbers_whatever_ran_before() -> None:
    differences = np.random.default_rng(2).normal(1, 4, 50).tolist()
    first = against_zero(differences)
    np.random.default_rng(0).normal(size=100)
    against_zero([1, 2, 3, 9], seed=8)
    assert against_zero(differences) == first
    other = against_zero(differences, seed=1)
    assert other.p != first.p
    assert other.interval != first.interval
    assert mean_interval(differences, 0.05, 0) == first.interval


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([1, 2], [1], "2 inputs before and 1 after: each input needs both. Leave out what only one variant has."),
        ([1, math.nan], [1, 2], "input 2 is nan before: a measure is a finite number. Leave out what has none."),
        ([1, 2], [math.inf, 2], "input 1 is inf after: a measure is a finite number. Leave out what has none."),
        ([1, 2], [1, None], "input 2 is None after: a measure is a finite number. Leave out what has none."),
        ([1, "2"], [1, 2], "input 2 is '2' before: a measure is a finite number. Leave out what has none."),
        ([10**400], [1], f"input 1 is {10**400} before: a measure is a finite number. Leave out what has none."),
    ],
)
def test_what_cannot_be_compared(before: Any, after: Any, said: str) -> None:
    for compare in (paired_difference, paired_share):
        with pytest.raises(SpecError) as raised:
            compare(before, after)
        assert str(raised.value) == said


def test_shares_and_claims_have_bounds() -> None:
    with pytest.raises(SpecError, match=r"^a share of right answers lies between 0 and 1; there is 1\.5$"):
        paired_share([1, 0], [1.5, 0])
    for claims in (0, -1, True, 1.5):
        with pytest.raises(SpecError, match=r"^claims is how many differences are judged together, from 1; it is "):
            paired_difference([1], [2], claims=claims)  # type: ignore[arg-type]
