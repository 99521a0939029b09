"""A session's turns: which run is current in each, and state as the fold of the events that count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adknb.core.errors import RunStateError
from adknb.core.events import Event
from adknb.core.json_values import copied
from adknb.core.run import Run, Session, StepRun, Turn
from adknb.core.state import APP_PREFIX, REMOVED, TEMP_PREFIX, USER_PREFIX, Scopes, apply_delta
from adknb.runtime.tree import SET_MODEL_RESPONSE, TRANSFER


def fold(state: Mapping[str, Any], events: Iterable[Event]) -> dict[str, Any]:
    """`state` after the deltas of `events`."""
    result = dict(state)
    for event in events:
        if event.actions.unsaid_delta:
            apply_delta(result, event.actions.unsaid_delta)
        if event.actions.state_delta:
            apply_delta(result, event.actions.state_delta)
    return result


def restore_state(session: Session, state: Mapping[str, Any]) -> None:
    """Put the session's state back to `state`, in place. Shared `app:` and `user:` values stay as they are now."""
    session.state.clear()
    session.state.update(state)
    session.scopes.merge_into(session.state)


def _see(session: Session, history: list[Event], state: Mapping[str, Any]) -> None:
    """Let `history` be what requests see from now on, and `state` what it led to.

    Of the shared values those change that another event of the history wrote last than did before: the others are not
    its to take back.
    """
    before, now = _writers(session.history), _writers(history)
    changed = {key for key in before.keys() | now.keys() if before.get(key) is not now.get(key)}
    session.history = history
    session.scopes.apply({key: state.get(key, REMOVED) for key in changed})
    restore_state(session, state)


def _writers(events: Iterable[Event]) -> dict[str, Event]:
    """The event that wrote each shared value last."""
    return {
        key: event for event in events for key in event.actions.state_delta if key.startswith((APP_PREFIX, USER_PREFIX))
    }


def discard_temp(session: Session, kept: Mapping[str, Any]) -> None:
    """End of a turn: `temp:` keys are gone (`BaseSessionService`'s contract), but those of `kept` are as they are there."""
    _discard_temp(session.state, kept)


def _discard_temp(state: dict[str, Any], kept: Mapping[str, Any]) -> None:
    for key in [key for key in state if key.startswith(TEMP_PREFIX)]:
        del state[key]
    state.update((key, copied(value)) for key, value in kept.items() if key.startswith(TEMP_PREFIX))


def strip_temp(event: Event, state: Mapping[str, Any]) -> None:
    """Leave `temp:` keys out of what the event says. Those that are in the state already can still be read this turn."""
    delta = event.actions.state_delta
    temp = {key: delta.pop(key) for key in list(delta) if key.startswith(TEMP_PREFIX)}
    if temp:
        event.actions.unsaid_delta = {key: value for key, value in temp.items() if key in state and state[key] == value}


def claim(run: Run) -> None:
    """Let `run` go on in its session. Raises `RunStateError` while another one does: they would mix their histories."""
    session = run.session
    if session.under_way is not None:
        raise RunStateError(
            f"session {session.id!r} has a run under way ({session.under_way.id}). Wait for it, close its stream "
            "(`await events.aclose()`), or use another session."
        )
    session.under_way = run


def release(run: Run) -> None:
    if run.session.under_way is run:
        run.session.under_way = None


def new_turn(session: Session) -> dict[str, Any]:
    """The fields of a Run that adds a turn to the session."""
    previous = session.chain[-1] if session.chain else None
    known = previous.run.start + len(previous.run.turn_events) if previous is not None else 0
    return {
        "turn": len(session.chain), "previous": previous, "lead": session.history[known:],
        "start": len(session.history), "start_state": copied(session.state),
        "asked": count_requests(previous.run.asked, previous.run.step_runs) if previous is not None else {},
    }  # fmt: skip


def same_turn(run: Run, session: Session) -> dict[str, Any]:
    """The fields of a Run that takes the place of `run` in its turn of `session`.

    It starts from what the turns before leave now: one of them may have been run again since.
    """
    place = {
        "turn": run.turn, "previous": run.previous, "lead": run.lead, "start": run.start,
        "start_state": run.start_state, "asked": run.asked, "config": run.config, "parent": run,
    }  # fmt: skip
    if session.is_copy or _is_after(run, session.chain[: run.turn]):
        return place
    previous = session.chain[run.turn - 1]
    return {
        **place, "previous": previous, "asked": count_requests(previous.run.asked, previous.run.step_runs),
        "start_state": fold(_state_after(session.chain[: run.turn]), run.lead),
    }  # fmt: skip


