"""The one wiring place: names to rules and models, the session service to begin with, and the views of results."""

from __future__ import annotations

from typing import Any

from adknb.core.errors import SpecError, near_names
from adknb.core.protocols import Model
from adknb.models.resolve import resolve_model as _resolve_model
from adknb.rules.base import Rules
from adknb.rules.java import JavaRules
from adknb.sessions.memory import InMemorySessionService

_RULES: dict[str, Rules] = {"java": JavaRules()}


def rules(value: str | Rules) -> Rules:
    """The rule set of this name; a rule set as it is."""
    if isinstance(value, Rules):
        return value
    if value not in _RULES:
        raise SpecError(f"there is no rule set {value!r}.{near_names(str(value), _RULES)}")
    return _RULES[value]


def resolve_model(value: Any) -> Model:
    return _resolve_model(value)


def session_service() -> InMemorySessionService:
    """A new store in memory."""
    return InMemorySessionService()


def register_views() -> None:
    """Register every table and card. Called once, before the first view is looked up."""
    from adknb import tables
    from adknb.notebook import cards

    tables.register()
    cards.register()
