"""A run that waits for a person, in the explorer: what it waits for, in light and dark."""

from __future__ import annotations

from typing import Final

from tests.browser.checks import acted, coloured_without_words, inaccessible, low_contrast, sideways
from tests.browser.conftest import Opener
from tests.browser.explored import EXPLORE, OpenExplorer

SETUP: Final = """\
%load_ext adknb
from adknb import FunctionCall, LongRunningFunctionTool, Part, ScriptedModel

def approve(amount: int) -> dict[str, str]:
    "Ask a person to approve a refund."
    return {"status": "pending"}

approve = LongRunningFunctionTool(approve)
call = [Part(function_call=FunctionCall("approve", {"amount": 40}, "call-1"))]
answers = ScriptedModel({"Triage": ["billing"], "Refund": [call, "Refunded 40."], "Reply": ["Done."]})
%adk use --model answers --resumable on"""
CELLS: Final = [
    SETUP,
    "%%agent Triage --pipeline refund --key triage\nClassify.",
    "%%agent Refund --pipeline refund --key refund --tools approve\nRefund what {triage} needs.",
    "%%agent Reply --pipeline refund\nReply with {refund}.",
    "%%pipeline refund --session chat\nI was charged twice.",
    EXPLORE,
]
WAITS: Final = 'Waiting for approve({"amount":40}), asked by Refund. Answer: %adk answer VALUE'


def test_a_waiting_run_in_light_and_dark(open_notebook: Opener) -> None:
    notebook = open_notebook("waiting.ipynb", CELLS)
    notebook.run_all()
    explorer = OpenExplorer(notebook)
    assert explorer.steps == ["Triage: completed", "Refund: waiting", "Reply: not run yet"]
    assert explorer.selected == "Refund"
    explorer.see(explorer.said, WAITS)
    explorer.open("Reply", "Reply of Refund waiting")
    explorer.open("State", "Key Change Before After")
    for theme in ("Dark", "Light"):
        notebook.use_theme(theme)
        for tab, words in {"State": "State around Refund", "Reply": "Reply of Refund"}.items():
            explorer.open(tab, words)
            assert low_contrast(notebook.page) == []
            assert inaccessible(notebook.page, ".adknb-explorer") == []
            assert coloured_without_words(notebook.page) == []
    assert acted(notebook.page) == []
    assert sideways(notebook.page) == []
    assert notebook.noise == []
