"""Completion as a front end asks for it: through a kernel's complete request."""

from __future__ import annotations

import pytest

from adknb.notebook.verbs import VERBS
from tests.notebook.kernel import Kernel

SETUP = """
from adknb import LlmAgent, ScriptedModel, Variant
def require_triage(ctx): return None
def record(ctx): return None
message = "hi"
more = {"a": 1}
rows = ["one", "two"]
shorter = "Classify in one word."
replies = ScriptedModel(lambda request: f"{request.agent} says {request.ordinal}")
Reply = {"type": "object", "properties": {}}
by_hand = LlmAgent(name="ByHand")
quick = Variant("quick", "none")
both = [quick, "default"]
%adk use --model replies
"""


@pytest.fixture(scope="module")
def written(kernel: Kernel) -> Kernel:
    for cell in (
        SETUP,
        "%%agent TriageAgent --pipeline ticket --key triage --before-agent require_triage\nClassify.",
        "%%agent TriageAgent --pipeline ticket --key triage --before-agent require_triage\nClassify it.",
        "%%agent DraftAgent --key draft\nTriage: {triage}",
        "%%agent Other --pipeline second --key other_key\nOther.",
        "%adk copy ticket third",
        "%%pipeline ticket --session chat --state user:tier=gold\nhi",
    ):
        assert kernel.errors(kernel.run(cell)) == []
    return kernel


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("%adk st", ["state", "step", "steps"]),
        ("%adk help pro", ["prompt"]),
        ("%adk remove Dr", ["DraftAgent"]),
        ("%adk copy ti", ["ticket"]),
        ("%adk history Tri", ["TriageAgent"]),
        ("%adk rewind D", ["DraftAgent"]),
        ("%adk explore ti", ["ticket"]),
        ("%adk steps --r", ["--run"]),
        ("%adk use --strategy ", ["as_written", "default", "none", "state_only"]),
        ("%adk use --rules ", ["go", "go_fixed", "java", "js", "python"]),
        ("%adk use --model re", ["replies"]),
        ("%adk compare no", ["none"]),
        ("%adk state --session ", ["chat"]),
        ("%adk order ticket Tr", ["TriageAgent"]),
        ("df = %adk sta", ["state"]),
        ("run = %adk step Dr", ["DraftAgent"]),
        ("%%agent Tri", ["TriageAgent"]),
        ("%%agent New --pipeline se", ["second"]),
        ("%%agent New --key tri", ["triage"]),
        ("%%agent New --include ", ["default", "none"]),
        ("%%agent New --before-agent re", ["record", "require_triage"]),
        ("%%agent New --before-agent record,req", ["record,require_triage"]),
        ("%%agent New --tools rec", ["record"]),
        ("%%agent New --schema Rep", ["Reply"]),
        ("%%agent New --model ec", ["echo"]),
        ("%%agent New --bef", ["--before-agent", "--before-model", "--before-tool"]),
        ("%%agent New --key k --ke", []),
        ("%agent Dra", ["DraftAgent"]),
        ("%%agents t", ["third", "ticket"]),
        ("%%pipeline t", ["third", "ticket"]),
        ("%%pipeline by", ["by_hand"]),
        ("%%pipeline ticket --state-f", ["--state-from"]),
        ("%%pipeline ticket --state-from mo", ["more"]),
        ("%%pipeline ticket --clear tri", ["triage"]),
        ("%%pipeline ticket --clear triage dr", ["draft"]),
        ("%%pipeline ticket --from Dr", ["DraftAgent"]),
        ("%%pipeline ticket --session c", ["chat"]),
        ("%%pipeline ticket --state us", ["user:tier"]),
        ("%pipeline ticket --input mes", ["message"]),
        ("%%step Dr", ["DraftAgent"]),
        ("%%compare t", ["third", "ticket"]),
        ("%compare by", ["by_hand"]),
        ("comparison = %compare tic", ["ticket"]),
        ("%%compare ticket --kind ", ["run", "paired", "dry"]),
        ("%%compare ticket --var", ["--variants"]),
        ("%%compare ticket --variants s", ["state_only", "strategy="]),
        ("%%compare ticket --variants none q", ["quick"]),
        ("%%compare ticket --variants bo", ["both"]),
        ("%%compare ticket --variants Tri", ["TriageAgent@1", "TriageAgent@2", "TriageAgent="]),
        ("%%compare ticket --variants DraftAgent@", ["DraftAgent@1"]),
        ("%%compare ticket --variants TriageAgent=sho", ["TriageAgent=shorter"]),
        ("%%compare ticket --variants none+mo", ["none+model="]),
        ("%%compare ticket --variants none+model=re", ["none+model=replies"]),
        ("%%compare ticket --variants off=", ["off=require_triage"]),
        (
            "%%compare ticket --variants rules=",
            ["rules=go", "rules=go_fixed", "rules=java", "rules=js", "rules=python"],
        ),
        ("%%compare ticket --inputs ro", ["rows"]),
        ("%%compare ticket --measure rec", ["record"]),
        ("%%compare ticket --categories ro", ["rows"]),
        ("%%compare ticket --state us", ["user:tier"]),
        ("%%agent DraftAgent\nTriage: {tri", ["triage"]),
        ("%%agent DraftAgent\nfirst line\nTier: {user:t", ["user:tier"]),
        ("%%step DraftAgent\nTriage: {dr", ["draft"]),
        ("%%agents ticket\n%agent TriageAgent --ke", ["--key"]),
        ("%%agents ticket\n%agent TriageAgent --key t\nReads {dra", ["draft"]),
    ],
)
def test_tab(written: Kernel, text: str, offered: list[str]) -> None:
    matches, start, end = written.complete(text)
    assert matches == offered
    if offered:
        assert end == len(text)
        assert all(match.startswith(text[start:end]) for match in matches)


