"""A notebook that was saved and is opened without a kernel: trusted, or as somebody else's."""

from __future__ import annotations

import json

from tests.browser.checks import OUTPUTS, acted, texts
from tests.browser.conftest import Opener
from tests.browser.server import Server


def check_kept(open_notebook: Opener, server: Server, cells: list[str], pictures: int) -> None:
    """It shows the same as when it was run, with so many pictures, and nothing in it acts."""
    notebook = open_notebook("kept.ipynb", cells)
    notebook.run_all()
    shown = texts(notebook.page)
    notebook.command("docmanager:save")
    server.shut_kernels_down()
    saved = json.loads((server.folder / "kept.ipynb").read_text(encoding="utf-8"))
    saved["metadata"]["changed"] = True  # so that it is not what the server signed
    (server.folder / "foreign.ipynb").write_text(json.dumps(saved), encoding="utf-8")
    for name, is_trusted in (("kept.ipynb", True), ("foreign.ipynb", False)):
        again = open_notebook(name, kernel=False)
        assert (again.page.locator(".jp-mod-trusted").count() > 0) is is_trusted
        assert texts(again.page) == shown
        assert acted(again.page, styled=is_trusted) == []
        assert again.page.locator(f"{OUTPUTS} img").count() == pictures
        assert again.noise == []
