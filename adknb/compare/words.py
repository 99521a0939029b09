"""What the statistics say, in plain words: no stars, the number of inputs always there, and nothing that is not shown."""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

from adknb.compare.statistics import Claim, Flips, PairedDifference, PairedShare
from adknb.core.escape import one_line

NAME: Final = 60
"""Characters of a measure's name or of a changed answer in a sentence."""
WAYS: Final = 3
"""Directions of change in a sentence, before the rest is counted."""
MANY: Final = 1_000_000
NOTHING: Final = 1e-6
"""Beside a number a million times as large, a number is shown as 0."""
UNKNOWN: Final = "how much answers differ anyway is not known with one repeat"


def difference_sentence(
    result: PairedDifference,
    measure: str,
    *,
    fewer: str = "fewer",
    more: str = "more",
    per: str = "",
    relative: bool = True,
) -> str:
    """`25 % fewer input tokens (40 of 159 a run; 95 % interval 38 to 42; n = 40)`.

    `fewer` and `more` are what a lower and a higher value is called, `per` what a value is of (`a run`). Without `relative`
    the difference stands in the measure's own units: half a similarity is no half of anything.
    """
    name = one_line(measure, NAME)
    if result.n < result.least:
        return _too_few(result)
    if result.equal:
        return f"no difference in {name} on any of {result.n} inputs"
    if not result.concluded:
        return f"no difference in {name} shown ({_interval(result)}; n = {result.n}){_needed(result)}"
    size, before, after = _numbers(abs(result.difference), result.before, result.after)
    word = fewer if result.difference < 0 else more
    of = f" {per}" if per else ""
    if relative and result.relative is not None and result.before > 0:
        measured = f"{size} of {before}{of}" if result.difference < 0 else f"{size} on top of {before}{of}"
        share = _percent(abs(result.relative))
        return f"{share} {word} {name} ({measured}; {_interval(result, is_one_way=True)}; n = {result.n})"
    measured = f"{after} instead of {before}{of}"
    return f"{size} {word} {name} ({measured}; {_interval(result, is_one_way=True)}; n = {result.n})"


def share_sentence(result: PairedShare) -> str:
    """`right on 36 of 40 instead of 30 (7 gained, 1 lost; 95 % interval 3 to 28 points more; n = 40)`."""
    if result.n < result.least:
        return _too_few(result)
    if result.right is not None:
        before, after = (f"{right}" for right in result.right)
        right, either = (
            f"right on {after} of {result.n} instead of {before}",
            f"right on {after} of {result.n} either way",
        )
    else:
        before, after = _percent(result.before), _percent(result.after)
        right, either = f"right in {after} of answers instead of {before}", f"right in {after} of answers either way"
    if result.equal:
        return f"{either}: no difference on any of {result.n} inputs"
    moved = f"{result.gained} gained, {result.lost} lost"
    if result.concluded:
        way = "more" if result.difference > 0 else "less"
        points = f"{_interval(result, is_one_way=True, scale=100, unit=f' points {way}')}"
        return f"{right} ({moved}; {points}; n = {result.n})"
    said = right if result.difference else either
    points = _interval(result, scale=100, unit=" points")
    return f"{said}: no difference shown ({moved}; {points}; n = {result.n}){_needed(result)}"


def flips_sentence(result: Flips, *, ways: bool = True) -> str:
    """`changed on 9 of 40, all APPROVE→REJECT: more than chance (p = 0.004); …`, or on how many the answers are equal.

    Without `ways` it does not name the directions: of whole answers nearly every one is its own.
    """
    if result.n < result.least:
        return _too_few(result)
    changed = f"changed on {result.changed} of {result.n}"
    if ways and result.changed:
        changed = f"{changed}, {_directions(result.directions)}"
    equal = f"equal on {result.same} of {result.n}"
    if result.floor is not None:
        return _with_repeats(result, result.floor, changed, equal)
    return f"{_without_repeats(result, changed, ways) if result.changed else equal}; {UNKNOWN}"


def _with_repeats(result: Flips, floor: float, changed: str, equal: str) -> str:
    repeats = f"repeat {result.repeats}"
    against = f"{_percent(result.disagreement)} against a floor of {_percent(floor)}, {repeats}"
    if result.concluded:
        more = f"more than a variant differs from itself ({against}; {_p(result)})"
        if result.changed:
            return f"{changed}: {more}"
        return f"{equal} by the most frequent answer, but single answers differ {more}"
    if not result.disagreement:
        return f"{equal}, in every repeat ({repeats})"
    if result.disagreement <= floor:
        return f"{equal}; no more than a variant differs from itself (floor {_percent(floor)}, {repeats})"
    return f"{equal}; not shown to be more than a variant differs from itself ({against})"


