"""What ADK JavaScript stores of a reply under an output_schema: as zod 4 gave it back, or as it was parsed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adknb.core.errors import NotSupported
from adknb.rules.js_schema import Misfit, stored

TRIAGE = {
    "type": "OBJECT",
    "properties": {"category": {"type": "STRING"}, "urgency": {"type": "INTEGER"}},
    "required": ["category", "urgency"],
}


def field(**schema: Any) -> dict[str, Any]:
    return {"type": "OBJECT", "properties": {"a": schema}}


def test_the_schemas_fields_come_first_in_its_order() -> None:
    value = {"note": "x", "urgency": 2, "category": "billing"}
    assert json.dumps(stored(value, TRIAGE)) == '{"category": "billing", "urgency": 2, "note": "x"}'


def test_a_default_is_filled_in() -> None:
    assert stored({"b": 1}, field(type="STRING", default="d")) == {"a": "d", "b": 1}


@pytest.mark.parametrize(
    ("value", "schema", "reason"),
    [
        ({"category": "billing"}, TRIAGE, "the field 'urgency' is missing"),
        ({"category": "billing", "urgency": "high"}, TRIAGE, '"high" is not INTEGER'),
        ({"category": 1, "urgency": 1}, TRIAGE, "1 is not STRING"),
        ([1], TRIAGE, "[1] is not OBJECT"),
        (None, TRIAGE, "null is not OBJECT"),
        ({"a": 2**53}, field(type="INTEGER"), "9007199254740992 is not INTEGER"),
        ({"a": 1.5}, field(type="INTEGER"), "1.5 is not INTEGER"),
        ({"a": True}, field(type="NUMBER"), "true is not NUMBER"),
        ({"a": 0}, field(type="NUMBER", minimum=1), "0 is below minimum 1"),
        ({"a": 9}, field(type="INTEGER", maximum=5), "9 is above maximum 5"),
        ({"a": "abc"}, field(type="STRING", maxLength="2"), '"abc" is above maxLength 2'),
        ({"a": "x"}, field(type="STRING", pattern="^a"), "\"x\" is not what '^a' matches"),
        ({"a": "c"}, field(type="STRING", enum=["a", "b"]), '"c" is not one of the enum'),
        ({"a": None}, field(type="STRING", enum=["a"], nullable=True), "null is not one of the enum"),
        ({"a": []}, field(type="ARRAY", items={"type": "STRING"}, minItems=1), "[] is below minItems 1"),
        ({"a": [1]}, field(type="ARRAY", items={"type": "STRING"}), "1 is not STRING"),
        ({"a": 1}, field(type="BOOLEAN"), "1 is not BOOLEAN"),
        ({"a": 0}, field(type="NULL"), "0 is not NULL"),
        ({"a": 0}, {"type": "OBJECT", "properties": {}, "minProperties": 2}, '{"a":0} is below minProperties 2'),
    ],
)
def test_what_does_not_fit(value: Any, schema: dict[str, Any], reason: str) -> None:
    with pytest.raises(Misfit) as misfit:
        stored(value, schema)
    assert str(misfit.value) == reason


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ({"a": 3.0}, field(type="INTEGER")),
        ({"a": None}, field(type="STRING", nullable=True)),
        ({"a": 2}, field(type="INTEGER", enum=["1", "2"])),
        ({"a": ["x", 1]}, field(type="ARRAY")),
        ({"a": [{"b": 1}]}, field(type="ARRAY", items=field(type="STRING"))),
        ({"a": "2026-09-01"}, field(type="STRING", format="date")),
        ({"a": "x1"}, field(type="STRING", pattern="\\d")),
        ({"a": "x"}, field(type="STRING", pattern="[")),
        ({}, field(type="STRING")),
        ({"a": {"any": 1}}, field(description="untyped")),
    ],
)
def test_what_fits(value: Any, schema: dict[str, Any]) -> None:
    assert stored(value, schema) == value


def test_a_check_that_is_not_known_is_said_where_the_order_hangs_on_it() -> None:
    schema = {"type": "OBJECT", "properties": {"at": {"type": "STRING", "format": "date"}, "b": {"type": "STRING"}}}
    with pytest.raises(NotSupported, match="takes a text for the format 'date' is not known here"):
        stored({"b": "x", "at": "soon"}, schema)


def test_an_own_proto_field_is_lost() -> None:
    assert stored({"__proto__": 1, "a": "x"}, field(type="STRING")) == {"a": "x"}
