"""Agents of a run that was read back do not run: the Runner says so before anything happens. The run can be looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adknb import DatabaseSessionService, LlmAgent, Run, Runner, RunStateError, ScriptedModel, SequentialAgent
from adknb.core.content import FunctionCall, Part

WAY_OUT = "Give the pipeline's own agents: Runner(root).continue_run(run), .run_from(run, step) and the like."


def look_up(order: str) -> dict[str, str]:
    """Look an order up."""
    return {"status": f"{order} is late"}


def note(context: Any) -> None:
    context.state["seen"] = True


def pipeline() -> SequentialAgent:
    first = LlmAgent(name="A", instruction="Help.", tools=[look_up], output_key="a", before_agent_callback=[note, note])
    return SequentialAgent(name="root", sub_agents=[first, LlmAgent(name="B", instruction="Use {a}.")])


def model() -> ScriptedModel:
    call = [Part(function_call=FunctionCall("look_up", {"order": "7"}))]
    return ScriptedModel({"A": [call, "late"], "B": ["sorry", "sorry again"]})


@pytest.fixture
def stored(tmp_path: Path) -> Run:
    """A run of it, as another process reads it."""
    url = f"sqlite:///{tmp_path}/s.db"
    Runner(pipeline(), model=model(), session_service=url).run("where?", session="s")
    return read(url)


def read(url: str) -> Run:
    """The run of session `s`."""
    service = DatabaseSessionService(url)
    session = asyncio.run(service.get_session(app_name="adknb", user_id="user", session_id="s"))
    assert session is not None
    return session.turns[0]


BEGINNINGS: list[Callable[[Runner, Run], object]] = [
    lambda runner, run: runner.run("again"),
    lambda runner, run: runner.run("again", session=run.session),
    lambda runner, run: runner.run("again", pause=True),
    lambda runner, run: runner.run_from(run, "B"),
    lambda runner, run: runner.step(run, "B", trial=True),
    lambda runner, run: runner.rerun(run),
    lambda runner, run: runner.continue_run(runner.rewind(run, "B")),
]


@pytest.mark.parametrize("begin", BEGINNINGS)
def test_it_is_refused_before_anything_happens(begin: Callable[[Runner, Run], object], stored: Run) -> None:
    runner = Runner(stored.root, model=model())
    events = len(stored.session.events)
    with pytest.raises(RunStateError) as refused:
        begin(runner, stored)
    assert str(refused.value) == (
        "these agents are of a run that was read back, and of what they call only the names were stored (agent 'A': function "
        f"'note', agent 'A': function 'look_up'). {WAY_OUT}"
    )
    assert len(stored.session.events) == events
    assert stored.session.under_way is None


def test_it_can_be_looked_at_and_rewound(stored: Run) -> None:
    runner = Runner(stored.root, model=model())
    assert stored.output == "sorry"
    assert "look_up" in stored.step("A").requests[0].sent.tools
    rewound = runner.rewind(stored, "B")
    assert ([step.name for step in rewound.step_runs], rewound.status) == (["A"], "paused")
    own = Runner(pipeline(), model=model())
    assert own.continue_run(rewound).output == "sorry"


def test_a_model_object_is_one_of_them_unless_others_answer(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    Runner(LlmAgent(name="A", model=ScriptedModel(["one"])), session_service=url).run("hi", session="s")
    root = read(url).root
    with pytest.raises(RunStateError, match=r"\(agent 'A': model 'scripted'\)"):
        Runner(root, models={}).run("hi")
    with pytest.raises(RunStateError, match=r"\(agent 'A': model 'scripted'\)"):
        Runner(root, model="echo").run("hi")
    assert Runner(root, models={"A": "echo"}).run("hi").output == "hi"
    assert Runner(root, models="echo").run("hi").output == "hi"
