"""A workflow's timeline, plan and checkpoints in JupyterLab: while it runs, at its end, stopped; light, dark, narrow, saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.browser.checks import OUTPUTS, acted, coloured_without_words, inaccessible, sideways
from tests.browser.conftest import NARROW, Opener
from tests.browser.kept import check_kept
from tests.browser.server import Server
from tests.browser.test_comparison import BLACK, OPEN, PAPER, WHITE
from tests.browser.test_ticket import PICTURE_WIDTH

if TYPE_CHECKING:
    from playwright.sync_api import Locator

AGENTS: Final = """\
%%agents ticket
%agent TriageAgent --key triage
Classify.
%agent DraftAgent --key draft
Triage: {triage}
%agent CheckAgent
Draft: {draft}"""
MODEL: Final = """\
from adknb import ScriptedModel
from adknb.examples.unsteady import UnsteadyModel
replies = ScriptedModel(lambda request: f"{request.agent} has done it.")
late = UnsteadyModel(replies, errors={"TriageAgent": [TimeoutError("no answer in 20 s")]}, seconds=0.3)
slow = UnsteadyModel(replies, seconds=60)
raw = str.upper"""
RUN: Final = """\
%%workflow ticket --model late --budget 5000 --retry 2 --checkpoint
%step CheckAgent --model slow --timeout 0.5 --retry 1 --on-error fallback --fallback raw
I was charged twice."""
SLOW: Final = """\
%%workflow ticket --model late --retry 2 --checkpoint
%step CheckAgent --model slow
I was charged twice."""
PLAN: Final = "%adk workflow plan"
CELLS: Final = ["%load_ext adknb", AGENTS, MODEL, RUN, PLAN]


def test_it_grows_while_it_runs_and_can_be_stopped_and_resumed(open_notebook: Opener) -> None:
    notebook = open_notebook("workflow.ipynb", [*CELLS[:3], SLOW])
    for cell in CELLS[:3]:
        notebook.run(cell)
    notebook.start(SLOW)
    running = notebook.cell(SLOW).locator(".adknb")
    running.get_by_text("CheckAgent").first.wait_for()
    assert "… attempt 1" in running.inner_text()
    notebook.interrupt()
    stopped = notebook.output(SLOW)
    assert "ticket\ninterrupted\n3 steps" in stopped
    assert "DraftAgent\tcompleted" in stopped
    assert "CheckAgent\tstopped" in stopped
    assert notebook.cell(SLOW).locator(".adknb").count() == 1
    assert "2 of 3: TriageAgent, DraftAgent" in notebook.run_new("%adk workflow checkpoints")
    notebook.run_new("slow.seconds = 0")
    resumed = notebook.run_new("%adk workflow resume")
    assert "TriageAgent\tresumed" in resumed
    assert "CheckAgent\tcompleted" in resumed
    assert "CheckAgent has done it." in resumed
    assert notebook.noise == []


def test_it_reads_well_in_light_and_dark(open_notebook: Opener, pictures: Path | None) -> None:
    notebook = open_notebook("timeline.ipynb", CELLS)
    notebook.run_all()
    shown = notebook.output(RUN)
    for said in (
        "ticket\ncompleted\n3 steps",
        "✗ attempt 1",
        "‖ waits",
        "CheckAgent\tfallback",
        "DRAFTAGENT HAS DONE IT.",
    ):
        assert said in shown
    assert notebook.page.locator(".adknb-drawn").count() == 2
    for theme in ("Light", "Dark"):
        notebook.use_theme(theme)
        if pictures is not None:
            notebook.page.set_viewport_size({"width": PICTURE_WIDTH, "height": 1700})
            for name, beginning in (("timeline", RUN), ("plan", PLAN)):
                card: Locator = notebook.cell(beginning).locator(".adknb").first
                card.screenshot(path=pictures / f"{name}-{theme.lower()}.png")
    notebook.page.evaluate(OPEN)
    for theme in ("Light", "Dark"):
        notebook.use_theme(theme)
        paper = WHITE if theme == "Light" else BLACK
        notebook.page.wait_for_function(f"paper => ({PAPER})() === paper", arg=paper)
        assert inaccessible(notebook.page, OUTPUTS) == []
        assert coloured_without_words(notebook.page) == []
        assert sideways(notebook.page) == []
        assert acted(notebook.page) == []
    assert notebook.noise == []


def test_a_narrow_window(open_notebook: Opener) -> None:
    notebook = open_notebook("narrow.ipynb", CELLS, app="doc", width=NARROW)
    notebook.run_all()
    notebook.page.evaluate(OPEN)
    assert sideways(notebook.page) == []
    assert inaccessible(notebook.page, OUTPUTS) == []
    picture = notebook.cell(RUN).locator(".adknb-drawn").first.bounding_box()
    assert picture is not None
    assert picture["width"] > 2 * NARROW  # it scrolls, at a size at which its words can be read
    assert notebook.noise == []


def test_a_saved_notebook_keeps_it_trusted_or_not(open_notebook: Opener, server: Server) -> None:
    check_kept(open_notebook, server, CELLS, pictures=2)
