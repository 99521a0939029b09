"""The sessions where the bench's live, one row each."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from adknb.core.pending import PendingCall, pending_calls
from adknb.core.run import Session
from adknb.notebook.bench_documents import Identity
from adknb.tables.frame import Kind, Row
from adknb.tables.pending import asked

if TYPE_CHECKING:
    from adknb.sessions.database.summaries import SessionSummary

SESSIONS: Final[dict[str, Kind]] = {
    "session": "text", "user": "text", "app": "text", "turns": "count", "events": "count", "bytes": "count",
    "last_write": "text", "writer": "text", "status": "text", "waits_for": "text", "on_bench": "flag",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session at a glance. `size` is in bytes, `last_write` in seconds since 1970 and None before the first event,
    `status` that of the last turn's run."""

    identity: Identity
    turns: int
    events: int
    size: int
    last_write: float | None
    writer: str
    status: str
    waits: tuple[PendingCall, ...] = ()

    @staticmethod
    def of(session: Session, writer: str) -> KeptSession:
        """One that is in memory. Its size is that of its events as JSON."""
        events = session.events
        return KeptSession(
            Identity.of(session),
            len(session.chain),
            len(events),
            sum(len(json.dumps(event.to_dict())) for event in events),
            events[-1].timestamp if events else None,
            writer,
            session.chain[-1].run.status if session.chain else "",
            tuple(pending_calls(session.history)),
        )

    @staticmethod
    def stored(summary: SessionSummary) -> KeptSession:
        return KeptSession(
            Identity(summary.app_name, summary.user_id, summary.id),
            summary.turns,
            summary.events,
            summary.size,
            summary.last_write,
            summary.last_writer or "",
            summary.status or "",
        )

    def waiting(self, calls: Iterable[PendingCall]) -> KeptSession:
        return replace(self, waits=tuple(calls))


def session_rows(
    sessions: Iterable[KeptSession], names: Mapping[Identity, str], on_bench: Collection[Identity]
) -> list[Row]:
    """`names` are those that the bench has for sessions, `on_bench` says whose runs it has. `last_write` is in UTC, to the
    second."""
    return [
        {
            "session": names.get(each.identity, each.identity.id),
            "user": each.identity.user,
            "app": each.identity.app,
            "turns": each.turns,
            "events": each.events,
            "bytes": each.size,
            "last_write": _time(each.last_write),
            "writer": each.writer,
            "status": each.status,
            "waits_for": "; ".join(f"{call.event.author}: {asked(call)}" for call in each.waits),
            "on_bench": each.identity in on_bench,
        }
        for each in sessions
    ]


def _time(seconds: float | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%SZ}"
