"""A value's shape in a few words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel

from adknb.analysis.shapes import asks_for_json, documented_shape, example_fields, seen_shape
from adknb.core.specs import LlmAgent


class Line(BaseModel):
    text: str
    amount: float | None = None


class Ticket(BaseModel):
    category: str
    urgency: int
    lines: list[Line]
    note: str | None = None


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ('{"category": "billing", "urgency": 2}', "JSON object {category, urgency}"),
        (" [1, 2]", "JSON list"),
        ('{"category": ', "text"),
        ("42", "text"),
        ("", "text"),
        ("[" * 100_000, "text"),
        ({"b": 1, "a": 2}, "map {b, a}"),
        ([1], "list"),
        (True, "boolean"),
        (1, "integer"),
        (1.5, "number"),
        (None, "null"),
        ({"line\nbreak \x1b": 1}, "map {line break \\x1b}"),
        ({str(number): number for number in range(13)}, "map {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …}"),
    ],
)
def test_seen_shape(value: Any, shape: str) -> None:
    assert seen_shape(value) == shape


@pytest.mark.parametrize(
    ("instruction", "shape"),
    [
        ("Classify. Reply with JSON only:\n{\"category\": \"a|b\", \"inner\": {\"x\": [1]}, \"last\": 1}", "JSON object {category, inner, last}"),
        ("Answer as JSON.", "JSON"),
        ("Return the result as a JSON object.", "JSON"),
        ("Summarise the JSON below: {data}", "text"),
        ("Write a reply. The JSON stands above.", "text"),
        ("Classify the message.", "text"),
        ('Reply with JSON only: {"broken": "never closed', "JSON object {broken}"),
    ],
)  # fmt: skip
def test_documented_shape_of_an_instruction(instruction: str, shape: str) -> None:
    agent = LlmAgent(name="A", instruction=instruction)
    assert documented_shape(agent) == shape
    assert asks_for_json(agent) == (shape != "text")


def test_documented_shape_of_a_schema() -> None:
    agent = LlmAgent(name="A", output_schema=Ticket)
    assert documented_shape(agent) == (
        "object {category: string, urgency: integer, "
        "lines: list of object {text: string, amount?: number}, note?: string}"
    )
    assert documented_shape(LlmAgent(name="A", instruction=lambda context: "JSON only")) == "text"


@given(st.text(alphabet='{}[]":,\\ab \n'))
def test_any_instruction_has_its_fields_read(instruction: str) -> None:
    for field in example_fields(instruction):
        assert f'"{field}"' in instruction
