"""Opening a database: whose it is, which version its tables have, and the tables of a new one.

Nothing is written before it is certain that the database is ours or empty.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final

from sqlalchemy import Connection, insert, inspect, select, update
from sqlalchemy.exc import OperationalError

from adknb.core.errors import SessionStoreError
from adknb.sessions.database.address import Address
from adknb.sessions.database.tables import METADATA, SCHEMA

MIGRATIONS: Final[list[Callable[[Connection], None]]] = []
"""What makes version 2 of a database of version 1, and so on. A new database gets the newest tables at once."""

_LOCK: Final = 0x61646B6E62  # "adknb", for PostgreSQL's advisory lock
_GOOGLE: Final = {"events", "app_states", "user_states"}
_IMPORT: Final = " Its sessions are read with open_adk_sessions, in a notebook %adk sessions NAME --import FILE."


def newest_version() -> int:
    return 1 + len(MIGRATIONS)


def check_place(address: Address) -> None:
    """Raises `SessionStoreError` where no file can be."""
    if address.path is None:
        return
    folder = os.path.dirname(address.path)
    if not os.path.isdir(folder):
        raise SessionStoreError(f"{address.path}: there is no folder {folder}. Make it, or name another file.")
    if os.path.exists(address.path) and not os.path.isfile(address.path):
        raise SessionStoreError(f"{address.path} is no file. Name a file in which the sessions are to be kept.")


def prepare(connection: Connection, address: Address, synchronous: str, wait: float) -> None:
    """Make a new connection ready. Raises `SessionStoreError` for a database that is somebody else's, or of a newer adknb."""
    version = _version(connection, address)
    connection.rollback()
    if version != newest_version():
        _begin_alone(connection)
        _bring_up_to_date(connection, address)
        connection.commit()
    if address.is_sqlite:
        connection.exec_driver_sql("PRAGMA foreign_keys=ON")
        connection.exec_driver_sql(f"PRAGMA synchronous={synchronous.upper()}")
        _use_write_ahead_log(connection, wait)
        connection.rollback()


def _version(connection: Connection, address: Address) -> int:
    """0 for an empty database."""
    names = set(inspect(connection).get_table_names())
    if SCHEMA.name in names:
        found = connection.execute(select(SCHEMA.c.version)).scalar_one_or_none()
        if found is not None and found > newest_version():
            raise SessionStoreError(
                f"{address.shown}: its tables are of version {found}, and this adknb knows {newest_version()}. "
                "It was left as it is: use the newer adknb that made it."
            )
        return found or 0
    if names and address.is_sqlite:  # a PostgreSQL database may hold other tables beside ours
        is_google = names >= _GOOGLE
        raise SessionStoreError(
            f"{address.shown}: this is {'google-adk' if is_google else 'another program'}'s database (tables "
            f"{', '.join(sorted(names)[:4])}). It was left as it is: name another file to keep sessions in; a new one is made."
            f"{_IMPORT if is_google else ''}"
        )
    return 0


def _begin_alone(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")


def _bring_up_to_date(connection: Connection, address: Address) -> None:
    version = _version(connection, address)  # again: another process may have been faster
    if version == newest_version():
        return
    if version == 0:
        METADATA.create_all(connection)
        connection.execute(insert(SCHEMA).values(version=newest_version()))
        return
    for migrate in MIGRATIONS[version - 1 :]:
        migrate(connection)
    connection.execute(update(SCHEMA).values(version=newest_version()))


def _use_write_ahead_log(connection: Connection, wait: float) -> None:
    """SQLite does not wait for others by itself here, so this does, up to `wait` seconds."""
    end = time.monotonic() + wait
    while connection.exec_driver_sql("PRAGMA journal_mode").scalar() not in ("wal", "memory"):
        try:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        except OperationalError as error:
            name = getattr(error.orig, "sqlite_errorname", "")
            if name.startswith("SQLITE_READONLY"):
                return
            if not name.startswith("SQLITE_BUSY") or time.monotonic() > end:
                raise
            time.sleep(0.02)
