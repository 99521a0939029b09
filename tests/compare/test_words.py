"""The sentences: exact texts, the number of inputs in each, and nothing acts that a model wrote."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from adknb.compare.statistics import Flips, PairedDifference, flips, paired_difference, paired_share
from adknb.compare.words import difference_sentence, flips_sentence, share_sentence

A, R, E = "APPROVE", "REJECT", "ESCALATE"
UNKNOWN = "how much answers differ anyway is not known with one repeat"

FEWER = PairedDifference(40, 1, 0.0001, 159.2, 119.1, -40.1, 6.2, (-42.1, -38.2))


def said(result: PairedDifference, measure: str = "input tokens") -> str:
    return difference_sentence(result, measure, per="a run")


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (FEWER, "25 % fewer input tokens (40 of 159 a run; 95 % interval 38 to 42; n = 40)"),
        (
            replace(FEWER, claims=9),
            "25 % fewer input tokens (40 of 159 a run; 95 % interval 38 to 42, held together over 9 claims; n = 40)",
        ),
        (
            replace(FEWER, after=199.3, difference=40.1, interval=(38.2, 42.1)),
            "25 % more input tokens (40 on top of 159 a run; 95 % interval 38 to 42; n = 40)",
        ),
        (
            PairedDifference(40, 1, 0.5, 159.0, 160.0, 1.0, 6.2724, (-3.0, 5.0)),
            "no difference in input tokens shown (95 % interval -3 to 5; n = 40); a difference of this size would need about 310 inputs",
        ),
        (
            PairedDifference(40, 1, 0.5, 159.0, 159.0, 0.0, 6.0, (-2.4, 2.4)),
            "no difference in input tokens shown (95 % interval -2.4 to 2.4; n = 40)",
        ),
        (
            PairedDifference(40, 1, 0.9, 159.0, 159.0001, 0.0001, 6.0, (-2.4, 2.4)),
            "no difference in input tokens shown (95 % interval -2.4 to 2.4; n = 40); a difference of this size would need more than a million inputs",
        ),
        (
            PairedDifference(10, 9, 0.0117, 159.0, 150.0, -9.0, 9.0, (-20.0, -0.04)),
            "no difference in input tokens shown (95 % interval -20 to -0.04, held together over 9 claims, but p = 0.105, corrected for 9 claims; n = 10); a difference of this size would need about 14 inputs",
        ),
        (
            PairedDifference(40, 1, 0.0001, 0.0, 2.5, 2.5, 1.0, (2.2, 2.8)),
            "2.5 more input tokens (2.5 instead of 0 a run; 95 % interval 2.2 to 2.8; n = 40)",
        ),
        (
            PairedDifference(40, 1, 0.0001, 12_345.6, 12_340.2, -5.4, 1.0, (-6.1, -4.7)),
            "less than 0.1 % fewer input tokens (5 of 12,346 a run; 95 % interval 4.7 to 6.1; n = 40)",
        ),
        (
            PairedDifference(40, 1, 0.0001, 2000.0, 1.0, -1999.0, 10.0, (-2002.0, -1996.0)),
            "more than 99.9 % fewer input tokens (1,999 of 2,000 a run; 95 % interval 1,996 to 2,002; n = 40)",
        ),
    ],
)  # fmt: skip
def test_a_difference(result: PairedDifference, sentence: str) -> None:
    assert said(result) == sentence


def test_few_inputs() -> None:
    three, one = paired_difference([1, 2, 3], [4, 5, 6], claims=9), paired_difference([1], [4])
    assert said(three) == "3 inputs: nothing can be concluded; at least 9 would be needed"
    assert said(one) == "1 input: nothing can be concluded; at least 6 would be needed"
    assert said(paired_difference([1, 1], [1, 1])) == "2 inputs: nothing can be concluded; at least 6 would be needed"
    nothing = "0 inputs: nothing can be concluded; at least 6 would be needed"
    assert (
        said(paired_difference([], []))
        == share_sentence(paired_share([], []))
        == flips_sentence(flips([], []))
        == nothing
    )
    assert (
        flips_sentence(flips([[A]] * 3, [[R]] * 3)) == "3 inputs: nothing can be concluded; at least 6 would be needed"
    )
    assert (
        flips_sentence(flips([[A] * 3] * 3, [[R] * 3] * 3, claims=9))
        == "3 inputs: nothing can be concluded; at least 9 would be needed"
    )


def test_no_difference_on_any_input() -> None:
    assert said(paired_difference([5] * 40, [5] * 40)) == "no difference in input tokens on any of 40 inputs"
    assert (
        share_sentence(paired_share([1, 0] * 10, [1, 0] * 10))
        == "right on 10 of 20 either way: no difference on any of 20 inputs"
    )


def test_a_measure_whose_half_is_nothing() -> None:
    result = PairedDifference(40, 1, 0.0001, 0.86, 0.81, -0.05, 0.1, (-0.08, -0.02))
    sentence = difference_sentence(result, "similarity", fewer="lower", more="higher", relative=False)
    assert sentence == "0.05 lower similarity (0.81 instead of 0.86; 95 % interval 0.02 to 0.08; n = 40)"


def test_numbers_from_the_data() -> None:
    result = paired_difference([100, 200, 300, 400, 500, 600], [90, 170, 260, 350, 440, 530])
    low, high = (round(-end) for end in result.interval[::-1])
    assert said(result) == f"12 % fewer input tokens (43 of 350 a run; 95 % interval {low} to {high}; n = 6)"


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ([0] * 10 + [1] * 30, [1] * 10 + [1] * 30, "right on 40 of 40 instead of 30 (10 gained, 0 lost; 95 % interval {} to {} points more; n = 40)"),
        ([1] * 40, [0] * 10 + [1] * 30, "right on 30 of 40 instead of 40 (0 gained, 10 lost; 95 % interval {} to {} points less; n = 40)"),
        ([1, 0] * 10, [0, 1] * 10, "right on 10 of 20 either way: no difference shown (10 gained, 10 lost; 95 % interval {} to {} points; n = 20)"),
        ([0.5] * 20 + [1] * 20, [1] * 40, "right in 100 % of answers instead of 75 % (20 gained, 0 lost; 95 % interval {} to {} points more; n = 40)"),
        (
            [0] * 10 + [1] * 30,
            [1] * 7 + [0] * 4 + [1] * 29,
            "right on 36 of 40 instead of 30: no difference shown (7 gained, 1 lost; 95 % interval {} to {} points, but p = 0.070; n = 40); a difference of this size would need about 64 inputs",
        ),
    ],
)  # fmt: skip
def test_shares(before: list[float], after: list[float], sentence: str) -> None:
    pattern = re.escape(sentence).replace(r"\{\}", r"-?\d+(\.\d+)?")
    assert re.fullmatch(pattern, share_sentence(paired_share(before, after)))


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ([[A]] * 40, [[A]] * 40, f"equal on 40 of 40; {UNKNOWN}"),
        ([[A]] * 40, [[R]] * 9 + [[A]] * 31, f"changed on 9 of 40, all APPROVE→REJECT: more than chance (p = 0.004); {UNKNOWN}"),
        ([[A]] * 40, [[R]] * 1 + [[A]] * 39, f"changed on 1 of 40, APPROVE→REJECT: no direction shown; that takes at least 6 changes; {UNKNOWN}"),
        ([[A]] * 36 + [[R]] * 4, [[R]] * 5 + [[A]] * 35, f"changed on 9 of 40, 5 APPROVE→REJECT, 4 REJECT→APPROVE: no direction shown; {UNKNOWN}"),
        (
            [[A]] * 36 + [[R]] * 4,
            [[R]] * 9 + [[A]] * 28 + [[E]] * 3,
            f"changed on 13 of 40, 9 APPROVE→REJECT, 3 REJECT→ESCALATE, 1 REJECT→APPROVE: APPROVE→REJECT 9 times and 1 back is more than chance (p = 0.043); {UNKNOWN}",
        ),
        ([[A] * 3] * 40, [[A] * 3] * 40, "equal on 40 of 40, in every repeat (repeat 3)"),
        (
            [[A] * 3] * 39 + [[A, A, R]],
            [[A] * 3] * 39 + [[A, R, A]],
            "equal on 40 of 40; no more than a variant differs from itself (floor 1.7 %, repeat 3)",
        ),
        (
            [[A] * 3] * 39 + [[A, A, R]],
            [[R, R, A]] + [[A] * 3] * 39,
            "equal on 39 of 40; not shown to be more than a variant differs from itself (2.5 % against a floor of 1.7 %, repeat 3)",
        ),
        (
            [[A] * 3] * 40,
            [[R] * 3] * 9 + [[A] * 3] * 31,
            "changed on 9 of 40, all APPROVE→REJECT: more than a variant differs from itself (22 % against a floor of 0 %, repeat 3; p < 0.001)",
        ),
        (
            [[A] * 5] * 40,
            [[A] * 5] * 20 + [[A] * 3 + [R] * 2] * 20,
            "equal on 40 of 40 by the most frequent answer, but single answers differ more than a variant differs from itself (20 % against a floor of 15 %, repeat 5; p < 0.001)",
        ),
    ],
)  # fmt: skip
def test_changed_answers(before: list[list[str]], after: list[list[str]], sentence: str) -> None:
    assert flips_sentence(flips(before, after)) == sentence


def test_whole_answers_are_not_named() -> None:
    changed = [f"Answer {each}." for each in range(9)]
    noisy = flips([["Yes."]] * 40, [[answer] for answer in changed] + [["Yes."]] * 31)
    assert flips_sentence(noisy, ways=False) == f"changed on 9 of 40; {UNKNOWN}"
    result = flips([[A]] * 9 + [[E]] * 2, [[R]] * 9 + [[A]] * 2)
    assert (
        flips_sentence(result, ways=False)
        == f"changed on 11 of 11: one way 9 times and 0 back is more than chance (p = 0.008); {UNKNOWN}"
    )
    repeated = flips([[A] * 3] * 9, [[R] * 3] * 9)
    assert flips_sentence(repeated, ways=False) == (
        "changed on 9 of 9: more than a variant differs from itself (100 % against a floor of 0 %, repeat 3; p < 0.001)"
    )
    assert flips_sentence(flips([[A]] * 9, [[A]] * 9), ways=False) == f"equal on 9 of 9; {UNKNOWN}"


def test_p_is_corrected_for_the_claims_made_together() -> None:
    result = flips([[A]] * 40, [[R]] * 9 + [[A]] * 31, claims=9)
    assert (
        flips_sentence(result)
        == f"changed on 9 of 40, all APPROVE→REJECT: more than chance (p = 0.035, corrected for 9 claims); {UNKNOWN}"
    )


def test_many_directions_are_counted() -> None:
    directions = Counter({"a→b": 4, "c→d": 3, "e→f": 3, "g→h": 2, "i→j": 1})
    result = Flips(40, 1, 1.0, 1, 27, directions, 13 / 40, None, None, "a→b", (4, 0))
    assert (
        flips_sentence(result)
        == f"changed on 13 of 40, 4 a→b, 3 c→d, 3 e→f, 3 otherwise: no direction shown; that takes at least 6 changes; {UNKNOWN}"
    )


def test_hostile_names_and_answers_do_nothing() -> None:
    hostile = "\x1b[31m\u202e\nand more " + "x" * 1_000
    sentences = [
        said(FEWER, hostile),
        said(paired_difference([5] * 6, [5] * 6), hostile),
        flips_sentence(flips([[A]] * 9, [[hostile]] * 9)),
        flips_sentence(flips([[A] * 2] * 9, [[hostile] * 2] * 9)),
        flips_sentence(flips([[A]] * 9 + [[E]], [[hostile]] * 9 + [[A]])),
    ]
    for sentence in sentences:
        assert not {"\x1b", "\u202e", "\n"} & set(sentence)
        assert "\\x1b[31m\\u202e and more" in sentence
        assert len(sentence) < 400


numbers = st.lists(st.tuples(st.floats(-1e90, 1e90), st.floats(-1e90, 1e90)), max_size=12)


@given(numbers, st.sampled_from([1, 9]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_sentence_holds_the_number_of_inputs(
    pairs: list[tuple[float, float]], claims: int, relative: bool
) -> None:
    result = paired_difference([one for one, _ in pairs], [other for _, other in pairs], claims=claims)
    sentence = difference_sentence(result, "input tokens", relative=relative)
    assert re.search(rf"\b{result.n} inputs?\b|n = {result.n}\)", sentence)
    assert ("%" in sentence) is (result.n >= result.least and not result.equal)
    assert "nan" not in sentence
    assert not re.search(r"\binf\b", sentence)
    assert len(sentence) < 300
