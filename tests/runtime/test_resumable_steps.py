"""The recorded cases of resumable mode, one step at a time: each step replays those before it and ends where the turn ends."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

CONFORMANCE = Path(__file__).parent.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

from case import answers, as_recorded, build, event_json  # noqa: E402  # found through the path above
from check import differences, read_lines  # noqa: E402

from adknb.core.errors import AdknbError  # noqa: E402
from adknb.core.run import Run  # noqa: E402
from adknb.runtime.runner import Runner  # noqa: E402

CASES = read_lines(CONFORMANCE / "resumable.jsonl")
TRACES = {trace["id"]: trace for trace in read_lines(CONFORMANCE / "traces" / "resumable.java.jsonl")}


def by_steps(runner: Runner, run: Run) -> Run:
    """The paused run, on to its end or its error."""
    try:
        while run.status == "paused":
            run = runner.step(run)
    except AdknbError as error:
        return error.run or run
    return run


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_step_by_step_the_turns_are_the_same(case: dict[str, Any]) -> None:
    runner = Runner(build(case["root"], lambda agent, request: None), temp_keys="keep", resumable=True)
    runs: list[Run] = []
    for turn in case["turns"]:
        session = runs[-1].session if runs else None
        message = turn if isinstance(turn, str) else answers(turn, session.history if session is not None else [])
        state = None if runs else case["state"]
        runs.append(by_steps(runner, runner.run(message, session=session, state=state, user_id="user-42", pause=True)))
    events = [
        {**event_json(event), "invocation": number}
        for number, run in enumerate([run for run in runs if len(run.turn_events) > 1])
        for event in run.turn_events[1:]
    ]
    recorded = TRACES[case["id"]]
    assert list(differences(recorded["events"], as_recorded(events))) == []
    assert list(differences(recorded["state"], as_recorded(dict(runs[-1].session.state)))) == []
    assert [run.status == "failed" for run in runs] == [error is not None for error in recorded["errors"]]
