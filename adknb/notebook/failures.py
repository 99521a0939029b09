"""Errors in a cell: a card that says what to do, and a last line that makes the cell fail; the traceback on request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from adknb.core.errors import AdknbError
from adknb.core.escape import one_line
from adknb.notebook.cards.error_card import error_html, error_text


class CellFailed(Exception):
    """Ends a cell whose error is shown already. IPython prints its one line instead of a traceback."""

    def __init__(self, error: AdknbError) -> None:
        super().__init__(str(error))
        self.error = error

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self.error).__name__}: {one_line(str(self.error), 400)}"]


@contextmanager
def shown_errors(traceback: bool = False) -> Iterator[None]:
    """Show an `AdknbError` as a card and fail the cell; with `traceback` let Python show it."""
    try:
        yield
    except AdknbError as error:
        if traceback:
            raise
        from IPython.display import display

        display({"text/html": error_html(error), "text/plain": error_text(error)}, raw=True)
        raise CellFailed(error) from None
