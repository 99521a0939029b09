"""Sessions of google-adk's database files: everything that an event of adknb has is there, and what it has not is named."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: pip install 'adknb[adk]'")
pytest.importorskip("aiosqlite", reason="aiosqlite is not installed: pip install 'adknb[db]'")

from google.adk.agents import LlmAgent
from google.adk.events import Event as GoogleEvent, EventActions as GoogleActions
from google.adk.events.event_actions import EventCompaction
from google.adk.runners import Runner
from google.genai import types

from adknb import adopt, open_adk_sessions, read_adk_json
from adknb.adk.wire import to_event
from adknb.core.errors import AdknbError
from adknb.core.originals import original_field
from tests.adk import stored


@pytest.mark.parametrize("kind", stored.SERVICES)
async def test_everything_that_an_event_has(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "copy.db"
    google = await stored.keep(kind, path, stored.events())
    before = path.read_bytes()
    session = open_adk_sessions(path).session("s")
    assert path.read_bytes() == before
    assert sorted(child.name for child in tmp_path.iterdir()) == ["copy.db"]
    assert [event.to_dict() for event in session.events] == [to_event(event).to_dict() for event in google.events]
    assert session.state == google.state == {
        "k": None, "start": "value", "app:a": "x", "user:u": [1], "user:tier": "u"
    }  # fmt: skip
    assert (session.app_name, session.user_id, session.id) == ("app", "u", "s")
    assert session.scopes.app == {"a": "x"}
    assert session.notes == [
        "adknb's events have no field for what ADK stored here, which google-adk itself still sees: custom_metadata (1), "
        "finish_reason (1), model_version (1), part.file_data (1)"
    ]
    assert original_field(session.events[1], "model_version") == "gemini-2.5-flash"


@pytest.mark.parametrize("kind", stored.SERVICES)
async def test_users_of_the_same_session_id(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "copy.db"
    for user in ("u", "v"):
        await stored.keep(kind, path, stored.events(), user)
    sessions = open_adk_sessions(path)
    assert [(row.app, row.user, row.id, row.events) for row in sessions.rows] == [
        ("app", "u", "s", 5),
        ("app", "v", "s", 5),
    ]
    with pytest.raises(AdknbError, match=r"has 2 sessions 's'. Say whose: user_id='u', app_name='app', user_id='v'"):
        sessions.session("s")
    assert sessions.session("s", user_id="v").state["user:tier"] == "v"
    with pytest.raises(AdknbError, match=r"has no session 'x'\. There is: 's'"):
        sessions.session("x")
    assert list(sessions.to_frame().columns) == ["app", "user", "id", "events", "created", "updated"]
    assert "2 sessions" in str(sessions)
    assert "2 sessions" in sessions.to_html()


async def test_the_json_of_the_web_page(tmp_path: Path) -> None:
    """What its server sends for a session is what the page saves ("Export session")."""
    google = await stored.keep("DatabaseSessionService", tmp_path / "copy.db", stored.events())
    file = tmp_path / "session-s.json"
    for by_alias in (True, False):
        file.write_text(google.model_dump_json(by_alias=by_alias, exclude_none=True), encoding="utf-8")
        session = read_adk_json(file)
        assert [event.to_dict() for event in session.events] == [to_event(event).to_dict() for event in google.events]
        assert session.state == google.state


async def test_a_rewind(tmp_path: Path) -> None:
    """What was taken back is in `events`, and no turn; google-adk says the same of what is live."""
    path = tmp_path / "copy.db"
    service = stored.service("DatabaseSessionService", path)
    await service.create_session(app_name="app", user_id="u", session_id="s")
    runner = Runner(agent=answering(), app_name="app", session_service=service)
    for text in ("one", "two", "three"):
        await speak(runner, text)
    whole = await service.get_session(app_name="app", user_id="u", session_id="s")
    assert whole is not None
    second = whole.events[2].invocation_id
    await runner.rewind_async(user_id="u", session_id="s", rewind_before_invocation_id=second)
    await speak(runner, "four")
    await service.close()
    session = open_adk_sessions(path).session("s")
    assert [event.text for event in session.history] == ["one", "1", "four", "4"]
    assert [event.text for event in session.events] == ["one", "1", "two", "2", "three", "3", "", "four", "4"]
    assert "5 events were taken back by a rewind; they are in `events`, not in `history`" in session.notes
    turns = adopt(session, answering()).turns
    assert [run.output for run in turns] == ["1", "4"]
    assert turns[1].start_state == {"last": "1"}
    assert [content.text for content in turns[1].step("A").requests[0].sent.contents] == ["one", "1", "four"]


async def test_a_compaction_is_sent_as_google_adk_sends_it(tmp_path: Path) -> None:
    path = tmp_path / "copy.db"
    service = stored.service("DatabaseSessionService", path)
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    runner = Runner(agent=answering(), app_name="app", session_service=service)
    await speak(runner, "one")
    found = await service.get_session(app_name="app", user_id="u", session_id="s")
    assert found is not None
    summary = EventCompaction(
        start_timestamp=found.events[0].timestamp, end_timestamp=found.events[-1].timestamp,
        compacted_content=stored.said("model", types.Part(text="summary of one")),
    )  # fmt: skip
    session = found
    await service.append_event(
        session, GoogleEvent(author="user", invocation_id="c", actions=GoogleActions(compaction=summary))
    )
    await speak(runner, "two")
    await service.close()
    adopted = adopt(open_adk_sessions(path).session("s"), answering())
    sent = adopted.turns[1].step("A").requests[0].sent.contents
    assert [content.text for content in sent] == ["summary of one", "two"]
    assert [len(run.lead) for run in adopted.turns] == [0, 1]


def answering() -> LlmAgent:
    return LlmAgent(
        name="A", model=stored.Reporting("A", [[{"text": str(n)}] for n in range(1, 9)], {}), output_key="last"
    )


async def speak(runner: Runner, text: str) -> None:
    message = stored.said("user", types.Part(text=text))
    async for _ in runner.run_async(user_id="u", session_id="s", new_message=message):
        continue
