"""How Go writes values, against texts recorded from Go 1.26: `%v`, `%q`, `json.Marshal`, `strings.TrimSpace`, identifiers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from adknb.rules.go_values import go_html, go_is_identifier, go_json, go_quote, go_text, go_trim
from tests.rules.json_values import JSON_VALUES

RECORDED = [
    json.loads(line) for line in Path(__file__).with_name("go_values.jsonl").read_text().split("\n") if line.strip()
]
STRINGS = [row for row in RECORDED if isinstance(row["value"], str)]


def test_recorded_texts() -> None:
    assert [row["text"] for row in RECORDED] == [go_text(row["value"]) for row in RECORDED]


def test_recorded_json() -> None:
    assert [row["json"] for row in RECORDED] == [go_json(row["value"]) for row in RECORDED]


def test_recorded_strings() -> None:
    assert [row["quote"] for row in STRINGS] == [go_quote(row["value"]) for row in STRINGS]
    assert [row["trim"] for row in STRINGS] == [go_trim(row["value"]) for row in STRINGS]
    assert [row["id"] for row in STRINGS] == [go_is_identifier(row["value"]) for row in STRINGS]


@given(JSON_VALUES)
def test_json_reads_back(value: Any) -> None:
    assert json.loads(go_json(value), parse_int=float) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(float("nan"), "NaN"), (float("inf"), "+Inf"), (float("-inf"), "-Inf"), (10**400, "+Inf"), ((1, "a"), "[1 a]")],
)
def test_texts_of_what_json_has_not(value: Any, text: str) -> None:
    assert go_text(value) == text


def test_no_json_value() -> None:
    with pytest.raises(TypeError, match=r"object is no JSON value, so how Go would write it is not known"):
        go_text(object())
    with pytest.raises(TypeError, match=r"set is no JSON value"):
        go_json({1})
    with pytest.raises(ValueError, match=r"json: unsupported value: \+Inf"):
        go_json(float("inf"))


def test_html() -> None:
    assert (
        go_html('<b>"it\'s" & \x01\x0c\ufdd0\ud800</b>')
        == "&lt;b&gt;&#34;it&#39;s&#34; &amp; \ufffd\x0c\ufffd\ufffd&lt;/b&gt;"
    )


def test_a_lone_surrogate_is_replaced() -> None:
    assert (go_json("\ud800"), go_quote("\ud800")) == ('"\\ufffd"', '"\\ufffd"')
