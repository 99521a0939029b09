"""The bench: pipelines written in cells, their runs and sessions, and everything that changes them, undoably.

Nothing here needs a notebook: `adknb.bench` serves plain Python too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

from adknb.compare.comparison import Comparison
from adknb.core.errors import PipelineChangedError, RunStateError, SpecError, near_names
from adknb.core.run import Run, RunConfig, Session
from adknb.core.specs import BaseAgent, LlmAgent
from adknb.notebook import writing
from adknb.notebook.answering import Answering
from adknb.notebook.pipelines import AgentCell, AgentOptions, Pipeline, with_instruction
from adknb.notebook.records import Record, Settings, TurnRequest, find_record
from adknb.notebook.undo import SessionMark, Snapshot
from adknb.notebook.variables import Variables, is_agent
from adknb.runtime.interrupts import Held
from adknb.runtime.runner import Runner, as_root
from adknb.runtime.strategies import as_strategy
from adknb.runtime.sync import run_sync
from adknb.sessions.memory import InMemorySessionService

UNDO_LIMIT = 200
"""How many changes can be taken back."""


class Bench:
    """Pipelines by name, runs in order. `namespace` is where names of callbacks, tools and agents are looked up."""

    def __init__(self, namespace: dict[str, Any] | None = None) -> None:
        self.namespace: dict[str, Any] = {} if namespace is None else namespace
        self.pipelines: dict[str, Pipeline] = {}
        self.settings = Settings()
        self.records: tuple[Record, ...] = ()
        self.current: str | None = None
        self.sessions: dict[str, Session] = {}
        self.observer: Callable[[Run], object] | None = None
        self.newest: Run | Comparison | None = None
        """What the last cell that ran something left."""
        self._service = InMemorySessionService()
        self._undo: list[Snapshot] = []
        self._lock = threading.Lock()
        self._variables = Variables()
        self.answering = Answering()
        self.hidden: Mapping[str, Any] = {}
        """Variables of the user's that the last change hid behind an agent or pipeline of the same name."""

    # what there is

    @property
    def runs(self) -> list[Run]:
        return [record.run for record in self.records]

    @property
    def last(self) -> Run | None:
        """The newest run; None before the first."""
        return self.records[-1].run if self.records else None

    @property
    def last_change(self) -> str:
        """What `undo` would take back, in words; empty when there is nothing."""
        return self._undo[-1].label if self._undo else ""

    def pipeline(self, name: str | None = None) -> Pipeline:
        """The pipeline of this name, or the one in use. Raises `SpecError` with the near names."""
        if name is None:
            name = self.current
        if name is None:
            raise SpecError("there is no pipeline yet. Write one: %%agent NAME --pipeline PIPELINE")
        if name not in self.pipelines:
            raise SpecError(f"there is no pipeline {name!r}.{near_names(name, self.pipelines)}")
        return self.pipelines[name]

    def root(self, name: str | None) -> BaseAgent:
        """What runs under this name: a pipeline of the bench, else an agent object of the namespace."""
        if name is None or name in self.pipelines:
            return self.pipeline(name).build(self.namespace)
        value = as_root(self.namespace.get(name))
        if isinstance(value, BaseAgent):
            return value
        agents = [known for known, found in self.namespace.items() if is_agent(found)]
        what = f" (the variable is of type {type(value).__name__})" if value is not None else ""
        raise SpecError(f"there is no pipeline {name!r}{what}.{near_names(name, [*self.pipelines, *agents])}")

    def record(self, run: str | None = None, pipeline: str | None = None, *, trials: bool = True) -> Record:
        """A run by its id (or its beginning), else the newest one, of a pipeline when one is named.

        Without `trials` the newest one that is neither a trial nor a comparison's.
        """
        return find_record(self.records, run, pipeline, self.current, trials)

    # changes of what is written

    def put_agent(
        self,
        pipeline: str,
        name: str,
        prompt: str,
        options: AgentOptions | None = None,
        *,
        cell: str | None = None,
        at: int | None = None,
        after: str | None = None,
    ) -> AgentCell:
        """Write an agent: new, in place of the one of its name, or of the one that this cell named before.

        `at` is its place, from 1; `after` names the agent that it follows.
        """
        options = options or AgentOptions()
        pipelines, agent, verb = writing.with_agent(self.pipelines, pipeline, name, prompt, options, cell, at, after)
        self._write(pipelines, f"{pipeline}: {name} {verb}", pipeline)
        return agent

    def put_pipelines(self, pipelines: Sequence[Pipeline], label: str, cell: str | None = None) -> None:
        """Write whole pipelines in one change: each with its agents, in this order, and no others."""
        self._write(writing.with_pipelines(self.pipelines, pipelines, cell), label, pipelines[-1].name)

    def home_of(self, cell: str | None) -> str | None:
        """The pipeline of the agent that this cell wrote before."""
        home, _ = writing.written_by(self.pipelines, cell)
        return home.name if home is not None else None

    def remove_agent(self, name: str, pipeline: str | None = None) -> None:
        known = self.pipeline(pipeline)
        self._write({**self.pipelines, known.name: known.without(name)}, f"{known.name}: {name} removed")

    def remove_pipeline(self, name: str) -> None:
        gone = self.pipeline(name)
        others = {known: pipeline for known, pipeline in self.pipelines.items() if pipeline is not gone}
        self._write(others, f"{name}: removed")

    def order(self, names: Sequence[str], pipeline: str | None = None) -> None:
        known = self.pipeline(pipeline)
        changed = known.ordered(list(names))
        self._write({**self.pipelines, known.name: changed}, f"{known.name}: ordered {' '.join(names)}")

    def copy(self, pipeline: str, name: str) -> None:
        """A second pipeline with the same agents, their versions too; its agents belong to no cell yet."""
        known = self.pipeline(pipeline)
        if name in self.pipelines:
            raise SpecError(
                f"there is a pipeline {name!r} already. Take another name, or remove it: %adk remove {name}"
            )
        copied = Pipeline(name, tuple(replace(agent, cell=None) for agent in known.agents))
        self._write({**self.pipelines, name: copied}, f"{pipeline}: copied to {name}")

    def restore_version(self, name: str, number: int, pipeline: str | None = None) -> AgentCell:
        """The agent as version `number` (from 1) was; the form that it had becomes a version too."""
        known = self.pipeline(pipeline)
        agent = known[name]
        if not 1 <= number <= len(agent.versions):
            have = f"versions 1 to {len(agent.versions)}, not {number}" if agent.versions else "no earlier version"
            raise SpecError(f"agent {name!r} has {have}. See them: %adk history {name}")
        version = agent.versions[number - 1]
        restored = agent.edited(version.prompt, version.options, agent.cell)
        changed = {**self.pipelines, known.name: known.with_agent(restored)}
        self._write(changed, f"{known.name}: {name} restored to version {number}")
        return restored

    def use(self, **settings: Any) -> Settings:
        """Change what pipelines run with. Raises `SpecError` or `ModelError` for what there is not."""
        names = [field.name for field in fields(Settings)]
        for name in settings:
            if name not in names:
                raise SpecError(f"there is no setting {name!r}.{near_names(name, names)}")
        changed = replace(self.settings, **settings)
        as_strategy(changed.strategy)
        resolve = self.answering.resolver(changed.base_url, changed.record)
        runner = Runner(LlmAgent(name="check"), model=changed.model, rules=changed.rules, resolve=resolve)
        if changed.model is not None:
            runner.check_models()
        with self.change("use " + ", ".join(settings)):
            self.settings = changed
        return changed

    # runs

    def run(self, pipeline: str, request: TurnRequest | str, **options: Any) -> Run:
        """Run one turn on a message: in a fresh session, or as a turn of the named one.

        In a named session the same cell replaces the turn that it made (`turn` names one, `append` forces a new one).
        `options` (model, models, strategy, rules, base_url, record) that are not None win over the bench's settings.
        """
        if isinstance(request, str):
            request = TurnRequest(request)
        name, chosen = request.session, _given(options)
        session = self.sessions.get(name) if name is not None else None
        user = request.user or (session.user_id if session is not None else self.settings.user)
        if session is not None and user != session.user_id:
            raise RunStateError(
                f"session {name!r} belongs to user {session.user_id!r}, not {user!r}. Leave --user out, or name another session."
            )
        config = request.config
        if self.settings.stream:
            config = replace(config or RunConfig(), streaming=True)
        replaced = self._replaced_turn(session, request)
        runner = self._runner(self.root(pipeline), name, chosen)
        if not request.pause:
            runner.check_models()

        def work() -> Run:
            if replaced is not None:
                return runner.rerun(
                    replaced, request.message, state=request.state, clear=request.clear, config=config,
                    pause=request.pause,
                )  # fmt: skip
            if name is not None and session is None:  # an undone session of this name is still in the store
                run_sync(lambda: self._service.delete_session(app_name=runner.app_name, user_id=user, session_id=name))
            return runner.run(
                request.message, session=session or name, user_id=user, state=request.state, clear=request.clear,
                config=config, pause=request.pause,
            )  # fmt: skip

        return self._run(runner, work, session, lambda run: Record(run, pipeline, request.cell, name, options=chosen))

    def run_from(
        self, name: str, run: str | None = None, pipeline: str | None = None, prompt: str | None = None, **options: Any
    ) -> Run:
        """A run again from the step `name` on, with the pipeline as it is written now but for another `prompt` of that step,
        where one is given; `options` as in `run`."""
        record = self.record(run, pipeline, trials=False)
        root = with_instruction(self.root(record.pipeline), name, prompt) if prompt is not None else None
        return self._go_on(record, lambda runner: runner.run_from(record.run, name), options, root)

    def step(self, name: str | None = None, run: str | None = None) -> Run:
        """One step more of a paused run, or on to `name` and through it, or `name` again."""
        record = self.record(run, trials=False)
        return self._go_on(record, lambda runner: runner.step(record.run, name))

    def continue_run(self, run: str | None = None) -> Run:
        record = self.record(run, trials=False)
        return self._go_on(record, lambda runner: runner.continue_run(record.run))

    def rewind(self, name: str, run: str | None = None) -> Run:
        record = self.record(run, trials=False)
        return self._go_on(record, lambda runner: runner.rewind(record.run, name), asks=False)

    def try_step(self, name: str, prompt: str, run: str | None = None, **options: Any) -> Run:
        """One step with another prompt, from the state before it, on a copy of the session; the agent stays as it is."""
        record = self.record(run, trials=False)
        root = with_instruction(self.root(record.pipeline), name, prompt)
        record = replace(record, cell=None, trial=True)
        return self._go_on(record, lambda runner: runner.step(record.run, name, trial=True), options, root)

    # undo

    def undo(self) -> str:
        """Take the last change back and say what it was. Raises `RunStateError` when there is none."""
        with self.busy():
            if not self._undo:
                raise RunStateError(
                    "there is nothing to undo: nothing was written, run or set since the notebook began"
                )
            snapshot = self._undo.pop()
            self._restore(snapshot)
        return snapshot.label

    def refresh(self) -> None:
        """Bind agents and pipelines again as their callbacks, tools and prompt files are now."""
        self._variables.refresh(self.namespace, self.pipelines.values(), self.current)

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Holds the bench, and Ctrl-C outside the run itself. Raises `RunStateError` while something runs already."""
        with Held():
            if not self._lock.acquire(blocking=False):
                raise RunStateError("the bench is running something already. Wait for it, or interrupt the kernel.")
            try:
                yield
            finally:
                self._lock.release()

    @contextmanager
    def change(self, label: str) -> Iterator[None]:
        """Around a change: it can be undone, and when it fails nothing has happened."""
        with self.busy():
            snapshot = self._snapshot(None)
            try:
                yield
                self._bind()
            except BaseException:
                self._restore(snapshot)
                raise
            self._remember(snapshot, label)

    def note_comparison(self, comparison: Comparison, last: Record | None) -> None:
        """Note a comparison, within a `change`. Its last run is the bench's last, unless the bench has it already."""
        if last is not None and not any(last.run is run for run in self.runs):
            self.records = (*self.records, last)
        self.current = comparison.pipeline if comparison.pipeline in self.pipelines else self.current
        self.newest = comparison

    # how it works

    def _write(self, pipelines: Mapping[str, Pipeline], label: str, current: str | None = None) -> None:
        with self.change(label):
            self.pipelines = dict(pipelines)
            self.current = current or self.current
            if self.current not in self.pipelines:
                self.current = next(iter(self.pipelines), None)

    def _runner(self, root: BaseAgent, session: str | None, options: Mapping[str, Any]) -> Runner:
        """A Runner with the bench's settings, where `options` say nothing else. A fresh session gets a store of its own."""
        named = {name: getattr(self.settings, name) for name in ("model", "rules", "strategy", "base_url", "record")}
        named |= options
        resolve = self.answering.resolver(named.pop("base_url"), named.pop("record"))
        service = self._service if session is not None else None
        return Runner(root, **named, observer=self.observer, session_service=service, resolve=resolve)

    def _go_on(
        self,
        record: Record,
        work: Callable[[Runner], Run],
        options: Mapping[str, Any] | None = None,
        root: BaseAgent | None = None,
        asks: bool = True,
    ) -> Run:
        """Go on from a run as it was begun, but for what `options` say. `asks` says that models will be asked."""
        chosen = {**record.options, **_given(options or {})}
        runner = self._runner(root or self.root(record.pipeline), record.session, chosen)
        if asks:
            runner.check_models()
        session = record.run.session
        return self._run(runner, lambda: work(runner), session, lambda run: replace(record, run=run, options=chosen))

    def _run(
        self, runner: Runner, work: Callable[[], Run], session: Session | None, note: Callable[[Run], Record]
    ) -> Run:
        """Run; noted also when it fails half-way. When it did not begin, nothing has happened."""
        with self.busy():
            snapshot = self._snapshot(session)
            started: Run | None = None
            try:
                started = work()
            except BaseException as error:
                started = getattr(error, "run", None) or runner.last_run
                raise
            finally:
                if started is None or isinstance(started.error, PipelineChangedError):
                    self._restore(snapshot)
                else:
                    self._note(note(started), snapshot)
        return started

    def _note(self, record: Record, snapshot: Snapshot) -> None:
        self.records = (*self.records, record)
        self.newest = record.run
        self.current = record.pipeline if record.pipeline in self.pipelines else self.current
        if record.session is not None and not record.trial:
            self.sessions[record.session] = record.run.session
        self._remember(snapshot, f"run {record.run.id} of {record.pipeline}")

    def _replaced_turn(self, session: Session | None, request: TurnRequest) -> Run | None:
        """The run whose turn the request takes over; None when it adds one."""
        turns = session.turns if session is not None else []
        if request.turn is not None:
            if not 1 <= request.turn <= len(turns) + 1:
                have = f"{len(turns)} turn{'s' if len(turns) > 1 else ''}" if turns else "no turns yet"
                raise RunStateError(
                    f"session {request.session!r} has {have}, so --turn {request.turn} neither replaces nor follows one"
                )
            return turns[request.turn - 1] if request.turn <= len(turns) else None
        if request.append or request.cell is None:
            return None
        made = {id(record.run) for record in self.records if record.cell == request.cell and not record.trial}
        return next((run for run in reversed(turns) if id(run) in made), None)

    def _snapshot(self, session: Session | None) -> Snapshot:
        return Snapshot(
            "", dict(self.pipelines), self.settings, self.records, self.current, dict(self.sessions),
            self._service.shared_values(), SessionMark.of(session) if session is not None else None, self.newest,
        )  # fmt: skip

    def _remember(self, snapshot: Snapshot, label: str) -> None:
        self._undo.append(replace(snapshot, label=label))
        del self._undo[:-UNDO_LIMIT]

    def _restore(self, snapshot: Snapshot) -> None:
        self.pipelines = dict(snapshot.pipelines)
        self.settings, self.records, self.current = snapshot.settings, snapshot.records, snapshot.current
        self.sessions, self.newest = dict(snapshot.sessions), snapshot.newest
        if snapshot.mark is not None:
            snapshot.mark.restore()
        self._service.restore_shared_values(snapshot.shared)
        self._bind()

    def _bind(self) -> None:
        self.hidden = self._variables.bind(self.namespace, self.pipelines.values(), self.current)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
