"""Undo: what the bench looked like before each change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adknb.core.run import Run, Session, Turn
from adknb.runtime.turns import restore
from adknb.sessions.memory import SharedValues

if TYPE_CHECKING:
    from adknb.compare.comparison import Comparison
    from adknb.notebook.bench_documents import Identity
    from adknb.notebook.bench_home import Home
    from adknb.notebook.pipelines import Pipeline
    from adknb.notebook.records import Record, Settings
    from adknb.workflow.result import WorkflowResult

UNDO_LIMIT = 200
"""How many changes can be taken back."""


@dataclass(frozen=True, slots=True)
class SessionMark:
    """Where a session stood: its turns, which of them were stale, and its state. Its log of events is never cut."""

    session: Session
    chain: tuple[Turn, ...]
    stale: tuple[bool, ...]
    state: Mapping[str, Any]

    @staticmethod
    def of(session: Session) -> SessionMark:
        chain = tuple(session.chain)
        return SessionMark(session, chain, tuple(turn.run.stale for turn in chain), dict(session.state))

    def restore(self) -> None:
        for turn, stale in zip(self.chain, self.stale, strict=True):
            turn.run.stale = stale
        restore(self.session, self.chain, self.state)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The bench before a change. `label` says what the change was, `mark` is of the session that it goes on in.

    `home` is where that session lives, when that is not where the bench's do. `began` is the session that the change began
    there, `imported` one that came from elsewhere, with the number of its events then, `deleted` holds what sessions that it
    deleted were (see `export_session`).
    """

    label: str
    pipelines: Mapping[str, Pipeline]
    settings: Settings
    records: tuple[Record, ...]
    current: str | None
    sessions: Mapping[str, Session]
    shared: SharedValues | None
    mark: SessionMark | None
    newest: Run | Comparison | WorkflowResult | None = None
    home: Home | None = None
    began: Session | None = None
    imported: tuple[Identity, int] | None = None
    deleted: Sequence[Mapping[str, Any]] = ()
