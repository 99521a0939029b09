"""Comparisons in real kernels: progress in one output, Ctrl-C and going on, a store that a restarted kernel goes on from."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.notebook.kernel import Kernel, Message, shown

SETUP = """
import asyncio, time
import adknb
from adknb import ScriptedModel

bench, calls = adknb.bench, []
now = {}  # a plain value would count as a part of the functions that read it, and so of each trial


async def answer(request):
    message = request.contents[0].parts[0].text
    if request.agent == "A":
        calls.append(message)
    if message == "bad":
        raise ValueError("no such ticket")
    if now.get("slow") == "a little":
        await asyncio.sleep(0.3)
    if now.get("slow") == "never" and message == "three":
        print("started", flush=True)
        await asyncio.sleep(600)
    return f"{request.agent} answers"


def guard(ctx):
    if now.get("slow") == "busy" and len(calls) > 2:
        print("started", flush=True)
        while now["slow"]:
            pass


model = ScriptedModel(answer)
%adk use --model model
"""
AGENTS = ["%%agent A --pipeline p --key a\nAgent A.", "%%agent B --key b --before-agent guard\nAgent B reads {a}."]
CELL = "%%compare p --concurrency 1 --out c\none\n---\ntwo\n---\nthree"


def set_up(kernel: Kernel) -> None:
    assert kernel.errors(kernel.run(SETUP)) == []
    for number, text in enumerate(AGENTS):
        assert kernel.errors(kernel.run(text, f"agent {number}")) == []


@pytest.fixture(scope="module")
def ready(kernel: Kernel) -> Kernel:
    set_up(kernel)
    return kernel


def drawn(messages: list[Message]) -> list[Message]:
    return [message for message in messages if message["msg_type"] in ("display_data", "update_display_data")]


def interrupted(kernel: Kernel, kind: str, cell: str) -> list[Message]:
    """Run the cell and interrupt it where `kind` says; all of its messages."""
    kernel.run(f"now['slow'] = {kind!r}\ncalls.clear()")
    request = kernel.send(cell, "compare")
    messages = kernel.follow(request, lambda message: "started" in message["content"].get("text", ""))
    time.sleep(0.1)
    kernel.interrupt()
    messages += kernel.follow(request)
    assert kernel.errors(messages) == ["KeyboardInterrupt"]
    kernel.run("now.clear()")
    return messages


def test_one_output_shows_the_progress_and_then_the_comparison(ready: Kernel) -> None:
    ready.run("now['slow'] = 'a little'")
    messages = ready.run("%%compare p --concurrency 2\none\n---\ntwo\n---\nbad\n---\nfour", "live")
    ready.run("now.clear()")
    outputs = drawn(messages)
    assert [message["msg_type"] for message in outputs].count("display_data") == 1
    assert len({message["content"]["transient"]["display_id"] for message in outputs}) == 1
    texts = [message["content"]["data"]["text/plain"] for message in outputs]
    assert texts[0] == "0 of 8 trials"
    pattern = r"(\d) of 8 trials · \d+\.\d a (?:second|minute)(?: · \d+ s left)?(?: · \d failed)?"
    going = [re.fullmatch(pattern, text) for text in texts[1:-1]]
    assert len(going) >= 2
    assert all(going)
    done = [int(match[1]) for match in going if match is not None]
    assert (done == sorted(done), done[-1] <= 8) == (True, True)
    last = outputs[-1]["content"]["data"]
    assert last["text/plain"] == ready.text("print(adknb.last)").removesuffix("\n")
    assert "<script" not in last["text/html"]
    assert "<progress" in outputs[0]["content"]["data"]["text/html"]
    assert not [message for message in messages if message["msg_type"] == "execute_result"]
    failed = "print([(row['variant'], row['input']) for row in adknb.last.rows if row['error']])"
    assert ready.text(failed) == "[('default', '3'), ('none', '3')]\n"


@pytest.mark.parametrize(("kind", "missing"), [("never", 2), ("busy", 4)])
def test_after_ctrl_c_the_cell_asks_only_the_rest(ready: Kernel, kind: str, missing: int) -> None:
    outputs = drawn(interrupted(ready, kind, CELL))
    assert [message["msg_type"] for message in outputs].count("display_data") == 2
    assert " ".join(outputs[-1]["content"]["data"]["text/plain"].split()) == (
        f"Stopped: {missing} trials are missing. What was done is kept in this kernel: run the cell again, and only the rest is "
        "asked."
    )
    assert outputs[-2]["content"]["data"]["text/plain"] == ready.text("print(c)").removesuffix("\n")
    assert ready.text("print(c.missing, adknb.last is c, bench.last_change, bench._lock.locked())") == (
        f"{missing} True comparison of p (default, none) False\n"
    )
    ready.run("calls.clear()")
    ready.run(CELL, "compare")
    assert ready.text("print(len(calls), c.missing)") == f"{missing} 0\n"
    tasks = "print([task for task in asyncio.all_tasks() if 'adknb' in repr(task)])"
    assert ready.text(tasks) == "[]\n"


def test_ctrl_c_before_the_first_trial_is_done(ready: Kernel) -> None:
    ready.run("kept = adknb.last")
    outputs = drawn(interrupted(ready, "never", "%%compare p\nthree"))
    assert outputs[-1]["content"]["data"]["text/plain"] == "Stopped before a trial was done."
    assert len({message["content"]["transient"]["display_id"] for message in outputs}) == 1
    assert ready.text("print(adknb.last is kept)") == "True\n"


def test_a_comparison_that_is_taken_is_displayed_once(ready: Kernel) -> None:
    ready.run("rows = ['one']")
    for cell, results in (("%compare p --inputs rows", 0), ("c = %compare p --inputs rows", 0), ("c", 1)):
        messages = ready.run(cell)
        assert len([message for message in messages if message["msg_type"] == "execute_result"]) == results
    assert ready.text("print(c is adknb.last)") == "True\n"


def test_an_error_before_anything_ran_is_a_card(ready: Kernel) -> None:
    messages = ready.run("%%compare p --variants non\nhi")
    (card,) = [message["content"]["data"] for message in messages if message["msg_type"] == "display_data"]
    assert "there is no variant &#x27;non&#x27;. Did you mean &#x27;none&#x27;?" in card["text/html"]
    (error,) = [message["content"] for message in messages if message["msg_type"] == "error"]
    assert (error["ename"], len(error["traceback"])) == ("CellFailed", 1)


def test_nothing_is_said_on_stderr(ready: Kernel) -> None:
    ready.run("import gc\n_ = gc.collect()")
    assert ready.log() == []


def test_a_store_goes_on_in_the_next_kernel(tmp_path: Path) -> None:
    cell = CELL.replace("--out c", f"--store {tmp_path}/trials.jsonl --out c")
    kernel = Kernel()
    try:
        set_up(kernel)
        messages = interrupted(kernel, "never", cell)
        assert f"kept in {tmp_path}/trials.jsonl:" in " ".join(shown(messages[-4:]).split())
        kernel.restart()
        set_up(kernel)
        first = drawn(kernel.run(cell))[0]["content"]["data"]["text/plain"]
        assert first == "4 of 6 trials · 4 kept from before"
        assert kernel.text("print(calls, c.missing)") == "['three', 'three'] 0\n"
        kernel.restart()
        set_up(kernel)
        kernel.run(cell)
        assert kernel.text("print(calls, c.missing, bench.runs)") == "[] 0 []\n"
        assert kernel.log() == []
    finally:
        kernel.close()
