"""Runs of random pipelines through SQLite and PostgreSQL: every one of them is, in another process, what it was here."""

from __future__ import annotations

import asyncio
import random

import pytest

from adknb import DatabaseSessionService, Run, Runner, RunStateError
from adknb.models.scripted import ScriptedModel
from tests.sessions.document_store import run_data
from tests.sessions.random_pipelines import MESSAGES, Maker, answer, without_temp


@pytest.mark.parametrize("seed", range(6))
def test_every_run_of_a_session_is_read_back(seed: int, url: str) -> None:
    """Both turns, then steps of them again: rewound, stepped, tried, run from and continued."""
    chance = random.Random(seed)
    service = DatabaseSessionService(url)
    runner = Runner(Maker(seed).root(), model=ScriptedModel(answer), session_service=service)
    runs: list[Run] = [runner.run(message, session="s") for message in MESSAGES]
    for _ in range(6):
        run = chance.choice(runs)
        name = chance.choice(run.step_runs).name if run.step_runs else "A1"
        try:
            match chance.randrange(5):
                case 0:
                    runs.append(runner.rewind(run, name))
                case 1:
                    runs.append(runner.step(run, name, trial=True))
                case 2:
                    runs.append(runner.run_from(run, name))
                case 3:
                    runs.append(runner.continue_run(run))
                case _:
                    runs.append(runner.rerun(run, "another message"))
        except RunStateError:  # there is no such step any more, or nothing is left to do
            continue
    session = runs[0].session
    other = DatabaseSessionService(url)
    again = asyncio.run(other.get_session(app_name="adknb", user_id="user", session_id="s"))
    assert again is not None
    read = {run.id: run for run in other.runs(again)}
    assert {name: run_data(run) for name, run in read.items()} == {run.id: run_data(run) for run in runs}
    assert [run.id for run in again.turns] == [run.id for run in session.turns]
    assert [event.id for event in again.history] == [event.id for event in session.history]
    assert without_temp(again.state) == without_temp(session.state)
    service.close()
    other.close()
