"""Every recorded trace, reproduced."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from check import compare, differences, read_lines  # noqa: E402  # found through the path above


def recorded(cases: str, traces: str) -> list[Any]:
    by_id = {trace["id"]: trace for trace in read_lines(HERE / "traces" / traces)}
    return [
        pytest.param(case, by_id[case["id"]], id=case["id"])
        for case in read_lines(HERE / cases)
        if case["id"] in by_id and not by_id[case["id"]].get("unsupported")
    ]


@pytest.mark.parametrize(
    ("case", "trace"),
    recorded("cases.jsonl", "java.jsonl")
    + recorded("features.jsonl", "features.java.jsonl")
    + recorded("gemini.jsonl", "gemini.java.jsonl"),
)
def test_java(case: dict[str, Any], trace: dict[str, Any]) -> None:
    assert compare(case, trace, "java") == []


def test_a_difference_is_named_with_its_first_character() -> None:
    assert list(differences({"a": ["same", "abcdef"]}, {"a": ["same", "abcXef"]})) == [
        ".a[1]: differs at character 3: recorded 'abcdef', here 'abcXef'"
    ]
    assert list(differences({"a": 1}, {"b": 1})) == [".a: recorded 1, here absent", ".b: recorded absent, here 1"]
    assert list(differences([1], [1.0])) == ["[0]: recorded 1, here 1.0"]
    assert list(differences([1, 2], [1])) == [": 2 recorded, 1 here"]
