"""The tables, as of the newest schema version. Every name begins with `adknb_`, so that a database can hold others too.

A session is a row and a log; see `log`. JSON stands in text columns, so that both databases give back what was written.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

METADATA: Final = MetaData()

SCHEMA: Final = Table("adknb_schema", METADATA, Column("version", Integer, nullable=False))

SESSIONS: Final = Table(
    "adknb_sessions",
    METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("app", Text, nullable=False),
    Column("user", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("state", Text, nullable=False),  # what the session began with
    Column("notes", Text, nullable=False),  # what it lost on its way here
    Column("begun", Double, nullable=False),  # seconds since 1970
    UniqueConstraint("app", "user", "id"),
    sqlite_autoincrement=True,  # a deleted session's number is never another's
)


def _of_session() -> Column[Any]:
    return Column("session", ForeignKey(SESSIONS.c.number, ondelete="CASCADE"), nullable=False)


LOG: Final = Table(
    "adknb_log",
    METADATA,
    _of_session(),
    Column("seq", Integer, nullable=False),  # from 1, without gaps
    Column("writer", Text, nullable=False),
    Column("run", Text),  # the run that was under way
    Column("event", Text),
    Column("turns", Text),  # how the session's turns changed before the event (see `turn_changes`)
    Column("at", Double, nullable=False),
    PrimaryKeyConstraint("session", "seq"),
)

RUNS: Final = Table(
    "adknb_runs",
    METADATA,
    _of_session(),
    Column("run", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("begun", Double, nullable=False),
    PrimaryKeyConstraint("session", "run"),
)

RUN_PARTS: Final = Table(
    "adknb_run_parts",
    METADATA,
    _of_session(),
    Column("run", Text, nullable=False),
    Column("part", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("data", Text, nullable=False),
    PrimaryKeyConstraint("session", "run", "part", "number"),
)

BLOBS: Final = Table(
    "adknb_blobs",
    METADATA,
    _of_session(),
    Column("hash", Text, nullable=False),
    Column("data", Text, nullable=False),
    PrimaryKeyConstraint("session", "hash"),
)

APP_VALUES: Final = Table(
    "adknb_app_values",
    METADATA,
    Column("app", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("value", Text, nullable=False),
    PrimaryKeyConstraint("app", "key"),
)

USER_VALUES: Final = Table(
    "adknb_user_values",
    METADATA,
    Column("app", Text, nullable=False),
    Column("user", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("value", Text, nullable=False),
    PrimaryKeyConstraint("app", "user", "key"),
)

NOTES: Final = Table(
    "adknb_notes",
    METADATA,
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("data", Text, nullable=False),
    PrimaryKeyConstraint("kind", "name", "number"),
)
