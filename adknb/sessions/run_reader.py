"""Runs read back from their documents. What is long, steps and requests, is read when somebody asks for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import itemgetter
from typing import Any, Final, NamedTuple

from adknb.core.content import Content
from adknb.core.errors import AdknbError, SessionStoreError
from adknb.core.events import Event
from adknb.core.run import Run, RunConfig, Session, Turn
from adknb.core.specs import BaseAgent
from adknb.core.state import APP_PREFIX, USER_PREFIX, Scopes, apply_delta
from adknb.sessions.agent_documents import read_agent
from adknb.sessions.error_documents import read_error
from adknb.sessions.request_documents import Stored
from adknb.sessions.step_documents import read_steps

_PARTS: Final = ("head", "state", "events", "own", "more")
_NUMBER: Final = itemgetter(2)


class RunPart(NamedTuple):
    """A row: `data` is JSON; one with the same run, part and number takes the place of the one before."""

    run: str
    part: str
    number: int
    data: str


class StoredRun(Run):
    """A run that was read back. `step_runs` and `journal` are read when they are first asked for."""

    __slots__ = ("_load",)
    _load: Callable[[StoredRun], None]

    def wait_for(self, load: Callable[[StoredRun], None]) -> None:
        """Call `load` when steps or journal are asked for; it sets both."""
        self._load = load
        del self.step_runs, self.journal

    def __getattr__(self, name: str) -> Any:  # called for what is not set alone
        if name not in ("step_runs", "journal"):
            raise AttributeError(f"a run has no {name!r}")
        self._load(self)
        return object.__getattribute__(self, name)


class _Documents:
    """The parts of one run, each kind in the order in which it was written."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {part: [] for part in _PARTS}
        self.more = self._texts["more"]

    def take(self, part: RunPart) -> None:
        self._texts.setdefault(part.part, []).append(part.data)

    def read(self) -> None:
        """Read what is not read later."""
        [self.head], [self.state], self.events, own = (
            json.loads(f"[{','.join(self._texts[part])}]") for part in _PARTS[:4]
        )
        self.own = [data for datas in own for data in datas]
        if len(self._texts) > len(_PARTS):
            raise ValueError(f"there is no part {list(self._texts)[-1]!r}")


class RunReader:
    """The runs of one session. Raises `SessionStoreError` for documents that are damaged."""

    def __init__(
        self, parts: Iterable[RunPart], blobs: Mapping[str, str], session: Session, events: Mapping[str, Event]
    ) -> None:
        self._session = session
        self._stored = Stored(blobs, events)
        self._agents: dict[str, BaseAgent] = {}
        self._turns: dict[str, Turn] = {}
        self._documents: dict[str, _Documents] = {}
        for part in sorted(parts, key=_NUMBER):
            documents = self._documents.get(part.run)
            if documents is None:
                documents = self._documents[part.run] = _Documents()
            documents.take(part)
        self._runs: dict[str, Run] = {}

    def runs(self) -> dict[str, Run]:
        for run_id, documents in self._documents.items():
            with self._reading(run_id):
                documents.read()
                self._runs[run_id] = self._run(run_id, documents)
        for run_id, documents in self._documents.items():
            with self._reading(run_id):
                self._join(self._runs[run_id], documents.head)
        return self._runs

    def was_running(self, run_id: str) -> bool:
        """Whether the run was going on when it was last written."""
        return bool(self._documents[run_id].state["status"] == "running")

    def _run(self, run_id: str, documents: _Documents) -> Run:
        head, state = documents.head, documents.state
        own = {data["id"]: Event.from_dict(data) for data in documents.own}
        events = self._stored.with_events(own).events
        turn_events: list[Event] = []
        for first, ids in documents.events:
            turn_events[first:] = [events[name] for name in ids]
        status = state["status"]
        run = StoredRun(
            root=self._agent(head["root"]),
            session=self._session,
            message=Content.from_dict(head["message"]),
            start_state=self._stored.value(head["start_state"]),
            turn=head["turn"],
            since=state["since"],
            lead=[events[name] for name in head["lead"]],
            start=state["start"],
            asked=head["asked"],
            rules=head["rules"],
            strategy=head["strategy"],
            temp_keys=head["temp_keys"],
            config=RunConfig(**head["config"]),
            user_id=head["user_id"],
            label=state["label"],
            id=run_id,
            invocation_id=head["invocation_id"],
            status="interrupted" if status == "running" else status,
            turn_events=turn_events,
            notes=list(state["notes"]),
            stale=state["stale"],
            ms=state["ms"],
        )
        run.error = read_error(state["error"])
        if isinstance(run.error, AdknbError):
            run.error.run = run
        run.wait_for(lambda run: self._load(run, documents.more, own))
        return run

    def _join(self, run: Run, head: Mapping[str, Any]) -> None:
        """Find the turn before the run, and the run that it goes on from; put a trial on a copy of the session."""
        run.previous = self._turn(head["previous"])
        run.parent = self._runs.get(head["parent"]) if head["parent"] is not None else None
        if head["trial"]:
            run.session = _copy_for(run)

    def _turn(self, name: str | None) -> Turn | None:
        names = []
        while name is not None and name not in self._turns:
            names.append(name)
            name = self._stored.value(name)[2]
        for each in reversed(names):
            run_id, lead, before = self._stored.value(each)
            previous = self._turns[before] if before is not None else None
            self._turns[each] = Turn(self._runs[run_id], [self._stored.event(event) for event in lead], previous)
            name = each
        return self._turns[name] if name is not None else None

    def _agent(self, name: str) -> BaseAgent:
        if name not in self._agents:
            self._agents[name] = read_agent(self._stored.value(name))
        return self._agents[name]

    def _load(self, run: StoredRun, more: list[str], own: dict[str, Event]) -> None:
        """Read the run's steps and journal."""
        with self._reading(run.id):
            stored = self._stored.with_events(own)
            agents = list(run.root.walk())
            run.step_runs, run.journal = read_steps(
                map(json.loads, more), stored, lambda name: agents[name] if isinstance(name, int) else self._agent(name)
            )

    @contextmanager
    def _reading(self, run_id: str) -> Iterator[None]:
        try:
            yield
        except SessionStoreError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise SessionStoreError(
                f"run {run_id} of session {self._session.id!r} cannot be read: its documents are damaged "
                f"({type(error).__name__}: {error}). Restore the store from a copy, or delete the session."
            ) from error


def _copy_for(trial: Run) -> Session:
    """A copy of the session as the trial left it (see `turns.detached`)."""
    state = dict(trial.start_state)
    for event in trial.turn_events:
        apply_delta(state, event.actions.state_delta)
    scopes = Scopes(
        {key[len(APP_PREFIX) :]: value for key, value in state.items() if key.startswith(APP_PREFIX)},
        {key[len(USER_PREFIX) :]: value for key, value in state.items() if key.startswith(USER_PREFIX)},
    )
    history = [*trial.past, *trial.turn_events]
    chain = [*trial.turns_before, Turn(trial, trial.lead, trial.previous)]
    session = trial.session
    return Session(
        session.id, session.app_name, session.user_id, state, list(history), history, chain, scopes, is_copy=True
    )
