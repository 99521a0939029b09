"""Real kernels on one database: a restart, one in the middle of a run, and two at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notebook.kernel import Kernel, Message, shown

SETUP = """
import asyncio
from adknb import ScriptedModel
slow, asked = None, []


async def answer(request):
    asked.append(request.agent)
    if request.agent == slow:
        print("asked", flush=True)
        await asyncio.sleep(60)
    return f"{request.agent} says {request.ordinal + 1}"


model = ScriptedModel(answer)
"""
AGENTS = (
    ("a", "%%agent A --pipeline p --key a\nAgent A."),
    ("b", "%%agent B --key b\nB reads {a}."),
    ("c", "%%agent C --key c\nC reads {b}."),
)
RUNS = "print([(r.message.text, r.status, [s.name for s in r.step_runs], r.session.id) for r in adknb.bench.runs])"


def begin(kernel: Kernel, path: Path, notebook: str = "n.ipynb") -> str:
    """The first cells of the notebook; returns what `%adk use` says."""
    assert kernel.text(SETUP + "\nimport adknb") == ""
    return kernel.text(f"%adk use --db sqlite:///{path} --notebook {notebook} --model model")


@pytest.fixture(scope="module")
def two() -> Iterator[tuple[Kernel, Kernel]]:
    kernels = Kernel(), Kernel()
    yield kernels
    for kernel in kernels:
        kernel.close()


@pytest.fixture
def kernel(two: tuple[Kernel, Kernel]) -> Kernel:
    return two[0]


def test_a_restart_loses_nothing(kernel: Kernel, tmp_path: Path) -> None:
    path = tmp_path / "tickets.db"
    said = begin(kernel, path)
    assert f"sessions in {path}, each event on disk before the run goes on" in said.replace("\n", " ")
    for cell, text in AGENTS:
        kernel.run(text, cell)
    kernel.run("%%pipeline p --session chat\none", "c1")
    kernel.run("%%pipeline p --session chat\ntwo", "c2")
    looks = [
        "%adk runs",
        "%adk steps",
        "%adk state",
        "%adk prompt B",
        "%adk pipelines",
        "%adk history B",
        "print(adknb.last)",
    ]
    looks.append("%adk diff " + kernel.text("print(*[r.id for r in adknb.bench.runs])").strip())
    before = [kernel.text(look) for look in looks]
    kernel.restart()
    begin(kernel, path)
    assert [kernel.text(look) for look in looks] == before
    for cell, text in AGENTS:
        kernel.run(text, cell)
    kernel.run("%%pipeline p --session chat\nuno", "c1")
    assert kernel.text("print([(r.message.text, r.stale) for r in adknb.bench.sessions['chat'].turns])") == (
        "[('uno', False), ('two', True)]\n"
    )
    assert "Undone: run" in kernel.text("%adk undo")
    assert kernel.text("%adk runs") == before[0]
    assert not kernel.log()


def test_a_restart_in_the_middle_of_a_run(kernel: Kernel, tmp_path: Path) -> None:
    path = tmp_path / "tickets.db"
    begin(kernel, path)
    for cell, text in AGENTS:
        kernel.run(text, cell)
    kernel.run("slow = 'B'")

    def is_asked(message: Message) -> bool:
        return message["msg_type"] == "stream" and "asked" in str(message["content"]["text"])

    kernel.follow(kernel.send("%%pipeline p\nhi", "c1"), is_asked)
    kernel.restart()
    begin(kernel, path)
    assert kernel.text(RUNS).startswith("[('hi', 'interrupted', ['A'], ")
    assert "p: completed · 3 steps" in kernel.text("%adk continue")
    assert kernel.text("print(asked[-2:])") == "['B', 'C']\n"
    assert kernel.text("print([s.output for s in adknb.last.step_runs[1:]])") == "['B says 1', 'C says 1']\n"
    kernel.run("%adk undo")
    kernel.run("%adk undo")
    assert kernel.text(RUNS) == "[]\n"


def test_two_kernels_on_one_session(two: tuple[Kernel, Kernel], kernel: Kernel, tmp_path: Path) -> None:
    other = two[1]
    path = tmp_path / "tickets.db"
    for each, notebook in ((kernel, "n.ipynb"), (other, "m.ipynb")):
        begin(each, path, notebook)
        for cell, text in AGENTS:
            each.run(text, cell)
    kernel.run("%%pipeline p --session chat\none", "c1")
    other.run("%%pipeline p --session chat\ntwo", "c1")
    assert other.text("print([r.message.text for r in adknb.bench.runs])") == "['one', 'two']\n"
    messages = kernel.run("%%pipeline p --session chat\nthree", "c2")
    assert "StaleSessionError\n  session 'chat' was written to by process" in shown(messages)
    processes = [each.text("import os; print(os.getpid())").strip() for each in (kernel, other)]
    assert all(f"process {process} on" in shown(messages) for process in processes)
    assert kernel.text("print([r.message.text for r in adknb.bench.runs])") == "['one', 'two']\n"
    kernel.run("%%pipeline p --session chat\nthree", "c2")
    turns = "print([(r.message.text, r.status) for r in adknb.bench.sessions['chat'].turns])"
    assert kernel.text(turns) == "[('one', 'completed'), ('two', 'completed'), ('three', 'completed')]\n"


def test_two_kernels_with_one_notebook(two: tuple[Kernel, Kernel], kernel: Kernel, tmp_path: Path) -> None:
    other = two[1]
    path = tmp_path / "tickets.db"
    begin(kernel, path)
    kernel.run("%%agent X --pipeline q\nAgent X.", "x")
    begin(other, path)
    assert other.text("print(adknb.bench.pipelines['q'].names())") == "['X']\n"
    other.run("%%agent Y --pipeline q\nAgent Y.", "y")
    messages = kernel.run("%%agent Z --pipeline q\nAgent Z.", "z")
    assert Kernel.errors(messages) == ["CellFailed"]
    assert "Two notebooks that share a database need names of their own" in shown(messages).replace("\n  ", " ")
    names = "print(adknb.bench.pipelines['q'].names())"
    assert kernel.text(names) == "['X', 'Y']\n"
    kernel.run("%%agent Z --pipeline q\nAgent Z.", "z")
    assert kernel.text(names) == "['X', 'Y', 'Z']\n"
