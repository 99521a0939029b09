"""What the front end says of the cell that runs: its id, and its text before IPython changes it."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class _Cell:
    info: Any
    id: str | None
    text: str
    turns: int = 0


class RunningCell(threading.local):
    """The cell under way in this thread. Cells nest: one may run another."""

    def __init__(self) -> None:
        self._cells: list[_Cell] = []

    def enter(self, info: Any) -> None:
        """IPython's `pre_run_cell` event."""
        self._cells.append(_Cell(info, getattr(info, "cell_id", None), info.raw_cell or ""))

    def leave(self, result: Any) -> None:
        """IPython's `post_run_cell` event. `result` is None where the kernel cancelled the cell."""
        info = getattr(result, "info", None)
        known = [cell.info for cell in self._cells]
        del self._cells[known.index(info) if info in known else -1 :]

    @property
    def active(self) -> bool:
        """False in a script, whose results nobody displays."""
        return bool(self._cells)

    def id_as(self, magic: str) -> str | None:
        """The front end's id of the cell, when the cell is nothing but this magic; None where there is none (nbclient)."""
        if magic.startswith("%%"):
            cell = self._cell_of(magic)
        else:
            cell = self._cells[-1] if self._cells and _is_call(self._cells[-1].text, magic) else None
        return cell.id if cell is not None else None

    def next_turn(self) -> str | None:
        """What a turn is known by when its cell runs again: the cell's id, with a number from the cell's second turn on."""
        cell = next((cell for cell in reversed(self._cells) if cell.id is not None), None)
        if cell is None:
            return None
        cell.turns += 1
        return cell.id if cell.turns == 1 else f"{cell.id}#{cell.turns}"

    def displays(self, magic: str, line: str) -> bool:
        """Whether the call stands alone on a line of the cell, so that nobody takes its value."""
        call = f"{magic} {line}".strip().lstrip("%")
        return bool(self._cells) and any(text.strip().lstrip("%") == call for text in self._cells[-1].text.split("\n"))

    def body(self, magic: str, given: str) -> str:
        """The cell's body as it was typed: all below the magic's line, without one final newline.

        IPython's own transformations (it strips `>>> `) do not touch it. `given`, the body as IPython passed it, is
        used when the cell is not this magic (one called from code).
        """
        cell = self._cell_of(magic)
        typed = _below(cell.text, magic) if cell is not None else None
        return (given if typed is None else typed).removesuffix("\n")

    def _cell_of(self, magic: str) -> _Cell | None:
        """The cell that is this magic: the outermost one, because `%%capture` runs its body as a cell of its own."""
        return next((cell for cell in self._cells if _below(cell.text, magic) is not None), None)


def _below(text: str, magic: str) -> str | None:
    """What stands below the magic's line, which is the cell's first, or follows other cell magics (`%%time`)."""
    rest = text
    while rest:
        line, newline, rest = rest.partition("\n")
        if _is_call(line, magic):
            return rest if newline else None
        if line.strip() and not line.lstrip().startswith("%%"):
            return None
    return None


def _is_call(line: str, magic: str) -> bool:
    return "\n" not in line.strip() and re.match(rf"\s*{re.escape(magic)}(\s|$)", line) is not None
