"""What the browser tests share: one Jupyter server for all, a Chromium for each module, pictures on request."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.browser.opened import OpenNotebook
from tests.browser.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDE: Final = 1600
NARROW: Final = 375

Opener = Callable[..., OpenNotebook]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pictures", metavar="DIR", help="save the README's pictures of cards in this folder")


@pytest.fixture(scope="session")
def pictures(request: pytest.FixtureRequest) -> Path | None:
    """Where pictures go; None when nobody asked for them."""
    folder = request.config.getoption("--pictures", default=None)
    if folder is None:
        return None
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium that knows no host but this machine's. A module has its own, because Playwright's event loop would
    stand in the way of the tests after it."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is missing: pip install playwright")
    with sync_api.sync_playwright() as playwright:
        found = shutil.which("chromium") or shutil.which("chromium-browser") or playwright.chromium.executable_path
        if not Path(found).exists():
            pytest.skip("Chromium is missing: apt-get install chromium, or playwright install chromium")
        options = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # Chromium's sandbox does not work for root
        browser = playwright.chromium.launch(executable_path=found, args=options)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    for package in ("jupyterlab", "notebook", "ipykernel"):
        pytest.importorskip(package, reason=f"{package} is missing: pip install 'adknb[lab]'")
    server = Server(tmp_path_factory.mktemp("jupyter"))
    yield server
    server.stop()


@pytest.fixture
def page(browser: Browser, pictures: Path | None) -> Iterator[Page]:
    """A tab of its own, twice as sharp for pictures."""
    context = browser.new_context(service_workers="block", device_scale_factor=1 if pictures is None else 2)
    yield context.new_page()
    context.close()


@pytest.fixture
def open_notebook(page: Page, server: Server) -> Iterator[Opener]:
    """`open_notebook(name, cells)` writes a notebook of these code cells (without `cells` the file is there already)
    and opens it; the rest as for `OpenNotebook`."""

    def opened(
        name: str, cells: list[str] | None = None, app: str = "lab", kernel: bool = True, width: int = WIDE
    ) -> OpenNotebook:
        page.set_viewport_size({"width": width, "height": 1000})
        if cells is not None:
            server.write(name, cells)
        return OpenNotebook(page, server, name, app, kernel)

    yield opened
    server.shut_kernels_down()
