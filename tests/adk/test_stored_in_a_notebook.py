"""`%adk sessions --import` of a database that google-adk wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: pip install 'adknb[adk]'")
pytest.importorskip("aiosqlite", reason="aiosqlite is not installed: pip install 'adknb[db]'")

from google.adk.events import Event as GoogleEvent, EventActions as GoogleActions
from google.genai import types

from adknb.runtime.sync import run_sync
from tests.adk import stored
from tests.notebook.conftest import notebook
from tests.notebook.notebook import Notebook

__all__ = ["notebook"]


async def _write(kind: str, path: Path, names: list[str]) -> None:
    service = stored.service(kind, path)
    for name in names:
        session = await service.create_session(app_name="app", user_id="u", session_id=name)
        for author, role, text in (("user", "user", f"hi {name}"), ("A", "model", "yes")):
            content = types.Content(role=role, parts=[types.Part(text=text)])
            actions = GoogleActions(state_delta={"a": text} if author == "A" else {})
            event = GoogleEvent(author=author, invocation_id="i", content=content, actions=actions)
            await service.append_event(session, event)
    await service.close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notebook: Notebook) -> Path:
    monkeypatch.chdir(tmp_path)
    notebook.run("%%agent A --pipeline p --key a\nAgent A.")
    return tmp_path


@pytest.mark.parametrize("kind", stored.SERVICES)
def test_one_of_several_sessions(folder: Path, notebook: Notebook, kind: str) -> None:
    run_sync(lambda: _write(kind, folder / "copy.db", ["one", "it's"]))
    message = notebook.fail("%adk sessions --import copy.db")
    assert (
        "copy.db is google-adk's database with 2 sessions: 'one', \"it's\". Say which: %adk sessions NAME --import"
        in message
    )
    assert "copy.db has no session 'two'" in notebook.fail("%adk sessions two --import copy.db")
    notebook.run('%adk sessions "it\'s" --import copy.db')
    assert (notebook.last.message.text, notebook.last.output, notebook.last.session.id) == ("hi it's", "yes", "it's")
    assert "Agent A." in notebook.prompt("A")
    assert notebook.last.session.state == {"a": "yes"}


def test_the_only_session(folder: Path, notebook: Notebook) -> None:
    run_sync(lambda: _write("SqliteSessionService", folder / "copy.db", ["one"]))
    notebook.run("%adk use --db sqlite:///own.db")
    notebook.run("%adk sessions --import copy.db")
    assert list(notebook.bench.sessions) == ["one"]
    assert "It is adknb's own" in notebook.fail("%adk sessions --import own.db")
    assert "%adk sessions NAME --import FILE" in notebook.fail("%adk use --db sqlite:///copy.db")
    notebook.run("%adk use --db memory")
