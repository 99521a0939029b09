"""What a run leaves: `Session`, `Run` (one invocation), `StepRun` (one execution of one agent)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from adknb.core import views
from adknb.core.content import Content
from adknb.core.errors import RunStateError, near_names
from adknb.core.events import USER, Event, final_text, new_id, written
from adknb.core.requests import Request
from adknb.core.specs import BaseAgent
from adknb.core.state import Scopes

if TYPE_CHECKING:
    import pandas as pd

Status = Literal["running", "completed", "waiting", "paused", "failed", "interrupted", "skipped"]
"""`waiting`: the run ended because a long-running call needs its answer; `paused`: it was told to stop before a step."""


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Limits and modes of a run. `max_llm_calls` of 0 or less means no limit; `streaming` asks models for partial
    replies."""

    max_llm_calls: int = 500
    streaming: bool = False


@dataclass(slots=True, eq=False, weakref_slot=True)
class Session(views.Viewed):
    """A conversation. `events` only grows; `history` is what requests see: the events of each turn's current Run.

    `chain` holds the turns in order, `under_way` the run that is going on.
    `state` holds every scope's keys under their prefixes; the `app:` and `user:`
    values are shared through `scopes`. `is_copy` marks a copy to try things on, whose events no store keeps. `notes` say
    what a session that was read from elsewhere has lost on the way. `kept` is what the session's service notes for itself.
    """

    id: str
    app_name: str = "adknb"
    user_id: str = "user"
    state: dict[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    history: list[Event] = field(default_factory=list)
    chain: list[Turn] = field(default_factory=list)
    scopes: Scopes = field(default_factory=Scopes)
    under_way: Run | None = None
    is_copy: bool = False
    notes: list[str] = field(default_factory=list)
    kept: object = None

    @property
    def pending(self) -> pd.DataFrame:
        """The long-running calls that wait for an answer, one row a call; `core.pending.pending_calls` gives the objects."""
        return views.table(self, "pending")

    @property
    def turns(self) -> list[Run]:
        """Each turn's current Run."""
        return [turn.run for turn in self.chain]

    def holds(self, event: Event) -> bool:
        """Whether this very event is in the log: an append that was cancelled may have come to its end."""
        return any(each is event for each in reversed(self.events))

    def __repr__(self) -> str:
        return f"Session({self.id!r}, {len(self.turns)} turns, {len(self.events)} events, {len(self.state)} keys)"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Turn:
    """A turn with the run that is current in it. `lead` holds events that no run made, from before the turn."""

    run: Run
    lead: Sequence[Event]
    previous: Turn | None


@dataclass(slots=True, eq=False)
class StepRun:
    """One execution of one LlmAgent or custom agent: its requests, its events, what it read and wrote.

    `number` counts the executions of agents of this name within the run, from 1; `repeated` says that there are several.
    `start` and `stop` bound its own and its nested steps' events in the run's events. `ms` is wall time in milliseconds.
    `replayed` says that the step was copied from the parent run. `partial` is what has come so far of a streamed reply; it is
    shown while the step runs and kept nowhere.
    """

    agent: BaseAgent
    number: int
    branch: str | None
    start: int
    stop: int = 0
    status: Status = "running"
    requests: list[Request] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    ms: float = 0.0
    error: BaseException | None = None
    notes: list[str] = field(default_factory=list)
    replayed: bool = False
    repeated: bool = False
    partial: str = ""

    @property
    def name(self) -> str:
        """`DraftAgent`, or `DraftAgent#1`, `DraftAgent#2` where the agent ran more than once in the run."""
        return f"{self.agent.name}#{self.number}" if self.repeated else self.agent.name

    @property
    def state_delta(self) -> dict[str, Any]:
        """Every key that the step's events wrote, with its last value."""
        return written(self.events)

    @property
    def output(self) -> str:
        """The text of the step's last final event."""
        return final_text(self.events)

    def __repr__(self) -> str:
        return f"StepRun({self.name}, {self.status}, {len(self.requests)} requests)"


@dataclass(slots=True, eq=False)
class JournalEntry:
    """One thing that a run did at the level where it can be paused: a step, or a workflow agent's callback.

    `moment` is `before` or `after` (a callback of the agent at `path`) or `step`. A run that goes on from this one
    replays the entries instead of doing them again.
    """

    path: str
    moment: Literal["before", "step", "after"]
    events: list[Event] = field(default_factory=list)
    steps: list[StepRun] = field(default_factory=list)


@dataclass(slots=True, eq=False, weakref_slot=True)
class Run(views.Viewed):
    """One invocation: the agents, the message, the state before it, and everything that happened.

    `start_state` includes the `app:` and `user:` values. `turn` counts from 0; `previous` is the turn before it as it was
    then, `lead` the events that came between, `start` the place of the first own event in the session's history,
    `asked` how many requests each agent had made in the session before.
    `config` holds its limits, `strategy` names the context strategy; `label` is "mixed" when earlier steps were copied from
    a run under another one.
    `parent` is the run that this one goes on from, `stale` says that an earlier turn was run again since. `since` is the
    turn with which began what this run is a step of (a workflow), whose values are fresh; None for a run on its own.
    """

    root: BaseAgent
    session: Session
    message: Content
    start_state: Mapping[str, Any]
    turn: int = 0
    previous: Turn | None = None
    lead: Sequence[Event] = ()
    start: int = 0
    asked: Mapping[str, int] = field(default_factory=dict)
    rules: str = "java"
    strategy: str = "as_written"
    temp_keys: str = "discard"
    config: RunConfig = field(default_factory=RunConfig)
    user_id: str = "user"
    label: str = ""
    parent: Run | None = None
    id: str = field(default_factory=lambda: new_id()[:8])
    invocation_id: str = field(default_factory=new_id)
    status: Status = "running"
    error: BaseException | None = None
    turn_events: list[Event] = field(default_factory=list)
    step_runs: list[StepRun] = field(default_factory=list)
    journal: list[JournalEntry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stale: bool = False
    ms: float = 0.0
    since: int | None = None

    @property
    def turns_before(self) -> list[Turn]:
        """The turns before this one, as the run saw them."""
        turns: list[Turn] = []
        turn = self.previous
        while turn is not None:
            turns.append(turn)
            turn = turn.previous
        return turns[::-1]

    @property
    def past(self) -> list[Event]:
        """The history before this turn, as the run saw it."""
        events: list[Event] = []
        for turn in self.turns_before:
            events.extend(turn.lead)
            events.extend(turn.run.turn_events)
        return [*events, *self.lead]

    @property
    def output(self) -> str:
        """The run's answer: the text of its last final event that has one."""
        return final_text([event for event in self.turn_events if event.author != USER])

    def step(self, name: str) -> StepRun:
        """The last execution of an agent, or the one named `DraftAgent#2`.

        Raises `RunStateError` with the near names when there is none.
        """
        agent, _, number = name.partition("#")
        found = [step for step in self.step_runs if step.agent.name == agent]
        if number:
            found = [step for step in found if str(step.number) == number]
        if not found:
            known = [step.name for step in self.step_runs]
            raise RunStateError(f"run {self.id} has no step {name!r}.{near_names(name, known)}")
        return found[-1]

    @property
    def state(self) -> pd.DataFrame:
        """The state after the run, one row a key."""
        return views.table(self, "state")

    @property
    def state_history(self) -> pd.DataFrame:
        """Every write of the turn, one row a write."""
        return views.table(self, "state_history")

    @property
    def events(self) -> pd.DataFrame:
        """The turn's events, one row each; the objects are `turn_events`."""
        return views.table(self, "events")

    @property
    def steps(self) -> pd.DataFrame:
        """The steps, one row each; the objects are `step_runs`."""
        return views.table(self, "steps")

    @property
    def tokens(self) -> pd.DataFrame:
        """Where each step's tokens go, one row a request, one column a channel."""
        return views.table(self, "tokens")

    @property
    def pending(self) -> pd.DataFrame:
        """The long-running calls of this run that had no answer when it ended, one row a call."""
        return views.table(self, "pending")

    def prompt(self, name: str, request: int = 1) -> pd.DataFrame:
        """What the step's `request`-th call (from 1) was sent, one row a segment; joined they are what was sent."""
        return views.table(self, "prompt", name, request)

    def __repr__(self) -> str:
        return f"Run({self.id!r}, {self.root.name}, {self.status}, {len(self.step_runs)} steps)"
