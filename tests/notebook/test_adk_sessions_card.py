"""The card of a file of google-adk's: its sessions, and how one is read. Hostile names are text."""

from __future__ import annotations

from pathlib import Path

from adknb.sessions.adk_database import AdkSessions, StoredSession

TIMES = ("2026-12-01 03:21:05.766071", "2026-12-01 03:21:06")


def test_sessions_and_how_one_is_read() -> None:
    shown = AdkSessions(Path("copy.db"), (StoredSession("support", "u1", "s1", 1_004, *TIMES),))
    assert str(shown).splitlines() == [
        "Sessions in copy.db · 1 session",
        "",
        "Session  User  App      Events  Created              Last event",
        "s1       u1    support   1,004  2026-12-01 03:21:05  2026-12-01 03:21:06",
        "",
        "More: .session('s1') reads one; adopt(session, agents) makes runs of it",
    ]
    assert "2026-12-01 03:21:05<" in shown.to_html()
    assert ".session(&#x27;s1&#x27;) reads one" in shown.to_html()


def test_a_hostile_id_is_text_and_no_sessions_have_no_hint() -> None:
    shown = AdkSessions(Path("copy.db"), (StoredSession("a", "u", "<img src=x>\x1b", 1, *TIMES),))
    assert "<img" not in shown.to_html()
    assert "\x1b" not in str(shown)
    assert str(AdkSessions(Path("copy.db"), ())) == "Sessions in copy.db · 0 sessions"
