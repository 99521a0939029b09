"""The long-running calls that wait for a person's answer."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from adknb.core.pending import PendingCall
from adknb.tables.frame import Kind, Row
from adknb.tokens.channels import canonical_json

PENDING: Final[dict[str, Kind]] = {
    "call": "text", "agent": "text", "question": "text", "tool": "text", "since": "text",
}  # fmt: skip


def pending_rows(calls: Iterable[PendingCall]) -> list[Row]:
    """One row a call: its id, who asks, the call's arguments as text, the tool, and since when (UTC, to the second)."""
    return [
        {
            "call": each.id,
            "agent": each.event.author,
            "question": question(each),
            "tool": each.call.name,
            "since": f"{datetime.fromtimestamp(each.event.timestamp, UTC):%Y-%m-%d %H:%M:%SZ}",
        }
        for each in calls
    ]


def question(call: PendingCall) -> str:
    """The arguments as canonical JSON; a single text by itself."""
    single = _single_text(call)
    return canonical_json(dict(call.call.args)) if single is None else single


def asked(call: PendingCall) -> str:
    """What stands alone: a single text, else the call with its arguments."""
    single = _single_text(call)
    return called(call) if single is None else single


def called(call: PendingCall) -> str:
    """`ask({"question":"ok?"})`."""
    return f"{call.call.name}({canonical_json(dict(call.call.args))})"


def _single_text(call: PendingCall) -> str | None:
    values = list(call.call.args.values())
    return values[0] if len(values) == 1 and isinstance(values[0], str) else None
