"""How JavaScript writes values, against texts recorded from Node 20: `String`, `JSON.stringify`, `trim`, names of agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from adknb.rules.js_values import (
    js_error_code,
    js_inherited,
    js_is_agent_name,
    js_json,
    js_key_order,
    js_number,
    js_parse,
    js_text,
    js_trim,
)
from tests.rules.json_values import JSON_VALUES

RECORDED = [
    json.loads(line) for line in Path(__file__).with_name("js_values.jsonl").read_text().split("\n") if line.strip()
]
VALUES = [row for row in RECORDED if "json" in row]
NAMES = [row for row in RECORDED if "name" in row]


def test_recorded_texts() -> None:
    assert [js_text(row["value"]) for row in VALUES] == [row["text"] for row in VALUES]


def test_recorded_json() -> None:
    assert [js_json(row["value"]) for row in VALUES] == [row["json"] for row in VALUES]


def test_recorded_trims() -> None:
    trimmed = [row for row in VALUES if "trim" in row]
    assert [js_trim(row["value"]) for row in trimmed] == [row["trim"] for row in trimmed]


def test_recorded_names() -> None:
    assert {row["value"]: js_is_agent_name(row["value"]) for row in NAMES} == {
        row["value"]: row["name"] for row in NAMES
    }


@given(JSON_VALUES)
def test_json_reads_back(value: Any) -> None:
    assert json.loads(js_json(value), parse_int=float) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(float("nan"), "NaN"), (float("inf"), "Infinity"), (-float("inf"), "-Infinity"), (10**400, "Infinity")],
)
def test_numbers_that_are_not_finite(value: float, text: str) -> None:
    assert js_number(value) == text
    assert js_json([value]) == "[null]"


def test_keys_that_are_array_indices_come_first() -> None:
    assert js_key_order(["b", "10", "a", "2", "01"]) == ["2", "10", "b", "a", "01"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Expecting value"),
        ("NaN", "NaN is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        ("{'a': 1}", "Expecting property name"),
        ('{"a": 1} x', "Extra data"),
        ("\ufeff{}", "is not JSON"),
        ("[" * 100_000, "it is nested too deeply"),
    ],
)
def test_what_json_parse_refuses(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        js_parse(text)


def test_what_no_json_value_is() -> None:
    with pytest.raises(TypeError, match="set is no JSON value"):
        js_json({1})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("constructor", "function Object() { [native code] }"),
        ("toString", "function toString() { [native code] }"),
        ("__proto__", "{}"),
        ("to_string", None),
    ],
)
def test_what_every_object_inherits(name: str, text: str | None) -> None:
    assert js_inherited(name) == text


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("boom", ("UNKNOWN_ERROR", "boom")),
        ('{"error":{"code":429,"message":"slow down"}}', ("429", "slow down")),
        ('{"error":{}}', ("UNKNOWN_ERROR", '{"error":{}}')),
        ('{"error":"no"}', ("UNKNOWN_ERROR", '{"error":"no"}')),
        ("null", ("UNKNOWN_ERROR", "null")),
    ],
)
def test_code_and_message_of_an_error(message: str, said: tuple[str, str]) -> None:
    assert js_error_code(message) == said
