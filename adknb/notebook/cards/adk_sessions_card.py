"""The sessions in a file of google-adk's, one row each."""

from __future__ import annotations

import re
from typing import Final

from adknb.core.escape import escape, one_line
from adknb.notebook.cards import text
from adknb.notebook.cards.html import card, div, head, span, table
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
        div(_hint(sessions), "adknb-dim adknb-hint") if rows else "",
    )


def adk_sessions_text(sessions: AdkSessions) -> str:
    lines = [one_line(f"Sessions in {sessions.path.name} · {counted(len(sessions), 'session')}", 300)]
    if len(sessions):
        lines.extend(["", text.columns([name for name, _ in _COLUMNS], _rows(sessions), right=(3,), limit=40)])
        lines.extend(["", one_line(_hint(sessions), 300)])
    return "\n".join(lines)


def _rows(sessions: AdkSessions) -> list[list[str]]:
    return [
        [row.id, row.user, row.app, f"{row.events:,}", _to_the_second(row.created), _to_the_second(row.updated)]
        for row in sessions.rows
    ]


def _to_the_second(time: str) -> str:
    return re.sub(r"(:\d\d)\.\d+", r"\1", time)


def _hint(sessions: AdkSessions) -> str:
    return f"More: .session({sessions.rows[0].id!r}) reads one; adopt(session, agents) makes runs of it"
