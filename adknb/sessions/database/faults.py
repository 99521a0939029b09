"""What a database's failures mean to its user: each becomes a `SessionStoreError` that says what to do."""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError

from adknb.core.errors import SessionStoreError
from adknb.sessions.database.address import Address


class _Fault(NamedTuple):
    what: str
    way_out: str


_NOTHING_CHANGED: Final = "Nothing was stored by this call."
_SQLITE: Final = {
    "SQLITE_FULL": _Fault(
        "the disk is full", f"{_NOTHING_CHANGED} Make room and go on: what was stored before is whole."
    ),
    "SQLITE_READONLY": _Fault(
        "the file, its folder or the disk is read-only",
        f"{_NOTHING_CHANGED} Make both file and folder writable, or copy the file.",
    ),
    "SQLITE_BUSY": _Fault(
        "another process has it locked",
        f"{_NOTHING_CHANGED} Wait until that one is done, or give it longer: DatabaseSessionService(url, wait=SECONDS).",
    ),
    "SQLITE_LOCKED": _Fault(
        "another connection has it locked", f"{_NOTHING_CHANGED} Wait until that one is done, and try again."
    ),
    "SQLITE_CORRUPT": _Fault(
        "the file is damaged",
        "It was left as it is. Go on from a copy of an earlier day, or save what can be read: sqlite3 FILE .recover",
    ),
    "SQLITE_NOTADB": _Fault("this is no SQLite file", "It was left as it is. Name another file; a new one is made."),
    "SQLITE_CANTOPEN": _Fault(
        "the file cannot be opened", "See that the path is a file in a folder that you may read and write."
    ),
    "SQLITE_IOERR": _Fault(
        "the disk reports an error", f"{_NOTHING_CHANGED} See to the disk; a network drive is no place for SQLite."
    ),
    "SQLITE_PERM": _Fault("access is not permitted", "See to the file's permissions."),
    "SQLITE_TOOBIG": _Fault(
        "a value is larger than SQLite takes",
        f"{_NOTHING_CHANGED} Save bulk data as an artifact, not in state or text.",
    ),
}
_POSTGRESQL: Final = {  # by SQLSTATE, or its class
    "28": _Fault(
        "the server refuses the user or the password", "See to both in the URL, and to the server's pg_hba.conf."
    ),
    "3D000": _Fault("there is no such database", "Make it first: createdb NAME"),
    "42501": _Fault("the user may not do this", "Grant it CREATE on the schema, and all rights on the adknb_ tables."),
    "3F000": _Fault("there is no schema that the user may use", "Grant it USAGE and CREATE on one in its search_path."),
    "25006": _Fault("the server is read-only", f"{_NOTHING_CHANGED} Name the primary server."),
    "53100": _Fault("the server's disk is full", f"{_NOTHING_CHANGED} Make room there and go on."),
    "53": _Fault("the server is out of resources", f"{_NOTHING_CHANGED} Try again later."),
    "55P03": _Fault(
        "another process has it locked",
        f"{_NOTHING_CHANGED} Wait until that one is done, or give it longer: DatabaseSessionService(url, wait=SECONDS).",
    ),
    "XX": _Fault("the server reports damaged data", "See the server's log."),
}
_GONE: Final = _Fault(
    "the server does not answer",
    "What was acknowledged is stored. See that the server runs and that host and port are right; then try again.",
)


def driver_error(error: BaseException) -> BaseException:
    """The driver's own error: SQLAlchemy's adds the statement with its values, which are the user's."""
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


def as_store_error(error: BaseException, address: Address) -> SessionStoreError:
    """The error for a failure of the driver or of SQLAlchemy; its cause is to be the `driver_error`."""
    original = driver_error(error)
    fault = _fault(error, original)
    detail = " ".join(str(original).split())[:300]
    said = f" ({detail})" if detail and detail.lower() not in fault.what else ""
    return SessionStoreError(f"{address.shown}: {fault.what}{said}. {fault.way_out}")


def is_lost(error: BaseException) -> bool:
    """Whether the connection is gone, so that another one may do."""
    return (isinstance(error, DBAPIError) and error.connection_invalidated) or isinstance(
        error, (OSError, TimeoutError)
    )


def _fault(error: BaseException, original: BaseException) -> _Fault:
    if isinstance(original, sqlite3.Error):
        name = getattr(original, "sqlite_errorname", "")
        base = "_".join(name.split("_")[:2])
        return _SQLITE.get(base) or _Fault("SQLite failed", "See the message; what was stored before is whole.")
    state = getattr(original, "sqlstate", None)
    if isinstance(state, str):
        found = _POSTGRESQL.get(state) or _POSTGRESQL.get(state[:2])
        if found is not None:
            return found
        if state[:2] in ("08", "57"):
            return _GONE
    if is_lost(error):
        return _GONE
    if isinstance(error, (NoSuchModuleError, SQLAlchemyError)):
        return _Fault("the database failed", "See the message; what was stored before is whole.")
    return _GONE
