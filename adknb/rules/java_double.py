"""The text of a double, as Java 17 and older print it.

Source: `Double.toString` of JDK 17, recorded from the JVM itself. Since JDK 19 Java prints the shortest
text that reads back as the same number; before that it mostly did, with exceptions, and ADK Java runs on
both. This module reproduces the older one: `2e23` is `1.9999999999999998E23` and the smallest double is
`4.9E-324`.
"""

import math
from itertools import count
from typing import NamedTuple

_LONG_LIMIT = 1 << 63
_MANTISSA_BITS = 53
_SMALLEST_POWER = -1074


class _Digits(NamedTuple):
    """The number 0.DIGITS x 10^point."""

    digits: str
    point: int


class _Scaled(NamedTuple):
    """A number as value / unit, with the margin to the numbers that round to it; all three are whole.

    `in_long` says that Java computes with 64-bit integers here, not with big ones.
    """

    value: int
    unit: int
    margin: int
    in_long: bool


def double_to_string(x: float) -> str:
    """Return `Double.toString(x)` of JDK 17."""
    magnitude = abs(x)
    if 1e-3 <= magnitude < 1e7 and (x.is_integer() or not _is_power_of_two(magnitude)):
        # Here Java's text is the shortest one, which Python has at hand: the margins on both sides are
        # equal and no tie between two numbers has as few digits as either.
        return float.__repr__(x)
    if math.isnan(x):
        return "NaN"
    sign = "-" if math.copysign(1.0, x) < 0 else ""
    if math.isinf(x):
        return sign + "Infinity"
    return sign + _layout(_digits_of(magnitude) if magnitude else _Digits("0", 1))


def _is_power_of_two(magnitude: float) -> bool:
    return math.frexp(magnitude)[0] == 0.5


def _layout(number: _Digits) -> str:
    digits, point = number
    if 0 < point < 8:
        return f"{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
    if -3 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    return f"{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def _digits_of(magnitude: float) -> _Digits:
    if magnitude < _LONG_LIMIT and magnitude.is_integer():
        return _whole_digits(int(magnitude))
    exponent = _decimal_exponent(magnitude)
    return _generate(_scale(magnitude, exponent), exponent)


def _whole_digits(number: int) -> _Digits:
    """A whole number that fits a long is printed in full, but for digits that its last bits cannot mean."""
    spare_bits = number.bit_length() - _MANTISSA_BITS - 2
    dropped = len(str(1 << spare_bits)) - 1 if spare_bits > 0 else 0
    text = str((number + 10**dropped // 2) // 10**dropped)
    return _Digits(text.rstrip("0"), len(text) + dropped)


def _decimal_exponent(magnitude: float) -> int:
    """The power of ten of the first digit, or one more: an estimate by a straight line, as Java makes it."""
    fraction, exponent = math.frexp(magnitude)
    logarithm = (2 * fraction - 1.5) * 0.289529654 + 0.176091259 + (exponent - 1) * 0.301029995663981
    return math.floor(logarithm)


def _scale(magnitude: float, exponent: int) -> _Scaled:
    """The magnitude in units of 10^exponent, by the smallest whole numbers that can say it."""
    fraction, power = math.frexp(magnitude)
    precision = min(_MANTISSA_BITS, power - _SMALLEST_POWER)
    odd = int(math.ldexp(fraction, _MANTISSA_BITS))
    odd //= odd & -odd
    value_twos = power - odd.bit_length()
    # The next number below a power of two is only half as far away; Java halves the margin above as well.
    margin_twos = power - precision - 1 - (odd == 1)
    unit_twos = exponent
    lowest = min(value_twos, margin_twos, unit_twos)
    value_fives, unit_fives = 5 ** max(0, -exponent), 5 ** max(0, exponent)
    value = odd * value_fives << (value_twos - lowest)
    unit = unit_fives << (unit_twos - lowest)
    margin = value_fives << (margin_twos - lowest)
    # Java adds the lengths of the factors, which can be one more than the length of their product.
    value_bits = odd.bit_length() + value_twos - lowest + (value_fives.bit_length() if exponent < 0 else 0)
    return _Scaled(value, unit, margin, in_long=value_bits < 64 and (10 * unit).bit_length() < 64)


def _generate(scaled: _Scaled, exponent: int) -> _Digits:
    """Digits until those so far, or the same with the last one raised, lie within the margin."""
    value, unit, margin, in_long = scaled
    digits: list[int] = []
    for turn in count():
        digit, value = divmod(value, unit)
        value *= 10
        margin *= 10
        total = value + margin
        low = value < margin
        high = total > 10 * unit or (total == 10 * unit and not in_long)
        if in_long and margin < _LONG_LIMIT <= total:
            high = False  # the sum overflows a long, and Java takes it for a negative number
        if turn == 0 and digit == 0 and not high:
            exponent -= 1
        else:
            digits.append(digit)
        if turn == 0 and not -3 <= exponent < 8:
            continue  # the form with an E has a digit after the point
        if low or high:
            break
    past_half = 2 * value - 10 * unit
    if high and (not low or past_half > 0 or (past_half == 0 and digits[-1] % 2)):
        digits, carried = _raise_last(digits)
        exponent += carried
    return _Digits("".join(map(str, digits)), exponent + 1)


def _raise_last(digits: list[int]) -> tuple[list[int], bool]:
    """The same number of digits, one higher in the last place, and whether the first one was carried out."""
    raised = str(int("".join(map(str, digits))) + 1).zfill(len(digits))
    return [int(digit) for digit in raised[: len(digits)]], len(raised) > len(digits)
