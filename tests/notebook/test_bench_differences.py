"""What changed between two JSON values is small, and gives the second one back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adknb.notebook.bench_differences import SAME, applied, difference

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b", "set", "value"]), inner),
    max_leaves=12,
)


@given(VALUES, VALUES)
def test_the_second_value_comes_from_the_first_and_the_difference(before: Any, after: Any) -> None:
    kept = json.dumps(before)
    change = json.loads(json.dumps(difference(before, after)))
    assert json.dumps(applied(before, change), sort_keys=True) == json.dumps(after, sort_keys=True)
    assert (change is SAME) == (json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True))
    assert json.dumps(before) == kept


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ([1, 2], [1, 2, 3], {"keep": 2, "then": [3], "end": 0}),
        ([1, 2, 3], [1, 3], {"keep": 1, "then": [], "end": 1}),
        ([1, {"a": 1}, 3], [1, {"a": 2}, 3], {"at": 1, "each": [{"set": {"a": {"value": 2}}, "drop": []}]}),
        ({"a": 1, "b": 2}, {"b": 2, "c": 3}, {"set": {"c": {"value": 3}}, "drop": ["a"]}),
        ({"a": None}, {}, {"set": {}, "drop": ["a"]}),
        (1, True, {"value": True}),
        (0.0, 0, {"value": 0}),
        (0.0, -0.0, {"value": -0.0}),
        ("x", "x", SAME),
    ],
)
def test_only_what_changed(before: Any, after: Any, change: Any) -> None:
    assert difference(before, after) == change
    assert applied(before, change) == after


def test_what_did_not_change_is_shared() -> None:
    before = {"big": [1, 2, 3], "small": 1}
    after = applied(before, {"set": {"small": {"value": 2}}, "drop": []})
    assert after["big"] is before["big"]
