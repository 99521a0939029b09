"""Values that no store takes: the run fails with what and where, and what it did before can be looked at."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from adknb import (
    BaseAgent,
    Content,
    DatabaseSessionService,
    Event,
    EventActions,
    FunctionCall,
    InvocationContext,
    LlmAgent,
    Part,
    Runner,
    StateValueError,
)
from adknb.models.scripted import ScriptedModel
from adknb.sessions.json_text import to_text


def pay(amount: str) -> dict[str, Any]:
    """Pay an amount."""
    return {"paid": amount}


class Writes(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event]:
        yield Event(self.name, Content.model("x"), EventActions({"sum": [Decimal(1)]}))


def pays(args: dict[str, Any], before_tool: Callable[..., Any] | None = None) -> LlmAgent:
    call = Part(function_call=FunctionCall("pay", args))
    return LlmAgent(name="A", tools=[pay], before_tool_callback=before_tool or (), model=ScriptedModel([call, "paid"]))


@pytest.mark.parametrize(
    ("root", "fault"),
    [
        (Writes(name="A"), "the state_delta: 'sum[0]': a Decimal cannot be stored"),
        (pays({"amount": Decimal(1)}), "the call of 'pay': 'amount': a Decimal cannot be stored"),
        (pays({"amount": "1"}, lambda *_: {"n": 10**5000}), "the answer of 'pay': 'n': a number of more than 4,000 digits"),
        (pays({"amount": "1"}, lambda *_: {"n": {(1, 2): 3}}), "the answer of 'pay': 'n': the object's key (1, 2) must be text"),
    ],
)  # fmt: skip
def test_an_event_that_is_no_json_ends_its_run(root: BaseAgent, fault: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/sessions.db"
    service = DatabaseSessionService(url)
    with pytest.raises(StateValueError) as caught:
        Runner(root, session_service=service).run("go", session="s")
    service.close()
    assert str(caught.value) == (
        f"an event of 'A' cannot be stored: {fault}. Use text, numbers, lists and dicts, or save bulk data as an "
        "artifact."
    )
    session = Runner(root, session_service=url).run("again", session="s", pause=True).session
    failed = session.turns[0]
    assert (failed.status, str(failed.error), failed.step_runs[0].status) == (
        "failed",
        str(caught.value),
        "interrupted",
    )
    assert [event.id for event in failed.turn_events] == [event.id for event in session.events[:-1]]


def test_what_is_no_json_in_a_request_is_written_as_what_it_is() -> None:
    class Schema:
        pass

    deep: list[Any] = []
    for _ in range(3_000):
        deep = [deep]
    around: dict[str, Any] = {}
    around["around"] = around
    assert to_text({"schema": Schema(), "text": "é"}) == '{"schema":"<Schema>","text":"é"}'
    assert to_text([Decimal(1), 10**5000, {(1, 2): b"x"}, (1.5, None, True)]) == (
        '["<Decimal>","<a number of more than 4,000 digits>",{"(1, 2)":"<bytes>"},[1.5,null,true]]'
    )
    assert to_text(deep).count("[") == 201
    assert to_text(around).count("around") == 201
