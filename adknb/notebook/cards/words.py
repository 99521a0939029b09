"""Words that the HTML and the text form of a card share."""

from __future__ import annotations

from typing import Final

_ORIGIN_KINDS: Final = {
    "instruction": "instruction", "global instruction": "instruction", "identity": "sdk", "transfer": "sdk",
    "schema note": "sdk", "separator": "sdk", "state": "state", "artifact": "artifact", "callback": "callback",
    "user message": "user", "answer": "user", "own reply": "history", "other agent": "history", "tool call": "tool",
    "tool response": "tool", "tools": "tool", "schema": "sdk", "added": "callback",
}  # fmt: skip

CHANNEL_KINDS: Final = {
    "instruction": "instruction", "injected_state": "state", "user_message": "user", "history": "history",
    "tools": "tool", "schema": "sdk", "overhead": "overhead",
}  # fmt: skip


def origin_kind(origin: str, fresh: str = "") -> str:
    """The kind of an origin, as `style.css` colours it; an inserted value from an earlier turn has its own."""
    return "stale" if fresh.startswith("stale") else _ORIGIN_KINDS.get(origin, "callback")


def duration(ms: float) -> str:
    """Milliseconds for reading: `0.4 ms`, `12 ms`, `3.1 s`."""
    if ms >= 1000:
        return f"{ms / 1000:.1f} s"
    return f"{ms:.0f} ms" if ms >= 10 else f"{ms:.1f} ms"


def counted(number: int, noun: str) -> str:
    """`1 step`, `1,200 tokens`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def label(channel: str) -> str:
    return channel.replace("_", " ")
