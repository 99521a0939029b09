"""A database file in which google-adk keeps its sessions, opened to read and never changed.

Sources: google-adk 2.13.0, `sessions/schemas/v1.py` (its DatabaseSessionService) and `sessions/sqlite_session_service.py`. Both
hold an event as JSON; the older schema, which pickles part of it, is refused.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from adknb.core import views
from adknb.core.errors import RunStateError, SessionFormatError, SessionStoreError, near_names
from adknb.core.run import Session
from adknb.core.state import APP_PREFIX, USER_PREFIX
from adknb.sessions.adk_session import make_session, with_prefix
from adknb.sessions.json_fields import Fields, parsed

if TYPE_CHECKING:
    import pandas as pd

_TABLES: Final = {"sessions", "events", "app_states", "user_states"}
_VERSION: Final = "1"
_OWN_TABLE: Final = "adknb_sessions"
_OWN: Final = " It is adknb's own: open it with DatabaseSessionService, in a notebook %adk use --db sqlite:///FILE."
SQLITE_FILE: Final = b"SQLite format 3\x00"
"""How an SQLite file begins."""


class StoredSession(NamedTuple):
    """A session in the file, without its events. Times are as they stand there."""

    app: str
    user: str
    id: str
    events: int
    created: str
    updated: str


class AdkSessions(views.Viewed):
    """The sessions of one file of google-adk's. Each is read when it is asked for, and the file only then."""

    __slots__ = ("path", "rows")

    def __init__(self, path: Path, rows: tuple[StoredSession, ...]) -> None:
        self.path = path
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"AdkSessions({self.path.name!r}, {len(self.rows)} sessions)"

    def session(self, session_id: str, *, user_id: str | None = None, app_name: str | None = None) -> Session:
        """One session with its state and events; `adopt` makes runs of it.

        Raises `RunStateError` with the near ids when there is none, or several of other users or apps.
        """
        found = [
            row
            for row in self.rows
            if row.id == session_id and user_id in (None, row.user) and app_name in (None, row.app)
        ]
        if not found:
            near = near_names(session_id, [row.id for row in self.rows])
            raise RunStateError(f"{self.path.name} has no session {session_id!r}.{near}")
        if len(found) > 1:
            owners = ", ".join(f"user_id={row.user!r}, app_name={row.app!r}" for row in found[:6])
            raise RunStateError(f"{self.path.name} has {len(found)} sessions {session_id!r}. Say whose: {owners}")
        with _opened(self.path) as database:
            return _read_session(database, found[0], self.path.name)

    def to_frame(self) -> pd.DataFrame:
        """One row a session: app, user, id, events, created, updated."""
        return views.table(self, "sessions")


def open_adk_sessions(path: str | Path) -> AdkSessions:
    """The sessions in a copy of a database that google-adk wrote: a SQLite file of its DatabaseSessionService (schema 1) or
    SqliteSessionService.

    Raises `SessionStoreError` for a file that is missing, damaged, not google-adk's, or of the schema that pickles.
    """
    place = Path(path).expanduser()
    with _opened(place) as database:
        _check_schema(database, place.name)
        rows = database.execute(
            "SELECT app_name, user_id, id, (SELECT count(*) FROM events WHERE events.app_name = sessions.app_name AND "
            "events.user_id = sessions.user_id AND session_id = sessions.id), create_time, update_time "
            "FROM sessions ORDER BY update_time, app_name, user_id, id"
        ).fetchall()
    stored = [
        StoredSession(str(app), str(user), str(session_id), int(events), str(created), str(updated))
        for app, user, session_id, events, created, updated in rows
    ]
    return AdkSessions(place, tuple(stored))


def _read_session(database: sqlite3.Connection, row: StoredSession, name: str) -> Session:
    key = (row.app, row.user, row.id)
    place = f"{name}, session {row.id!r}"
    (own,) = database.execute(
        "SELECT state FROM sessions WHERE app_name = ? AND user_id = ? AND id = ?", key
    ).fetchone() or ("{}",)
    state = _state(own, place)
    for prefix, query, owner in (
        (APP_PREFIX, "SELECT state FROM app_states WHERE app_name = ?", (row.app,)),
        (USER_PREFIX, "SELECT state FROM user_states WHERE app_name = ? AND user_id = ?", (row.app, row.user)),
    ):
        for (shared,) in database.execute(query, owner):
            state.update(with_prefix(_state(shared, f"{place}: {prefix}"), prefix))
    events = database.execute(
        "SELECT id, invocation_id, event_data FROM events WHERE app_name = ? AND user_id = ? AND session_id = ? "
        "ORDER BY rowid",  # the order in which they came; google-adk's own reading sorts by time
        key,
    )
    read: list[Any] = []
    for event_id, invocation_id, data in events:
        event = parsed(data or "null", f"{place}: event {event_id!r}")
        if not isinstance(event, dict):
            raise SessionFormatError(f"{place}: event {event_id!r} has no content that can be read")
        read.append({**event, "id": event_id, "invocation_id": invocation_id})
    return make_session(key, state, read, place)


def _state(text: Any, place: str) -> dict[str, Any]:
    return Fields({"state": parsed(text or "{}", f"{place}: the state")}, place).values("state")


def _check_schema(database: sqlite3.Connection, name: str) -> None:
    tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables >= _TABLES:
        raise SessionStoreError(
            f"{name} is a database, but not of google-adk's sessions: it has no table "
            f"{', '.join(sorted(_TABLES - tables))}.{_OWN if _OWN_TABLE in tables else ''}"
        )
    columns = {row[1] for row in database.execute("PRAGMA table_info(events)")}
    version = _VERSION
    if "adk_internal_metadata" in tables:
        row = database.execute("SELECT value FROM adk_internal_metadata WHERE key = 'schema_version'").fetchone()
        version = str(row[0]) if row else _VERSION
    if "event_data" not in columns or version == "0":
        raise SessionStoreError(
            f"{name} is of google-adk's old schema, which keeps actions pickled; adknb never unpickles what it did not write. "
            "Make a copy in the new schema and open that: adk migrate session --source_db_url=… --dest_db_url=…"
        )
    if version != _VERSION:
        raise SessionStoreError(
            f"{name} has the schema version {version!r} of google-adk; this adknb reads version {_VERSION}. Update adknb."
        )


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that only reads. A database with a write-ahead log is copied first, since reading it writes beside it."""
    name = path.name
    try:
        with path.open("rb") as file:
            head = file.read(20)
    except OSError as error:
        reason = error.strerror or error
        raise SessionStoreError(f"cannot read {path}: {reason}. Give the path of a copy of the database.") from error
    if not head.startswith(SQLITE_FILE):
        raise SessionStoreError(f"{name} is no SQLite database. Give the path of a copy of google-adk's database.")
    try:
        with tempfile.TemporaryDirectory(prefix="adknb-") as folder:
            readable = _copied(path, Path(folder)) if 2 in head[18:20] else path
            uri = f"{readable.resolve().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True)) as database:
                database.execute("PRAGMA query_only = 1")
                database.execute("PRAGMA trusted_schema = 0")
                yield database
    except sqlite3.Error as error:
        raise SessionStoreError(
            f"{name} cannot be read as google-adk's database: {error}. Copy it while nothing writes to it, and open the copy."
        ) from error


def _copied(path: Path, folder: Path) -> Path:
    for each in (path, path.with_name(path.name + "-wal")):
        if each.exists():
            shutil.copyfile(each, folder / each.name)
    return folder / path.name
