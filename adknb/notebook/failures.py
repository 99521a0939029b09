"""Errors in a cell: a card that says what to do, and a last line that makes the cell fail; the traceback on request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from adknb.core.errors import AdknbError
from adknb.core.escape import one_line, visible
from adknb.notebook.cards.error_card import error_html, error_text
from adknb.notebook.shown import display

_SHOWN: Final = "shown_by_adknb"


class CellFailed(Exception):
    """Ends a cell with an error that a person can read. IPython prints its text instead of a traceback."""

    def __init__(self, error: AdknbError, text: str) -> None:
        super().__init__(visible(str(error)))
        self.error = error
        self._text = text

    def _render_traceback_(self) -> list[str]:
        return self._text.split("\n")


def mark_shown(error: BaseException | None) -> None:
    """Note that a run's card shows the error, so that it is not shown twice."""
    if error is not None:
        error.__dict__[_SHOWN] = True


@contextmanager
def shown_errors(traceback: bool, front_end: bool) -> Iterator[None]:
    """Show an `AdknbError` as a card, in a terminal as text, and fail the cell; with `traceback` let Python show it."""
    try:
        yield
    except AdknbError as error:
        if traceback:
            raise
        if _SHOWN not in error.__dict__:
            if not front_end:
                raise CellFailed(error, error_text(error)) from None
            display({"text/html": error_html(error), "text/plain": error_text(error)}, raw=True)
        raise CellFailed(error, f"{type(error).__name__}: {one_line(str(error), 400)}") from None
