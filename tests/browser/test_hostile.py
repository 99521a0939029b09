"""Hostile texts wherever texts come to stand: shown as text; nothing runs, nothing is fetched, the layout holds."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from adknb.core.escape import visible
from tests.browser.checks import OUTPUTS, acted, sideways, texts
from tests.browser.conftest import WIDE, Opener
from tests.browser.opened import WatchedPage
from tests.browser.payloads import HUGE, PAYLOADS
from tests.browser.places import MAY_STAY_OUT
from tests.browser.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

IMPORT: Final = "from tests.browser.places import show, show_replies"
NAMES: Final = list(PAYLOADS)
ROWS: Final = 30
"""So many replies does one run show: fewer than the rows at which a table leaves out its middle."""
BATCH: Final = 4
"""So many payloads does one soaking test put everywhere: with each card a page takes longer to lay out."""
SAMPLE: Final = ["surrogates", "overlay", random.Random(20).choice(NAMES)]


def cells(names: Sequence[str]) -> list[str]:
    replies = [f"show_replies({NAMES[start : start + ROWS]})" for start in range(0, len(NAMES), ROWS)]
    return [IMPORT, *(f"show({name!r})" for name in names), *replies]


def begins(payload: str, shown: str) -> bool:
    """Whether the payload's beginning can be read: as it is, within JSON, or within Python's quotes."""
    words = " ".join(shown.split())
    forms = (payload, json.dumps(payload, ensure_ascii=False)[1:-1], repr(payload)[1:-1])
    return any(" ".join(visible(form[:40]).split())[:25] in words for form in forms)


def unshown(page: Page, names: Sequence[str]) -> list[str]:
    """The places where a payload was to be read as text and is not."""
    missing = []
    _, *shown = texts(page)
    for name, (labels, *bodies) in zip(names, shown, strict=False):
        for place, body in zip(labels.strip().split("\n"), bodies, strict=True):
            if place not in MAY_STAY_OUT and not begins(PAYLOADS[name], body):
                missing.append(f"{name} in {place}")
    replies = " ".join(text for outputs in shown[len(names) :] for text in outputs)
    return missing + [name for name in NAMES if not begins(PAYLOADS[name], replies)]


def holds(watched: WatchedPage, names: Sequence[str], styled: bool = True, own: Sequence[str] = ()) -> None:
    """Assert that every payload is there to be read, and did nothing; also with the mouse over it.

    `own` is the noise that the page makes without any payload.
    """
    assert unshown(watched.page, names) == []
    watched.page.mouse.move(WIDE / 2, 400)
    assert acted(watched.page, styled) == []
    assert sideways(watched.page, OUTPUTS if styled else ".jp-Notebook") == []
    assert watched.noise == list(own)


def converted(notebook: Path, *options: str) -> str:
    """The address of the notebook as a page of nbconvert's."""
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "nbconvert",
        "--to",
        "html",
        "--log-level",
        "ERROR",
        *options,
        str(notebook),
    ]
    subprocess.run(command, check=True, timeout=120)
    return notebook.with_suffix(".html").as_uri()


def web_page(browser: Browser, address: str) -> WatchedPage:
    page = browser.new_page(viewport={"width": WIDE, "height": 1000})
    watched = WatchedPage(page, address)
    page.goto(address)
    return watched


