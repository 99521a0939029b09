"""The bench runs pipelines: whole turns, single steps, and on from a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from adknb.core.errors import PipelineChangedError, RunStateError
from adknb.core.run import Run, RunConfig, Session
from adknb.core.specs import BaseAgent
from adknb.notebook.bench_changes import ChangingBench
from adknb.notebook.pipelines import with_instruction
from adknb.notebook.records import Record, TurnRequest
from adknb.notebook.undo import Snapshot
from adknb.runtime.runner import Runner
from adknb.runtime.sync import run_sync


class RunningBench(ChangingBench):
    """A bench whose pipelines run."""

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

    # how it works

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


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