def test_every_verb_is_offered(written: Kernel) -> None:
    assert written.complete("%adk ")[0] == sorted([*VERBS, "help"])


def test_every_option_is_offered(written: Kernel) -> None:
    assert written.complete("%adk diff a b ")[0] == ["--traceback"]
    matches, _, _ = written.complete("%%step DraftAgent ")
    assert matches == ["--model", "--run", "--strategy", "--traceback"]


def test_runs_are_offered_newest_first(written: Kernel) -> None:
    assert len(written.complete("%adk steps --run ")[0]) == 1
    for _ in range(4):
        written.run("%%pipeline ticket\nhi")
    matches, _, _ = written.complete("%adk steps --run ")
    assert matches == written.text("import adknb\nprint(*[run.id for run in reversed(adknb.bench.runs)])").split()


def test_in_the_middle_of_a_cell(written: Kernel) -> None:
    text = "%%agent DraftAgent --key draft\nTriage: {tri} and more\nlast line"
    position = text.index("tri}") + 3
    assert written.complete(text, position) == (["triage"], position - 3, position)


def test_files_are_offered(written: Kernel) -> None:
    written.run("import os, tempfile\nos.chdir(tempfile.mkdtemp())\nopen('draft.md', 'w').close()")
    assert "draft.md" in written.complete("%%agent New --prompt-file dra")[0]
    assert "draft.md" in written.complete("%adk load dra")[0]


def test_files_and_variables_are_offered_as_inputs(written: Kernel) -> None:
    written.run(
        "import os, tempfile, pandas\nos.chdir(tempfile.mkdtemp())\nos.mkdir('tickets')\nos.mkdir('.tickets')\n"
        "for name in ('tickets.csv', 'tickets.JSONL', 'tickets.md', 'tickets/more.tsv'): open(name, 'w').close()\n"
        "tickets_frame = pandas.DataFrame({'message': ['hi']})"
    )
    offered = ["tickets_frame", "tickets/", "tickets.JSONL", "tickets.csv"]
    assert sorted(written.complete("%%compare ticket --inputs ti")[0]) == sorted(offered)
    assert written.complete("%%compare ticket --inputs tickets/")[0] == ["tickets/more.tsv"]


@pytest.mark.parametrize("text", ["messag", "import o", "%adk_", "print(mess"])
def test_python_is_left_to_ipython(written: Kernel, text: str) -> None:
    matches, _, _ = written.complete(text)
    assert ("message" in matches) == ("mess" in text)


def test_nothing_is_said_on_stderr(written: Kernel) -> None:
    assert written.log() == []
