"""What Jackson makes of a reply."""

from __future__ import annotations

import math

import pytest

from adknb.rules.output_schema import read_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (' \t\r\n{"a": 1} and more', {"a": 1}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("[1.0, -0, 1e2]", [1.0, 0, 100.0]),
        ("true", True),
        ("null", None),
        ("null$", None),  # Jackson asks only characters from "0" on whether they go on with the word
        ("null\x00", None),
        ("null]", None),
        ("9" * 1000, int("9" * 1000)),
        ('"\\ud800"', "\ud800"),
    ],
)
def test_the_first_value_is_read(text: str, value: object) -> None:
    assert read_json(text) == value


def test_a_number_too_big_for_a_double_is_infinite() -> None:
    assert read_json("1e400") == math.inf


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("nullx", "'nullx' is no token"),
        ("null_", "'null_' is no token"),
        ("null\ufeff", r"'null\\ufeff' is no token"),
        ("trueish", "'truei' is no token"),
        ("NaN", "NaN is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        ("'a'", "Expecting value"),
        ("{a: 1}", "Expecting property name"),
        ('{"a": 01}', "Expecting ',' delimiter"),
        ("\ufeff{}", "Expecting value"),
        ("9" * 1001, "a number of more than 1000 digits"),
        ('"a\nb"', "Invalid control character"),
    ],
)
def test_what_is_no_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_json(text)
