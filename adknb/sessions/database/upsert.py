"""Rows that are put in place of those with the same key: SQL has no common words for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Executable, Table
from sqlalchemy.dialects import postgresql, sqlite


def upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows; one with the key of a row that is there takes its place."""
    if rows:
        connection.execute(_statement(connection.dialect.name, table, True), rows)


def insert_missing(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows whose key is not there yet."""
    if rows:
        connection.execute(_statement(connection.dialect.name, table, False), rows)


@cache
def _statement(dialect: str, table: Table, replace: bool) -> Executable:
    insert = sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
    if not replace:
        return insert.on_conflict_do_nothing()
    keys = [column.name for column in table.primary_key]
    return insert.on_conflict_do_update(
        index_elements=keys,
        set_={column.name: insert.excluded[column.name] for column in table.columns if column.name not in keys},
    )
