"""The URL of a database: what is taken, what is refused, and that a password is never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from adknb import DatabaseSessionService, LlmAgent, Runner, RunStateError, SessionStoreError
from adknb.models.scripted import ScriptedModel
from adknb.sessions.database.address import address


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("sqlite:////tmp/tickets.db", "sqlite+pysqlite:////tmp/tickets.db"),
        ("sqlite+aiosqlite:////tmp/tickets.db", "sqlite+pysqlite:////tmp/tickets.db"),
        ("sqlite://", "sqlite+pysqlite://"),
        ("postgresql://u:p@h:1/d", "postgresql+asyncpg://u:p@h:1/d"),
        ("postgres://u@h/d?sslmode=require", "postgresql+asyncpg://u@h/d?ssl=require"),
    ],
)
def test_the_driver_is_filled_in(text: str, url: str) -> None:
    assert address(text).url.render_as_string(hide_password=False) == url


def test_a_relative_path_is_that_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert address("sqlite:///tickets.db").path == str(tmp_path / "tickets.db")


@pytest.mark.parametrize("text", ["tickets.db", "", "postgresql://u:secret@h:port/d", "//u:secret@h", None])
def test_no_url(text: str) -> None:
    with pytest.raises(
        SessionStoreError, match=r"that is not the URL of a database. Write 'sqlite:///tickets.db'"
    ) as raised:
        DatabaseSessionService(text)
    assert "secret" not in str(raised.value)


def test_no_such_driver() -> None:
    with pytest.raises(SessionStoreError, match=r"mysql://u:\*\*\*@h/d: sessions are kept in SQLite") as raised:
        DatabaseSessionService("mysql://u:secret@h/d")
    assert "not by the driver 'mysql'" in str(raised.value)


def test_options_of_a_plain_path_are_refused() -> None:
    with pytest.raises(
        SessionStoreError, match=r"sqlite:////tmp/t.db\?mode=ro: SQLite takes options only in a URL of its own"
    ):
        DatabaseSessionService("sqlite:////tmp/t.db?mode=ro")


def test_a_password_is_not_shown() -> None:
    assert (
        repr(DatabaseSessionService("postgresql://u:secret@h/d")) == "DatabaseSessionService('postgresql://u:***@h/d')"
    )


def test_the_synchronous_mode_is_one_of_two() -> None:
    with pytest.raises(RunStateError, match="synchronous is 'full' or 'normal', not 'off'"):
        DatabaseSessionService("sqlite://", synchronous="off")  # type: ignore[arg-type]


def test_a_runner_takes_the_url(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/tickets.db"
    agent = LlmAgent(name="A", instruction="a", output_key="k")
    for text, before in (("one", []), ("two", ["hi", "one"])):
        run = Runner(agent, model=ScriptedModel({"A": ["one", "two"]}), session_service=url).run("hi", session="s")
        assert [event.text for event in run.past] == before
        assert run.session.state == {"k": text}
