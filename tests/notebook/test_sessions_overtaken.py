"""Two kernels of one notebook: what one changes while the other is about to change something else is not lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adknb import Run, Runner, Session, StaleSessionError
from adknb.notebook.bench import Bench
from adknb.notebook.pipelines import AgentOptions
from adknb.notebook.records import TurnRequest
from adknb.sessions.database import DatabaseSessionService


def test_what_another_kernel_changes_meanwhile_is_not_lost(
    start: Callable[[], Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = start(), start()
    first.use(model=first.namespace["model"])
    second.open(second.home.url, "n")
    for name in "ABC":
        second.put_agent("p", name, f"Agent {name}.", AgentOptions(key=name.lower()))
    first.open(first.home.url, "n")
    said = "another kernel has changed the bench of notebook 'n' since"

    def overtake(name: str) -> None:
        second.put_agent("p", name, f"{name} reads {{c}}.", AgentOptions(key=name.lower()))

    def change_and_be_overtaken() -> None:
        with first.change("all gone"):
            overtake("D")  # as while a comparison is made
            first.pipelines = {}

    with pytest.raises(StaleSessionError, match=said):
        change_and_be_overtaken()
    assert [agent.name for agent in first.pipeline("p").agents] == ["A", "B", "C", "D"]
    create = DatabaseSessionService.create_session

    async def create_and_be_overtaken(service: DatabaseSessionService, **names: Any) -> Session:
        session = await create(service, **names)
        if "E" not in [agent.name for agent in second.pipeline("p").agents]:
            overtake("E")
        return session

    monkeypatch.setattr(DatabaseSessionService, "create_session", create_and_be_overtaken)
    with pytest.raises(StaleSessionError, match=said):
        first.run("p", TurnRequest("hi", session="chat"))
    assert [agent.name for agent in first.pipeline("p").agents] == ["A", "B", "C", "D", "E"]
    run = first.run("p", TurnRequest("hi", session="chat"))
    work = Runner.rewind

    def rewind_and_be_overtaken(runner: Runner, run: Run, name: str) -> Run:
        second.open(second.home.url, "n")
        overtake("F")
        return work(runner, run, name)

    monkeypatch.setattr(Runner, "rewind", rewind_and_be_overtaken)
    with pytest.raises(StaleSessionError, match=said):
        first.rewind("B")
    assert [agent.name for agent in first.pipeline("p").agents] == ["A", "B", "C", "D", "E", "F"]
    assert [run.id for run in first.runs] == [run.id, first.sessions["chat"].turns[0].id]
    assert start().last_change == first.last_change == "p: F added"
