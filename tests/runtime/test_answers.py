"""Which call an answer means, what it may be, and in which session."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import InMemorySessionService, Runner, RunStateError, StateValueError, UnknownCallError
from tests.runtime.asking import asks, outputs, replies, runner, three

pytestmark = pytest.mark.anyio
TWO = [[asks("ok?", "call-1"), asks("sure?", "call-2")]]


@pytest.mark.parametrize("named", ["call-1", "call", "ask", None])
def test_a_call_is_named_by_id_beginning_tool_or_not_at_all(named: str | None) -> None:
    bench = runner()
    bench.run("go")
    run = bench.answer(named, {"answer": "yes"})
    [answer] = run.message.function_responses
    assert (answer.id, answer.name, answer.response) == ("call-1", "ask", {"answer": "yes"})


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"a": [1]}, {"a": [1]}),
        ("yes", {"result": "yes"}),
        ('{"a": 1}', {"result": '{"a": 1}'}),
        ([1], {"result": [1]}),
        (False, {"result": False}),
        (None, {}),
    ],
)
def test_what_is_no_object_becomes_one_as_a_tools_result_does(given: Any, sent: dict[str, Any]) -> None:
    bench = runner()
    bench.run("go")
    run = bench.answer("call-1", given)
    assert run.message.function_responses[0].response == sent
    assert run.step_runs[0].requests[0].sent.contents[-1].function_responses[0].response == sent


def test_an_answer_is_json() -> None:
    bench = runner()
    run = bench.run("go")
    for value, said in ((float("nan"), "'answer': nan is not"), ({"a": {1}}, "'answer.a': a set cannot")):
        with pytest.raises(StateValueError, match=f"an answer is JSON, and this is none: {said}"):
            bench.answer("call-1", value)
    assert len(run.session.turns) == 1


def test_several_that_wait_must_be_named() -> None:
    bench = runner(B=TWO)
    run = bench.run("go")
    with pytest.raises(
        RunStateError, match=r"2 calls wait.*'call-1' \(ask, asked by B\), 'call-2' \(ask, asked by B\)"
    ):
        bench.answer(None, "yes")
    for named in ("call", "ask"):
        with pytest.raises(UnknownCallError, match=f"{named!r} fits 'call-1'.*Name one by its whole id"):
            bench.answer(named, "yes")
    assert len(run.session.turns) == 1
    assert bench.answer("call-2", "yes").message.function_responses[0].id == "call-2"
    assert bench.answer("call", "yes").message.function_responses[0].id == "call-1"


def test_several_are_answered_at_once() -> None:
    bench = runner(B=TWO)
    bench.run("go")
    run = bench.answer_all({"call-2": "two", "call-1": "one"})
    assert [(answer.id, answer.response) for answer in run.message.function_responses] == [
        ("call-2", {"result": "two"}),
        ("call-1", {"result": "one"}),
    ]
    assert (outputs(run), run.notes) == (["B b1", "C c1"], [])


def test_an_unknown_call_offers_the_near_ones() -> None:
    bench = runner()
    bench.run("go")
    with pytest.raises(UnknownCallError, match=r"no long-running call 'cal-1'\. Did you mean 'call-1'\?"):
        bench.answer("cal-1", "yes")


def test_nothing_waits() -> None:
    bench = runner(B=[])
    with pytest.raises(RunStateError, match="this Runner ran nothing yet"):
        bench.answer(None, "yes")
    bench.run("go")
    with pytest.raises(RunStateError, match="none of this session's events calls a long-running tool"):
        bench.answer(None, "yes")
    with pytest.raises(UnknownCallError, match=r"no long-running call ''\. It has none at all"):
        bench.answer("", "yes")


def test_a_trial_s_copy_is_not_answered_by_chance() -> None:
    bench = runner()
    run = bench.run("go")
    bench.step(run, "A", trial=True)
    with pytest.raises(RunStateError, match="the last run was a trial on a copy: say in which session"):
        bench.answer(None, "yes")
    assert outputs(bench.answer(None, "yes", session=run.session)) == ["B b1", "C c1"]


def test_an_answered_call_is_answered_again_only_by_its_id() -> None:
    bench = runner()
    bench.run("go")
    bench.answer(None, "yes")
    with pytest.raises(RunStateError, match=r"no call waits for an answer: 'call-1' \(ask, asked by B\) has one"):
        bench.answer(None, "no")
    assert outputs(bench.answer("call-1", "no")) == ["B b2", "C c2"]


async def test_in_a_session_by_name() -> None:
    services = InMemorySessionService()
    asked = Runner(three(), model=replies(B=[asks()]), resumable=True, session_service=services)
    await asked.run_async("go", session="chat")
    other = Runner(three(), model=replies(), resumable=True, session_service=services)
    with pytest.raises(RunStateError, match=r"no session 'chet' of user 'user'\. Did you mean 'chat'\?"):
        await other.answer_async(None, "yes", session="chet")
    run = await other.answer_async(None, "yes", session="chat")
    assert outputs(run) == ["B b2", "C c1"]
    assert len(await services.list_sessions(app_name="adknb")) == 1
    assert run.session is asked.last_run.session  # type: ignore[union-attr]
