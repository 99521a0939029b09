"""What adknb sees of a run by google-adk is what google-adk does without adknb, in every recorded case."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: pip install 'adknb[adk]'")

from adknb.core.content import Content
from adknb.core.errors import AdknbError
from adknb.core.specs import BaseAgent
from adknb.core.tools import FunctionTool
from adknb.runtime.callbacks import ToolContext
from adknb.runtime.runner import Runner
from tests.adk import plain

CONFORMANCE = Path(__file__).parent.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

import case as cases  # noqa: E402  # found through the path above
from check import read_lines  # noqa: E402

EVERY = 8
"""Of so many cases one is played in every run, all with `pytest -m soak`: google-adk takes a third of a second for each."""
CASES = [
    pytest.param(case, id=case["id"], marks=[pytest.mark.soak] if place % EVERY else [])
    for place, case in enumerate(read_lines(CONFORMANCE / "cases.jsonl"))
    if case["id"] != "name-bad"  # its name is refused before anything runs
]


def read_state(key: str, tool_context: ToolContext) -> dict[str, Any]:
    """Read a value from session state by key."""
    return dict(plain.read_state(key, tool_context))


def write_state(key: str, value: str, tool_context: ToolContext) -> dict[str, Any]:
    """Write a value to session state."""
    return dict(plain.write_state(key, value, tool_context))


TOOLS = {function.__name__: FunctionTool(function) for function in (read_state, write_state, plain.echo)}


def guard(spec: Any) -> Any:
    def require(context: Any) -> Content | None:
        answer = plain.guarded(spec, context.state)
        return None if answer is None else Content.model(answer)

    return require


def described(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> BaseAgent:
    """The case's agents as adknb's."""
    monkeypatch.setattr(cases, "guard", guard)
    monkeypatch.setattr(cases, "TOOLS", {**cases.TOOLS, **TOOLS})
    return cases.build(case["root"], lambda agent, request: None)


async def captured(case: dict[str, Any], root: Any) -> dict[str, Any]:
    """`plain.recorded`, from the runs that adknb leaves."""
    runner = Runner(root, rules="python", app_name=plain.APP)
    requests: dict[str, list[Any]] = {}
    events: list[dict[str, Any]] = []
    session: Any = "s"
    state, error = case.get("state", {}), None
    for turn in case["turns"]:
        try:
            run = await runner.run_async(turn, session=session, user_id=plain.USER, state=state)
        except Exception as raised:
            assert runner.last_run is not None
            run = runner.last_run
            told = raised.adk_type is not None if isinstance(raised, AdknbError) else False
            error = [raised.adk_type, raised.adk_message] if told else [type(raised).__name__, str(raised)]  # type: ignore[attr-defined]
        session, state = run.session, {}
        for step in run.step_runs:
            for request in step.requests:
                sent = request.sent
                requests.setdefault(step.agent.name, []).append(
                    {
                        "system_instruction": sent.system_instruction,
                        "contents": [plain.content_json(content) for content in sent.contents],
                        "tools": sorted(sent.tools),
                    }
                )
        events.extend(
            {
                "author": event.author,
                "content": plain.content_json(event.content) if event.content else None,
                "state_delta": event.actions.state_delta,
                "final": event.is_final_response(),
                "branch": event.branch,
            }
            for event in run.turn_events[1:]
        )
        if error is not None:
            break
    return {"requests": requests, "events": events, "state": dict(session.state), "error": error}


@pytest.mark.parametrize("case", CASES)
async def test_capture(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a user's own agents, and of adknb's agents turned into google-adk's."""
    expected = await plain.recorded(case)
    assert await captured(case, plain.build(case["root"], {})) == expected
    if expected["error"] == ["RuntimeError", "script exhausted"]:
        expected["error"] = ["RuntimeException", "script exhausted"]  # how the cases' model says it
    assert await captured(case, described(case, monkeypatch)) == expected


def test_the_cases_are_all_there() -> None:
    assert len(CASES) == 485
