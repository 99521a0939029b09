"""The one wiring place: names to rules and models, the session service to begin with, and the views of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from adknb.adk.known import is_google
from adknb.adk.load import is_mirrored, load
from adknb.core.errors import NotSupported
from adknb.core.protocols import Model, SessionService
from adknb.core.specs import BaseAgent
from adknb.models.resolve import resolve_model as _resolve_model
from adknb.rules.base import Rules
from adknb.rules.python import PythonRules
from adknb.rules.resolve import resolve_rules as _resolve_rules
from adknb.runtime.engine import Engine
from adknb.sessions.memory import InMemorySessionService


def agent(value: Any) -> Any:
    """An agent or app of google-adk as its description; anything else as it is."""
    return load("mirror").mirrored(value) if is_google(value) else value


def rules(value: str | Rules, root: BaseAgent | None = None) -> Rules:
    """The rule set of this name. An agent of google-adk runs by google-adk, so its rules are `python`.

    Raises `NotSupported` for Go's or JavaScript's rules on such an agent.
    """
    found = _resolve_rules(value)
    if root is None or not any(map(is_mirrored, root.walk())):
        return found
    if found.name not in ("java", "python"):
        raise NotSupported(
            f"agent {root.name!r} is google-adk's, so google-adk runs it; rules={found.name!r} takes agents of adknb."
        )
    return _resolve_rules("python")


def choose_runtime(
    engine: Engine, resolve: Callable[[Any], Model], model: Any, models: Mapping[str, Any] | Any
) -> None:
    """Let the real google-adk run where the rules are `python`."""
    if isinstance(engine.rules, PythonRules):
        find_model = load("answering").find_model
        engine.run_node = load("run").run_node
        engine.build_request = load("rebuild").build_request
        engine.rules.read_history = load("history").contents
        engine.complete = lambda node: find_model(node, resolve, model, models)


def resolve_model(value: Any) -> Model:
    return _resolve_model(value)


def session_service(value: SessionService | str | None = None) -> SessionService:
    """A new store in memory; with the URL of a database, the one that keeps sessions there; a service as it is."""
    if value is None:
        return InMemorySessionService()
    if not isinstance(value, str):
        return value
    from adknb.sessions.database import DatabaseSessionService

    return DatabaseSessionService(value)


def register_views() -> None:
    """Register every table and card. Called once, before the first view is looked up."""
    from adknb import tables
    from adknb.export import python
    from adknb.notebook import cards

    tables.register()
    cards.register()
    python.register()
