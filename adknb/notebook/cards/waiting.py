"""What a run waits for, in a card's words, and how it is answered."""

from __future__ import annotations

from collections.abc import Iterator

from adknb.core.pending import PendingCall, asked_calls, pending_calls
from adknb.core.run import Run
from adknb.tables.pending import called


def waiting_lines(run: Run) -> Iterator[str]:
    """One sentence a call that the run ended on: what it waits for, or in which turn it was answered since."""
    if run.status != "waiting":
        return
    now = {each.id: each for each in asked_calls(run.session.history)}
    alone = sum(each.answered is None for each in now.values()) == 1
    for each in pending_calls(run.turn_events):
        since = now.get(each.id)
        what = _what(each)
        if since is None:
            yield f"Waited for {what}; its turn was run again since"
        elif since.answered is not None:
            yield f"Waited for {what}; answered in turn {_turn_of(run, since)}"
        else:
            yield waiting(each, alone)


def answered(run: Run) -> str:
    """`answered in turn 2` of a run that waits for nothing any more, else an empty text."""
    if run.status != "waiting":
        return ""
    now = {each.id: each for each in asked_calls(run.session.history)}
    found = [now.get(each.id) for each in pending_calls(run.turn_events)]
    turns = {_turn_of(run, each) for each in found if each is not None and each.answered is not None}
    still = any(each is None or each.answered is None for each in found)
    return "" if still or not turns else f"answered in turn {max(turns)}"


def waiting(call: PendingCall, alone: bool) -> str:
    """What a call waits for, and the words that answer it; `alone` says that no other call of the session waits."""
    named = "" if alone else f"{call.id} "
    return f"Waiting for {_what(call)}. Answer: %adk answer {named}VALUE, or Runner.answer({call.id!r}, …)"


def _what(call: PendingCall) -> str:
    return f"{called(call)}, asked by {call.event.author}"


def _turn_of(run: Run, call: PendingCall) -> int:
    """From 1."""
    turns = run.session.turns
    return next(number for number, turn in enumerate(turns, 1) if call.answered in turn.turn_events)
