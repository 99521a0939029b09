"""Real kernels: Ctrl-C in every kind of code, restarts, the table that fills. The session stays whole, the next cell works."""

from __future__ import annotations

import random
import time

import pytest

from tests.notebook.kernel import Kernel, shown

SETUP = """
import asyncio, time
import adknb
from adknb import BaseAgent, Content, Event, LlmAgent, ParallelAgent, ScriptedModel, SequentialAgent
from adknb.notebook.records import TurnRequest
from adknb.runtime.turns import fold

bench, slow = adknb.bench, None
CALL = [{"function_call": {"name": "tool", "args": {}}}]


def begin():
    print("started", flush=True)


def busy(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def thread_tool() -> dict:
    "Waits in a thread."
    if slow == "thread tool":
        begin()
        time.sleep(20)
    return {}


async def async_tool() -> dict:
    "Waits in the event loop."
    if slow == "async tool":
        begin()
        await asyncio.sleep(20)
    if slow == "stubborn tool":
        begin()
        for _ in range(10):
            try:
                await asyncio.sleep(0.2)
            except asyncio.CancelledError:
                pass
    return {}


thread_tool.__name__ = async_tool.__name__ = "tool"


async def answer(request):
    if request.agent == "C" and slow == "model":
        begin()
        await asyncio.sleep(20)
    if slow == "a little":
        await asyncio.sleep(0.3)
    if request.agent == "C" and slow == "busy model":
        begin()
        busy(20)
    if request.agent in ("T", "U") and request.ordinal % 2 == 0:
        return CALL
    return f"{request.agent} says {request.ordinal}"


def guard(ctx):
    if slow == "busy callback":
        begin()
        busy(20)
    if slow == "sleeping callback":
        begin()
        time.sleep(20)


class Own(BaseAgent):
    async def _run_async_impl(self, ctx):
        if slow == "busy agent":
            begin()
            busy(20)
        yield Event("Own", Content.model("own"))


own = SequentialAgent(name="own", sub_agents=[LlmAgent(name="A", output_key="a"), Own(name="Own")])
at_once = ParallelAgent(name="at_once", sub_agents=[LlmAgent(name="U", tools=[async_tool]), LlmAgent(name="C")])
model = ScriptedModel(answer)


def check():
    "Everything that an interrupt may have broken, in words."
    found = [f"task {task}" for task in asyncio.all_tasks() if "adknb" in repr(task)]
    found += [f"{run} is still running" for run in bench.runs if run.status == "running"]
    found += [f"{step} is still running" for run in bench.runs for step in run.step_runs if step.status == "running"]
    for session in bench.sessions.values():
        if not all(any(turn is run for run in bench.runs) for turn in session.turns):
            found.append("a turn that the bench does not know")
        events = [event.id for turn in session.turns for event in turn.turn_events]
        if events != [event.id for event in session.history]:
            found.append("the history is not the turns' events")
        if fold({}, session.history) != session.state:
            found.append(f"the state is not what the events say: {session.state}")
        if len({event.id for event in session.events}) != len(session.events):
            found.append("an event twice")
    for name in bench.pipelines:
        bench.pipelines[name].build(globals())
    if bench._lock.locked():
        found.append("the bench is locked")
    print(found)
"""
AGENTS = {
    "A": "%%agent A --pipeline p --key a\nAgent A.",
    "T": "%%agent T --key t --tools thread_tool\nAgent T reads {a}.",
    "U": "%%agent U --key u --tools async_tool\nAgent U reads {t}.",
    "C": "%%agent C --key c --before-agent guard\nAgent C reads {u}.",
}


def set_up(kernel: Kernel) -> None:
    assert kernel.errors(kernel.run(SETUP + "\n%adk use --model model")) == []
    for cell, text in AGENTS.items():
        assert kernel.errors(kernel.run(text, cell)) == []


@pytest.fixture(scope="module")
def ready(kernel: Kernel) -> Kernel:
    set_up(kernel)
    return kernel


