"""The one wiring place: names to rules and models, the session service to begin with, and the views of results."""

from __future__ import annotations

from typing import Any

from adknb.core.protocols import Model
from adknb.models.resolve import resolve_model as _resolve_model
from adknb.rules.base import Rules
from adknb.rules.resolve import resolve_rules as _resolve_rules
from adknb.sessions.memory import InMemorySessionService


def rules(value: str | Rules) -> Rules:
    return _resolve_rules(value)


def resolve_model(value: Any) -> Model:
    return _resolve_model(value)


def session_service() -> InMemorySessionService:
    """A new store in memory."""
    return InMemorySessionService()


def register_views() -> None:
    """Register every table and card. Called once, before the first view is looked up."""
    from adknb import tables
    from adknb.export import python
    from adknb.notebook import cards

    tables.register()
    cards.register()
    python.register()