def _without_repeats(result: Flips, changed: str, ways: bool) -> str:
    if not result.concluded and not ways:
        return changed
    if not result.concluded:
        few = f"; that takes at least {result.least} changes" if sum(result.ways) < result.least else ""
        return f"{changed}: no direction shown{few}"
    if len(result.directions) == 1:
        return f"{changed}: more than chance ({_p(result)})"
    there, back = result.ways
    way = one_line(result.one_way, NAME) if ways else "one way"
    return f"{changed}: {way} {there} times and {back} back is more than chance ({_p(result)})"


def _too_few(result: Claim) -> str:
    """`3 inputs: nothing can be concluded; at least 9 would be needed`."""
    inputs = "1 input" if result.n == 1 else f"{result.n} inputs"
    return f"{inputs}: nothing can be concluded; at least {result.least} would be needed"


def _needed(result: PairedDifference) -> str:
    if result.needed is None:
        return ""
    step = 10 ** max(0, len(str(result.needed)) - 2)
    inputs = f"about {math.ceil(result.needed / step) * step:,}" if result.needed <= MANY else "more than a million"
    return f"; a difference of this size would need {inputs} inputs"


def _interval(result: PairedDifference, *, is_one_way: bool = False, scale: int = 1, unit: str = "") -> str:
    """The interval, with the confidence at which all claims hold together; of a shown difference without its sign.

    Where only the test keeps a conclusion back, its p says so.
    """
    low, high = (scale * end for end in result.interval)
    if is_one_way and high < 0:
        low, high = -high, -low
    first, last = _numbers(low, high)
    together = f", held together over {result.claims} claims" if result.claims > 1 else ""
    doubt = f", but {_p(result)}" if not result.concluded and not low <= 0 <= high else ""
    return f"95 % interval {first} to {last}{unit}{together}{doubt}"


def _directions(directions: Counter[str]) -> str:
    """`all APPROVE→REJECT`, or the most frequent directions with their numbers."""
    ranked = sorted(directions.items(), key=lambda item: (-item[1], item[0]))
    if directions.total() == 1:
        return one_line(ranked[0][0], NAME)
    if len(ranked) == 1:
        return f"all {one_line(ranked[0][0], NAME)}"
    said = [f"{times} {one_line(way, NAME)}" for way, times in ranked[:WAYS]]
    rest = sum(times for _, times in ranked[WAYS:])
    return ", ".join([*said, f"{rest} otherwise"] if rest else said)


def _p(result: Claim) -> str:
    """Corrected for the claims made together, so that it is to be held against 0.05 like the interval against 95 %."""
    p = min(1.0, result.p * result.claims)
    said = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    return f"{said}, corrected for {result.claims} claims" if result.claims > 1 else said


def _percent(share: float) -> str:
    """Whole from 10 % to 99 %, else with a decimal: what is neither nothing nor all is not called so."""
    value = 100 * share
    if 0 < value < 0.1:
        return "less than 0.1 %"
    if 99.9 < value < 100:
        return "more than 99.9 %"
    digits = 1 if value < 10 or 99 < value < 100 else 0
    return f"{_plain(value, digits)} %"


def _numbers(*values: float) -> list[str]:
    """Numbers with as many decimals each, so that the largest has two digits at least and the smallest is not 0."""
    largest = max(map(abs, values))
    if largest and not 1e-9 < largest < 1e15:
        return [f"{value:.2g}" for value in values]
    shown = [abs(value) for value in values if abs(value) > NOTHING * largest]
    digits = max(
        [0, *(-_magnitude(value) for value in shown), *(1 - _magnitude(value) for value in shown if value == largest)]
    )
    return [_plain(value, digits) for value in values]


def _magnitude(value: float) -> int:
    """The power of ten of its first digit: 2 of 159, -2 of 0.05."""
    return math.floor(math.log10(value))


def _plain(value: float, digits: int) -> str:
    """`1,235`, `2.5`; without zeros at the end, and 0 without a sign."""
    text = f"{value:,.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
