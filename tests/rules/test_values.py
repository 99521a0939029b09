"""How Java writes values, against texts recorded from JDK 17 with Jackson, as ADK Java calls them."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies

from adknb.rules.values import (
    java_concurrent_merge_order,
    java_float,
    java_hash_copy_order,
    java_hash_order,
    java_is_blank,
    java_is_identifier,
    java_json,
    java_text,
    java_trim,
)

RECORDED = [json.loads(line) for line in Path(__file__).with_name("java_values.jsonl").read_text().splitlines()]

JSON_VALUES = strategies.recursive(
    strategies.none()
    | strategies.booleans()
    | strategies.integers()
    | strategies.floats(allow_nan=False, allow_infinity=False)
    | strategies.text(),
    lambda inner: strategies.lists(inner) | strategies.dictionaries(strategies.text(), inner),
)


def test_recorded_texts() -> None:
    assert [row["text"] for row in RECORDED] == [java_text(row["value"]) for row in RECORDED]


def test_recorded_json() -> None:
    assert [row["json"] for row in RECORDED] == [java_json(row["value"]) for row in RECORDED]


def test_recorded_strings() -> None:
    rows = [row for row in RECORDED if isinstance(row["value"], str)]
    assert [row["blank"] for row in rows] == [java_is_blank(row["value"]) for row in rows]
    assert [row["trim"] for row in rows] == [java_trim(row["value"]) for row in rows]
    assert [row["id"] for row in rows] == [java_is_identifier(row["value"]) for row in rows]


def test_recorded_hash_orders() -> None:
    rows = [row for row in RECORDED if isinstance(row["value"], dict)]
    assert [row["order"] for row in rows] == [java_hash_order(row["value"]) for row in rows]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (-(10**30), "-1000000000000000000000000000000"),
        (2.0, "2.0"),
        (1e21, "1.0E21"),
        ("as {it} is\n", "as {it} is\n"),
        ([], "[]"),
        ({}, "{}"),
        ([1, "two", None, True], "[1, two, null, true]"),
        ((1, [2.5]), "[1, [2.5]]"),
        ({"category": "billing", "urgency": 2}, "{category=billing, urgency=2}"),
        ({"a": {"b": [1, {"c": "d"}]}}, "{a={b=[1, {c=d}]}}"),
    ],
)
def test_text(value: object, text: str) -> None:
    assert java_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [None, True, 1.5e10, "x"]}, '{"b":1,"a":[null,true,1.5E10,"x"]}'),
        ({}, "{}"),
        ('"\\/\b\t\n\f\r', '"\\"\\\\/\\b\\t\\n\\f\\r"'),
        ("\x00\x1b\x1f\x7f", '"\\u0000\\u001B\\u001F\x7f"'),
        ("é\u2028<&>\U0001f600", '"é\u2028<&>\U0001f600"'),
        ("\ud83d", '"\ud83d"'),
        ({'k"\n': 1}, '{"k\\"\\n":1}'),
        ([math.nan, math.inf, -math.inf], '["NaN","Infinity","-Infinity"]'),
    ],
)
def test_json(value: object, text: str) -> None:
    assert java_json(value) == text


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), [1j]])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="no JSON value"):
        java_text(value)
    with pytest.raises(TypeError, match="no JSON value"):
        java_json(value)


@given(JSON_VALUES)
def test_json_reads_back(value: Any) -> None:
    assert json.loads(java_json(value)) == value


@given(strategies.text())
def test_text_of_a_string_is_the_string(text: str) -> None:
    assert java_text(text) is text


@pytest.mark.parametrize("text", ["", " ", "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f", "\u1680\u2000\u2028\u2029\u205f\u3000"])
def test_blank(text: str) -> None:
    assert java_is_blank(text)


@pytest.mark.parametrize("text", ["a", " a ", "\x85", "\xa0", "\u2007", "\u202f", "\x00", "\u180e", "\u200b", "\ufeff"])
def test_not_blank(text: str) -> None:
    assert not java_is_blank(text)


def test_white_space_is_25_characters() -> None:
    assert sum(java_is_blank(chr(code)) for code in range(sys.maxunicode + 1)) == 25


def test_trim_takes_controls_and_leaves_other_white_space() -> None:
    assert java_trim("\x00\x1f \t\u3000 k\xa0\r\n") == "\u3000 k\xa0"
    assert java_trim("\x00 ") == ""


@pytest.mark.parametrize(
    "text", ["k", "_", "$", "€uro", "class", "a1", "é", "straße", "名前", "ℵ", "Ⅳ", "a\u0301", "a\u200d", "a\x00", "a٣"]
)
def test_identifiers(text: str) -> None:
    assert java_is_identifier(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1a",
        "a b",
        "a-b",
        "a.b",
        "a?",
        "\u0301a",
        "\x00a",
        pytest.param("\U0001d44e", id="outside the basic plane"),
        pytest.param("a\U00020000", id="outside the basic plane, later"),
        pytest.param("\u0870", id="a letter since Unicode 14"),
        pytest.param("a\u0898", id="a mark since Unicode 14"),
    ],
)
def test_no_identifiers(text: str) -> None:
    assert not java_is_identifier(text)


def test_as_many_identifier_characters_as_in_unicode_13() -> None:
    units = [chr(code) for code in range(0x10000)]
    assert sum(java_is_identifier(unit) for unit in units) == 49_040
    assert sum(java_is_identifier("a" + unit) for unit in units) == 50_795


@pytest.mark.parametrize(
    ("keys", "order"),
    [
        ([], []),
        (["category", "urgency"], ["urgency", "category"]),
        (["category", "urgency", "summary"], ["summary", "urgency", "category"]),
        (["b", "a", "b"], ["a", "b"]),
        (["BB", "Aa", "C"], ["BB", "Aa", "C"]),
        (["Aa", "BB", "C"], ["Aa", "BB", "C"]),
    ],
)
def test_hash_order(keys: list[str], order: list[str]) -> None:
    assert java_hash_order(keys) == order


@pytest.mark.parametrize(
    ("keys", "order"),
    [
        ("", ""),
        ("aj3x aiv5 28ur bkrc h262 ip9k 5r2k", "aj3x 28ur bkrc h262 ip9k aiv5 5r2k"),
        (
            "4po9 9zpz lq0x 7qi2 az9p 59jy jjcx 9wnm 9b3v g2up 42ix 7kjr 8bob",
            "jjcx 9wnm 7kjr 8bob g2up 59jy 9zpz 42ix 9b3v 7qi2 az9p 4po9 lq0x",
        ),
    ],
)
def test_hash_order_of_a_copy(keys: str, order: str) -> None:
    assert java_hash_copy_order(keys.split()) == order.split()


@given(strategies.lists(strategies.text(), unique=True))
def test_hash_order_keeps_every_key(keys: list[str]) -> None:
    assert sorted(java_hash_order(keys)) == sorted(keys)


def test_floats_have_the_digits_of_32_bits() -> None:
    assert [java_float(value) for value in (0.25, 0.7, 0.123456789, 0.8516915440559, 1e-9, 16777217.0)] == [
        0.25, 0.7, 0.12345679, 0.85169154, 1e-09, 16777216.0,
    ]  # fmt: skip


def test_a_merged_map_is_in_the_order_of_a_concurrent_hash_map() -> None:
    """Recorded in trace `x-deltas-merged-order`, whose map has 13 keys in 32 buckets."""
    first = ["zeta", "alpha", "AaAa", "BBBB", "k1", "k2", "k3"]
    second = ["omega", "beta", "AaBB", "k4", "k5", "k6"]
    assert java_concurrent_merge_order(first, second) == [
        "zeta", "k1", "k2", "k3", "k4", "k5", "k6", "omega", "alpha", "beta", "AaAa", "BBBB", "AaBB",
    ]  # fmt: skip
