"""The sessions in a file of google-adk's, one row each."""

from __future__ import annotations

from typing import Final

from adknb.core.escape import escape, one_line
from adknb.notebook.cards import text
from adknb.notebook.cards.html import card, head, span, table
from adknb.notebook.cards.words import counted
from adknb.sessions.adk_database import AdkSessions

_COLUMNS: Final = (
    ("Session", ""), ("User", ""), ("App", ""), ("Events", "adknb-num"), ("Created", ""), ("Last event", ""),
)  # fmt: skip


def adk_sessions_html(sessions: AdkSessions) -> str:
    rows = [[escape(each) for each in row] for row in _rows(sessions)]
    return card(
        head(f"Sessions in {sessions.path.name}", span(counted(len(sessions), "session"), "adknb-dim")),
        table(_COLUMNS, rows) if rows else "",
    )


def adk_sessions_text(sessions: AdkSessions) -> str:
    lines = [one_line(f"Sessions in {sessions.path.name} · {counted(len(sessions), 'session')}", 300)]
    if len(sessions):
        lines.extend(["", text.columns([name for name, _ in _COLUMNS], _rows(sessions), right=(3,), limit=40)])
    return "\n".join(lines)


def _rows(sessions: AdkSessions) -> list[list[str]]:
    return [[row.id, row.user, row.app, f"{row.events:,}", row.created, row.updated] for row in sessions.rows]
