"""Changed answers: counts and noise by hand, and the exchange test against every exchange there is."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from adknb.compare import exchange
from adknb.compare.exchange import disagreement_between, disagreement_within, exchange_p
from adknb.compare.statistics import Flips, flips
from adknb.core.errors import SpecError

A, R, E = "APPROVE", "REJECT", "ESCALATE"

Answers = list[list[str]]


def counted(before: Answers, after: Answers) -> list[tuple[Counter[str], Counter[str]]]:
    return [(Counter(one), Counter(other)) for one, other in zip(before, after, strict=True)]


def statistic(pairs: list[tuple[Counter[str], Counter[str]]]) -> float:
    """Disagreement between the variants less the mean of the disagreements within, summed over inputs."""
    total = 0.0
    for one, other in pairs:
        within = [share for share in (disagreement_within(one), disagreement_within(other)) if share is not None]
        if within:
            total += disagreement_between(one, other) - sum(within) / len(within)
    return total


def share_of_exchanges(before: Answers, after: Answers) -> float:
    """The p of the exchange test, by carrying out every exchange."""
    exchanges = []
    for one, other in zip(before, after, strict=True):
        pool, size = [*one, *other], len(one)
        exchanges.append(
            [
                (
                    Counter(pool[place] for place in chosen),
                    Counter(pool[place] for place in range(len(pool)) if place not in chosen),
                )
                for chosen in itertools.combinations(range(len(pool)), size)
            ]
        )
    observed = statistic(counted(before, after))
    sums = [statistic(list(dealt)) for dealt in itertools.product(*exchanges)]
    return sum(each >= observed - 1e-9 for each in sums) / len(sums)


def test_one_answer_an_input() -> None:
    result = flips([[A]] * 30 + [[R]] * 10, [[R]] * 9 + [[A]] * 22 + [[R]] * 9)
    assert (result.n, result.repeats, result.same, result.changed) == (40, 1, 30, 10)
    assert result.directions == Counter({"APPROVE→REJECT": 9, "REJECT→APPROVE": 1})
    assert result.disagreement == 0.25
    assert (result.floor_before, result.floor_after, result.floor) == (None, None, None)
    assert result.one_way == "APPROVE→REJECT"
    assert result.ways == (9, 1)
    assert result.p == pytest.approx(22 / 1024)  # 2 * (1 + 10) / 2**10
    assert result.concluded


@pytest.mark.parametrize(
    ("there", "back", "p", "concluded"),
    [(6, 0, 2 / 64, True), (5, 0, 2 / 32, False), (0, 9, 2 / 512, True), (3, 3, 1.0, False), (0, 0, 1.0, False)],
)
def test_mcnemar_of_changes_one_way_and_back(there: int, back: int, p: float, concluded: bool) -> None:
    result = flips([[A]] * there + [[R]] * back + [[A]] * 20, [[R]] * there + [[A]] * back + [[A]] * 20)
    assert result.p == pytest.approx(p)
    assert result.concluded is concluded
    assert result.changed == there + back


def test_the_most_lopsided_pair_pays_for_the_choice_among_pairs() -> None:
    result = flips([[A]] * 9 + [[R]] * 4 + [[A]] * 10, [[R]] * 9 + [[E]] * 3 + [[A]] * 1 + [[A]] * 10)
    assert result.directions == Counter({f"{A}→{R}": 9, f"{R}→{E}": 3, f"{R}→{A}": 1})
    assert (result.one_way, result.ways) == (f"{A}→{R}", (9, 1))
    assert result.p == pytest.approx(2 * 22 / 1024)  # two pairs of answers changed places
    assert result.concluded


def test_nine_claims_need_nine_changes() -> None:
    eight, nine = (flips([[A]] * 40, [[R]] * changed + [[A]] * (40 - changed), claims=9) for changed in (8, 9))
    assert (eight.least, eight.concluded, nine.concluded) == (9, False, True)


def test_three_repeats_of_an_input_that_changed_for_good() -> None:
    """Of the 20 ways to deal AAABBB, 2 part the answers as they are: 0.1 an input."""
    result = flips([[A] * 3] * 2 + [[A] * 3] * 6, [[R] * 3] * 2 + [[A] * 3] * 6)
    assert (result.n, result.repeats, result.same) == (8, 3, 6)
    assert result.p == pytest.approx(0.01)
    assert (result.disagreement, result.floor_before, result.floor_after) == (0.25, 0, 0)
    assert (result.one_way, result.ways) == ("", (0, 0))
    assert result.concluded
    few = flips([[A] * 3] * 3, [[R] * 3] * 3)
    assert few.p == pytest.approx(0.001)
    assert not few.concluded  # three inputs say nothing of other inputs


def test_noise_is_no_difference() -> None:
    """AAR against ARR: 5 of 9 pairs differ, and 2 of 3 within each variant."""
    result = flips([[A, A, R]] * 10, [[A, R, R]] * 10)
    assert result.disagreement == pytest.approx(5 / 9)
    assert result.floor_before == result.floor_after == pytest.approx(2 / 3)
    assert result.same == 0
    assert result.directions == Counter({"APPROVE→REJECT": 10})
    # 18 of the 20 ways to deal AAARRR give AAR and ARR, and 2 part them wholly: nothing is less than this
    assert result.p == pytest.approx(1)
    assert not result.concluded


@pytest.mark.parametrize(
    ("before", "after", "direction"),
    [
        ([A, A, R], [R, A, A], None),
        ([A, A, R], [A, A, A], None),
        ([A, R], [R, A], None),
        ([A, A, R], [R, R, A], "APPROVE→REJECT"),
        ([A, R], [A, A], "APPROVE/REJECT→APPROVE"),
        ([A, R, E], [R, E, A], None),
        ([A, A, R, R, E], [A, A, R, R, R], "2 APPROVE/2 REJECT/1 ESCALATE→REJECT"),
        ([A, R], [A, A, R, R], None),
        (["", "", A], [A, A, A], "none→APPROVE"),
        (["", A], ["none", A], None),
    ],
)
def test_with_repeats_the_most_frequent_answer_counts(
    before: list[str], after: list[str], direction: str | None
) -> None:
    result = flips([before], [after])
    assert result.directions == Counter([direction] if direction else [])
    assert (result.same, result.changed) == ((0, 1) if direction else (1, 0))


def test_inputs_may_have_fewer_repeats_than_others() -> None:
    result = flips([[A, A, R], [A], [A, R]], [[A, R], [R], [E]])
    assert (result.n, result.repeats) == (3, 3)
    assert result.floor_before == pytest.approx((2 / 3 + 1) / 2)  # the second input has one answer, so no pairs
    assert result.floor_after == 1
    assert result.floor == pytest.approx((5 / 6 + 1) / 2)
    assert result.disagreement == pytest.approx((1 / 2 + 1 + 1) / 3)


answers_of_two = st.lists(st.sampled_from([A, R, E]), min_size=1, max_size=3)
inputs = st.lists(st.tuples(answers_of_two, answers_of_two), min_size=1, max_size=3)


@given(inputs)
@settings(max_examples=60, deadline=None)
def test_the_exchange_test_counts_every_exchange(pairs: list[tuple[list[str], list[str]]]) -> None:
    before, after = [one for one, _ in pairs], [other for _, other in pairs]
    if max(len(answers) for answers in (*before, *after)) > 1:
        assert flips(before, after).p == pytest.approx(share_of_exchanges(before, after))


@pytest.mark.parametrize("repeats", [2, 3, 5])
def test_random_exchanges_come_near_the_exact_test(repeats: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = [[A] * repeats] * 12 + [[A] * (repeats - 1) + [R]] * 12
    after = (
        [[A] * repeats] * 10
        + [[R] * repeats] * 2
        + [[R] + [A] * (repeats - 1)] * 8
        + [[R] * 2 + [A] * (repeats - 2)] * 4
    )
    exact = flips(before, after)
    monkeypatch.setattr(exchange, "LATTICE", 0)
    drawn = flips(before, after)
    assert drawn != exact
    assert drawn == flips(before, after)
    assert drawn.p == pytest.approx(exact.p, abs=0.01)
    assert round(drawn.p * 10_000) == pytest.approx(drawn.p * 10_000, abs=1e-6)
    assert flips(before, after, seed=1) != drawn


def test_random_exchanges_reach_any_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "LATTICE", 0)
    pairs = counted([[A] * 3] * 40, [[R] * 3] * 40)
    assert exchange_p(pairs, 0.05, 0) == 1 / 10_000
    assert exchange_p(pairs, 0.05 / 1_000, 0) == 1 / 200_000


texts = st.lists(st.text(max_size=3) | st.sampled_from([A, R]), min_size=1, max_size=4)


@given(st.lists(st.tuples(texts, texts), max_size=12), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_exchanging_the_variants_turns_directions_round(pairs: list[tuple[list[str], list[str]]], random: Any) -> None:
    before, after = [one for one, _ in pairs], [other for _, other in pairs]
    result, mirrored = flips(before, after), flips(after, before)
    assert (mirrored.n, mirrored.same, mirrored.p, mirrored.concluded) == (
        result.n,
        result.same,
        result.p,
        result.concluded,
    )
    assert (mirrored.floor_before, mirrored.floor_after) == (result.floor_after, result.floor_before)
    assert sorted(mirrored.directions.values()) == sorted(result.directions.values())
    assert result.directions.total() == result.changed
    assert 0 < result.p <= 1
    shuffled = [
        (random.sample(one, len(one)), random.sample(other, len(other)))
        for one, other in random.sample(pairs, len(pairs))
    ]
    again = flips([one for one, _ in shuffled], [other for _, other in shuffled])
    if pairs:
        assert again == result


def test_without_inputs_nothing_is_known() -> None:
    result = flips([], [])
    assert (result.n, result.same, result.p, result.concluded, result.floor) == (0, 0, 1, False, None)
    assert result.directions == Counter()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([[A]], [[A], [R]], "1 inputs before and 2 after: each input needs both. Leave out what only one variant has."),
        ([[A], []], [[A], [A]], "each input has a list of at least one answer, one a repeat; there is []"),
        ([A], [R], "each input has a list of at least one answer, one a repeat; there is 'APPROVE'"),
    ],
)
def test_what_cannot_be_compared(before: Any, after: Any, said: str) -> None:
    with pytest.raises(SpecError) as raised:
        flips(before, after)
    assert str(raised.value) == said


def test_a_large_comparison_is_exact() -> None:
    """200 inputs of five repeats: every number is the whole distribution's, whatever the seed."""
    before = [[A] * 5] * 155 + [[A] * 4 + [R]] * 45
    after = [[R] * 5] + [[A] * 5] * 119 + [[A] * 3 + [R] * 2] * 35 + [[A] * 4 + [R]] * 45
    results: list[Flips] = [flips(before, after, seed=seed) for seed in (0, 1)]
    assert results[0] == results[1]
    assert 0.0001 < results[0].p < 0.9
