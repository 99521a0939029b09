"""Runs of recorded cases, written and read back: equal in everything, and able to go on after every event."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

CONFORMANCE = Path(__file__).parent.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

from case import answers, build, event_json  # noqa: E402  # found through the path above
from check import read_lines  # noqa: E402
from dialects import DIALECTS  # noqa: E402

from adknb.core.errors import AdknbError  # noqa: E402
from adknb.core.run import Run  # noqa: E402
from adknb.runtime.runner import Runner  # noqa: E402
from tests.sessions.document_store import Disk, DocumentStore, run_data  # noqa: E402

CASES = [
    *read_lines(CONFORMANCE / "cases.jsonl")[::10],
    *read_lines(CONFORMANCE / "features.jsonl")[::5],
    *read_lines(CONFORMANCE / "extra.jsonl")[::10],
]
TABLES = ("state", "state_history", "events", "steps", "tokens")


def play(case: dict[str, Any], rules: str = "java", copies: bool = False) -> tuple[DocumentStore, list[Run]]:
    store = DocumentStore(copies)
    runs: list[Run] = []
    try:
        runner = Runner(build(case["root"], lambda agent, request: None), rules=rules, session_service=store)
        session = None
        for turn in case["turns"]:
            message = turn if isinstance(turn, str) else answers(turn, session.events if session is not None else [])
            state = case.get("state") if session is None else None
            runs.append(runner.run(message, session=session or "s", user_id="user-42", state=state))
            session = runs[-1].session
    except AdknbError as error:
        if error.run is not None:
            runs.append(error.run)
    return store, runs


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_a_run_read_back_is_the_run(case: dict[str, Any]) -> None:
    store, runs = play(case)
    _, read = store.disk.read()
    assert list(read) == [run.id for run in runs]
    for run in runs:
        assert run_data(read[run.id]) == run_data(run)
