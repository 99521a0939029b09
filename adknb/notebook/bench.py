"""The bench: pipelines written in cells, their runs and sessions, and everything that changes them, undoably.

Nothing here needs a notebook: `adknb.bench` serves plain Python too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from adknb.core.errors import RunStateError, SpecError, near_names
from adknb.core.run import Run, Session
from adknb.core.specs import BaseAgent, LlmAgent
from adknb.notebook.pipelines import AgentCell, AgentOptions, Pipeline
from adknb.notebook.records import Record, Settings, TurnRequest
from adknb.notebook.undo import SessionMark, Snapshot
from adknb.runtime.runner import Runner
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
        self._service = InMemorySessionService()
        self._undo: list[Snapshot] = []
        self._lock = threading.Lock()
        self._bound: dict[str, Any] = {}
        self._started: Run | None = None
        self.hidden: dict[str, Any] = {}
        """Variables of the user's that the last change hid behind an agent or pipeline of the same name."""

    # what there is

    @property
    def runs(self) -> list[Run]:
        return [record.run for record in self.records]

    @property
    def last(self) -> Run | None:
        """The newest run; None before the first."""
        return self.records[-1].run if self.records else None

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
        value = self.namespace.get(name)
        if isinstance(value, BaseAgent):
            return value
        agents = [known for known, found in self.namespace.items() if isinstance(found, BaseAgent)]
        what = f" (the variable is a {type(value).__name__})" if value is not None else ""
        raise SpecError(f"there is no pipeline {name!r}{what}.{near_names(name, [*self.pipelines, *agents])}")

    def record(self, run: str | None = None, pipeline: str | None = None) -> Record:
        """A run by its id (or its beginning), else the newest one, of a pipeline when one is named."""
        if run is not None:
            found = [record for record in self.records if record.run.id.startswith(run)]
            if not found:
                raise RunStateError(f"there is no run {run!r}.{near_names(run, [known.id for known in self.runs])}")
            return found[-1]
        found = [record for record in self.records if pipeline in (None, record.pipeline)]
        if not found:
            name = pipeline or self.current or "PIPELINE"
            raise RunStateError(f"there is no run of {name!r} yet. Run it: %%pipeline {name}, with the message below it.")
        return found[-1]

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
        known = self.pipelines.get(pipeline, Pipeline(pipeline))
        before = next((agent for agent in known.agents if cell is not None and agent.cell == cell), None)
        same = next((agent for agent in known.agents if agent.name == name), None)
        if before is not None and before.name != name and same is not None:
            raise SpecError(
                f"this cell wrote {before.name!r} before, and {name!r} is written by another cell. "
                f"Take another name, or remove one first: %adk remove {name}"
            )
        old = before or same
        agent = old.edited(prompt, options, cell, name) if old is not None else AgentCell(name, prompt, options, cell)
        changed = known.with_agent(agent, self._place(known, at, after), old.name if old is not None else None)
        verb = "added" if old is None else "edited" if old.name == name else f"renamed from {old.name}"
        with self.change(f"{pipeline}: {name} {verb}"):
            self.pipelines[pipeline] = changed
            self.current = pipeline
        return agent

    def put_pipeline(self, pipeline: Pipeline) -> None:
        """Write a whole pipeline: its agents, in this order, and no others. Agents that stay keep their versions."""
        known = self.pipelines.get(pipeline.name)
        agents = []
        for agent in pipeline.agents:
            old = next((cell for cell in known.agents if cell.name == agent.name), None) if known else None
            agents.append(old.edited(agent.prompt, agent.options, agent.cell) if old is not None else agent)
        with self.change(f"{pipeline.name}: written"):
            self.pipelines[pipeline.name] = replace(pipeline, agents=tuple(agents))
            self.current = pipeline.name

    def remove_agent(self, name: str, pipeline: str | None = None) -> None:
        known = self.pipeline(pipeline)
        changed = known.without(name)
        with self.change(f"{known.name}: {name} removed"):
            self.pipelines[known.name] = changed

    def remove_pipeline(self, name: str) -> None:
        self.pipeline(name)
        with self.change(f"{name}: removed"):
            del self.pipelines[name]
            self.current = next(iter(self.pipelines), None) if self.current == name else self.current

    def order(self, names: Sequence[str], pipeline: str | None = None) -> None:
        known = self.pipeline(pipeline)
        changed = known.ordered(list(names))
        with self.change(f"{known.name}: ordered {' '.join(names)}"):
            self.pipelines[known.name] = changed

    def copy(self, pipeline: str, name: str) -> None:
        """A second pipeline with the same agents, their versions too; its agents belong to no cell yet."""
        known = self.pipeline(pipeline)
        if name in self.pipelines:
            raise SpecError(f"there is a pipeline {name!r} already. Take another name, or remove it first.")
        with self.change(f"{pipeline}: copied to {name}"):
            self.pipelines[name] = Pipeline(name, tuple(replace(agent, cell=None) for agent in known.agents))

    def restore_version(self, name: str, number: int, pipeline: str | None = None) -> AgentCell:
        """The agent as version `number` (from 1) was; the form that it had becomes a version too."""
        known = self.pipeline(pipeline)
        agent = known[name]
        if not 1 <= number <= len(agent.versions):
            have = f"versions 1 to {len(agent.versions)}" if agent.versions else "no earlier version"
            raise SpecError(f"agent {name!r} has {have}, not {number}. See them: %adk history {name}")
        version = agent.versions[number - 1]
        restored = agent.edited(version.prompt, version.options, agent.cell)
        with self.change(f"{known.name}: {name} restored to version {number}"):
            self.pipelines[known.name] = known.with_agent(restored)
        return restored

    def use(self, **settings: Any) -> Settings:
        """Change what pipelines run with. Raises `SpecError` or `ModelError` for what there is not."""
        changed = replace(self.settings, **settings)
        runner = Runner(LlmAgent(name="check"), model=changed.model, rules=changed.rules, strategy=changed.strategy)
        if changed.model is not None:
            runner.check_models()
        with self.change("use " + ", ".join(settings)):
            self.settings = changed
        return changed

    # runs

    def runner(self, root: BaseAgent, **options: Any) -> Runner:
        """A Runner with the bench's settings; `options` that are not None win."""
        settings: dict[str, Any] = {
            "model": self.settings.model, "rules": self.settings.rules, "strategy": self.settings.strategy,
            "observer": self.observer,
        }  # fmt: skip
        settings.update({name: value for name, value in options.items() if value is not None})
        return Runner(root, **settings)

    def run(self, pipeline: str, request: TurnRequest, **options: Any) -> Run:
        """Run one turn: in a fresh session, or as a turn of the named one.

        In a named session the same cell replaces the turn that it made (`turn` names one, `append` forces a new one).
        """
        root = self.root(pipeline)
        user = request.user or self.settings.user
        with self.running(pipeline, request.cell, request.session):
            if request.session is None:
                return self._fresh(self.runner(root, **options), request, user)
            session = self.sessions.get(request.session)
            replaced = self._replaced_turn(session, request) if session is not None else None
            runner = self.runner(root, session_service=self._service, **options)
            if replaced is not None:
                return self._watch(
                    runner,
                    lambda: runner.rerun(
                        replaced, request.message, state=request.state, clear=request.clear, pause=request.pause
                    ),
                )
            return self._watch(
                runner,
                lambda: runner.run(
                    request.message, session=session or request.session, user_id=user, state=request.state,
                    clear=request.clear, config=request.config, pause=request.pause,
                ),
            )  # fmt: skip

    def run_from(self, name: str, run: str | None = None, pipeline: str | None = None, **options: Any) -> Run:
        """A run again from the step `name` on, with the pipeline as it is written now."""
        record = self.record(run, pipeline)
        runner = self.runner(self.root(record.pipeline), **options)
        with self.running(record.pipeline, record.cell, record.session):
            return self._watch(runner, lambda: runner.run_from(record.run, name))

    def step(self, name: str | None = None, run: str | None = None) -> Run:
        record = self.record(run)
        runner = self.runner(self.root(record.pipeline))
        with self.running(record.pipeline, record.cell, record.session):
            return self._watch(runner, lambda: runner.step(record.run, name))

    def continue_run(self, run: str | None = None) -> Run:
        record = self.record(run)
        runner = self.runner(self.root(record.pipeline))
        with self.running(record.pipeline, record.cell, record.session):
            return self._watch(runner, lambda: runner.continue_run(record.run))

    def rewind(self, name: str, run: str | None = None) -> Run:
        record = self.record(run)
        runner = self.runner(self.root(record.pipeline))
        with self.running(record.pipeline, record.cell, record.session):
            return self._watch(runner, lambda: runner.rewind(record.run, name))

    def try_step(self, name: str, prompt: str, run: str | None = None, **options: Any) -> Run:
        """One step with another prompt, from the state before it, on a copy of the session; the agent stays as it is."""
        record = self.record(run)
        pipeline = self.pipeline(record.pipeline)
        agent = pipeline[name.partition("#")[0]]
        tried = replace(agent, prompt=prompt, options=replace(agent.options, prompt_file=None))
        runner = self.runner(pipeline.with_agent(tried).build(self.namespace), **options)
        with self.running(record.pipeline, None, record.session, trial=True):
            return self._watch(runner, lambda: runner.step(record.run, name, trial=True))

    # undo

    def undo(self) -> str:
        """Take the last change back and say what it was. Raises `RunStateError` when there is none."""
        if not self._undo:
            raise RunStateError("there is nothing to undo")
        with self.busy():
            snapshot = self._undo.pop()
            self._restore(snapshot)
        return snapshot.label

    @contextmanager
    def change(self, label: str) -> Iterator[None]:
        """Around a change: it can be undone, and when it fails nothing has happened."""
        with self.busy():
            snapshot = self._snapshot(label)
            try:
                yield
            except BaseException:
                self._restore(snapshot)
                raise
            self._remember(snapshot)
            self._bind()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Holds the bench. Raises `RunStateError` while another cell or button runs something."""
        if not self._lock.acquire(blocking=False):
            raise RunStateError("the bench is running something. Wait for it, or interrupt the kernel.")
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def running(
        self, pipeline: str, cell: str | None, session: str | None, trial: bool = False
    ) -> Iterator[None]:
        """Around a run: recorded also when it fails half-way; when it did not begin, nothing has happened."""
        with self.busy():
            snapshot = self._snapshot("")
            self._started = None
            try:
                yield
            finally:
                run = self._started
                if run is None or not run.turn_events or isinstance(run.error, RunStateError):
                    self._restore(snapshot)
                else:
                    self.records = (*self.records, Record(run, pipeline, cell, session, trial))
                    self.current = pipeline if pipeline in self.pipelines else self.current
                    if session is not None and not trial:
                        self.sessions[session] = run.session
                    self._remember(replace(snapshot, label=f"run {run.id} of {pipeline}"))

    # how it works

    def _fresh(self, runner: Runner, request: TurnRequest, user: str) -> Run:
        return self._watch(
            runner,
            lambda: runner.run(
                request.message, user_id=user, state=request.state, clear=request.clear, config=request.config,
                pause=request.pause,
            ),
        )  # fmt: skip

    def _watch(self, runner: Runner, work: Callable[[], Run]) -> Run:
        """Do the work; note the run that it started also when it fails."""
        try:
            run = work()
        except BaseException as error:
            self._started = getattr(error, "run", None) or runner.last_run
            raise
        self._started = run
        return run

    def _replaced_turn(self, session: Session, request: TurnRequest) -> Run | None:
        turns = session.turns
        if request.turn is not None:
            if not 1 <= request.turn <= len(turns) + 1:
                raise RunStateError(f"session {request.session!r} has {len(turns)} turns; --turn {request.turn} is none of them")
            return turns[request.turn - 1] if request.turn <= len(turns) else None
        if request.append or request.cell is None:
            return None
        made = {id(record.run) for record in self.records if record.cell == request.cell and not record.trial}
        return next((run for run in reversed(turns) if id(run) in made), None)

    def _place(self, pipeline: Pipeline, at: int | None, after: str | None) -> int | None:
        if at is not None and after is not None:
            raise SpecError("say --at or --after, not both")
        if at is not None:
            if not 1 <= at <= len(pipeline.agents) + 1:
                raise SpecError(f"--at {at}: pipeline {pipeline.name!r} has places 1 to {len(pipeline.agents) + 1}")
            return at - 1
        if after is not None:
            return pipeline.names().index(pipeline[after].name) + 1
        return None

    def _snapshot(self, label: str) -> Snapshot:
        sessions = {id(session): session for session in [*(run.session for run in self.runs), *self.sessions.values()]}
        return Snapshot(
            label, dict(self.pipelines), self.settings, self.records, self.current, dict(self.sessions),
            tuple(SessionMark.of(session) for session in sessions.values()),
        )  # fmt: skip

    def _remember(self, snapshot: Snapshot) -> None:
        self._undo.append(snapshot)
        del self._undo[:-UNDO_LIMIT]

    def _restore(self, snapshot: Snapshot) -> None:
        self.pipelines = dict(snapshot.pipelines)
        self.settings, self.records, self.current = snapshot.settings, snapshot.records, snapshot.current
        self.sessions = dict(snapshot.sessions)
        for mark in snapshot.marks:
            mark.restore()
        self._bind()

    def _bind(self) -> None:
        """Keep the variables of this bench's names in step: each agent and pipeline that can be built is one."""
        wanted: dict[str, Any] = {}
        for pipeline in self.pipelines.values():
            for described in (*pipeline.agents, pipeline):
                if described.name.isidentifier():
                    with suppress(SpecError):  # an error of a description is shown where it is run, and by lint
                        wanted[described.name] = described.build(self.namespace)
        for name, value in self._bound.items():
            if name not in wanted and self.namespace.get(name) is value:
                del self.namespace[name]
        self.hidden = {
            name: self.namespace[name]
            for name in wanted
            if name in self.namespace and self.namespace[name] is not self._bound.get(name)
        }
        self.namespace.update(wanted)
        self._bound = wanted
