"""The live explorer: plain widgets, and one small module of JavaScript for what these cannot do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

import ipywidgets as widgets

from adknb.core.errors import AdknbError
from adknb.core.escape import escape, one_line
from adknb.core.run import Run
from adknb.notebook.cards.error_card import error_box
from adknb.notebook.cards.html import block, box, cut, heading
from adknb.notebook.explorer.drafts import as_message
from adknb.notebook.explorer.drawn import Drawn
from adknb.notebook.explorer.explorer import TABS, Explorer
from adknb.notebook.explorer.panes import pane
from adknb.notebook.explorer.parts import Part, choose, plain_button
from adknb.notebook.explorer.pieces import bare
from adknb.notebook.explorer.reading import STRATEGIES
from adknb.notebook.explorer.redraw import Redraw
from adknb.notebook.explorer.strip_html import strip_html
from adknb.notebook.explorer.watch import watch
from adknb.tables.session import message_text

RUNS: Final = 50
"""Runs that the menus offer."""
INTERRUPT: Final = "Interrupt the kernel (■) to cancel"

BUTTONS: Final = (
    ("step", "Step", "Run one step more"),
    ("run_from_here", "Run from here", "Run the selected step, edited or not, and all after it"),
    ("try_edit", "Try edit", "Ask the selected step once with the edited prompt, on a copy of the session"),
    ("accept_edit", "Accept edit", "Write the edited prompt as the agent's own"),
    ("rewind", "Rewind", "A paused run that holds the steps before the selected one"),
    ("run_to_end", "Run to end", "Run all steps that are left"),
    ("undo", "Undo", "Take the bench's last change back"),
    ("cancel", "Cancel", "End the run that is going on"),
)
"""Each operation's name, its button's words, and what it does."""


class ExplorerWidget(Drawn):
    """The widgets of one explorer. What a button starts runs in a thread of its own, so that the kernel goes on taking
    messages, and Cancel reaches it. `changed` is called when the static twin is out of date."""

    def __init__(self, explorer: Explorer, changed: Callable[[], object] = lambda: None) -> None:
        super().__init__()
        self.explorer = explorer
        self._changed = changed
        self._worker: threading.Thread | None = None
        self._works = False
        self._on_subshell = False
        self._is_closed = False
        self._redraw = Redraw(self._draw_live)
        self._strip = Part(kind="strip")
        self._editor = Part(kind="editor")
        self._strip.on_msg(self._told)
        self._editor.on_msg(self._told)
        plain = widgets.Layout(width="auto", flex="0 0 auto")
        self._buttons = {name: self._button(name, words, hint, plain) for name, words, hint in BUTTONS}
        self._run = widgets.Dropdown(description="Run", layout=plain)
        self._against = widgets.Dropdown(description="Against", layout=plain)
        self._strategy = widgets.Dropdown(description="Strategy", options=STRATEGIES, layout=plain)
        self._tabs = widgets.ToggleButtons(options=TABS, tooltips=[f"{tab} (key {n})" for n, tab in enumerate(TABS, 1)])
        self._tabs.style.button_width = "auto"
        self._pages = [
            plain_button("‹", "The page before", "adknb-do-back", lambda _: self._turn(-1)),
            plain_button("›", "The next page", "adknb-do-on", lambda _: self._turn(1)),
        ]
        self._requests = widgets.Dropdown(description="Request", layout=widgets.Layout(width="auto"))
        self._says = widgets.HTML()
        self._pane = widgets.HTML()
        self._message = widgets.Textarea(
            placeholder="The user's message", layout=widgets.Layout(width="100%", height="54px")
        )
        self._message.add_class("adknb-new-message")
        start = plain_button("Run anew", "Run the pipeline on this message", "adknb-do-start", self._start)
        self._start_button = start
        self._menus()
        self.box = widgets.VBox([
            self._strip,
            widgets.HBox([*self._buttons.values()], layout=widgets.Layout(flex_flow="row wrap")),
            widgets.HBox([self._run, self._against, self._strategy], layout=widgets.Layout(flex_flow="row wrap")),
            self._says,
            self._tabs,
            widgets.HBox([*self._pages, self._requests]),
            self._pane,
            self._editor,
            widgets.HBox([self._message, start]),
        ])  # fmt: skip
        self.box.add_class("adknb-explorer")
        self.box.add_class("adknb-live")
        watch(explorer.bench, self._watched)
        self.draw()

    # what is drawn

    def _draw(self, error: BaseException | None) -> None:
        explorer = self.explorer
        may = explorer.may()
        for name, button in self._buttons.items():
            button.disabled = not may[name]
        cancel = self._buttons["cancel"]
        can_cancel = explorer.cancel_run is not None and (self._on_subshell or self._works)
        cancel.description = "Cancel" if can_cancel or not explorer.is_running else INTERRUPT
        cancel.disabled = not (explorer.is_running and can_cancel)
        self._start_button.disabled = not may["start"]
        self._draw_menus()
        drawn = pane(explorer)
        self._pane.value = bare(drawn.html)
        page = drawn.page
        for button, enabled in zip(
            self._pages, (page and page.number > 0, page and page.number < page.pages - 1), strict=True
        ):
            button.disabled = not enabled
            button.layout.display = None if page is not None and page.pages > 1 else "none"
        self._says.value = self._said(error)
        shown = explorer.strip
        self._strip.data = {
            "running": explorer.is_running,
            "twin": str(id(explorer)),
            "page": page.number if page else 0,
        }
        self._strip.html = bare(strip_html(shown, live=True)) if shown is not None else ""
        self._draw_editor()
        self._strip.beat += 1

    def _draw_menus(self) -> None:
        explorer = self.explorer
        runs = explorer.runs[-RUNS:][::-1]
        options = [(_run_label(run), run.id) for run in runs]
        compared = explorer.compared[0].id if explorer.compared is not None else None
        known = {run.id for run in runs}
        choose(self._run, options, explorer.run.id if explorer.run is not None else None)
        choose(self._against, [("–", ""), *options], compared if compared in known else "")
        choose(self._strategy, [(name, name) for name in STRATEGIES], explorer.strategy)
        choose(self._tabs, [(tab, tab) for tab in TABS], explorer.tab)
        step = explorer.step
        count = len(step.requests) if step is not None else 0
        numbers = [(str(number), number) for number in range(1, min(count, 200) + 1)]
        choose(self._requests, numbers, min(explorer.request, count) or None)
        self._requests.layout.display = None if count > 1 else "none"

    def _draw_editor(self) -> None:
        explorer = self.explorer
        prompt = explorer.prompt
        if explorer.tab != "Prompt" or prompt is None:
            self._editor.data = {"agent": ""}
            return
        text = explorer.draft if explorer.draft is not None else prompt
        self._editor.data = {
            "agent": explorer.agent, "text": text, "edited": explorer.draft is not None, **as_message(explorer.lint(text)),
        }  # fmt: skip

    def _said(self, error: BaseException | None) -> str:
        pieces = []
        if error is not None:
            pieces.append(error_box(error) if isinstance(error, AdknbError) else box(escape(str(error)), "bad"))
        elif self.explorer.notice:
            pieces.append(box(escape(self.explorer.notice), ""))
        pieces += [box(cut(line, 300), "warn") for line in self.explorer.waits_for]
        if self.explorer.cell:
            pieces.append(heading("The cell to paste") + f'<div class="adknb-cell">{block(self.explorer.cell)}</div>')
        return bare(*pieces) if pieces else ""

    # what is done

    def do(self, name: str) -> None:
        """Press the button of an operation."""
        work: dict[str, Callable[[], object]] = {
            "step": self.explorer.advance, "run_from_here": self.explorer.run_from_here, "try_edit": self.explorer.try_edit,
            "run_to_end": self.explorer.run_to_end,
        }  # fmt: skip
        if name in work:
            self._in_thread(work[name])
        elif name == "cancel":
            self._looked(self.explorer.cancel)
        else:
            self._looked(getattr(self.explorer, name), twin=True)

    def _in_thread(self, work: Callable[[], object]) -> None:
        def run() -> None:
            error: BaseException | None = None
            try:
                work()
            except KeyboardInterrupt:
                self.explorer.notice = "Cancelled."
            except Exception as raised:
                error = raised
            self._works = False
            self._redraw.stop()
            self.draw(error)
            self._changed()

        with self._lock:
            if self._works:
                self.explorer.notice = "The explorer is running something already. Cancel it, or wait for it."
                self.draw()
                return
            self._works = True
            self._worker = threading.Thread(target=run, name="adknb explorer", daemon=True)
            self._worker.start()

    def wait(self) -> None:
        """Until what was started has ended."""
        if self._worker is not None:
            self._worker.join()

    def _looked(self, work: Callable[[], object], twin: bool = False) -> None:
        """Do something short, and draw what came of it."""
        error: AdknbError | None = None
        with self._lock:
            try:
                work()
            except AdknbError as raised:
                error = raised
            self.draw(error)
        if twin:
            self._changed()

    def refresh(self) -> None:
        """Take in what a cell did."""
        if not self._works:
            before = self.explorer.run
            self._looked(self.explorer.refresh, twin=False)
            if self.explorer.run is not before:
                self._changed()

    def close(self) -> None:
        """Take the widgets off the page, and forget them."""
        self._is_closed = True
        super().close()

    # what the front end says

    def _told(self, _: object, content: Any, buffers: object) -> None:
        self._on_subshell = threading.current_thread() is not threading.main_thread()
        what, value = content.get("what"), content.get("value")
        if what == "select":
            self._looked(lambda: self.explorer.select(str(value)))
        elif what == "edit":
            self._looked(lambda: self.explorer.edit(str(value)), twin=False)
        elif what == "discard":
            self._looked(self.explorer.discard_edit, twin=True)
        elif what == "tab":
            self._looked(lambda: self.explorer.show_tab(str(value)))

    def _watched(self, run: Run, cancel: Callable[[], object] | None) -> None:
        if self._is_closed:
            return
        with self._lock:
            self.explorer.watch(run, cancel)
        self._redraw.soon()

    def _draw_live(self) -> None:
        self.draw()

    # how it is made

    def _menus(self) -> None:
        def on(widget: Any, work: Callable[[Any], object]) -> None:
            def changed(change: Any) -> None:
                with self._lock:  # what another thread draws meanwhile is no change of the user's, and hides none
                    if not self._drawing and change["new"] is not None:
                        self._looked(lambda: work(change["new"]))

            widget.observe(changed, "value")

        explorer = self.explorer
        on(self._run, lambda id: explorer.show(next(run for run in explorer.runs if run.id == id)))
        on(self._against, self._compare)
        on(self._strategy, explorer.switch_strategy)
        on(self._tabs, explorer.show_tab)
        on(self._requests, explorer.choose_request)

    def _compare(self, other: str) -> None:
        explorer = self.explorer
        if not other or explorer.run is None:
            explorer.compared = None
            return
        explorer.compare(other, explorer.run.id)
        explorer.show_tab("Runs")

    def _turn(self, by: int) -> None:
        page = pane(self.explorer).page
        self._looked(lambda: self.explorer.turn_to((page.number if page is not None else 0) + by))

    def _start(self, _: object) -> None:
        message = self._message.value
        if message.strip():
            self._in_thread(lambda: self.explorer.start(message))
        else:
            self.explorer.notice = "Write the user's message first."
            self.draw()

    def _button(self, name: str, words: str, hint: str, layout: Any) -> Any:
        return plain_button(words, hint, f"adknb-do-{name}", lambda _: self.do(name), layout)


def _run_label(run: Run) -> str:
    return one_line(f"{run.id} {run.status} · {message_text(run.message)}", 60)
