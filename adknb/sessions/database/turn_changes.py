"""How a session's turns change, as one row of the log says it.

`{"from": 2, "runs": [["3f2a91bc", ["id of a lead event", …]]]}` puts these runs in place of the turns from the third on. So
a turn that was run again or taken back is a row more, and the events of before stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from adknb.core.run import Turn


class TurnNames(NamedTuple):
    """A turn by the id of its run and the ids of the events before it that no run made."""

    run: str
    lead: list[str]


class TurnChange(NamedTuple):
    start: int
    turns: list[TurnNames]

    def to_dict(self) -> dict[str, Any]:
        return {"from": self.start, "runs": [[turn.run, turn.lead] for turn in self.turns]}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> TurnChange:
        return TurnChange(data["from"], [TurnNames(run, lead) for run, lead in data["runs"]])

    def apply(self, turns: list[TurnNames]) -> None:
        turns[self.start :] = self.turns


def turn_change(stored: Sequence[Turn], now: Sequence[Turn]) -> TurnChange | None:
    """None when the turns are the same."""
    start = 0
    for before, after in zip(stored, now, strict=False):
        if before is not after and _names(before) != _names(after):
            break
        start += 1
    if start == len(stored) == len(now):
        return None
    return TurnChange(start, [_names(turn) for turn in now[start:]])


def _names(turn: Turn) -> TurnNames:
    return TurnNames(turn.run.id, [event.id for event in turn.lead])
