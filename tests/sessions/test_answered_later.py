"""Pauses and answers through a database, each turn in another process: as ADK Java's recorded traces have it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.sessions.answering import CASES, CONFORMANCE

sys.path.insert(0, str(CONFORMANCE))

from check import differences, read_lines, without_objects  # found through the path above

TRACES = {trace["id"]: trace for trace in read_lines(CONFORMANCE / "traces" / "resumable.java.jsonl")}


def turn(url: str, number: int, left: dict[str, list[int]]) -> dict[str, Any]:
    """What the turn of this number did in each case, in a process that ended."""
    script = Path(__file__).with_name("answering.py")
    done = subprocess.run(
        [sys.executable, str(script), url, str(number)],
        input=json.dumps(left),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Each case's turns."""
    url = f"sqlite:///{tmp_path_factory.mktemp('answered')}/sessions.db"
    turns: dict[str, list[dict[str, Any]]] = {case["id"]: [] for case in CASES}
    left: dict[str, list[int]] = {}
    for number in range(max(len(case["turns"]) for case in CASES)):
        for name, done in turn(url, number, left).items():
            turns[name].append(done)
            left[name] = done["left"]
    return turns


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_as_recorded(case: dict[str, Any], played: dict[str, list[dict[str, Any]]]) -> None:
    turns = played[case["id"]]
    assert len(turns) == len(case["turns"])
    with_events = [done for done in turns if done["events"]]
    found = {
        "id": case["id"],
        "requests": [request for done in turns for request in done["requests"]],
        "events": [
            {**event, "invocation": place} for place, done in enumerate(with_events) for event in done["events"]
        ],
        "state": turns[-1]["state"],
        "errors": [done["error"] for done in turns],
        "error": next(filter(None, (done["error"] for done in turns)), None),
    }
    assert list(differences(without_objects(TRACES[case["id"]]), found)) == []


def test_what_waits_is_found_by_the_next_process(played: dict[str, list[dict[str, Any]]]) -> None:
    first, second = ["B", "ask", "ok?"], ["B", "ask", "sure?"]
    found = {name: [(done["statuses"], done["pending"]) for done in turns] for name, turns in played.items()}
    assert found["r-two-calls-second-first"] == [
        ([], []),
        (["waiting"], [first, second]),
        (["waiting", "completed"], [first]),
    ]
    assert found["r-asks-again"] == [([], []), (["waiting"], [first]), (["waiting", "waiting"], [second])]
    assert found["r-answered-twice"][2] == (["waiting", "completed"], [])
    assert found["r-plain-message-then-answer"][2] == (["waiting", "completed"], [first])
    assert found["r-error-after-resume-then-answer"][2] == (["waiting", "failed"], [])
