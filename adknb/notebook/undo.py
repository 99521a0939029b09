"""Undo: what the bench looked like before each change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adknb.core.run import Session, Turn
from adknb.runtime.turns import restore

if TYPE_CHECKING:
    from adknb.notebook.pipelines import Pipeline
    from adknb.notebook.records import Record, Settings


@dataclass(frozen=True, slots=True)
class SessionMark:
    """Where a session stood: its turns and its state. Its log of events is never cut."""

    session: Session
    chain: tuple[Turn, ...]
    state: Mapping[str, Any]

    @staticmethod
    def of(session: Session) -> SessionMark:
        return SessionMark(session, tuple(session.chain), dict(session.state))

    def restore(self) -> None:
        restore(self.session, self.chain, self.state)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The bench before a change. `label` says what the change was."""

    label: str
    pipelines: Mapping[str, Pipeline]
    settings: Settings
    records: tuple[Record, ...]
    current: str | None
    sessions: Mapping[str, Session]
    marks: tuple[SessionMark, ...]