def whole(kernel: Kernel, stubborn: bool = False) -> None:
    """The bench is whole, and the next cell works. A tool that will not be cancelled goes on for a while, to no effect."""
    found = kernel.text("slow = None\ncheck()")
    assert not stubborn or ("Watch._end" in found and found.count("task") == 1)
    while stubborn and "task <" in found:
        found = kernel.text("await asyncio.sleep(0.2)\ncheck()")
    assert found == "[]\n"
    messages = kernel.run("%%pipeline p\nhi", "after")
    assert kernel.errors(messages) == []
    assert "p: completed · 4 steps" in shown(messages)


KINDS = {
    "thread tool": "%%pipeline p --session chat\nhi",
    "async tool": "%%pipeline p --session chat\nhi",
    "stubborn tool": "%%pipeline p --session chat\nhi",
    "model": "%%pipeline p --session chat\nhi",
    "busy model": "%%pipeline p --session chat\nhi",
    "busy callback": "%%pipeline p --session chat\nhi",
    "sleeping callback": "%%pipeline p --session chat\nhi",
    "busy agent": "%%pipeline own --session own\nhi",
}


@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_ends_the_run_and_nothing_else(ready: Kernel, kind: str) -> None:
    interrupted(ready, kind, KINDS[kind])
    whole(ready, stubborn=kind == "stubborn tool")
    assert ready.text("print(adknb.bench.runs[-2].status)") == "interrupted\n"


@pytest.mark.parametrize("kind", ["async tool", "busy model"])
def test_ctrl_c_in_agents_at_once(ready: Kernel, kind: str) -> None:
    interrupted(ready, kind, "%%pipeline at_once --session both\nhi")
    whole(ready)


@pytest.mark.parametrize("kind", ["thread tool", "busy callback"])
def test_ctrl_c_in_a_cell_that_awaits(ready: Kernel, kind: str) -> None:
    """ipykernel handles Ctrl-C in its own way where a cell awaits."""
    ready.run("text = 'hi'")
    interrupted(ready, kind, "await asyncio.sleep(0)\n%pipeline p --input text --session waits")
    whole(ready)


def test_ctrl_c_ends_a_loop_of_runs(ready: Kernel) -> None:
    request = ready.send("begin()\nwhile True: bench.run('p', 'hi')")
    ready.follow(request, lambda message: message["content"].get("text") == "started\n")
    time.sleep(0.3)
    ready.interrupt()
    assert ready.errors(ready.follow(request)) == ["KeyboardInterrupt"]
    whole(ready)


def interrupted(kernel: Kernel, kind: str, cell: str) -> None:
    """Run the cell and interrupt it where `kind` says, which ends it long before what it does would end."""
    kernel.run(f"slow = {kind!r}")
    request = kernel.send(cell, "interrupted")
    kernel.follow(request, lambda message: "started" in message["content"].get("text", ""))
    time.sleep(0.1)
    kernel.interrupt()
    messages = kernel.follow(request, timeout=5)
    assert kernel.errors(messages) == ["KeyboardInterrupt"]


def test_an_interrupted_turn_goes_on(ready: Kernel) -> None:
    interrupted(ready, "model", "%%pipeline p --session goes\nhi")
    ready.run("slow = None")
    text = ready.text("%adk continue")
    assert "p: completed · 4 steps" in text
    assert ready.text("print(len(bench.sessions['goes'].turns))\ncheck()") == "1\n[]\n"
    ready.run("%%pipeline p --session goes\nagain", "interrupted")
    assert ready.text("print([run.message.text for run in bench.sessions['goes'].turns])") == "['again']\n"


def test_the_table_fills_and_stays(ready: Kernel) -> None:
    ready.run("slow = 'a little'")
    messages = ready.run("%%pipeline p\nhi", "table")
    ready.run("slow = None")
    drawn = [message for message in messages if message["msg_type"] in ("display_data", "update_display_data")]
    assert drawn[0]["msg_type"] == "display_data"
    assert len(drawn) >= 5
    assert len({message["content"]["transient"]["display_id"] for message in drawn}) == 1
    texts = [message["content"]["data"]["text/plain"] for message in drawn]
    assert "p: running" in texts[0]
    for done, goes_on in ("AT", "TU", "UC"):
        assert any(f"{done}     completed" in text and f"{goes_on}     running" in text for text in texts)
    last = drawn[-1]["content"]["data"]
    assert "p: completed · 4 steps" in last["text/plain"]
    assert "completed" in last["text/html"]
    assert "<script" not in last["text/html"]
    assert not [message for message in messages if message["msg_type"] == "execute_result"]


