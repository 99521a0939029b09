"""A conversation with the ticket pipeline as google-adk ran and stored it, saved as its web page saves one."""

from __future__ import annotations

from pathlib import Path

_FILE = Path(__file__).with_name("ticket_session.json")


def stored_ticket() -> Path:
    """The JSON file of the session: two turns of three agents, the replies and token counts written for this example."""
    return _FILE
