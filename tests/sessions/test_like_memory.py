"""The same things done in memory and in a database, across restarts: sessions are equal after each."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from typing import Any

import pytest

from adknb import (
    AdknbError,
    CallbackContext,
    Content,
    Event,
    EventActions,
    InMemorySessionService,
    LlmAgent,
    LlmRequest,
    LoopAgent,
    Run,
    Runner,
    SequentialAgent,
    Session,
    SessionService,
)
from adknb.models.scripted import ScriptedModel
from adknb.sessions.database import DatabaseSessionService
from tests.sessions.conftest import Opener

pytestmark = pytest.mark.anyio


def note(callback_context: CallbackContext) -> None:
    callback_context.state["app:seen"] = [*callback_context.state.get("app:seen", []), callback_context.agent_name]
    callback_context.state["temp:seen"] = 1


PIPELINE = SequentialAgent(
    name="p",
    sub_agents=[
        LlmAgent(name="A", instruction="{app:seen?} {user:c?}", output_key="a", before_agent_callback=note),
        LoopAgent(name="L", max_iterations=2, sub_agents=[LlmAgent(name="B", instruction="{a}", output_key="user:b")]),
        LlmAgent(name="C", instruction="{user:b}", output_key="user:c", after_agent_callback=note),
    ],
)


class Bench:
    """A runner whose model counts how often it was asked, on one session."""

    def __init__(self, service: SessionService) -> None:
        self.asked = 0
        self.failing = False
        self.attach(service)

    def attach(self, service: SessionService) -> None:
        self.service = service
        self.runner = Runner(PIPELINE, model=ScriptedModel(self.answer), session_service=service)

    def answer(self, request: LlmRequest) -> str:
        self.asked += 1
        if self.failing and request.agent == "B":
            raise ValueError("the model is out of order")
        return f"{request.agent}{self.asked}"

    async def session(self) -> Session:
        found = await self.service.get_session(app_name="adknb", user_id="user", session_id="s")
        assert found is not None
        return found

    async def do(self, action: str, turn: int, agent: str, failing: bool) -> str:
        """What became of it: the run's status, or the error's class."""
        self.failing = failing
        try:
            return await self._do(action, turn, agent)
        except (AdknbError, ValueError) as error:
            return type(error).__name__

    async def _do(self, action: str, turn: int, agent: str) -> str:
        session = await self.session()
        if action == "append":
            await self.service.append_event(
                session,
                Event("X", Content.model("by hand"), EventActions({"x": len(session.events), "user:c": "by hand"})),
            )
            return "appended"
        if action == "run" or not session.turns:
            return (await self.runner.run_async("hi", session=session, state={"turn": len(session.turns)})).status
        run = session.turns[turn % len(session.turns)]
        actions: dict[str, Any] = {
            "continue": lambda: self.runner.continue_run(run),
            "from": lambda: self.runner.run_from(run, agent),
            "rewind": lambda: self.runner.rewind(run, agent),
            "rerun": lambda: self.runner.rerun(run, "another"),
            "step": lambda: self.runner.step(run, agent),
            "trial": lambda: self.runner.step(run, agent, trial=True),
        }
        done: Run = await asyncio.to_thread(actions[action])
        return done.status


def kept(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without `temp:` keys, which no database has."""
    return {key: value for key, value in values.items() if not key.startswith("temp:")}


def what_stands_in(session: Session) -> dict[str, Any]:
    def name(event: Event) -> tuple[str, str, dict[str, Any]]:
        return event.author, event.text, kept(event.actions.state_delta)

    return {
        "events": [name(event) for event in session.events],
        "history": [name(event) for event in session.history],
        "state": kept(session.state),
        "turns": [
            {
                "status": run.status, "events": [name(event) for event in run.turn_events], "stale": run.stale,
                "start": run.start, "start_state": kept(run.start_state), "past": [name(event) for event in run.past],
                "steps": [(step.name, step.status, step.output, step.replayed) for step in run.step_runs],
                "prompts": [[r.sent.system_instruction for r in step.requests] for step in run.step_runs],
                "journal": [(entry.path, entry.moment, len(entry.events)) for entry in run.journal],
                "parent": run.parent is not None, "error": type(run.error).__name__,
            }
            for run in session.turns
        ],
    }  # fmt: skip


ACTIONS = ("append", "run", "run", "continue", "from", "rewind", "rerun", "step", "trial")


@pytest.mark.parametrize(
    "seed", [4, 8, 11, 16, 32, 42, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(100, 300))]
)
async def test_random_actions(opened: Opener, url: str, seed: int) -> None:
    choice = random.Random(seed)
    memory, stored = Bench(InMemorySessionService()), Bench(opened())
    for bench in (memory, stored):
        await bench.service.create_session(app_name="adknb", user_id="user", session_id="s", state={"begun": 1})
    for _ in range(12 if url.startswith("sqlite") else 5):
        action = (choice.choice(ACTIONS), choice.randrange(3), choice.choice("ABC"), choice.random() < 0.2)
        expected = await memory.do(*action)
        assert (action, await stored.do(*action)) == (action, expected)
        wanted = what_stands_in(await memory.session())
        assert (action, what_stands_in(await stored.session())) == (action, wanted)
        restarted = opened()
        again = await restarted.get_session(app_name="adknb", user_id="user", session_id="s")
        assert again is not None
        assert (action, what_stands_in(again)) == (action, wanted)
        if choice.random() < 0.4:  # the kernel is started anew
            assert isinstance(stored.service, DatabaseSessionService)
            await stored.service.aclose()
            stored.attach(restarted)
