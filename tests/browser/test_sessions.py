"""Sessions that last, in JupyterLab: a kernel is restarted, and the notebook finds its runs, its sessions and its undo."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.browser.checks import coloured_without_words, low_contrast, sideways
from tests.browser.conftest import NARROW, Opener
from tests.browser.opened import OpenNotebook

OPEN: Final = "%adk use --db sqlite:///lasting.db --model model"
CHAT: Final = "%%pipeline p --session chat\n"
TABLE: Final = "%adk sessions\n# all of them"
MISTAKE: Final = "%adk sessions --delete caht"
CELLS: Final = [
    "%load_ext adknb\nfrom adknb import ScriptedModel\nmodel = ScriptedModel(lambda request: f'{request.agent} answers.')",
    OPEN,
    "%%agent TriageAgent --pipeline p --key triage\nClassify the message.",
    "%%agent DraftAgent --key draft\nTriage: {triage}",
    f"{CHAT}I was charged twice for <b>September</b>.",
    "%%pipeline p\nMy router has been offline since Monday.",
    TABLE,
    "%adk sessions chat",
    "%adk sessions --prune --keep 0 --dry-run",
    MISTAKE,
]
RESTART: Final = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"


def test_a_restarted_kernel_finds_everything(open_notebook: Opener, pictures: Path | None) -> None:
    notebook = open_notebook("lasting.ipynb", CELLS)
    notebook.run_all()
    assert "lasting.ipynb: 0 runs" in notebook.output(OPEN)
    assert "chat\tuser\tadknb\t1\t3\t" in notebook.output(TABLE)
    assert "there is no session 'caht'. Did you mean 'chat'?" in notebook.output(MISTAKE)
    runs = notebook.run_new("%adk runs")
    notebook.page.evaluate(RESTART)
    notebook.wait_until_idle()
    notebook.run_new(CELLS[0])
    assert "lasting.ipynb: 2 runs, the last change: run " in notebook.run_new(OPEN)
    assert notebook.run_new("%adk runs") == runs
    notebook.run_all()
    turns = "print([run.message.text for run in bench.sessions['chat'].turns])"
    assert notebook.run_new(f"from adknb import bench\n{turns}") == "['I was charged twice for <b>September</b>.']"
    for theme in ("Dark", "Light"):
        notebook.use_theme(theme)
        assert low_contrast(notebook.page) == []
        assert coloured_without_words(notebook.page) == []
        if pictures is not None:
            save_pictures(notebook, pictures, theme.lower())
    assert notebook.noise == []


def save_pictures(notebook: OpenNotebook, folder: Path, theme: str) -> None:
    for name, cell in {
        "use": OPEN,
        "sessions": TABLE,
        "session": CELLS[7],
        "prune": CELLS[8],
        "mistake": MISTAKE,
    }.items():
        notebook.cell(cell).locator(".jp-OutputArea").first.screenshot(path=folder / f"{name}-{theme}.png")


def test_the_table_and_its_cards_on_a_narrow_page(open_notebook: Opener) -> None:
    notebook = open_notebook("narrow.ipynb", CELLS, app="doc", width=NARROW)
    notebook.run_all()
    assert "chat" in notebook.output(TABLE)
    assert sideways(notebook.page) == []
