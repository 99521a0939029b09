"""Runs adopted from their stored events: requests, steps and journal are those of the runs that left the events."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from adknb.core.run import Run, StepRun
from adknb.runtime.adopt import adopt
from tests.runtime.stored_cases import all_cases, data, played, stored

SAID = ("not stored", "not known", "callback", "not in the session")
"""What a note says where a request is not what was sent."""


def compared(first: int, every: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many requests are equal; of the others why: no event tells of the reply, or a note says what is not known."""
    counts: Counter[str] = Counter()
    for case in all_cases()[first::every]:
        runs = played(case, monkeypatch)
        if not runs:
            continue
        adopted = adopt(stored(runs[-1].session), runs[0].root).turns
        assert len(adopted) == len(runs)
        for ours, real in zip(adopted, runs, strict=True):
            compare(ours, real, counts)
    return counts


def compare(ours: Run, real: Run, counts: Counter[str]) -> None:
    rebuilt = requests(ours.step_runs)
    notes = [note for step in ours.step_runs for note in step.notes]
    for agent, sent in requests(real.step_runs).items():
        for place, request in enumerate(sent):
            again = rebuilt.get(agent, [])[place : place + 1]
            if again == [request]:
                counts["equal"] += 1
            elif not again:
                counts["left no event"] += 1
            else:
                counts["said" if any(word in note for note in notes for word in SAID) else "unsaid"] += 1
    spoke = [step for step in real.step_runs if step.events]
    counts["steps"] += [shape(step) for step in ours.step_runs] == [shape(step) for step in spoke]
    counts["runs"] += 1
    if real.status == "completed":
        assert journal(ours) == journal(real)
        assert ours.status == "completed"


def requests(steps: list[StepRun]) -> dict[str, list[Any]]:
    """By agent; those that were answered."""
    found: dict[str, list[Any]] = {}
    for step in steps:
        found.setdefault(step.agent.name, []).extend(data(each) for each in step.requests if each.reply is not None)
    return found


def shape(step: StepRun) -> tuple[Any, ...]:
    return (step.name, step.branch, step.status == "skipped", [event.id for event in step.events])


def journal(run: Run) -> list[Any]:
    return [
        (
            entry.path,
            entry.moment,
            [event.id for event in entry.events],
            [step.name for step in entry.steps if step.events],
        )
        for entry in run.journal
    ]


def test_every_fourth_case(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compared(0, 4, monkeypatch) == {
        "equal": 885, "left no event": 6, "said": 3, "steps": 310, "runs": 316
    }  # fmt: skip


@pytest.mark.soak
def test_every_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps differ where a run failed before a step left an event, or where only a callback's event is there to tell."""
    assert compared(0, 1, monkeypatch) == {
        "equal": 3144, "left no event": 24, "said": 32, "steps": 1201, "runs": 1224
    }  # fmt: skip
