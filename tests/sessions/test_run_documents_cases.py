"""Runs of recorded cases, written and read back: equal in everything, and able to go on after every event."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

CONFORMANCE = Path(__file__).parent.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

from case import answers, build, event_json  # noqa: E402  # found through the path above
from check import read_lines  # noqa: E402

from adknb.core.errors import AdknbError  # noqa: E402
from adknb.core.events import Event  # noqa: E402
from adknb.core.run import Run  # noqa: E402
from adknb.core.state import TEMP_PREFIX  # noqa: E402
from adknb.runtime.runner import Runner  # noqa: E402
from adknb.runtime.turns import fold  # noqa: E402
from tests.sessions.document_store import DocumentStore, run_data  # noqa: E402

CASES = [
    *read_lines(CONFORMANCE / "cases.jsonl")[::10],
    *read_lines(CONFORMANCE / "features.jsonl")[::5],
    *read_lines(CONFORMANCE / "gemini.jsonl")[::8],
    *read_lines(CONFORMANCE / "extra.jsonl")[::10],
]
EVERY = [pytest.param(case, id=case["id"]) for case in CASES]
TABLES = ("state", "state_history", "events", "steps", "tokens")


def play(case: Mapping[str, Any], store: DocumentStore, rules: str = "java") -> tuple[Runner, list[Run]]:
    """The case's turns in the session "s", up to the first that fails."""
    runs: list[Run] = []
    runner = Runner(build(case["root"], lambda agent, request: None), rules=rules, session_service=store)
    try:
        for turn in case["turns"]:
            session = runs[-1].session if runs else None
            message = turn if isinstance(turn, str) else answers(turn, session.events if session is not None else [])
            state = None if runs else case.get("state")
            runs.append(runner.run(message, session=session or "s", user_id="user-42", state=state))
    except AdknbError as error:
        if error.run is not None:
            runs.append(error.run)
    return runner, runs


def without_temp(run: Run) -> Run:
    """The run without the writes that no store takes."""
    for event in run.turn_events:
        for key in [key for key in event.actions.state_delta if key.startswith(TEMP_PREFIX)]:
            del event.actions.state_delta[key]
    return run


@pytest.mark.parametrize("rules", ["java", "go", "js"])
@pytest.mark.parametrize("case", EVERY)
def test_a_run_read_back_is_the_run(case: dict[str, Any], rules: str) -> None:
    store = DocumentStore()
    _, runs = play(case, store, rules)
    _, read = store.disk.read()
    assert list(read) == [run.id for run in runs]
    for run in runs:
        assert run_data(read[run.id]) == run_data(run)


@pytest.mark.parametrize("case", EVERY[::4])
def test_its_tables_prompts_and_card_are_those_of_the_run(case: dict[str, Any]) -> None:
    store = DocumentStore()
    _, runs = play(case, store)
    _, read = store.disk.read()
    for run in map(without_temp, runs):
        again = read[run.id]
        for table in TABLES:
            pd.testing.assert_frame_equal(getattr(again, table), getattr(run, table))
        for step in run.step_runs:
            for number in range(1, len(step.requests) + 1):
                pd.testing.assert_frame_equal(again.prompt(step.name, number), run.prompt(step.name, number))
        assert str(again) == str(run)
        assert again.to_html() == run.to_html()


def can_go_on(case: Mapping[str, Any]) -> bool:
    """Whether nothing but the session decides what the case does: no counting callback, no temp: value, no artifact."""
    text = json.dumps(case)
    return not any(word in text for word in ('"when"', TEMP_PREFIX, "save_note", "artifact."))


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES if can_go_on(case)])
def test_after_every_event_the_run_can_be_read_and_goes_on_to_the_same_end(case: dict[str, Any]) -> None:
    """As if the process died there: another one reads what was written and continues with the same pipeline."""
    store = DocumentStore(copies=True)
    _, runs = play(case, store)
    ends = [without_ids([*run.past, *run.turn_events]) for run in runs]
    for death in store.deaths:
        session, read = death.read()
        run = list(read.values())[-1]
        original = runs[run.turn]
        if original.status != "completed":
            continue
        assert run.status == "interrupted"
        assert "running" not in [step.status for step in run.step_runs]
        assert [event.id for entry in run.journal for event in entry.events] == [e.id for e in run.turn_events[1:]]
        assert [event.id for event in run.turn_events] == [
            event.id for event in original.turn_events[: len(run.turn_events)]
        ]
        asked = Counter(run.asked)
        asked.update(step.agent.name for entry in run.journal[:-1] for step in entry.steps for _ in step.requests)
        root = build(still_to_ask(case["root"], asked), lambda agent, request: None)
        done = Runner(root, session_service=DocumentStore()).continue_run(run)
        assert done.status == "completed"
        assert without_ids(session.history) == ends[run.turn]
        assert session.state == fold(case.get("state") or {}, [*original.past, *original.turn_events])


def still_to_ask(node: Mapping[str, Any], asked: Mapping[str, int]) -> dict[str, Any]:
    """The case's agents without the replies that they had already."""
    rest = {"sub_agents": [still_to_ask(child, asked) for child in node.get("sub_agents", ())]}
    if "replies" in node:
        rest["replies"] = node["replies"][asked.get(node["name"], 0) :]
    return {**node, **rest}


def without_ids(events: Sequence[Event]) -> Any:
    """What the events say; ids, which no two runs share, left out."""
    return [event_json(event) for event in events]
