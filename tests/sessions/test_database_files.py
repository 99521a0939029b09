"""What can be wrong with an SQLite file: each is an error that says what to do, and nothing is half-written."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Connection

from adknb import Content, Event, EventActions, RunStateError, Session, SessionStoreError, StaleSessionError
from adknb.core.protocols import Note
from adknb.sessions.database import DatabaseSessionService, opening
from tests.sessions.conftest import Opener

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tickets.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


async def read(service: DatabaseSessionService, name: str = "s") -> Session:
    session = await service.get_session(app_name="a", user_id="u", session_id=name)
    assert session is not None
    return session


def large(text: str = "x" * 100_000) -> Event:
    return Event("A", Content.model(text), EventActions({"k": 1, "user:k": 1}))


async def test_a_full_disk(opened: Opener, path: Path) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event("A", Content.model("kept")))

    def limit(pages: int) -> None:
        def work(connection: Connection) -> None:
            now = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={now + pages}")

        service._database._submit(service._database._attempt(work, False)).result()

    limit(5)
    with pytest.raises(SessionStoreError, match=r"tickets.db: the disk is full.* Make room and go on") as raised:
        await service.append_events(session, [Event("A"), large()], [Note("k", "n", 1, 1)])
    assert str(path) in str(raised.value)
    assert ([event.text for event in session.events], session.state) == (["kept"], {})
    stored = await read(opened())
    assert ([event.text for event in stored.events], stored.state) == (["kept"], {})
    assert await service.get_notes("k") == []
    limit(1000)
    await service.append_events(session, [Event("A"), large("then")], [Note("k", "n", 1, 1)])
    stored = await read(opened())
    assert ([event.text for event in stored.events], stored.state) == (["kept", "", "then"], {"k": 1, "user:k": 1})


async def test_a_file_that_is_read_only_can_be_looked_at(opened: Opener, url: str, path: Path) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event("A", Content.model("kept")))
    read_only = opened(f"sqlite:///file:{path}?mode=ro&uri=true")
    seen = await read(read_only)
    assert [event.text for event in seen.events] == ["kept"]
    with pytest.raises(SessionStoreError, match=r"tickets.db: the file, its folder or the disk is read-only"):
        await read_only.append_event(seen, Event("A"))
    assert len(seen.events) == 1
    assert len((await read(opened())).events) == 1
    with pytest.raises(SessionStoreError, match=r"missing\.db: the file cannot be opened"):
        await opened(f"sqlite:///file:{path.parent}/missing.db?mode=ro&uri=true").list_sessions(app_name="a")


LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


async def test_a_file_that_another_process_has_locked(opened: Opener, path: Path) -> None:
    service = opened(wait=0.05)
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    with subprocess.Popen(
        [sys.executable, "-c", LOCK, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(SessionStoreError, match=r"tickets.db: another process has it locked.*wait=SECONDS"):
            await service.append_event(session, Event("A"))
        assert session.events == []
        assert (await read(service)) is session  # reading needs no lock
        other.communicate("")
    await service.append_event(session, Event("A"))
    assert len((await read(opened())).events) == 1


async def test_a_damaged_file_is_left_as_it_is(opened: Opener, path: Path) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    for _ in range(3):
        await service.append_event(session, large())
    await service.aclose()
    whole = path.read_bytes()
    damaged = whole[:4096] + b"\xff" * (len(whole) - 4096)
    path.write_bytes(damaged)
    with pytest.raises(SessionStoreError, match=r"tickets.db: the file is damaged.*left as it is.*\.recover"):
        await read(opened())
    assert path.read_bytes() == damaged
    path.write_bytes(whole)
    assert len((await read(opened())).events) == 3


async def test_damaged_rows_of_one_session_leave_the_others(opened: Opener, path: Path) -> None:
    service = opened()
    for name in ("s", "t"):
        session = await service.create_session(app_name="a", user_id="u", session_id=name)
        await service.append_event(session, Event("A"))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE adknb_log SET event = '{\"id\": 1}' WHERE session = 1")
    connection.close()
    with pytest.raises(
        SessionStoreError, match=r"session 's' cannot be read: its rows are damaged \(KeyError: 'author'"
    ):
        await opened().get_session(app_name="a", user_id="u", session_id="s")
    assert len((await read(opened(), "t")).events) == 1


@pytest.mark.parametrize(
    ("script", "whose"),
    [
        (
            "CREATE TABLE songs (name TEXT); CREATE TABLE bands (name TEXT)",
            r"another program's database \(tables bands, so",
        ),
        (
            "CREATE TABLE sessions (id); CREATE TABLE events (id); CREATE TABLE app_states (id); CREATE TABLE user_states (i)",
            "google-adk's database",
        ),
    ],
)
async def test_a_database_of_somebody_else_is_not_written_to(
    opened: Opener, path: Path, script: str, whose: str
) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    before = path.read_bytes()
    service = opened()
    for _ in range(2):
        with pytest.raises(SessionStoreError, match=f"tickets.db: this is {whose}.*left as it is") as raised:
            await service.create_session(app_name="a", user_id="u")
        assert ("read with open_adk_sessions" in str(raised.value)) == ("google" in whose)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["tickets.db"]


async def test_a_text_file_is_not_written_to(opened: Opener, path: Path) -> None:
    path.write_text("dear diary\n" * 500)
    service = opened()
    with pytest.raises(SessionStoreError, match=r"tickets.db: this is no SQLite file.*left as it is"):
        await service.create_session(app_name="a", user_id="u")
    assert path.read_text() == "dear diary\n" * 500
    path.unlink()
    await service.create_session(app_name="a", user_id="u", session_id="s")  # the same service goes on


async def test_tables_of_a_newer_version_are_left_as_they_are(opened: Opener, path: Path) -> None:
    service = opened()
    await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.aclose()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE adknb_schema SET version = 99")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(
        SessionStoreError, match=r"its tables are of version 99, and this adknb knows 1.*the newer adknb"
    ):
        await opened().list_sessions(app_name="a")
    assert path.read_bytes() == before


async def test_tables_of_an_older_version_are_migrated_once(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event("A"))
    migrated: list[str] = []

    def migrate(connection: Connection) -> None:
        migrated.append("2")
        connection.exec_driver_sql("CREATE TABLE adknb_labels (name TEXT)")

    monkeypatch.setattr(opening, "MIGRATIONS", [migrate])
    for _ in range(2):
        assert len((await read(opened())).events) == 1
    assert migrated == ["2"]


async def test_a_migration_that_fails_leaves_the_old_version(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    await opened().create_session(app_name="a", user_id="u", session_id="s")

    def migrate(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE adknb_labels (name TEXT)")
        connection.exec_driver_sql("CREATE TABLE adknb_labels (name TEXT)")

    monkeypatch.setattr(opening, "MIGRATIONS", [migrate])
    with pytest.raises(SessionStoreError, match="table adknb_labels already exists"):
        await opened().list_sessions(app_name="a")
    monkeypatch.undo()
    assert [session.id for session in await opened().list_sessions(app_name="a")] == ["s"]


async def test_there_is_no_folder(opened: Opener, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    service = opened(f"sqlite:///{missing}/tickets.db")
    with pytest.raises(SessionStoreError, match=f"missing/tickets.db: there is no folder {missing}. Make it"):
        await service.create_session(app_name="a", user_id="u")
    assert not missing.exists()
    with pytest.raises(SessionStoreError, match=r"is no file. Name a file"):
        await opened(f"sqlite:///{tmp_path}").create_session(app_name="a", user_id="u")
    missing.mkdir()
    await service.create_session(app_name="a", user_id="u")


async def test_a_closed_service_says_so(opened: Opener) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u")
    service.close()
    service.close()
    with pytest.raises(RunStateError, match=r"tickets.db is closed. Make a new one"):
        await service.append_event(session, Event("A"))
    assert session.events == []


@pytest.mark.parametrize("is_replaced", [False, True])
async def test_a_file_that_was_deleted_while_it_was_open(opened: Opener, path: Path, is_replaced: bool) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    path.rename(path.with_name("old.db"))
    if is_replaced:
        path.touch()
    with pytest.raises(
        SessionStoreError, match=r"tickets.db: the file was deleted, moved or replaced while it was open"
    ):
        await service.append_event(session, Event("A"))
    assert session.events == []
    with pytest.raises(StaleSessionError, match="session 's' was deleted since it was read"):
        await service.append_event(session, Event("A"))
    anew = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(anew, Event("A"))
    assert len((await read(opened())).events) == 1


@pytest.mark.parametrize("is_noticed", [True, False])
async def test_a_file_that_was_moved_while_it_was_open_has_everything(
    opened: Opener, path: Path, is_noticed: bool
) -> None:
    service = opened()
    session = await service.create_session(app_name="a", user_id="u", session_id="s")
    await service.append_event(session, Event("A"))
    path.rename(moved := path.with_name("moved.db"))
    if is_noticed:
        with pytest.raises(SessionStoreError, match=r"or name it where it is"):
            await service.append_event(session, Event("B"))
    await service.aclose()
    assert [event.author for event in (await read(opened(f"sqlite:///{moved}"))).events] == ["A"]


async def test_an_error_does_not_repeat_what_was_to_be_stored(opened: Opener, path: Path) -> None:
    service = opened(wait=0.01)
    await service.create_session(app_name="a", user_id="u")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(SessionStoreError, match="another process has it locked") as raised:
        await service.create_session(app_name="a", user_id="u", state={"key": "secret"})
    other.close()
    assert str(raised.value.__cause__) == "database is locked"