def test_a_run_that_is_taken_is_displayed_once(ready: Kernel) -> None:
    ready.run("text = 'hi'")
    for cell, results in (("%pipeline p --input text", 0), ("run = %pipeline p --input text", 0), ("run", 1)):
        messages = ready.run(cell)
        assert len([message for message in messages if message["msg_type"] == "execute_result"]) == results
    assert ready.text("print(run is adknb.last)") == "True\n"


def test_a_cell_s_id_is_the_front_end_s(ready: Kernel) -> None:
    ready.run("%%agent D --pipeline q --key d\nFirst.", "cell-7")
    ready.run("%%agent E --pipeline q --key d\nSecond.", "cell-7")
    assert ready.text("print(bench.pipelines['q'].names(), bench.pipelines['q']['E'].cell)") == "['E'] cell-7\n"


def test_the_next_cell_waits_for_the_run(ready: Kernel) -> None:
    ready.run("order = []\ndef guard(ctx): time.sleep(0.3); order.append('run')")
    requests = [ready.send("%%pipeline p\nhi"), ready.send("order.append('next')"), ready.send("print(order)")]
    ready.follow(requests[0])
    ready.follow(requests[1])
    assert shown(ready.follow(requests[2])) == "['run', 'next']\n"
    ready.run("def guard(ctx): return None")


def test_an_error_fails_the_cell_with_a_card(ready: Kernel) -> None:
    messages = ready.run("%%pipeline nope\nhi")
    (card,) = [message["content"]["data"] for message in messages if message["msg_type"] == "display_data"]
    assert "there is no pipeline &#x27;nope&#x27;." in card["text/html"]
    assert "there is no pipeline 'nope'." in card["text/plain"]
    (error,) = [message["content"] for message in messages if message["msg_type"] == "error"]
    assert (error["ename"], len(error["traceback"])) == ("CellFailed", 1)


def test_nothing_is_said_on_stderr(ready: Kernel) -> None:
    ready.run("import gc\n_ = gc.collect()")
    assert ready.log() == []


CELLS = {
    "fresh": "%%pipeline p\nhi",
    "one": "%%pipeline p --session chat\none",
    "two": "%%pipeline p --session chat\ntwo",
    "from": "%pipeline p --from T",
    "step": "%adk step T",
    "trial": "%%step U\nTried.",
    "parallel": "%%pipeline at_once --session both\nhi",
    "edit": "for n in range(40): bench.put_agent('p', 'A', f'Agent A. {n}', bench.pipelines['p']['A'].options)",
    "undo": "while len(bench._undo) > 12: bench.undo()",
    "many": "for n in range(40): bench.run('p', TurnRequest('hi', session='many'))",
}


@pytest.mark.parametrize("interrupts", [25, pytest.param(200, marks=pytest.mark.soak)])
def test_random_interrupts_and_restarts(interrupts: int) -> None:
    chance = random.Random(20260 + interrupts)
    kernel = Kernel()
    try:
        set_up(kernel)
        for number in range(interrupts):
            name = chance.choice(list(CELLS))
            request = kernel.send(CELLS[name], name)
            kernel.follow(request, lambda message: message["msg_type"] == "execute_input")
            time.sleep(chance.random() * (0.25 if name in ("many", "edit", "undo") else 0.05))
            if chance.random() < 0.1:
                kernel.restart()
                set_up(kernel)
            else:
                kernel.interrupt()
                kernel.follow(request)
            assert kernel.text("check()") == "[]\n", (number, name)
            assert "completed" in kernel.text("%%pipeline p\nhi", "after"), (number, name)
            kernel.run("while len(bench._undo) > 60: bench.undo()")
        kernel.run("import gc\n_ = gc.collect()")
        assert kernel.log() == []
    finally:
        kernel.close()
