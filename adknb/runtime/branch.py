"""Going on from a run: each operation makes a new Run that replays the steps before and runs the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from adknb.core.content import Content
from adknb.core.errors import RunStateError, near_names
from adknb.core.pending import listed, pending_calls
from adknb.core.run import JournalEntry, Run, RunConfig, Session
from adknb.runtime import turns
from adknb.runtime.context import Invocation
from adknb.runtime.engine import Engine
from adknb.runtime.journal import Journal, is_step
from adknb.runtime.start import check_start_state


def continue_run(engine: Engine, run: Run) -> Invocation:
    """To the end. A step that failed or was interrupted is done again from its start."""
    _must_be_unfinished(run)
    invocation = _branch(engine, run, _finished_entries(run))
    invocation.asked = turns.count_requests(run.asked, run.step_runs)  # what failed counts as asked: try the next reply
    return invocation


def step(engine: Engine, run: Run, name: str | None, trial: bool) -> Invocation:
    """One step; with a name, on to it and through it, or it again from the state before it."""
    if name is None:
        _must_be_unfinished(run)
        return _branch(engine, run, _finished_entries(run), steps=1, trial=trial)
    if _position(run, name) is not None:
        return _branch(engine, run, _entries_before(run, name), steps=1, trial=trial)
    known = [agent.name for agent in engine.tree.agent.walk()]
    agent = name.partition("#")[0]
    if agent not in known:
        raise RunStateError(f"pipeline {engine.tree.name!r} has no agent {agent!r}.{near_names(agent, known)}")
    _must_be_unfinished(run)
    return _branch(engine, run, _finished_entries(run), until=name, trial=trial)


def rewind(engine: Engine, run: Run, name: str) -> Invocation:
    """Before `name`, paused."""
    invocation = _branch(engine, run, _entries_before(run, name), steps=0)
    for entry in invocation.journal.remaining():
        invocation.run.journal.append(entry)
    invocation.run.status = "paused"
    turns.release(invocation.run)
    for gone in run.step_runs[len(invocation.run.step_runs) :]:
        note = turns.effects_before(invocation.run, gone.agent.name, gone.number)
        if note is not None:
            invocation.run.notes.append(f"{gone.name}: {note}")
    turns.bring_back_later_turns(invocation.run)
    return invocation


def run_from(engine: Engine, run: Run, name: str, trial: bool) -> Invocation:
    """From `name` to the end. The new run is labelled "mixed" when its strategy is another than the copied steps'."""
    invocation = _branch(engine, run, _entries_before(run, name), trial=trial)
    new = invocation.run
    for copied in new.step_runs:
        copied.replayed = True
    if new.step_runs and (run.label == "mixed" or new.strategy != run.strategy):
        new.label = "mixed"
    return invocation


async def rerun(
    engine: Engine,
    run: Run,
    message: Content,
    state: Mapping[str, Any],
    clear: Iterable[str],
    pause: bool,
    config: RunConfig | None,
) -> Invocation:
    """The whole turn again, with the same or another message, and the same limits unless others are given."""
    check_start_state(state, engine.rules)
    place = turns.same_turn(run, run.session)
    new = engine.new_run(run.session, message, place if config is None else {**place, "config": config})
    turns.claim(new)
    before = (list(run.session.chain), dict(run.session.state))
    turns.make_current(new)
    try:
        await engine.store_message(new, state, clear)
    except BaseException:
        if new.turn_events:
            engine.cut_off(new)
        else:
            turns.release(new)
            turns.restore(run.session, *before)
        raise
    return engine.invocation(new, Journal(new, steps=0 if pause else None))


def _branch(
    engine: Engine,
    run: Run,
    entries: list[JournalEntry],
    *,
    steps: int | None = None,
    until: str | None = None,
    trial: bool = False,
) -> Invocation:
    """A new run whose first events, steps and journal are those of `entries`.

    With `trial` it lives on a copy of the session, which stays as it is.
    """
    session: Session = turns.detached(run) if trial else run.session
    new = engine.new_run(session, run.message, turns.same_turn(run, session))
    turns.claim(new)
    kept = {event.id for entry in entries for event in entry.events}
    new.turn_events = [event for event in run.turn_events if event is run.turn_events[0] or event.id in kept]
    copies = {id(old): replace(old) for entry in entries for old in entry.steps}
    new.step_runs = [copies[id(old)] for old in run.step_runs if id(old) in copies]
    replay = [replace(entry, steps=[copies[id(old)] for old in entry.steps]) for entry in entries]
    turns.make_current(new)
    invocation = engine.invocation(new, Journal(new, replay, steps, until))
    invocation.asked = turns.count_requests(run.asked, new.step_runs)
    for copied in new.step_runs:
        invocation.executions[copied.agent.name] = copied.number
    for copied in new.step_runs:
        copied.repeated = invocation.executions[copied.agent.name] > 1
        invocation.llm_calls += len(copied.requests)
    return invocation


def _finished_entries(run: Run) -> list[JournalEntry]:
    """The journal: of a run that failed or was interrupted, without the last entry, in whose middle that was."""
    return run.journal if run.status == "paused" else run.journal[:-1]


def _position(run: Run, name: str) -> int | None:
    """Where in the journal the last step of this name (or `name#number`) is; None when the run has no such step."""
    found = None
    for index, entry in enumerate(run.journal):
        if is_step(entry, name):
            found = index
    return found


def _entries_before(run: Run, name: str) -> list[JournalEntry]:
    position = _position(run, name)
    if position is None:
        known = [step.name for step in run.step_runs]
        raise RunStateError(f"run {run.id} has no step {name!r}.{near_names(name, known)}")
    return run.journal[:position]


def _must_be_unfinished(run: Run) -> None:
    if run.status == "waiting":
        raise RunStateError(
            f"run {run.id} waits for the answer to {listed(pending_calls(run.turn_events))}. Answer it: Runner.answer(…), in a "
            "notebook %adk answer. That is a turn of its own."
        )
    if run.status == "completed":
        raise RunStateError(
            f"run {run.id} is complete; there is no step left. Rewind it, run it from a step, or start a new run."
        )
