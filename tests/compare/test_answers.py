"""Answers as JSON: what counts as JSON, which fields are equal, and which changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adknb.compare.answers import ABSENT, MOST_CHANGES, field_changes, fields_equal, json_of, same_json

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
JSONS = st.lists(VALUES, max_size=4) | st.dictionaries(st.text(), VALUES, max_size=4)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"category": "billing"}', {"category": "billing"}),
        (" \n[1, 2.5, null, true]\n", [1, 2.5, None, True]),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('\n```JSON\n{"a": 1}```  ', {"a": 1}),
        ("```\n[]\n```", []),
        ('```{"a": 1}```', {"a": 1}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("[1e999]", [float("inf")]),
        ("[" * 150 + "]" * 150, json.loads("[" * 150 + "]" * 150)),
    ],
)
def test_an_object_or_list_is_json(text: str, value: object) -> None:
    assert json_of(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "APPROVE",
        '"billing"',
        "7",
        "null",
        "{'a': 1}",
        '{"a": 1',
        '{"a": 1} Hope this helps!',
        'Here it is: {"a": 1}',
        'Here it is:\n```json\n{"a": 1}\n```',
        '```yaml\n{"a": 1}\n```',
        "```",
        "`````",
        "[NaN]",
        "[-Infinity]",
        '["\ud800"]',
        r'["\ud800"]',
        "[" * 250 + "]" * 250,
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_anything_else_is_no_json(text: str) -> None:
    assert json_of(text) is None
    assert fields_equal(text, text) is None
    assert fields_equal("{}", text) is None
    assert field_changes(text, '{"a": 1}') == []


@pytest.mark.parametrize(
    ("one", "other", "share", "changes"),
    [
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', 1.0, []),
        ('{"a": 1, "b": 2}', '{"a": 1, "b": 3}', 0.5, [("b", 2, 3)]),
        ('{"a": 1}', '{"a": 1, "b": 2, "c": 3, "d": 4}', 0.25, [("b", ABSENT, 2), ("c", ABSENT, 3), ("d", ABSENT, 4)]),
        ('{"a": null}', "{}", 0.0, [("a", None, ABSENT)]),
        ('{"a": {"b": {"c": 1, "d": 2}}}', '{"a": {"b": {"c": 1, "d": 0}}}', 0.5, [("a.b.d", 2, 0)]),
        (
            '{"items": [{"name": "x"}, {"name": "y"}]}',
            '{"items": [{"name": "y"}, {"name": "y"}, 3]}',
            1 / 3,
            [("items[0].name", "x", "y"), ("items[2]", ABSENT, 3)],
        ),
        ("[1, 2, 3]", "[2, 1, 3]", 1 / 3, [("[0]", 1, 2), ("[1]", 2, 1)]),
        ('{"a": 1, "b": 1}', '{"a": true, "b": 1.0}', 0.5, [("a", 1, True)]),
        ('{"a": "1"}', '{"a": 1}', 0.0, [("a", "1", 1)]),
        ('{"a": "Billing"}', '{"a": "billing"}', 0.0, [("a", "Billing", "billing")]),
        ("{}", "{}", 1.0, []),
        ("[]", "{}", 0.0, [("", [], {})]),
        ('{"a": [], "b": 1}', '{"a": ["x"], "b": 1}', 0.5, [("a[0]", ABSENT, "x")]),
        ('{"a": {}}', '{"a": null}', 0.0, [("a", {}, None)]),
        ('{"a": 1}', '{"a": {"b": 2}}', 0.0, [("a", 1, ABSENT), ("a.b", ABSENT, 2)]),
        ('{"a": [1]}', '{"a": 1}', 0.0, [("a", ABSENT, 1), ("a[0]", 1, ABSENT)]),
        ('{"a": [1]}', '{"a": {"0": 1}}', 0.0, [("a[0]", 1, ABSENT), ("a.0", ABSENT, 1)]),
        ('{"a.b": 1}', '{"a": {"b": 1}}', 0.0, [("a.b", 1, ABSENT), ("a.b", ABSENT, 1)]),
        ('```json\n{"a": 1}\n```', '{"a": 1}', 1.0, []),
    ],
)
def test_fields_are_compared_by_their_paths(
    one: str, other: str, share: float, changes: list[tuple[str, Any, Any]]
) -> None:
    assert fields_equal(one, other) == share
    assert field_changes(one, other) == changes


def test_a_path_is_safe_to_print_and_its_long_names_are_cut() -> None:
    assert field_changes('{"a\\u202eb": 1}', "{}")[0].path == r"a\u202eb"
    assert field_changes(json.dumps({"k" * 1000: 1}), "{}")[0].path == "k" * 59 + "…"


def test_only_the_first_changes_are_returned() -> None:
    changes = field_changes(json.dumps([1] * 5_000), json.dumps([2] * 5_000))
    assert len(changes) == MOST_CHANGES == 200
    assert changes[-1] == ("[199]", 1, 2)


@given(JSONS, JSONS)
def test_equal_fields_of_any_two_answers(one: Any, other: Any) -> None:
    before, after = json.dumps(one), json.dumps(other)
    if json_of(before) is None or json_of(after) is None:  # a surrogate
        return
    share = fields_equal(before, after)
    assert share is not None
    assert 0 <= share <= 1
    assert share == fields_equal(after, before)
    assert fields_equal(before, before) == 1.0
    assert field_changes(before, before) == []
    assert (share == 1.0) == (field_changes(before, after) == []) == same_json(one, other)
    forward, backward = field_changes(before, after), field_changes(after, before)
    assert sorted((path, repr(mine), repr(theirs)) for path, mine, theirs in forward) == sorted(
        (path, repr(theirs), repr(mine)) for path, mine, theirs in backward
    )
