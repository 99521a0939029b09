"""Files that are not read as google-adk's database: each is refused with what is wrong, and none is changed."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: pip install 'adknb[adk]'")
pytest.importorskip("aiosqlite", reason="aiosqlite is not installed: pip install 'adknb[db]'")

from adknb import open_adk_sessions
from adknb.core.errors import AdknbError
from tests.adk.stored import events, keep


class Exploit:
    """Unpickled, it would write a file."""

    def __reduce__(self) -> Any:
        return (Path.write_text, (Path("unpickled"), "yes"))


def test_the_schema_that_pickles_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle

    from google.adk.sessions.schemas import v0
    from sqlalchemy import create_engine

    monkeypatch.chdir(tmp_path)
    engine = create_engine(f"sqlite:///{tmp_path}/old.db")
    v0.Base.metadata.create_all(engine)
    engine.dispose()
    with sqlite3.connect(tmp_path / "old.db") as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(events)")]
        values = dict.fromkeys(columns, "x") | {"actions": pickle.dumps(Exploit())}
        names = ", ".join(f'"{name}"' for name in values)
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute(f"INSERT INTO events ({names}) VALUES ({', '.join('?' * len(values))})", list(values.values()))
    database.close()
    with pytest.raises(
        AdknbError, match=r"old\.db is of google-adk's old schema, which keeps actions pickled.*adk migrate session"
    ):
        open_adk_sessions("old.db")
    assert not Path("unpickled").exists()


async def test_a_file_with_a_write_ahead_log_gets_no_file_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    await keep("SqliteSessionService", path, events()[:1])
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("UPDATE sessions SET state = '{\"late\": 1}'")
        database.commit()
        copy = tmp_path / "copy"
        copy.mkdir()
        for name in ("live.db", "live.db-wal"):
            shutil.copyfile(tmp_path / name, copy / name)
    database.close()
    before = {child.name: child.read_bytes() for child in copy.iterdir()}
    assert open_adk_sessions(copy / "live.db").session("s").state["late"] == 1
    assert {child.name: child.read_bytes() for child in copy.iterdir()} == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "UPDATE adk_internal_metadata SET value = '2'",
            "has the schema version '2' of google-adk; this adknb reads version 1",
        ),
        ("DROP TABLE user_states", "is a database, but not of google-adk's sessions: it has no table user_states"),
        ("UPDATE events SET event_data = '{\"author\": 5}'", r"events\[0\].author must be text, not 5"),
        ("UPDATE events SET event_data = 'no'", "is no JSON: Expecting value"),
        ("UPDATE events SET event_data = NULL", "has no content that can be read"),
        ("UPDATE sessions SET state = '[1]'", "state must be an object, not a list"),
        ("UPDATE sessions SET state = '{\"a\": NaN}'", "nan is not a JSON number"),
    ],
)
async def test_what_is_wrong_in_a_file_is_named(change: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "copy.db"
    await keep("DatabaseSessionService", path, events()[:1])
    with sqlite3.connect(path) as database:
        database.execute(change)
    database.close()
    with pytest.raises(AdknbError, match=message):
        open_adk_sessions(path).session("s")


def test_files_that_are_no_database(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("hello")
    (tmp_path / "half.db").write_bytes(b"SQLite format 3\x00" + b"\x01" * 90)
    for name, message in [
        ("none.db", "No such file or directory. Give the path of a copy of the database."),
        ("text.db", "text.db is no SQLite database"),
        ("half.db", "half.db cannot be read as google-adk's database"),
        (".", "Is a directory"),
    ]:
        with pytest.raises(AdknbError, match=message):
            open_adk_sessions(tmp_path / name)
