"""The live compare view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from adknb.core.errors import AdknbError
from adknb.notebook.cards.error_card import error_box
from adknb.notebook.explorer.comparisons import SORTS, ComparisonExplorer, detail, grid
from adknb.notebook.explorer.drawn import Drawn
from adknb.notebook.explorer.parts import Part, choose, plain_button
from adknb.notebook.explorer.pieces import bare


class ComparisonWidget(Drawn):
    """The widgets of one compare view. Nothing in it changes with the bench, and nothing is run."""

    def __init__(self, explorer: ComparisonExplorer) -> None:
        super().__init__()
        self.explorer = explorer
        self._grid = Part(kind="grid")
        self._grid.on_msg(self._told)
        self._only = widgets.Checkbox(description="Flips only", indent=False, layout=widgets.Layout(width="auto"))
        self._sort = widgets.Dropdown(description="Sort by", options=SORTS, layout=widgets.Layout(width="auto"))
        self._repeat = widgets.Dropdown(description="Repeat", layout=widgets.Layout(width="auto"))
        self._pages = [
            plain_button("‹", "The page before", "adknb-do-back", lambda _: self._turn(-1)),
            plain_button("›", "The next page", "adknb-do-on", lambda _: self._turn(1)),
        ]
        self._detail = widgets.HTML()
        self._says = widgets.HTML()
        bar = widgets.HBox(
            [self._only, self._sort, *self._pages, self._repeat], layout=widgets.Layout(flex_flow="row wrap")
        )
        self.box = widgets.VBox([bar, self._grid, self._says, self._detail])
        self.box.add_class("adknb-explorer")
        self.box.add_class("adknb-live")
        self._only.observe(self._on(explorer.show_flips_only), "value")
        self._sort.observe(self._on(explorer.sort_by), "value")
        self._repeat.observe(self._on(explorer.choose_repeat), "value")
        self.draw()

    def refresh(self) -> None:
        """A comparison stays as it is, whatever a cell does."""

    def _draw(self, error: BaseException | None) -> None:
        explorer = self.explorer
        page = explorer.shown_page
        self._only.value = explorer.flips_only
        choose(self._sort, [(sort, sort) for sort in SORTS], explorer.sort)
        repeats = [(f"{number + 1}", number) for number in range(explorer.comparison.repeats)]
        choose(self._repeat, repeats, explorer.repeat)
        self._repeat.layout.display = None if len(repeats) > 1 and explorer.selected else "none"
        for button, enabled in zip(self._pages, (page.number > 0, page.number < page.pages - 1), strict=True):
            button.disabled = not enabled
            button.layout.display = None if page.pages > 1 else "none"
        self._says.value = bare(error_box(error)) if error is not None else ""
        self._detail.value = bare(detail(explorer))
        self._grid.data = {"running": False, "twin": str(id(explorer))}
        self._grid.html = bare(grid(explorer))
        self._grid.beat += 1

    def _looked(self, work: Callable[[], object]) -> None:
        error: AdknbError | None = None
        with self._lock:
            try:
                work()
            except AdknbError as raised:
                error = raised
            self.draw(error)

    def _on(self, work: Callable[[Any], object]) -> Callable[[Any], None]:
        def changed(change: Any) -> None:
            with self._lock:
                if not self._drawing and change["new"] is not None:
                    self._looked(lambda: work(change["new"]))

        return changed

    def _turn(self, by: int) -> None:
        self._looked(lambda: self.explorer.turn_to(self.explorer.shown_page.number + by))

    def _told(self, _: object, content: Any, buffers: object) -> None:
        if content.get("what") == "select":
            self._looked(lambda: self.explorer.select(str(content.get("value"))))
