"""Each attempt works on a session of its own; of the attempt that succeeded the workflow's session takes over the run.

So a failed attempt leaves no trace in the session, steps that run at once do not mix, and a step's events are stored
together with its checkpoint or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adknb.core.events import Event
from adknb.core.json_values import copied
from adknb.core.run import Run, Session, Turn
from adknb.core.state import Scopes
from adknb.runtime import turns


def own_session(session: Session, failed: Sequence[Run], *, share_history: bool) -> Session:
    """A copy of the workflow's session for one attempt, whose history is fresh unless it is shared.

    `failed` are the runs of the step's earlier attempts: what they asked counts as asked, so that a scripted or recorded
    model gives its next reply.
    """
    history = list(session.history) if share_history else []
    own = Session(
        session.id, session.app_name, session.user_id, copied(session.state), list(history), history,
        scopes=Scopes(copied(session.scopes.app), copied(session.scopes.user)), is_copy=True,
    )  # fmt: skip
    last = failed[-1] if failed else session.chain[-1].run if session.chain else None
    if last is not None:
        own.chain.append(_silent(last, _asked(session, failed), history))
    return own


def take_over(session: Session, run: Run, failed: Sequence[Run]) -> None:
    """Make `run`, which ended on a session of its own, the last turn of the workflow's session.

    The session's state and events follow when the run's events are appended; until then it is under way.
    """
    previous = session.chain[-1] if session.chain else None
    known = previous.run.start + len(previous.run.turn_events) if previous is not None else 0
    run.session, run.turn, run.previous = session, len(session.chain), previous
    run.lead, run.start = session.history[known:], len(session.history)
    run.asked = _asked(session, failed)
    turns.claim(run)
    turns.add(run)


def _asked(session: Session, failed: Sequence[Run]) -> dict[str, int]:
    """How many requests each agent has made, those of failed attempts included."""
    runs = [*([session.chain[-1].run] if session.chain else ()), *failed]
    asked = dict(runs[0].asked) if session.chain else {}
    for run in runs:
        asked = turns.count_requests(asked, run.step_runs)
    return asked


def _silent(run: Run, asked: Mapping[str, int], said: Sequence[Event]) -> Turn:
    """A turn before the attempt's: it stands for all that was asked, and for the events that the attempt is to see."""
    before = replace(
        run, asked=asked, step_runs=[], journal=[], turn_events=list(said), lead=(), previous=None, start=0
    )
    return Turn(before, (), None)


def give_back(session: Session, run: Run) -> None:
    """Undo `take_over`: the run's events could not be stored."""
    session.chain.pop()
    turns.release(run)


def let_go(session: Session, run: Run, temp_keys: str) -> None:
    """The run's events are stored: it is a turn like any other, whose `temp:` keys are gone."""
    turns.release(run)
    if temp_keys != "keep":
        turns.discard_temp(session, run.start_state if temp_keys == "restore" else {})
