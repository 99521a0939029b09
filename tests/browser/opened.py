"""Pages that are watched, and a notebook that is open in one: run its cells, edit them, read what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.browser.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Dialog, Error, Locator, Page

SECOND: Final = 1000.0
"""Playwright counts in milliseconds."""

_NOTEBOOK: Final = "window.jupyterapp?.shell?.currentWidget"
_KERNEL_IDLE: Final = f"() => {_NOTEBOOK}?.sessionContext?.session?.kernel?.status === 'idle'"
"""The notebook's own indicator says idle before there is a kernel, and cells run then are silently left out."""
_DRAWN: Final = f"""() => {{
  if (!{_NOTEBOOK}?.context?.isReady) return false;
  const cells = {_NOTEBOOK}.content.model.cells;
  const saved = Array.from(cells, cell => cell.outputs?.length ?? 0).reduce((sum, count) => sum + count);
  return document.querySelectorAll('.jp-Notebook .jp-Cell').length === cells.length
    && document.querySelectorAll('.jp-OutputArea-output').length === saved;
}}"""
"""Cells and outputs come one after another while the page is idle."""
_NOTEBOOKS_OWN: Final = (
    "Cannot read properties of undefined (reading 'schema')",
    "Command 'filebrowser:open-path' not registered.",
)
"""What Notebook 7.6 raises while it starts, whatever the notebook."""
_IS_DARK: Final = "getComputedStyle(document.querySelector('.jp-Notebook')).backgroundColor.match(/\\d+/)[0] < 128"


class WatchedPage:
    """A page whose requests, console errors and dialogs are noted. `own` is how addresses of the tests' server begin."""

    def __init__(self, page: Page, own: str) -> None:
        self.page = page
        self.own = own
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.dialogs: list[str] = []
        page.context.on("request", lambda request: self.requests.append(request.url))
        page.on("websocket", lambda socket: self.requests.append(socket.url.replace("ws", "http", 1)))
        page.context.on("page", lambda opened: self.requests.append(f"a new window: {opened.url}"))
        page.on("pageerror", self._pageerror)
        page.on("console", self._console)
        page.on("dialog", self._dialog)

    @property
    def foreign(self) -> list[str]:
        """What was asked for elsewhere than on the server."""
        return [url for url in self.requests if not url.startswith((self.own, "data:", "blob:"))]

    @property
    def noise(self) -> list[str]:
        """Requests to others, complaints on the console, dialogs: a page that works makes none."""
        return [*self.foreign, *self.errors, *self.dialogs]

    def _pageerror(self, error: Error) -> None:
        if error.message not in _NOTEBOOKS_OWN:
            self.errors.append(error.message)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location['url']})")

    def _dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()


class OpenNotebook(WatchedPage):
    """A notebook in JupyterLab (`app` is `lab`, or `doc` for one document alone) or in Notebook 7 (`notebook`)."""

    def __init__(self, page: Page, server: Server, name: str, app: str = "lab", kernel: bool = True) -> None:
        super().__init__(page, server.url)
        paths = {"lab": "lab/tree/{}?reset", "doc": "doc/tree/{}?reset", "notebook": "notebooks/{}"}
        page.goto(server.url + paths[app].format(name))
        page.wait_for_function(_DRAWN, timeout=60 * SECOND)
        if kernel:
            self.wait_until_idle()

    def wait_until_idle(self, seconds: float = 60) -> None:
        self.page.wait_for_function(_KERNEL_IDLE, timeout=seconds * SECOND)

    def command(self, name: str, **arguments: str) -> None:
        """Do what a menu's entry does, to its end."""
        self.page.evaluate("([name, args]) => jupyterapp.commands.execute(name, args)", [name, arguments])

    @property
    def sources(self) -> list[str]:
        """The cells' texts, from the notebook's model: of a cell far out of sight the page holds less."""
        found: list[str] = self.page.evaluate(
            f"() => Array.from({_NOTEBOOK}.content.model.cells, cell => cell.sharedModel.getSource())"
        )
        return found

    def cell(self, beginning: str) -> Locator:
        """The first cell whose text begins with these words, scrolled into view."""
        return self._at(next(place for place, source in enumerate(self.sources) if source.startswith(beginning)))

    def output(self, beginning: str) -> str:
        """What stands below a cell, as text."""
        return _output(self.cell(beginning))

    def run_all(self) -> None:
        self.command("notebook:run-all-cells")
        self.wait_until_idle()

    def start(self, beginning: str) -> None:
        """Press Ctrl+Enter in a cell; it goes on running."""
        cell = self.cell(beginning)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        cell.locator(".jp-InputPrompt", has_text="[*]").wait_for(state="attached")

    def run(self, beginning: str) -> str:
        """Run a cell with Ctrl+Enter, to its end; what it shows."""
        return self._run(self.cell(beginning))

    def run_new(self, source: str) -> str:
        """Run another cell, put at the end; what it shows."""
        self.page.evaluate(
            f"() => {{ const {{content}} = {_NOTEBOOK}; content.activeCellIndex = content.widgets.length - 1 }}"
        )
        self.command("notebook:insert-cell-below")
        self.page.evaluate(f"source => {_NOTEBOOK}.content.activeCell.model.sharedModel.setSource(source)", source)
        return self._run(self._at(len(self.sources) - 1))

    def interrupt(self) -> None:
        """Press I twice beside the cells."""
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("i")
        self.page.keyboard.press("i")
        self.wait_until_idle()

    def edit(self, beginning: str, source: str) -> None:
        """Replace a cell's text as one does by hand: select it all, type."""
        self.cell(beginning).locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(source)

    def use_theme(self, name: str) -> None:
        """`Light` or `Dark`, on the open page."""
        self.command("apputils:change-theme", theme=f"JupyterLab {name}")
        self.page.wait_for_function(_IS_DARK if name == "Dark" else f"!({_IS_DARK})")
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")

    def _at(self, number: int) -> Locator:
        self.page.evaluate(f"number => {_NOTEBOOK}.content.scrollToItem(number)", number)
        cell = self.page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{number}"]')
        cell.scroll_into_view_if_needed()
        return cell

    def _run(self, cell: Locator) -> str:
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(
            "([prompt, before]) => /\\d/.test(prompt.innerText) && prompt.innerText !== before",
            arg=[prompt.element_handle(), before],
        )
        return _output(cell)


def _output(cell: Locator) -> str:
    return "\n".join(cell.locator(".jp-OutputArea-output").all_inner_texts()).strip()
