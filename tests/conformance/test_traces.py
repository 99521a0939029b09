"""Every recorded trace, reproduced."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from check import compare, differences, main, read_lines  # noqa: E402  # found through the path above


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
    + recorded("gemini.jsonl", "gemini.java.jsonl")
    + recorded("extra.jsonl", "extra.java.jsonl")
    + recorded("resumable.jsonl", "resumable.java.jsonl")
    + recorded("extra.resumable.jsonl", "extra.resumable.java.jsonl"),
)
def test_java(case: dict[str, Any], trace: dict[str, Any]) -> None:
    assert compare(case, trace, "java") == []


@pytest.mark.parametrize(
    ("case", "trace"),
    recorded("cases.jsonl", "js.jsonl")
    + recorded("features.jsonl", "features.js.jsonl")
    + recorded("gemini.jsonl", "gemini.js.jsonl")
    + recorded("extra.js.jsonl", "extra.js.jsonl"),
)
def test_js(case: dict[str, Any], trace: dict[str, Any]) -> None:
    assert compare(case, trace, "js") == []


@pytest.mark.parametrize(
    ("case", "trace"),
    recorded("cases.jsonl", "go.jsonl")
    + recorded("features.jsonl", "features.go.jsonl")
    + recorded("gemini.jsonl", "gemini.go.jsonl")
    + recorded("extra.go.jsonl", "extra.go.jsonl"),
)
def test_go(case: dict[str, Any], trace: dict[str, Any]) -> None:
    assert compare(case, trace, "go") == []


def test_a_difference_is_named_with_its_first_character() -> None:
    assert list(differences({"a": ["same", "abcdef"]}, {"a": ["same", "abcXef"]})) == [
        ".a[1]: differs at character 3: recorded 'abcdef', here 'abcXef'"
    ]
    assert list(differences({"a": 1}, {"b": 1})) == [".a: recorded 1, here absent", ".b: recorded absent, here 1"]
    assert list(differences([1], [1.0])) == ["[0]: recorded 1, here 1.0"]
    assert list(differences([1, 2], [1])) == [": 2 recorded, 1 here"]


def test_check_counts_what_it_cannot_compare_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    case, trace = recorded("features.jsonl", "features.java.jsonl")[0].values

    def check(*traces: dict[str, Any]) -> tuple[int, list[str]]:
        (tmp_path / "cases").write_text(
            "".join(json.dumps({**case, "id": name}) + "\n" for name in ("a", "b", "c", "d"))
        )
        (tmp_path / "traces").write_text("".join(json.dumps(line) + "\n" for line in traces))
        monkeypatch.setattr(sys, "argv", ["check.py", str(tmp_path / "cases"), str(tmp_path / "traces")])
        return main(), capsys.readouterr().out.splitlines()

    equal, unsupported = {**trace, "id": "a"}, {"id": "b", "unsupported": True}
    assert check(equal, unsupported) == (0, ["2 without a trace, 1 unsupported by that ADK", "1 equal, 0 different"])
    different = {**trace, "id": "c", "error": {"type": "E", "message": "m"}}
    assert check(equal, unsupported, different) == (
        1,
        [
            "c:",
            "  .error: recorded {'type': 'E', 'message': 'm'}, here None",
            "1 without a trace, 1 unsupported by that ADK",
            "1 equal, 1 different",
        ],
    )


def test_a_case_that_cannot_be_run_is_different() -> None:
    case, trace = recorded("features.jsonl", "features.java.jsonl")[0].values
    assert compare({**case, "root": {**case["root"], "type": "llm", "tools": ["nope"]}}, trace, "java") == [
        "could not be run: KeyError: 'nope'"
    ]
