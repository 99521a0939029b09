"""What it costs that runs are kept with their sessions: turns, a long run, a whole conversation, a bench."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from overhead import Row, Timed, sample, times_as_much, times_less
from pipelines import MESSAGE, Adknb, GoogleAdk, chain, ticket
from session_processes import memory_row, separately
from session_stores import google_database, timed_load

from adknb import DatabaseSessionService, Runner, ScriptedModel
from adknb.examples.ticket import ticket_pipeline

TURNS = 100
RUNS = 200


async def turns(folder: Path, repeats: int) -> list[Row]:
    """The ticket pipeline, a session each: 4 events, and with adknb the run's requests and journal."""
    peer = google_database(f"sqlite+aiosqlite:///{folder / 'google-turns.db'}")
    async with service_at(folder / "turns.db") as service:
        timed = await sample(
            {
                "kept": (Adknb(ticket(), session_service=service), 5),
                "google-adk, kept": (GoogleAdk(ticket(), session_service=peer.service), 5),
                "in memory": (Adknb(ticket()), 50),
                "google-adk": (GoogleAdk(ticket()), 5),
            },
            repeats,
        )
    await peer.close()
    return [
        times_less(
            "a turn of 3 steps with its run, full", timed["kept"], "google-adk, kept", timed["google-adk, kept"]
        ),
        times_less("  in memory", timed["in memory"], "google-adk", timed["google-adk"]),
    ]


async def growth(folder: Path) -> Row:
    """Under NONE: what the 1,000th step of a kept run costs next to its 10th, read off the events' own timestamps."""
    async with service_at(folder / "growth.db", synchronous="normal") as service:
        run = await Adknb(chain(1000), include="none", session_service=service).run()
    gaps = [(after.timestamp - before.timestamp) * 1000 for before, after in itertools.pairwise(run.turn_events)]
    return times_as_much("a step at 1,000 steps, NONE, normal", Timed(gaps[-101:]), "a step at 10", Timed(gaps[5:106]))


async def whole_session(folder: Path, repeats: int) -> Row:
    """`get_session` of a session with its runs, each with its requests under DEFAULT."""
    async with service_at(folder / "whole.db") as service:
        app, user, name = await converse(service)

        async def load() -> int:
            found = await service.get_session(app_name=app, user_id=user, session_id=name)
            if found is None or len(found.turns) != TURNS:
                raise SystemExit("the session did not come back with all its runs")
            return len(found.events)

        samples = [(await timed_load(load, 4 * TURNS))[0] for _ in range(repeats)]
    return Row(f"load of {TURNS} turns × 3 steps with their runs", f"{Timed(samples)}", "", "")


async def converse(service: DatabaseSessionService) -> tuple[str, str, str]:
    """The app, the user and the id of a session with `TURNS` turns of the ticket pipeline."""
    replies = {step.name: step.reply for step in ticket()}
    model = ScriptedModel(lambda request: replies[request.agent])
    runner = Runner(ticket_pipeline(), model=model, session_service=service)
    session = (await runner.run_async(MESSAGE)).session
    for _ in range(TURNS - 1):
        await runner.run_async(MESSAGE, session=session)
    return session.app_name, session.user_id, session.id


def openings(folder: Path, repeats: int) -> list[Row]:
    """`%adk use --db` in new kernels, on a bench with runs that another left."""
    file = folder / "bench.db"
    separately("keep", file, RUNS)
    opened = [separately("open", file) for _ in range(repeats)]
    if any(each["runs"] != RUNS for each in opened):
        raise SystemExit("the bench did not come back with all its runs")
    what = f"%adk use --db, {RUNS} runs in {opened[0]['sessions']} sessions"
    return [
        Row(what, str(Timed([each["milliseconds"] for each in opened])), "", ""),
        memory_row("  memory of the process", opened[0]),
    ]


@asynccontextmanager
async def service_at(file: Path, **settings: Any) -> AsyncIterator[DatabaseSessionService]:
    service = DatabaseSessionService(f"sqlite:///{file}", **settings)
    try:
        yield service
    finally:
        await service.aclose()
