"""The bench's changes as notes in the store of its sessions: one note a change, with what changed and no more.

    {"format": 1, "writer": W, "label": L, "since": D, "change": D, "on": I, "began": I, "imported": [I, n], "deleted": […]}

`since` is the difference between what the change before left and what this one began from: where the sessions stood by
then, and what others did to them. `change` is the change itself. `on` is the session that it went on in, `began` the one that
it began, `imported` one that it took in, with the number of its events, `deleted` holds sessions that it deleted. A second
note, of kind `HEAD`, names the last writer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from adknb.core.errors import SessionStoreError, StaleSessionError
from adknb.core.protocols import KeepsNotes, Note
from adknb.notebook.bench_differences import applied, difference
from adknb.notebook.bench_documents import Identity
from adknb.notebook.undo import UNDO_LIMIT

KIND: Final = "bench"
HEAD: Final = "bench head"
FORMAT: Final = 1

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One change: the document `before` it and `after` it, of the notes' names above the rest."""

    label: str
    before: Document
    after: Document
    on: Identity | None = None
    began: Identity | None = None
    imported: tuple[Identity, int] | None = None
    deleted: Sequence[Any] = ()


@dataclass(slots=True)
class BenchLog:
    """The notes of one notebook. What it wrote or read last is known, so that another kernel's change is noticed."""

    service: KeepsNotes
    notebook: str
    writer: str
    limit: int = UNDO_LIMIT
    _changes: list[Change] = field(default_factory=list)
    _first: int = 0
    _head: Any = None

    async def read(self) -> list[Change]:
        """Every change is read, the last `limit` of them are returned."""
        notes = await self.service.get_notes(KIND, self.notebook)
        document: Document = {}
        changes = []
        for note in notes:
            if note.data["format"] != FORMAT:
                raise SessionStoreError(
                    f"the bench of notebook {self.notebook!r} was written by a newer adknb. Update adknb, or begin anew under "
                    "another name: %adk use --db URL --notebook NAME"
                )
            change = _read(document, note.data)
            document = change.after
            changes.append(change)
        self._first = notes[-1].number + 1 - len(changes[-self.limit :]) if notes else 0
        self._changes = changes[-self.limit :]
        self._head = await self._newest()
        return self._changes

    @property
    def newest(self) -> Document:
        """The document that the last change left; empty before the first."""
        return self._changes[-1].after if self._changes else {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing of this notebook is kept."""
        return self._head is None

    async def check(self) -> None:
        """Raise `StaleSessionError` when another kernel has written changes of this notebook since, `SessionStoreError` when
        there is nothing of it any more."""
        head = await self._newest()
        if head is None and self._head is not None:
            raise SessionStoreError(
                f"the database has nothing of notebook {self.notebook!r} any more: its file was deleted or replaced. Nothing of "
                "this cell was done, and the bench is as it was. Put the file back; or name the database again (%adk use --db "
                "URL) and pipelines and settings are written into what is there now, without the runs."
            )
        if head != self._head:
            raise StaleSessionError(
                f"another kernel has changed the bench of notebook {self.notebook!r} since: {head['writer']}; this is "
                f"{self.writer}. It was read again, and nothing of this cell was done: look at it (%adk runs), then run the cell "
                "again. Two notebooks that share a database need names of their own: %adk use --db URL --notebook NAME"
            )

    def notes(self, change: Change) -> list[Note]:
        """What is to be stored of a change that comes next; `stored` takes it in."""
        number = self._first + len(self._changes)
        data: dict[str, Any] = {
            "format": FORMAT,
            "writer": self.writer,
            "label": change.label,
            "since": difference(self.newest, change.before),
            "change": difference(change.before, change.after),
        }
        data |= {
            name: list(value) for name in ("on", "began", "imported", "deleted") if (value := getattr(change, name))
        }
        return [Note(KIND, self.notebook, number, data), self._head_note(number)]

    def stored(self, change: Change) -> None:
        self._head = self._head_note(self._first + len(self._changes)).data
        self._changes.append(change)
        gone = max(0, len(self._changes) - self.limit)
        self._first += gone
        del self._changes[:gone]

    async def add(self, change: Change) -> None:
        """Raises `StaleSessionError` when another kernel was faster: since the change began, as a comparison takes long."""
        await self.check()
        await self.service.put_notes(self.notes(change))
        self.stored(change)

    async def take_back(self) -> None:
        """Forget the last change."""
        number = self._first + len(self._changes) - 1
        await self.service.delete_notes(KIND, self.notebook, number)
        head = self._head_note(number - 1)
        await self.service.put_notes([head])
        self._head = head.data
        self._changes.pop()

    def _head_note(self, number: int) -> Note:
        return Note(HEAD, self.notebook, 0, {"writer": self.writer, "number": number})

    async def _newest(self) -> Any:
        found = await self.service.get_notes(HEAD, self.notebook)
        return found[0].data if found else None


def _read(document: Document, data: Any) -> Change:
    before = applied(document, data["since"])
    return Change(
        data["label"],
        before,
        applied(before, data["change"]),
        Identity(*data["on"]) if "on" in data else None,
        Identity(*data["began"]) if "began" in data else None,
        (Identity(*data["imported"][0]), data["imported"][1]) if "imported" in data else None,
        data.get("deleted", ()),
    )
