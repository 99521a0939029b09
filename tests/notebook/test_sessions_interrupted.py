"""Ctrl-C at the moment when something of the bench is stored: the bench and its database say the same afterwards."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection

from adknb import Content, Event, Session
from adknb.notebook.bench import Bench
from adknb.notebook.pipelines import AgentOptions
from adknb.notebook.records import TurnRequest
from adknb.sessions.database.connection import Database


@pytest.fixture
def bench(start: Callable[[], Bench]) -> Bench:
    bench = start()
    bench.use(model=bench.namespace["model"])
    bench.put_agent("p", "A", "Agent A.", AgentOptions(key="a"))
    bench.put_agent("p", "B", "B reads {a}.", AgentOptions(key="b"))
    return bench


def what_it_has(bench: Bench) -> dict[str, Any]:
    return {
        "pipelines": {name: [agent.name for agent in pipeline.agents] for name, pipeline in bench.pipelines.items()},
        "runs": [(run.id, run.status, [event.text for event in run.turn_events]) for run in bench.runs],
        "sessions": {
            name: ([event.text for event in session.history], session.state) for name, session in bench.sessions.items()
        },
        "undo": bench.last_change,
    }


def interrupt(monkeypatch: pytest.MonkeyPatch, kind: str, number: int) -> list[int]:
    """Let Ctrl-C come while the read or write of this number is waited for. Returns how many there were."""
    do, main, done = getattr(Database, kind), threading.main_thread().ident, [0]
    assert main is not None

    async def interrupted(database: Database, work: Callable[[Connection], object], *rest: object) -> object:
        done[0] += 1

        def with_ctrl_c(connection: Connection) -> object:
            signal.pthread_kill(main, signal.SIGINT)
            time.sleep(0.02)  # so that it is handled while the caller waits
            return work(connection)

        return await do(database, with_ctrl_c if done[0] == number else work, *rest)

    monkeypatch.setattr(Database, kind, interrupted)
    return done


CHANGES: dict[str, Callable[[Bench], object]] = {
    "an agent is written": lambda bench: bench.put_agent("p", "C", "C reads {b}.", AgentOptions()),
    "a turn is run": lambda bench: bench.run("p", TurnRequest("hi", session="chat")),
    "a turn is run again": lambda bench: bench.run("p", TurnRequest("hi again", session="chat", turn=1)),
    "it is rewound": lambda bench: bench.rewind("B"),
    "a run is undone": lambda bench: bench.undo(),
    "a session is imported": lambda bench: bench.take_in(
        Session("elsewhere", events=[Event("user", Content.user("hi"))], history=[])
    ),
}


@pytest.mark.parametrize(
    ("change", "kind", "number"),
    [
        *(("an agent is written", "write", number) for number in (1, 2)),
        *(("a turn is run", "write", number) for number in range(1, 6)),
        *(("a turn is run again", "write", number) for number in range(1, 6)),
        *(("it is rewound", "write", number) for number in range(1, 4)),
        *(("a run is undone", "write", number) for number in range(1, 6)),
        *(("a run is undone", "read", number) for number in range(1, 5)),
        *(("a session is imported", "write", number) for number in range(1, 4)),
    ],
)
def test_bench_and_database_agree_after_ctrl_c(
    bench: Bench, start: Callable[[], Bench], monkeypatch: pytest.MonkeyPatch, change: str, kind: str, number: int
) -> None:
    if change != "a turn is run":
        bench.run("p", TurnRequest("hello", session="chat"))
    done = interrupt(monkeypatch, kind, number)
    try:
        CHANGES[change](bench)
    except KeyboardInterrupt:
        assert done[0] >= number
    else:
        assert done[0] < number
    monkeypatch.undo()
    assert what_it_has(start()) == what_it_has(bench)
    bench.put_agent("p", "D", "Agent D.", AgentOptions())  # goes on; nobody else changed the bench
    while bench.last_change:
        bench.undo()
        assert what_it_has(start()) == what_it_has(bench)
