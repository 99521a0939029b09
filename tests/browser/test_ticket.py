"""The ticket pipeline in JupyterLab and in Notebook 7, as its user goes through it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.browser.checks import coloured_without_words, low_contrast, sideways
from tests.browser.conftest import NARROW, Opener
from tests.browser.opened import OpenNotebook
from tests.browser.server import Server
from tests.browser.ticket import CELLS, DRAFT, LOOK, RUN, SHORT_DRAFT, SLOW_DRAFT

LONG_REPLY: Final = "We are looking into it and will write to you by Friday."
FROM_DRAFT: Final = "%pipeline ticket --from DraftAgent"
PICTURED: Final = {
    "agent": DRAFT, "run": RUN, "prompt": "%adk prompt", "compare": "%adk compare", "contract": "%adk contract",
}  # fmt: skip
PICTURE_WIDTH: Final = 1350
"""Pixels of a window in which a card is as wide as a README's column."""


def test_edit_a_prompt_run_from_there_undo_interrupt(open_notebook: Opener) -> None:
    notebook = open_notebook("edit.ipynb", CELLS)
    notebook.run_all()
    ran = notebook.output(RUN)
    assert "ticket\ncompleted\n3 steps" in ran
    assert "sends triage, draft twice (35 tokens)" in ran
    assert "Final answer, by PolicyCheckAgent\nAPPROVE" in ran
    assert f"draft\t{LONG_REPLY}\tDraftAgent\tPolicyCheckAgent\tfresh\t13" in ran
    assert sideways(notebook.page) == []

    notebook.edit(DRAFT, SHORT_DRAFT)
    assert "agent 2 of 3 in ticket · version 2" in notebook.run(SHORT_DRAFT)
    again = notebook.run_new(FROM_DRAFT)
    assert "draft\tWe are on it.\tDraftAgent\tPolicyCheckAgent\tfresh" in again
    assert notebook.run_new("print(*asked)") == "TriageAgent DraftAgent PolicyCheckAgent DraftAgent PolicyCheckAgent"

    assert notebook.run_new("%adk undo").startswith("Undone: run ")
    assert notebook.run_new("%adk undo") == "Undone: ticket: DraftAgent edited."
    assert f"draft\t{LONG_REPLY}" in notebook.run_new(FROM_DRAFT)

    notebook.edit(SHORT_DRAFT, SLOW_DRAFT)
    notebook.run(SLOW_DRAFT)
    notebook.start(RUN)
    notebook.cell(RUN).get_by_text("running").first.wait_for()
    notebook.interrupt()
    stopped = notebook.output(RUN)
    assert "ticket\ninterrupted\n2 steps" in stopped
    assert "TriageAgent\tcompleted" in stopped
    assert "DraftAgent\tinterrupted" in stopped
    assert notebook.run_new("1 + 1") == "2"
    assert "triage\tsession\t" in notebook.run_new("%adk state")
    assert notebook.noise == []


def test_every_look_reads_well_in_light_and_dark(open_notebook: Opener, pictures: Path | None) -> None:
    notebook = open_notebook("looks.ipynb", CELLS)
    notebook.run_all()
    looks = {line: notebook.output(line) for line in LOOK}
    assert "user:tier\tuser\tgold" in looks["%adk state"]
    assert "PolicyCheckAgent\tcompleted\t1\t" in looks["%adk steps"]
    assert "Prompt of PolicyCheckAgent\n133 tokens counted with o200k_base" in looks["%adk prompt PolicyCheckAgent"]
    assert "NONE would save 40 of 133 tokens (30 %)." in looks["%adk compare default none"]
    assert "fragile-boundary" in looks["%adk lint"]
    assert "triage\tsession\tTriageAgent\tDraftAgent (required), PolicyCheckAgent (required)" in looks["%adk contract"]
    for theme in ("Dark", "Light"):
        notebook.use_theme(theme)
        assert low_contrast(notebook.page) == []
        assert coloured_without_words(notebook.page) == []
        if pictures is not None:
            save_pictures(notebook, pictures, theme.lower())
    assert notebook.noise == []


def save_pictures(notebook: OpenNotebook, folder: Path, theme: str) -> None:
    notebook.page.set_viewport_size({"width": PICTURE_WIDTH, "height": 1700})
    for name, beginning in PICTURED.items():
        notebook.cell(beginning).locator(".adknb").first.screenshot(path=folder / f"{name}-{theme}.png")
    notebook.cell(DRAFT)
    notebook.page.screenshot(path=folder / f"notebook-{theme}.png")


def test_a_narrow_window(open_notebook: Opener, pictures: Path | None) -> None:
    """A phone's width, where JupyterLab shows one document alone."""
    notebook = open_notebook("narrow.ipynb", CELLS, app="doc", width=NARROW)
    notebook.run_all()
    assert sideways(notebook.page) == []
    assert low_contrast(notebook.page) == []
    for line in (RUN, "%adk prompt", "%adk compare"):
        card = notebook.cell(line).locator(".adknb").first.bounding_box()
        assert card is not None
        assert card["width"] > NARROW / 2
        if pictures is not None:
            notebook.page.set_viewport_size({"width": NARROW, "height": 4000})
            notebook.cell(line).locator(".adknb").first.screenshot(path=pictures / f"{line.split()[1]}-narrow.png")
    assert notebook.noise == []


def test_notebook_7(open_notebook: Opener) -> None:
    notebook = open_notebook("classic.ipynb", CELLS, app="notebook")
    notebook.run_all()
    assert "Final answer, by PolicyCheckAgent\nAPPROVE" in notebook.output(RUN)
    notebook.edit(DRAFT, SHORT_DRAFT)
    assert "agent 2 of 3 in ticket · version 2" in notebook.run(SHORT_DRAFT)
    assert "draft\tWe are on it." in notebook.run_new(FROM_DRAFT)
    assert notebook.run_new("%adk undo").startswith("Undone: run ")
    assert sideways(notebook.page) == []
    assert low_contrast(notebook.page) == []
    assert notebook.noise == []


def test_a_saved_notebook_shows_everything_without_its_kernel(open_notebook: Opener, server: Server) -> None:
    notebook = open_notebook("saved.ipynb", CELLS)
    notebook.run_all()
    shown = {cell: notebook.output(cell) for cell in CELLS[1:]}
    notebook.command("docmanager:save")
    server.shut_kernels_down()
    reopened = open_notebook("saved.ipynb", kernel=False)
    assert {cell: reopened.output(cell) for cell in CELLS[1:]} == shown
    assert "Loading widget" not in "".join(shown.values())
    assert all(shown.values())
    assert low_contrast(reopened.page) == []
    assert reopened.noise == []


@pytest.mark.parametrize(
    "lesson", sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem
)
def test_a_lesson(lesson: Path, open_notebook: Opener, server: Server) -> None:
    (server.folder / lesson.name).write_bytes(lesson.read_bytes())
    notebook = open_notebook(lesson.name)
    notebook.run_all()
    assert (
        notebook.page.locator(
            "[data-mime-type='application/vnd.jupyter.error'], [data-mime-type*=stderr]"
        ).all_inner_texts()
        == []
    )
    assert all(notebook.page.locator(".jp-CodeCell .jp-InputPrompt").all_inner_texts())
    assert sideways(notebook.page) == []
    assert low_contrast(notebook.page) == []
    assert notebook.noise == []
