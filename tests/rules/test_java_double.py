"""`double_to_string` against texts recorded from JDK 17, half of them where it does not print the shortest."""

import math
import struct
from pathlib import Path

import pytest
from hypothesis import given, strategies

from adknb.rules.java_double import double_to_string

RECORDED = [line.split("\t") for line in Path(__file__).with_name("java_doubles.tsv").read_text().splitlines()]


def _from_bits(bits: str) -> float:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert isinstance(value, float)
    return value


def test_recorded_texts() -> None:
    texts = {bits: double_to_string(_from_bits(bits)) for bits, _ in RECORDED}
    assert {bits: (texts[bits], text) for bits, text in RECORDED if texts[bits] != text} == {}
    assert len(texts) == 2998


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (2.0, "2.0"),
        (0.1, "0.1"),
        (-1.5, "-1.5"),
        (100.0, "100.0"),
        (1e-3, "0.001"),
        (0.00099, "9.9E-4"),
        (1e-7, "1.0E-7"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (1e21, "1.0E21"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
    ],
)
def test_layout(value: float, text: str) -> None:
    assert double_to_string(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(5e-324, "4.9E-324", id="the smallest has two digits"),
        pytest.param(2e23, "1.9999999999999998E23", id="a tie is not taken"),
        pytest.param(1e23, "9.999999999999999E22", id="a tie below a power of ten"),
        pytest.param(1.4069720734651283e17, "1.40697207346512832E17", id="a whole number that fits a long"),
        pytest.param(2.0**60, "1.15292150460684698E18", id="a power of two that fits a long"),
        pytest.param(2.0079331764311774e25, "2.0079331764311773E25", id="a sum that overflows a long"),
    ],
)
def test_where_it_is_not_the_shortest(value: float, text: str) -> None:
    assert double_to_string(value) == text


@given(strategies.floats(allow_nan=False))
def test_reads_back_as_the_same_number(value: float) -> None:
    text = double_to_string(value)
    assert float(text) == value
    assert text.startswith("-") == (math.copysign(1.0, value) < 0)


@given(strategies.floats(min_value=1e-3, max_value=1e7, exclude_max=True))
def test_plain_between_a_thousandth_and_ten_million(value: float) -> None:
    assert "E" not in double_to_string(value)


@given(strategies.floats(min_value=1e7, allow_infinity=False))
def test_with_an_exponent_from_ten_million_on(value: float) -> None:
    mantissa, exponent = double_to_string(value).split("E")
    assert 1 <= float(mantissa) < 10
    assert 7 <= int(exponent) <= 308


def test_a_subclass_of_float_prints_as_its_number() -> None:
    class Seconds(float):
        def __repr__(self) -> str:
            return "seconds"

    assert double_to_string(Seconds(1.5)) == "1.5"
