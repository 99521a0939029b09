"""ADK Go's declarations and checks of arguments, in the words of `jsonschema-go` v0.4.3 and `schema_utils.go`."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from adknb.core.tools import FunctionTool
from adknb.rules.go_schema import as_decoded, as_sent, checked_arguments, parameters_schema, validate_map


def book(
    n: int,
    words: list[str],
    options: dict[str, Any],
    size: Literal["s", "l"] = "s",
    share: float = 0.0,
    part: float = 0.5,
    note: str = "",
    mark: str = "x",
    more: dict[str, Any] | None = None,
    tags: list[int] | None = None,
) -> None:
    """Book."""


BOOK = FunctionTool(book)
NEEDED = {"n": 1, "words": [], "options": {}}
SCHEMA = {
    "type": "OBJECT",
    "properties": {
        "count": {"type": "integer"},
        "texts": {"type": "ARRAY", "items": {"type": "STRING"}},
        "bare": {"type": "ARRAY"},
        "inner": {"type": "OBJECT", "properties": {"flag": {"type": "BOOLEAN"}}},
        "odd": {"type": "DATE"},
    },
    "required": ["count"],
}


def test_a_default_that_is_not_the_zero_value_makes_a_pointer() -> None:
    assert parameters_schema(BOOK) == {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "words": {"type": ["null", "array"], "items": {"type": "string"}},
            "options": {"type": "object", "additionalProperties": True},
            "size": {"type": ["null", "string"], "enum": ["s", "l"]},
            "share": {"type": "number"},
            "part": {"type": ["null", "number"]},
            "note": {"type": "string"},
            "mark": {"type": ["null", "string"]},
            "more": {"type": "object", "additionalProperties": True},
            "tags": {"type": ["null", "array"], "items": {"type": "integer"}},
        },
        "required": ["n", "words", "options"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("args", "received"),
    [
        (NEEDED, NEEDED),
        ({**NEEDED, "n": 3.0, "part": 2}, {**NEEDED, "n": 3, "part": 2.0}),
        ({**NEEDED, "words": None, "part": None}, {**NEEDED, "words": None}),
        ({**NEEDED, "options": {"big": 2**53 + 1, "all": [2**60, True, 1.5]}},
         {**NEEDED, "options": {"big": 9007199254740992.0, "all": [1152921504606846976.0, True, 1.5]}}),
    ],
)  # fmt: skip
def test_arguments_that_fit(args: dict[str, Any], received: dict[str, Any]) -> None:
    found = checked_arguments(BOOK, args)
    assert found == received
    assert [type(value) for value in found.values()] == [type(value) for value in received.values()]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            {**NEEDED, "n": "abc"},
            'validating root: validating /properties/n: type: abc has type "string", want "integer"',
        ),
        (
            {**NEEDED, "n": 1.5},
            'validating root: validating /properties/n: type: 1.5 has type "number", want "integer"',
        ),
        (
            {**NEEDED, "options": None},
            'validating root: validating /properties/options: type: <invalid reflect.Value> has type "null", want "object"',
        ),
        (
            {**NEEDED, "words": {"b": 1, "a": 1000000}},
            'validating root: validating /properties/words: type: map[a:1e+06 b:1] has type "object", want one of "null, array"',
        ),
        (
            {**NEEDED, "words": ["a", True]},
            "validating root: validating /properties/words: validating /properties/words/items: type: true has type "
            '"boolean", want "string"',
        ),
        ({**NEEDED, "size": "m"}, "validating root: validating /properties/size: enum: m does not equal any of: [s l]"),
        ({**NEEDED, "zzz": 1}, 'validating root: unexpected additional properties ["zzz"]'),
        ({"n": 1}, 'validating root: required: missing properties: ["words" "options"]'),
    ],
)
def test_arguments_that_do_not_fit(args: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011  # the message is what counts
        checked_arguments(BOOK, args)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"count": 1.0, "texts": ["a"], "inner": {"flag": True}}, None),
        ({}, "\"output\" args does not contain required key: '\"count\"'"),
        ({"count": 1, "zz": 2}, "output arg: '\"zz\"' does not exist in schema properties"),
        ({"count": None}, "output arg: '\"count\"' type mismatch, expected schema type integer, got value <nil> of type <nil>"),
        ({"count": 1, "texts": ["a", 2]},
         "output arg: '\"texts\"' type mismatch, expected schema type ARRAY, got value [a 2] of type []interface {}"),
        ({"count": 1, "bare": [1]}, "output arg: '\"bare\"' validation failed: array schema missing items definition"),
        ({"count": 1, "inner": {"flag": 1}},
         "output arg: '\"inner\"' validation failed: output arg: '\"flag\"' type mismatch, expected schema type BOOLEAN, got "
         "value 1 of type float64"),
        ({"count": 1, "odd": "x"}, "output arg: '\"odd\"' validation failed: unsupported type: DATE"),
    ],
)  # fmt: skip
def test_an_answer_by_tool(args: dict[str, Any], message: str | None) -> None:
    if message is None:
        validate_map(args, SCHEMA)
        return
    with pytest.raises(ValueError) as raised:  # noqa: PT011  # the message is what counts
        validate_map(args, SCHEMA)
    assert str(raised.value) == message


def test_a_schema_is_sent_without_what_is_empty() -> None:
    schema = {
        "type": "OBJECT", "title": "", "required": [], "minProperties": 0, "nullable": False, "default": {},
        "properties": {"list": {"type": "ARRAY", "items": {"type": "OBJECT", "properties": {}}, "minItems": 0}},
        "anyOf": [{"type": "STRING", "enum": []}],
    }  # fmt: skip
    assert as_sent(schema) == {
        "type": "OBJECT", "minProperties": 0, "nullable": False, "default": {},
        "properties": {"list": {"type": "ARRAY", "items": {"type": "OBJECT"}, "minItems": 0}},
        "anyOf": [{"type": "STRING"}],
    }  # fmt: skip


def test_numbers_that_a_float_holds_stay_as_they_are() -> None:
    assert (
        repr(as_decoded({"a": [2**53, 2**53 + 1, True, None]}))
        == "{'a': [9007199254740992, 9007199254740992.0, True, None]}"
    )
