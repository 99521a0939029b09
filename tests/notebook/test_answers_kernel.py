"""A run that waits in one kernel is answered in the next one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notebook.kernel import Kernel

SETUP = """
import adknb
from adknb import FunctionCall, LongRunningFunctionTool, Part, ScriptedModel


def ask(question: str) -> dict[str, str]:
    "Ask a person."
    return {"status": "pending"}


ask = LongRunningFunctionTool(ask)
call = Part(function_call=FunctionCall("ask", {"question": "ok?"}))
model = ScriptedModel({"A": ["a1", "a2"], "B": [call, "b1"], "C": ["c1", "c2"]})
"""
RUNS = "print([(r.status, [s.name + ' ' + s.output for s in r.step_runs]) for r in adknb.bench.runs])"


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    kernel = Kernel()
    yield kernel
    kernel.close()


def test_paused_here_and_answered_there(kernel: Kernel, tmp_path: Path) -> None:
    use = f"%adk use --db sqlite:///{tmp_path}/tickets.db --notebook n --model model"
    waiting, answered = "('waiting', ['A a1', 'B '])", "('completed', ['B b1', 'C c1'])"

    def begin(*cells: str) -> None:
        for cell in (SETUP, use, *cells):
            assert not kernel.errors(kernel.run(cell))

    begin("%%agent A --pipeline p --key a\nA", "%%agent B --key b --tools ask\nB", "%%agent C --key c\nC {b}")
    assert "Waiting for ask" in kernel.text("%%pipeline p --resumable\ngo")
    assert kernel.text(RUNS) == f"[{waiting}]\n"
    kernel.restart()
    begin()
    assert kernel.text(RUNS) == f"[{waiting}]\n"
    assert kernel.text("df = %adk pending\nprint(list(df['question']))") == "['ok?']\n"
    assert "p: completed" in kernel.text("%adk answer yes")
    assert kernel.text(RUNS) == f"[{waiting}, {answered}]\n"
    kernel.restart()
    begin()
    assert kernel.text(RUNS) == f"[{waiting}, {answered}]\n"
    assert kernel.text("df = %adk pending\nprint(len(df))") == "0\n"
    assert "Undone: run" in kernel.text("%adk undo")
    assert kernel.text(RUNS) == f"[{waiting}]\n"
    assert kernel.text("df = %adk pending\nprint(list(df['question']))") == "['ok?']\n"
