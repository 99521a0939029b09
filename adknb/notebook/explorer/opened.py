"""An explorer as a cell's result: live where the front end draws widgets, and its static twin everywhere else."""

from __future__ import annotations

from typing import Any, Final

from IPython.core.getipython import get_ipython

from adknb.core.views import Viewed, card_html
from adknb.notebook.explorer.comparisons import ComparisonExplorer
from adknb.notebook.explorer.explorer import Explorer
from adknb.notebook.explorer.static import explorer_html, explorer_text, twin
from adknb.notebook.shown import display

WIDGET: Final = "application/vnd.jupyter.widget-view+json"


_open: dict[str, Opened] = {}
"""The live explorers by their cells; a cell run again closes the one that it opened before."""


class Opened(Viewed):
    """What `%adk explore` returns. `explorer` does from code what the widget's buttons do."""

    def __init__(self, explorer: Explorer | ComparisonExplorer) -> None:
        self.explorer = explorer
        self.widget: Any = None
        """The live widget; None where there is none."""
        self._twin: Any = None

    def __repr__(self) -> str:
        return f"Opened({self.explorer!r})"

    def to_html(self) -> str:
        if isinstance(self.explorer, ComparisonExplorer):
            return twin(self.explorer, card_html(self.explorer.comparison))
        return explorer_html(self.explorer)

    def __str__(self) -> str:
        if isinstance(self.explorer, ComparisonExplorer):
            return str(self.explorer.comparison)
        return explorer_text(self.explorer)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.to_html(), "text/plain": str(self)}

    def _ipython_display_(self) -> None:
        """Two outputs: the twin, and below it the widget, which hides the twin as long as it lives. So a notebook keeps
        something to read: JupyterLab takes a widget for its only content, and says no more than that it is gone."""
        self._twin = display(self._repr_mimebundle_(), raw=True, display_id=True)
        cell = cell_at_front_end()
        if cell is not None:
            before = _open.pop(cell, None)
            if before is not None:
                before.widget.close()
            self.widget = self._make_widget()
            _open[cell] = self
            shell: Any = get_ipython()
            shell.events.register("post_run_cell", refresh_all)
            display({WIDGET: self.widget.view, "text/plain": ""}, raw=True)

    def _make_widget(self) -> Any:
        from adknb.notebook.explorer.comparison_widget import ComparisonWidget
        from adknb.notebook.explorer.widget import ExplorerWidget

        if isinstance(self.explorer, ComparisonExplorer):
            return ComparisonWidget(self.explorer)
        return ExplorerWidget(self.explorer, self._update_twin)

    def _update_twin(self) -> None:
        self._twin.update(self._repr_mimebundle_(), raw=True)


def cell_at_front_end() -> str | None:
    """The id of the cell that runs. Who names its cells draws widgets; consoles do not, nor does nbclient, which would keep
    the widgets' state in the notebook for pages that load their code from elsewhere."""
    kernel = getattr(get_ipython(), "kernel", None)
    parent = kernel.get_parent() if kernel is not None else {}
    found = parent.get("metadata", {}).get("cellId")
    return str(found) if found else None


def refresh_all(_: object = None) -> None:
    """IPython's `post_run_cell` event: every live explorer takes in what the cell did."""
    for opened in list(_open.values()):
        opened.widget.refresh()