def check(names: Sequence[str], open_notebook: Opener, server: Server, browser: Browser) -> None:
    """The texts as a kernel sends them, in a saved notebook that is trusted, in one that is not, and as nbconvert's page."""
    live = open_notebook("hostile.ipynb", cells(names))
    live.run_all()
    holds(live, names)
    live.command("docmanager:save")
    server.shut_kernels_down()

    trusted = open_notebook("hostile.ipynb", kernel=False)
    assert trusted.page.locator(".jp-mod-trusted").count() > 0
    holds(trusted, names)

    saved = json.loads((server.folder / "hostile.ipynb").read_text(encoding="utf-8"))
    saved["metadata"]["changed"] = True  # so that it is not what the server signed
    (server.folder / "foreign.ipynb").write_text(json.dumps(saved), encoding="utf-8")
    foreign = open_notebook("foreign.ipynb", kernel=False)
    assert foreign.page.locator(".jp-mod-trusted").count() == 0
    holds(foreign, names, styled=False)

    server.write("empty.ipynb", ["1"])
    empty = web_page(browser, converted(server.folder / "empty.ipynb"))
    holds(web_page(browser, converted(server.folder / "hostile.ipynb")), names, own=empty.noise)


def test_texts_everywhere(open_notebook: Opener, server: Server, browser: Browser) -> None:
    """A sample of the texts in every place, and every text as a reply and a value."""
    check(SAMPLE, open_notebook, server, browser)


@pytest.mark.soak
@pytest.mark.parametrize("start", range(0, len(NAMES), BATCH))
def test_every_text_everywhere(start: int, open_notebook: Opener, server: Server, browser: Browser) -> None:
    check(NAMES[start : start + BATCH], open_notebook, server, browser)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["script", "latex", "one long word", "surrogates", "many lines", "stacked marks"])
def test_ten_million_characters(name: str, open_notebook: Opener) -> None:
    notebook = open_notebook("huge.ipynb", ["from tests.browser.places import show_huge", f"show_huge({name!r})"])
    notebook.run_all()
    _, shown = texts(notebook.page)
    assert len(shown) == 6
    assert all(begins(PAYLOADS[name], text) for text in shown)
    assert max(map(len, shown)) < HUGE / 10
    assert "10,000,000 characters" in shown[0]
    assert acted(notebook.page) == []
    assert sideways(notebook.page) == []
    assert notebook.noise == []


def test_formulas_stay_text(open_notebook: Opener, server: Server, browser: Browser) -> None:
    """MathJax sets formulas in HTML outputs, in JupyterLab's page and in nbconvert's; not in ours."""
    formula = 'from IPython.display import HTML\nHTML("<p>$x^2$</p>")'
    notebook = open_notebook("formulas.ipynb", [formula, IMPORT, "show('latex')", "show('latex environment')"])
    notebook.run_all()
    notebook.page.locator("mjx-container").first.wait_for()
    assert notebook.page.locator("mjx-container").count() == 1
    assert acted(notebook.page) == []
    notebook.command("docmanager:save")

    mathjax = pytest.importorskip(
        "jupyter_server_mathjax", reason="MathJax 2 is missing: pip install jupyter-server-mathjax"
    )
    script = Path(mathjax.__file__).with_name("static").joinpath("MathJax.js").as_uri()
    url = f"--HTMLExporter.mathjax_url={script}?config=TeX-AMS-MML_HTMLorMML-full,Safe"
    page = web_page(browser, converted(server.folder / "formulas.ipynb", url)).page
    page.locator(".jp-RenderedHTMLCommon .MathJax").first.wait_for()
    assert page.locator(".jp-RenderedHTMLCommon .MathJax").count() == 1
    assert acted(page) == []


def test_errors_of_cells(open_notebook: Opener) -> None:
    """A cell that fails shows our card and one line in place of a traceback."""
    notebook = open_notebook("errors.ipynb", ["%load_ext adknb", "from tests.browser.places import fail"])
    notebook.run_all()
    for name in ("script", "overlay", "ansi", "surrogates", "nul in a tag", "bidi", "latex"):
        shown = notebook.run_new(f"fail({name!r})")
        card, line = shown.split("SpecError: ")
        assert begins(PAYLOADS[name], card)
        assert begins(PAYLOADS[name], line)
    assert notebook.page.locator(f"{OUTPUTS} img, {OUTPUTS} mjx-container").count() == 0
    assert acted(notebook.page) == []
    assert sideways(notebook.page) == []
    assert notebook.noise == []
