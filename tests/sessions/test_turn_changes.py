"""How a change of turns is said in the log, and what it makes of the turns before."""

from __future__ import annotations

import pytest

from adknb import Content, Event, LlmAgent, Run, Session
from adknb.core.run import Turn
from adknb.sessions.database.turn_changes import TurnChange, TurnNames, turn_change

SESSION = Session("s")
LEAD = Event("X", id="lead")


def turn(name: str, *lead: Event) -> Turn:
    return Turn(Run(LlmAgent(name="A"), SESSION, Content.user("hi"), {}, id=name), lead, None)


A, B, C, D = turn("a"), turn("b", LEAD), turn("c"), turn("d")


@pytest.mark.parametrize(
    ("stored", "now", "change"),
    [
        ([], [A], {"from": 0, "runs": [["a", []]]}),
        ([A], [A, B], {"from": 1, "runs": [["b", ["lead"]]]}),
        ([A, B, C], [A, D, C], {"from": 1, "runs": [["d", []], ["c", []]]}),
        ([A, B], [A], {"from": 1, "runs": []}),
        ([A, B], [A, turn("b")], {"from": 1, "runs": [["b", []]]}),
        ([A, B], [], {"from": 0, "runs": []}),
    ],
)
def test_a_change_says_what_comes_from_where_on(stored: list[Turn], now: list[Turn], change: dict[str, object]) -> None:
    found = turn_change(stored, now)
    assert found is not None
    assert found.to_dict() == change
    names = [TurnNames(each.run.id, [event.id for event in each.lead]) for each in stored]
    TurnChange.from_dict(change).apply(names)
    assert names == [TurnNames(each.run.id, [event.id for event in each.lead]) for each in now]


@pytest.mark.parametrize("now", [[A, B], [A, turn("b", LEAD)]])
def test_the_same_turns_are_no_change(now: list[Turn]) -> None:
    assert turn_change([A, B], now) is None
