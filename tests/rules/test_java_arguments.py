"""`coerce` against what ADK Java's FunctionTool handed to methods with one parameter of each type.

A recorded line has an argument and, for every Java type that took it, what arrived.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, strategies

from adknb.rules.java_arguments import coerce

RECORDED = [json.loads(line) for line in Path(__file__).with_name("java_arguments.jsonl").read_text().splitlines()]


@dataclass(frozen=True)
class Type:
    kind: str
    items: "Type | None" = None


INTEGER, NUMBER, BOOLEAN = Type("INTEGER"), Type("NUMBER"), Type("BOOLEAN")
STRING, OBJECT = Type("STRING"), Type("OBJECT")

JAVA_TYPES = {
    "int": INTEGER,
    "Integer": INTEGER,
    "Double": NUMBER,
    "Boolean": BOOLEAN,
    "String": STRING,
    "Map": OBJECT,
    "List<Integer>": Type("ARRAY", INTEGER),
    "List<Double>": Type("ARRAY", NUMBER),
    "List<Boolean>": Type("ARRAY", BOOLEAN),
    "List<String>": Type("ARRAY", STRING),
    "List<Map>": Type("ARRAY", OBJECT),
    "List<List>": Type("ARRAY", Type("ARRAY", STRING)),
}


@pytest.mark.parametrize("name", JAVA_TYPES)
def test_recorded_arguments(name: str) -> None:
    differences = []
    for row in RECORDED:
        try:
            result = {name: coerce(row["value"], JAVA_TYPES[name], boxed=name != "int")}
        except ValueError:
            result = {}
        recorded = {name: row["gives"][name]} if name in row["gives"] else {}
        if repr(result) != repr(recorded):  # repr: 1, 1.0 and True differ, NaN equals itself
            differences.append((row["value"], result, recorded))
    assert differences == []


@pytest.mark.parametrize(
    ("value", "type", "result"),
    [
        ("7", INTEGER, 7),
        (" +7\n", INTEGER, 7),
        (3.7, INTEGER, 3),
        (-3.7, INTEGER, -3),
        ("٣", INTEGER, 3),
        (float("nan"), INTEGER, 0),
        (7, NUMBER, 7.0),
        (10**400, NUMBER, float("inf")),
        ("-INF", NUMBER, float("-inf")),
        ("7.", NUMBER, 7.0),
        ("true", BOOLEAN, True),
        (" FALSE ", BOOLEAN, False),
        (2, BOOLEAN, True),
        (1e10, STRING, "1.0E10"),
        (True, STRING, "true"),
        ([1, 2.5, None], Type("ARRAY", STRING), ["1", "2.5", None]),
        (["", "7"], Type("ARRAY", INTEGER), [None, 7]),
        ([[1], None], Type("ARRAY", Type("ARRAY", STRING)), [[1], None]),
        ({"a": [1, None]}, OBJECT, {"a": [1, None]}),
    ],
)
def test_taken(value: object, type: Type, result: object) -> None:
    assert repr(coerce(value, type)) == repr(result)


@pytest.mark.parametrize(
    ("value", "type"),
    [
        ("7.0", INTEGER),
        ("abc", INTEGER),
        ("\U0001d7d1", INTEGER),
        (True, INTEGER),
        (2**31, INTEGER),
        (2147483647.5, INTEGER),
        ("1.5f", NUMBER),
        (" NaN", NUMBER),
        (False, NUMBER),
        ("tRue", BOOLEAN),
        (1.0, BOOLEAN),
        ([], STRING),
        ({}, STRING),
        ("a", Type("ARRAY", STRING)),
        ([[]], Type("ARRAY", STRING)),
        ([{}], Type("ARRAY", Type("ARRAY", STRING))),
        ([], OBJECT),
        ("", OBJECT),
    ],
)
def test_refused(value: object, type: Type) -> None:
    with pytest.raises(ValueError, match="ADK Java cannot make"):
        coerce(value, type)


@pytest.mark.parametrize("value", [None, "", " ", " null "])
def test_null_for_an_int_is_zero_and_for_an_integer_null(value: object) -> None:
    assert coerce(value, INTEGER) == 0
    assert coerce(value, INTEGER, boxed=True) is None


def test_what_the_tool_changes_is_not_the_call() -> None:
    argument = {"inner": [1]}
    received = coerce(argument, OBJECT)
    assert isinstance(received, dict)
    received["inner"].append(2)
    assert argument == {"inner": [1]}


@given(strategies.integers(-(2**31), 2**31 - 1))
def test_an_int_arrives_from_a_number_and_from_its_text(number: int) -> None:
    assert coerce(number, INTEGER) == number
    assert coerce(str(number), INTEGER) == number
    assert coerce(float(number), INTEGER) == number


@given(strategies.floats(allow_nan=False, allow_infinity=False))
def test_a_double_arrives_from_its_text(number: float) -> None:
    assert coerce(repr(number), NUMBER) == number
