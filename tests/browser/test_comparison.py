"""A comparison's card in JupyterLab, light and dark, wide and narrow, trusted and not; and its page alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import pytest

from tests.browser.checks import acted, coloured_without_words, low_contrast, sideways
from tests.browser.conftest import NARROW, WIDE, Opener
from tests.browser.kept import check_kept
from tests.browser.opened import WatchedPage
from tests.browser.server import Server
from tests.browser.test_ticket import PICTURE_WIDTH
from tests.notebook.comparisons import ten

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

SHOW: Final = """\
from tests.notebook.comparisons import ten
ten()"""
INSPECT: Final = "ten().inspect('2')"
CELLS: Final = [SHOW, INSPECT, "ten().view('by_input')"]
OPEN: Final = "() => document.querySelectorAll('.adknb details').forEach(each => { each.open = true })"
PAPER: Final = """() => {
  const chart = document.querySelector('.adknb-chart');
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const context = canvas.getContext('2d');
  context.drawImage(chart, 2, 2, 1, 1, 0, 0, 1, 1);
  return context.getImageData(0, 0, 1, 1).data[0];
}"""
"""How bright the paper of a chart is: `WHITE`, or `BLACK`."""
WHITE: Final = 255
BLACK: Final = 21


def test_it_reads_well_in_light_and_dark(open_notebook: Opener, pictures: Path | None) -> None:
    notebook = open_notebook("comparison.ipynb", CELLS)
    notebook.run_all()
    shown = notebook.output(SHOW)
    assert shown.startswith("ticket: DEFAULT against NONE\nKind run: each variant ran the whole pipeline")
    assert "CheckAgent 106 65.5 40 (38 %) 40 to 40 4 4 20 ms 20 ms" in " ".join(shown.split())
    assert "Only inputs whose answers changed category: 2 of 10" in shown
    assert notebook.page.locator(".adknb-chart").count() == 2
    for theme in ("Light", "Dark"):
        notebook.use_theme(theme)
        if pictures is not None:
            notebook.page.set_viewport_size({"width": PICTURE_WIDTH, "height": 2600})
            save_picture(notebook.cell(SHOW), pictures / f"comparison-{theme.lower()}.png")
    notebook.page.evaluate(OPEN)
    for theme in ("Light", "Dark"):
        notebook.use_theme(theme)
        paper = WHITE if theme == "Light" else BLACK
        notebook.page.wait_for_function(f"paper => ({PAPER})() === paper", arg=paper)
        assert low_contrast(notebook.page) == []
        assert coloured_without_words(notebook.page) == []
        assert sideways(notebook.page) == []
        assert acted(notebook.page) == []
    assert notebook.noise == []


def save_picture(cell: Locator, path: Path) -> None:
    """The card from its upper edge to below its charts."""
    card = cell.locator(".adknb").first.bounding_box()
    chart = cell.locator(".adknb-chart").first.bounding_box()
    assert card is not None
    assert chart is not None
    height = chart["y"] + chart["height"] + 2 - card["y"]
    cell.page.screenshot(path=path, clip={"x": card["x"], "y": card["y"], "width": card["width"], "height": height})


def test_a_narrow_window(open_notebook: Opener) -> None:
    notebook = open_notebook("narrow.ipynb", CELLS, app="doc", width=NARROW)
    notebook.run_all()
    notebook.page.evaluate(OPEN)
    assert sideways(notebook.page) == []
    assert low_contrast(notebook.page) == []
    assert "Input tokens, DEFAULT: " not in notebook.output(SHOW)  # the style sheet says it
    chart = notebook.cell(SHOW).locator(".adknb-chart").first.bounding_box()
    card = notebook.cell(SHOW).locator(".adknb").first.bounding_box()
    assert chart is not None
    assert card is not None
    assert card["width"] > NARROW / 2
    assert card["width"] - 20 < chart["width"] < card["width"]
    assert notebook.noise == []


def test_a_saved_notebook_keeps_the_charts_trusted_or_not(open_notebook: Opener, server: Server) -> None:
    check_kept(open_notebook, server, CELLS, pictures=2)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_page_alone(width: int, scheme: Literal["light", "dark"], browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "ticket.html"
    ten().to_html(path)
    page: Page = browser.new_page(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    watched = WatchedPage(page, path.as_uri())
    page.goto(path.as_uri())
    assert page.title() == "ticket: default | none"
    assert page.evaluate(PAPER) == (WHITE if scheme == "light" else BLACK)
    page.evaluate(OPEN)
    assert low_contrast(page, ".adknb") == []
    assert sideways(page, ".adknb") == []
    assert acted(page) == []
    assert watched.noise == []
