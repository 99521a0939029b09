"""The sessions in a file of google-adk's."""

from __future__ import annotations

from typing import Final

from adknb.sessions.adk_database import AdkSessions
from adknb.tables.frame import Kind, Row

ADK_SESSIONS: Final[dict[str, Kind]] = {
    "app": "text", "user": "text", "id": "text", "events": "count", "created": "text", "updated": "text",
}  # fmt: skip


def adk_session_rows(sessions: AdkSessions) -> list[Row]:
    """One row a session, the one written last at the end."""
    return [row._asdict() for row in sessions.rows]
