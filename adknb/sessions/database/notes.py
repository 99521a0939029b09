"""Notes: JSON that others keep beside the sessions."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, delete, select

from adknb.core.protocols import Note
from adknb.sessions.database.tables import NOTES
from adknb.sessions.database.texts import as_column, as_json, from_column


def note_row(note: Note) -> dict[str, Any]:
    return {
        "kind": as_column(note.kind), "name": as_column(note.name), "number": note.number, "data": as_json(note.data),
    }  # fmt: skip


def read_notes(connection: Connection, kind: str, name: str | None) -> list[Note]:
    statement = select(NOTES.c.name, NOTES.c.number, NOTES.c.data).where(NOTES.c.kind == as_column(kind))
    if name is not None:
        statement = statement.where(NOTES.c.name == as_column(name))
    found = [
        Note(kind, from_column(stored), number, json.loads(data))
        for stored, number, data in connection.execute(statement)
    ]
    return sorted(found, key=lambda note: (note.name, note.number))  # databases sort text in different ways


def delete_notes(connection: Connection, kind: str, name: str, first: int) -> None:
    same = (NOTES.c.kind == as_column(kind), NOTES.c.name == as_column(name), NOTES.c.number >= first)
    connection.execute(delete(NOTES).where(*same))
