"""The bench runs pipelines: whole turns, single steps, and on from a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from adknb.core.errors import PipelineChangedError, RunStateError, StaleSessionError
from adknb.core.protocols import SessionService
from adknb.core.run import Run, RunConfig, Session
from adknb.core.specs import BaseAgent
from adknb.notebook.bench_documents import Contents
from adknb.notebook.bench_home import Home
from adknb.notebook.bench_opening import OpeningBench
from adknb.notebook.pipelines import with_instruction
from adknb.notebook.records import Record, TurnRequest
from adknb.notebook.sessions_noted import Begun
from adknb.notebook.undo import Snapshot
from adknb.runtime.runner import Runner

_SETTINGS = ("model", "rules", "strategy", "base_url", "record", "resumable")
"""What of the bench's settings a Runner is made with."""


class RunningBench(OpeningBench):
    """A bench whose pipelines run."""

    def run(self, pipeline: str, request: TurnRequest | str, **options: Any) -> Run:
        """Run one turn on a message: in a fresh session, or as a turn of the named one.

        In a named session the same cell replaces the turn that it made (`turn` names one, `append` forces a new one).
        `options` (model, models, strategy, rules, base_url, record, resumable) that are not None win over the bench's
        settings; with `db` the session lives in that database.
        """
        if isinstance(request, str):
            request = TurnRequest(request)
        name, chosen = request.session, _given(options)
        home = self._home_of(chosen)
        if home is self._home:
            chosen.pop("db", None)  # a run at home, like any other
        else:
            chosen["db"] = home.url
        session = self._named_session(home, name, request.user) if name is not None else None
        user = request.user or (session.user_id if session is not None else self.settings.user)
        if session is not None and user != session.user_id:
            raise RunStateError(
                f"session {name!r} belongs to user {session.user_id!r}, not {user!r}. Leave --user out, or name another session."
            )
        config = request.config
        if self.settings.stream:
            config = replace(config or RunConfig(), streaming=True)
        replaced = self._replaced_turn(session, request)
        runner = self._runner(self.root(pipeline), home.service(name is not None), chosen)
        if not request.pause:
            runner.check_models()

        def work() -> Run:
            if replaced is not None:
                return runner.rerun(
                    replaced, request.message, state=request.state, clear=request.clear, config=config,
                    pause=request.pause,
                )  # fmt: skip
            return runner.run(
                request.message, session=session or name, user_id=user, state=request.state, clear=request.clear,
                config=config, pause=request.pause,
            )  # fmt: skip

        return self._run(
            runner, work, session, home, lambda run: Record(run, pipeline, request.cell, name, options=chosen)
        )

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

    def _runner(self, root: BaseAgent, service: SessionService | None, options: Mapping[str, Any]) -> Runner:
        """A Runner with the bench's settings, where `options` say nothing else."""
        named = {name: getattr(self.settings, name) for name in _SETTINGS}
        named |= {name: value for name, value in options.items() if name != "db"}
        resolve = self.answering.resolver(named.pop("base_url"), named.pop("record"))
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
        home = self._memory if record.variant is not None else self._home_of(chosen)
        runner = self._runner(root or self.root(record.pipeline), home.service(record.session is not None), chosen)
        if asks:
            runner.check_models()
        session = record.run.session
        return self._run(
            runner, lambda: work(runner), session, home, lambda run: replace(record, run=run, options=chosen)
        )

    def _run(
        self,
        runner: Runner,
        work: Callable[[], Run],
        session: Session | None,
        home: Home,
        note: Callable[[Run], Record],
    ) -> Run:
        """Run; noted also when it fails half-way. When it did not begin, nothing has happened."""
        with self.busy():
            self._check()
            snapshot = self._snapshot(session, home)
            begun = Begun(lambda run: (_before(snapshot, note(run)), self._after(note(run))))
            try:
                with home.noting(begun) if home is self._home else nullcontext():
                    run = work()
            except StaleSessionError as error:
                self._read_again(home, session)
                raise StaleSessionError(
                    f"{error} The bench has read it again: see %adk runs, then run the cell again."
                ) from error
            except BaseException as error:
                self._end(getattr(error, "run", None) or runner.last_run, snapshot, note, begun)
                raise
            try:
                self._end(run, snapshot, note, begun)
            except StaleSessionError:
                self._read_again(home, session)
                raise
        return run

    def _end(self, run: Run | None, snapshot: Snapshot, note: Callable[[Run], Record], begun: Begun) -> None:
        if run is None or isinstance(run.error, PipelineChangedError):
            self._restore(snapshot)
            if begun.is_noted:
                self._forget_note()
            return
        record = note(run)
        after = self._after(record)
        self.records, self.current, self.newest = after.records, after.current, run
        if record.session is not None and not record.trial:
            (snapshot.home or self._home).sessions[record.session] = run.session
        before = _before(snapshot, record)
        self._remember(before, before.label, begun.is_noted)

    def _after(self, record: Record) -> Contents:
        """What of the bench is kept once it has the record."""
        sessions = dict(self.sessions)
        if record.session is not None and not record.trial and record.is_at_home:
            sessions[record.session] = record.run.session
        current = record.pipeline if record.pipeline in self.pipelines else self.current
        return Contents(dict(self.pipelines), self.settings, (*self.records, record), current, sessions)

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


def _before(snapshot: Snapshot, record: Record) -> Snapshot:
    began = record.run.session if snapshot.mark is None else None
    return replace(snapshot, label=f"run {record.run.id} of {record.pipeline}", began=began)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
