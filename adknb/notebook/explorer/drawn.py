"""What both live views share: drawing, while which no change is the user's, whatever thread draws."""

from __future__ import annotations

import threading
from typing import Any

import ipywidgets as widgets

from adknb.notebook.explorer.parts import answer_anywhere, view_of, with_children


class Drawn:
    """Widgets in one `box`, brought up to date by `draw`. A subclass makes the box and says in `_draw` what stands in it."""

    box: widgets.VBox

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._drawing = False

    @property
    def view(self) -> dict[str, Any]:
        """The widget's place in an output."""
        return view_of(self.box)

    def draw(self, error: BaseException | None = None) -> None:
        """Bring everything up to date. Only what changed is sent."""
        with self._lock:
            self._drawing = True
            try:
                self._draw(error)
            finally:
                self._drawing = False
            for each in with_children(self.box):
                answer_anywhere(each.comm)

    def close(self) -> None:
        """Take the widgets off the page, and forget them."""
        for each in with_children(self.box):
            each.close()

    def _draw(self, error: BaseException | None) -> None:
        raise NotImplementedError
