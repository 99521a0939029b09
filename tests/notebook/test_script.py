"""Magics in scripts that IPython runs: they print text, and their results can be taken."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

LINES = """
%load_ext adknb
from adknb import ScriptedModel
model = ScriptedModel(lambda request: f"{request.agent} says {request.ordinal + 1}")
%adk use --model model
get_ipython().run_cell_magic("agent", "A --pipeline p --key a", ">>> Prompt")
text = "hi"
run = %pipeline p --input text
state = %adk state
print("taken:", type(run).__name__, state["value"].tolist(), run.step("A").agent.instruction)
%adk prompt B
print("not reached")
"""
PYTHON = """
from IPython import get_ipython
ipython = get_ipython()
ipython.run_line_magic("load_ext", "adknb")
ipython.run_line_magic("adk", "use --model echo")
ipython.run_cell_magic("agent", "A --pipeline p --key a", "Prompt")
ipython.run_cell_magic("pipeline", "p", "hi there")
"""
COMPARE = """
%load_ext adknb
%adk use --model echo
get_ipython().run_cell_magic("agent", "A --pipeline p --key a", "Prompt")
get_ipython().run_cell_magic("compare", "p", "one\\n---\\ntwo")
print("then")
inputs = ["three"]
comparison = %compare p --inputs inputs
print("taken:", comparison.inputs[0].messages, comparison.names)
"""
CELLS = [
    "%load_ext adknb\n%adk use --model echo",
    "%%agent A --pipeline p\n>>> Prompt",
    "%%pipeline p --session chat\nhi",
]


def ipython(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "IPython", "--colors=NoColor", "--HistoryManager.enabled=False", path.name]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))


def test_a_script_of_magic_lines(tmp_path: Path) -> None:
    (tmp_path / "script.ipy").write_text(LINES)
    done = ipython(tmp_path / "script.ipy")
    assert "model scripted · rules java" in done.stdout
    assert "p: completed · 1 step" in done.stdout
    assert "taken: Run ['A says 1'] >>> Prompt" in done.stdout
    assert "RunStateError\n  run " in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert ("not reached" in done.stdout, done.returncode) == (False, 1)


def test_a_plain_python_script(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PYTHON)
    done = ipython(tmp_path / "script.py")
    assert "Final answer, by A\n  hi there\n" in done.stdout
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_comparison_in_a_script(tmp_path: Path) -> None:
    (tmp_path / "script.ipy").write_text(COMPARE)
    done = ipython(tmp_path / "script.ipy")
    first, then, rest = done.stdout.partition("then\n")
    assert "p: DEFAULT against NONE\n" in first
    assert "\n2 inputs · 1 repeat · model echo" in first
    assert "p: DEFAULT against NONE\n" in rest
    assert rest.endswith("taken: ('three',) ['default', 'none']\n")
    assert (then, done.stderr, done.returncode) == ("then\n", "", 0)


def test_a_notebook_as_a_script(tmp_path: Path) -> None:
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text} for text in CELLS
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    (tmp_path / "script.ipynb").write_text(json.dumps(notebook))
    done = ipython(tmp_path / "script.ipynb")
    assert "Final answer, by A\n  hi\n" in done.stdout
    assert (done.stderr, done.returncode) == ("", 0)
