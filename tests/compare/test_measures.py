"""What is measured on one answer or on two: similarity, expected answers, schemas."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from rapidfuzz import fuzz

from adknb.compare import measures
from adknb.compare.measures import (
    as_expected,
    field_changes,
    fields_equal,
    json_of,
    leaked_what,
    schema_valid,
    similarity,
)
from adknb.rules.output_schema import DoesNotFit, parse_and_validate

HOSTILE = st.text(st.characters(exclude_categories=())) | st.sampled_from(
    ["\ud800", "[1" + "0" * 5_000 + "]", "[" * 300 + "]" * 300, "{}", "[]", "null", "For context:", "[A] said:", "```"]
)
DEEP = ("[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000)


# similarity


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("", "", 1.0),
        ("", "a", 0.0),
        ("abcd", "abcx", 0.75),
        ("abcd", "xyz", 0.0),
        ("APPROVE", "approve", 0.0),
        ("ab", "ba", 0.5),
        ("the same", "the same", 1.0),
        ("\ud800", "\ud800", 1.0),
    ],
)
def test_similarity(one: str, other: str, expected: float) -> None:
    assert similarity(one, other) == expected


@given(st.text(), st.text())
def test_similarity_is_that_of_rapidfuzz(one: str, other: str) -> None:
    assert similarity(one, other) == pytest.approx(fuzz.ratio(one, other) / 100, abs=1e-12)


@st.composite
def long_texts(draw: st.DrawFn) -> tuple[str, str]:
    """Two texts too long to be compared as a whole, the second an edited first."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    one = "".join(chance.choices("abcdef \n", k=draw(st.integers(60, 120)))) * draw(st.integers(2, 5))
    edited = [letter for letter in one if chance.random() < 0.9]
    return one, "".join(edited) + draw(st.sampled_from(["", "x", one]))


@given(long_texts())
def test_long_texts_are_symmetric_and_never_found_more_alike_than_they_are(texts: tuple[str, str]) -> None:
    one, other = texts
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measures, "LONGEST", 100)
        patch.setattr(measures, "_PIECE", 40)
        found = similarity(one, other)
        assert found == similarity(other, one)
        assert similarity(one, one) == 1.0
    assert 0 <= found <= similarity(one, other) + 1e-12
    assert (found == 1.0) == (one == other)


def test_long_texts_keep_their_common_beginning_and_end() -> None:
    begin, end = "a" * 9_000, "b" * 9_000
    assert similarity(begin + "x" + end, begin + "yz" + end) == 2 * 18_000 / 36_003


def test_long_texts_are_compared_in_pieces() -> None:
    one, other = "x" + "ab" * 10_000 + "y", "z" + "ab" * 10_000 + "w"
    assert similarity(one, other) == 2 * 20_000 / 40_004
    assert similarity("x" + "a" * 20_000 + "y", "z" + "b" * 20_000 + "w") == 0.0


def test_pieces_are_equal_shares_of_texts_of_unequal_length() -> None:
    one, other = "x" + "a" * 20_000 + "b" * 20_000 + "y", "z" + "b" * 3_000 + "a" * 3_000 + "w"
    assert similarity(one, other) == 2 * 74 / 46_004  # only the middle one of 41 pairs of pieces shares a letter


def test_a_short_text_meets_a_long_one_as_a_whole() -> None:
    assert similarity("b" * 100, "a" * 500_000 + "b" * 100 + "c" * 499_900) == pytest.approx(200 / 1_000_100, rel=1e-9)


# expected answers


@pytest.mark.parametrize(
    ("answer", "category", "expected"),
    [
        ("REJECT: promises a refund", "REJECT", "reject"),
        ("REJECT: promises a refund", "REJECT", " Reject\n"),
        ("The answer\n is  42.", "", "the answer is 42."),
        ("STRASSE", "", "straße"),
        ("", "", ""),
        ('{"category": "billing", "urgency": 2}', "", '{"category": "billing"}'),
        ('```json\n{"category": "billing"}\n```', "", '{"category": "billing"}'),
        ('{"a": {"b": [1, 2]}, "c": 3}', "", '{"a": {"b": [1.0, 2]}}'),
        ('{"a": 1}', "", "{}"),
        ("[1, 2]", "", "[1,2]"),
    ],
)
def test_answers_as_expected(answer: str, category: str, expected: str) -> None:
    assert as_expected(answer, category, expected)


@pytest.mark.parametrize(
    ("answer", "category", "expected"),
    [
        ("REJECT: promises a refund", "REJECT", "APPROVE"),
        ("REJECT: promises a refund", "", "REJECT"),
        ("no category", "", ""),
        ("billing", "billing", '{"category": "billing"}'),
        ('{"category": "outage"}', "outage", '{"category": "billing"}'),
        ('{"category": "Billing"}', "", '{"category": "billing"}'),
        ('{"urgency": 2}', "", '{"category": null}'),
        ('{"urgency": true}', "", '{"urgency": 1}'),
        ('{"a": {"b": 1, "c": 2}}', "", '{"a": {"b": 1}}'),
        ('[{"a": 1}]', "", '{"a": 1}'),
        ('["a"]', "", "{}"),
        ('{"a": 1}', "", "[]"),
        ("[1, 2, 3]", "", "[1, 2]"),
        ("", "", "[]"),
    ],
)
def test_answers_not_as_expected(answer: str, category: str, expected: str) -> None:
    assert not as_expected(answer, category, expected)