def _is_after(run: Run, before: Sequence[Turn]) -> bool:
    """Whether the run came after exactly these turns."""
    turn = run.previous
    for expected in reversed(before):
        if turn is None or turn.run is not expected.run:
            return False
        turn = turn.previous
    return turn is None


def _state_after(chain: Sequence[Turn]) -> dict[str, Any]:
    """The state that these turns leave, of which later ones may come from before an earlier one was run again."""
    state: dict[str, Any] = {}
    for number, turn in enumerate(chain):
        run = turn.run
        start = run.start_state if _is_after(run, chain[:number]) else fold(state, turn.lead)
        state = fold(start, run.turn_events)
        if run.temp_keys != "keep":
            _discard_temp(state, start if run.temp_keys == "restore" else {})
    return state


def count_requests(before: Mapping[str, int], steps: Iterable[StepRun]) -> dict[str, int]:
    """`before` and the requests of these steps, by agent name."""
    asked = dict(before)
    for step in steps:
        asked[step.agent.name] = asked.get(step.agent.name, 0) + len(step.requests)
    return asked


def add(run: Run) -> None:
    """Make `run` its session's last turn."""
    run.session.chain.append(Turn(run, run.lead, run.previous))


def make_current(run: Run) -> None:
    """Point the session at `run` for its turn: history and state as of the run's last event, later turns put aside."""
    session = run.session
    # not where an older run of this turn stood: a turn before it may have been run again since
    place = sum(len(turn.lead) + len(turn.run.turn_events) for turn in session.chain[: run.turn])
    run.start = place + len(run.lead)
    session.chain[run.turn :] = [Turn(run, run.lead, run.previous), *session.chain[run.turn + 1 :]]
    history = [*session.history[:place], *run.lead, *run.turn_events]
    _see(session, history, fold(run.start_state, run.turn_events))


def bring_back_later_turns(run: Run) -> None:
    """After an earlier turn was run again: the later turns' events follow it still, and the runs are stale."""
    session = run.session
    later = [turn.run for turn in session.chain[run.turn + 1 :]]
    del session.chain[run.turn + 1 :]
    for stale in later:
        stale.stale = True
        session.chain.append(Turn(stale, stale.lead, session.chain[-1]))
        stale.start = len(session.history) + len(stale.lead)
        again = [*stale.lead, *stale.turn_events]
        _see(session, [*session.history, *again], fold(session.state, again))


def effects_before(run: Run, agent: str, number: int) -> str | None:
    """What is to be said of a step whose tools ran before, in a run that this one goes on from or replaces."""
    earlier = run.parent
    while earlier is not None:
        for step in earlier.step_runs:
            if step.agent.name == agent and step.number == number:
                tools = {response.name: None for event in step.events for response in event.function_responses}
                named = [repr(name) for name in tools if name not in (TRANSFER.name, SET_MODEL_RESPONSE.name)]
                return f"what {', '.join(named)} did outside the session before is not taken back" if named else None
        earlier = earlier.parent
    return None


def detached(run: Run) -> Session:
    """A copy of the run's session as it was before the run, to try things on; nothing reaches the original."""
    past = run.past
    state = dict(run.start_state)
    scopes = Scopes(
        {key[len(APP_PREFIX) :]: value for key, value in state.items() if key.startswith(APP_PREFIX)},
        {key[len(USER_PREFIX) :]: value for key, value in state.items() if key.startswith(USER_PREFIX)},
    )
    session = run.session
    return Session(
        session.id,
        session.app_name,
        session.user_id,
        state,
        list(past),
        list(past),
        run.turns_before,
        scopes,
        is_copy=True,
        kept=session.kept,
    )


def restore(session: Session, chain: Sequence[Turn], state: Mapping[str, Any]) -> None:
    """Put the session's turns back to `chain` and its state to `state`; the log of events stays whole."""
    session.chain[:] = chain
    history: list[Event] = []
    for turn in chain:
        history.extend(turn.lead)
        turn.run.start = len(history)
        history.extend(turn.run.turn_events)
    _see(session, history, state)
