"""What the front end says of the cell that runs: its id, and its text before IPython changes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class RunningCell:
    """The cell under way. `id` is None where the front end gives none (nbclient); `text` is the raw cell.

    `active` is false where no cell runs at all: a script, whose results nobody displays.
    """

    id: str | None = None
    text: str = ""
    active: bool = False

    def enter(self, info: Any) -> None:
        """IPython's `pre_run_cell` event."""
        self.id = getattr(info, "cell_id", None)
        self.text = info.raw_cell or ""
        self.active = True

    def leave(self, result: Any) -> None:
        """IPython's `post_run_cell` event."""
        self.id, self.text, self.active = None, "", False

    def body(self, magic: str, given: str) -> str:
        """The cell's body as it was typed: without its first line and one final newline.

        IPython's own transformations (it strips `>>> `) do not touch it. `given`, the body as IPython passed it, is
        used when the running cell is not this magic (one magic called from another, or from code).
        """
        start = self.text.lstrip()
        text = given
        if start.startswith(magic):
            _, newline, rest = start.partition("\n")
            text = rest if newline else given
        return text.removesuffix("\n")
