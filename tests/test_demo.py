"""`python -m adknb`: what a terminal shows, from a folder that has nothing in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from adknb.__main__ import main
from adknb.demo import WIDTH, demo

README = Path(__file__).parent.parent / "README.md"


def adknb(folder: Path, *arguments: str, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "adknb", *arguments], cwd=folder, capture_output=True, encoding=encoding,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONWARNINGS": "error,ignore::DeprecationWarning"},
    )  # fmt: skip


def without_times(page: str) -> str:
    return re.sub(r" *\d+\.?\d* m?s(?=  )", " TIME", page)


PAGE = """\
The ticket pipeline, under the rules of ADK Java
Message: I was charged twice for September.
Replies: written for this lesson; they ignore message and prompts. --model local asks a model.

Steps
Step                Time  Tokens in  out  Wrote    Reply
TriageAgent TIME         74   24  triage   written for this lesson: ignores your prompt
DraftAgent TIME        126   20  draft    written for this lesson: ignores your prompt
PolicyCheckAgent TIME        159    3  verdict  written for this lesson: ignores your prompt

What each step was sent, in tokens (o200k_base)
Step              instruction  injected state  user message  history  total
TriageAgent                67                             7              74
DraftAgent                 63              23             7       33    126
PolicyCheckAgent           48              42             7       62    159

DEFAULT against NONE: the same prompts, counted without asking a model
Step              DEFAULT  NONE  saved  sent twice           under NONE
TriageAgent            74    74      0
DraftAgent            126   119      7  triage 23            triage 23
PolicyCheckAgent      159   119     40  triage 23, draft 19  draft 19
PolicyCheckAgent is sent the values of triage and draft twice (42 tokens); NONE would save 40 of 159
tokens (25 %).
Over all steps NONE would save 47 of 359 tokens (13 %).
Under NONE the user's message does not reach DraftAgent and PolicyCheckAgent.
NONE still sends twice: triage to DraftAgent and draft to PolicyCheckAgent.

State, and who read it
Key        Value                                     Written by        Read by
user:tier  gold                                      preset            DraftAgent
triage     {"category": "billing", "urgency": 2, "…  TriageAgent       DraftAgent, PolicyCheckAgent
draft      We are sorry about the double charge. B…  DraftAgent        PolicyCheckAgent
verdict    APPROVE                                   PolicyCheckAgent

Answer, by PolicyCheckAgent
  APPROVE
"""


def test_the_demo_in_an_empty_folder(tmp_path: Path) -> None:
    shown = adknb(tmp_path, "demo")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert without_times(shown.stdout) == PAGE
    assert not list(tmp_path.iterdir())


def test_the_readme_shows_lines_of_the_demo() -> None:
    block = README.read_text().split("```console\n")[1].split("```")[0]
    assert block.strip()
    assert block in PAGE


def test_another_message_says_that_the_replies_ignore_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "My", "router", "is offline"]) == 0
    assert capsys.readouterr().out.splitlines()[1:3] == [
        "Message: My router is offline",
        "Replies: written for this lesson; they ignore message and prompts. --model local asks a model.",
    ]


def test_a_model_answers_in_their_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--model", "echo", "My router is offline"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "The ticket pipeline, under the rules of ADK Java",
        "Message: My router is offline",
        "",
        "Steps",
    ]
    assert re.fullmatch(r"TriageAgent +\S+ ms +71    4  triage   echo: repeats the message", lines[5])


def test_a_model_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--model", "locla"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("ModelError: agent 'TriageAgent': there is no model 'locla'. Did you mean 'local'?")
    assert shown.err.count("\n") == 1


def test_without_a_command_it_prints_its_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.startswith("usage: python -m adknb [-h] COMMAND ...\n")
    assert "\n    demo      the ticket pipeline: steps, state, tokens, DEFAULT against NONE\n" in shown.out


def test_a_terminal_that_lacks_a_character_shows_its_code(tmp_path: Path) -> None:
    shown = adknb(tmp_path, "demo", "Größe → 3", encoding="latin-1")
    assert shown.returncode == 0
    assert shown.stdout.splitlines()[1] == "Message: Größe \\u2192 3"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell with pipes and signals is needed")
def test_a_reader_that_leaves_early_gets_no_traceback(tmp_path: Path) -> None:
    command = f"{sys.executable} -m adknb demo '{'x' * 90_000}' --model echo | head -n 1"
    shown = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert (shown.stdout, shown.stderr) == ("The ticket pipeline, under the rules of ADK Java\n", "")


@pytest.mark.parametrize("message", ["word " * 300, "\x1b[31mred", "a\nb\tc"])
def test_the_page_is_narrow_and_acts_on_no_terminal(message: str) -> None:
    page = demo(message, "echo")
    assert max(map(len, page.splitlines())) <= WIDTH
    assert "\x1b" not in page