# schemas

TRIAGE = {
    "type": "OBJECT",
    "properties": {
        "category": {"type": "STRING", "enum": ["billing", "outage"]},
        "urgency": {"type": "INTEGER", "minimum": 1, "maximum": 3},
        "note": {"type": "STRING", "nullable": True, "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$"},
        "score": {"type": "NUMBER", "minimum": 0.5},
        "tags": {"type": "ARRAY", "items": {"type": "STRING", "enum": ["a", "b"]}, "minItems": "1", "maxItems": 2},
        "more": {"type": "OBJECT", "properties": {"x": {"type": "BOOLEAN"}, "y": {"type": "BOOLEAN"}}, "minProperties": 1, "maxProperties": 1},
    },
    "required": ["category"],
}  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    [
        '{"category": "billing"}',
        ' {"category": "outage", "urgency": 3, "note": null, "score": 0.5, "tags": ["a", "b"], "more": {"x": true}} ',
        '{"category": "billing", "urgency": 1, "note": "ab", "score": 1, "tags": ["b"]}',
        '{"category": "billing", "note": "abcde"}',
        '{"category": "billing"} and more',
    ],
)
def test_what_fits_the_schema(answer: str) -> None:
    assert schema_valid(answer, TRIAGE)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "billing",
        "null",
        "[]",
        "{}",
        '```json\n{"category": "billing"}\n```',
        'JSON: {"category": "billing"}',
        '{"category": "billing", "extra": 1}',
        '{"category": null}',
        '{"category": "account"}',
        '{"category": "Billing"}',
        '{"category": "billing", "urgency": "2"}',
        '{"category": "billing", "urgency": 2.0}',
        '{"category": "billing", "urgency": true}',
        '{"category": "billing", "urgency": 0}',
        '{"category": "billing", "urgency": 4}',
        '{"category": "billing", "note": "a"}',
        '{"category": "billing", "note": "abcdef"}',
        '{"category": "billing", "note": "ab1"}',
        '{"category": "billing", "score": 0.4}',
        '{"category": "billing", "tags": []}',
        '{"category": "billing", "tags": ["a", "a", "a"]}',
        '{"category": "billing", "tags": ["c"]}',
        '{"category": "billing", "more": {}}',
        '{"category": "billing", "more": {"x": true, "y": true}}',
        '{"category": "billing", "more": {"x": 1}}',
    ],
)
def test_what_does_not_fit_the_schema(answer: str) -> None:
    assert not schema_valid(answer, TRIAGE)


@pytest.mark.parametrize(
    ("answer", "schema", "fits"),
    [
        ("[1, 2]", {"type": "ARRAY", "items": {"type": "INTEGER"}}, True),
        ('[1, "2"]', {"type": "ARRAY", "items": {"type": "INTEGER"}}, False),
        ('"a"', {"type": "STRING", "enum": ["a"]}, True),
        ("null", {"type": "STRING", "nullable": True}, True),
        ("1e999", {"type": "NUMBER"}, True),
        ("1e999", {"type": "NUMBER", "maximum": 10}, False),
        ("[]", {"type": "ARRAY"}, True),
        ("[1]", {"type": "ARRAY"}, False),  # ADK Java fails on a list without items
        ("{}", {"type": "OBJECT"}, False),  # and on an object without properties
        ('"x"', {"type": "STRING", "pattern": "^\\p{L}+$"}, True),  # Python cannot read it
        ('"aXb"', {"type": "STRING", "pattern": "X"}, True),
    ],
)
def test_other_schemas(answer: str, schema: dict[str, Any], fits: bool) -> None:
    assert schema_valid(answer, schema) is fits


PLAIN = {
    "type": "OBJECT",
    "properties": {
        "a": {"type": "INTEGER"},
        "b": {"type": "STRING", "nullable": True},
        "c": {"type": "ARRAY", "items": {"type": "NUMBER"}},
    },
    "required": ["a"],
}


@given(
    st.dictionaries(
        st.sampled_from("abcd"),
        st.none() | st.integers(0, 2) | st.text(max_size=1) | st.lists(st.floats(0, 1) | st.booleans(), max_size=2),
    ),
    st.sampled_from(["", " trailing", "}"]),
)
def test_without_bounds_it_is_what_adk_java_stores_as_an_object(value: dict[str, Any], behind: str) -> None:
    answer = json.dumps(value) + behind
    try:
        parse_and_validate(answer, PLAIN)
        fits = True
    except DoesNotFit:
        fits = False
    assert schema_valid(answer, PLAIN) is fits


# any text


@given(HOSTILE, HOSTILE, HOSTILE)
@example(*DEEP)
@example(*reversed(DEEP))
def test_no_text_makes_them_raise(one: str, other: str, third: str) -> None:
    assert similarity(one, other) == similarity(other, one)
    assert similarity(one, one) == 1.0
    assert isinstance(as_expected(one, other, third), bool)
    assert schema_valid(one, TRIAGE) in (True, False)
    assert schema_valid(one, {"type": "ARRAY", "items": {"type": "STRING"}}) in (True, False)
    assert isinstance(leaked_what(one, ["A", "B"]), str)
    assert fields_equal(one, one) == (1.0 if json_of(one) is not None else None)
    assert isinstance(field_changes(one, other), list)
