"""What the bench has, and how that changes: one change at a time, each of which can be taken back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from adknb.compare.comparison import Comparison
from adknb.core.errors import RunStateError, SpecError, StaleSessionError, near_names
from adknb.core.run import Run, Session
from adknb.core.specs import BaseAgent
from adknb.notebook.answering import Answering
from adknb.notebook.bench_documents import Contents
from adknb.notebook.bench_home import Home
from adknb.notebook.bench_notes import Kept
from adknb.notebook.pipelines import Pipeline
from adknb.notebook.records import Record, Settings, find_record
from adknb.notebook.undo import UNDO_LIMIT, SessionMark, Snapshot
from adknb.notebook.variables import Variables, is_agent
from adknb.runtime.interrupts import Held
from adknb.runtime.runner import as_root
from adknb.runtime.sync import run_held, run_sync

if TYPE_CHECKING:
    from adknb.workflow.result import WorkflowResult
    from adknb.workflow.workflow import SequentialWorkflow

_NO_PIPELINE: Final = (
    " There is none yet: write one (%%agent NAME --pipeline PIPELINE), or read it from a file (%adk load FILE)."
)


class ChangingBench:
    """Pipelines, settings, runs and sessions, with the changes of them that can be undone."""

    def __init__(self, namespace: dict[str, Any] | None = None) -> None:
        self.namespace: dict[str, Any] = {} if namespace is None else namespace
        self.pipelines: dict[str, Pipeline] = {}
        self.settings = Settings()
        self.records: tuple[Record, ...] = ()
        self.current: str | None = None
        self.observer: Callable[[Run], object] | None = None
        self.newest: Run | Comparison | WorkflowResult | None = None
        """What the last cell that ran something left."""
        self.workflow: SequentialWorkflow | None = None
        """The workflow that the last cell with one ran."""
        self._memory = self._home = Home()
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
    def sessions(self) -> dict[str, Session]:
        """The sessions that have a name on this bench."""
        return self._home.sessions

    @property
    def _undo(self) -> list[Snapshot]:
        return self._home.undo

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
            raise SpecError(f"there is no pipeline {name!r}.{near_names(name, self.pipelines) or _NO_PIPELINE}")
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
        near = near_names(name, [*self.pipelines, *agents]) or _NO_PIPELINE
        raise SpecError(f"there is no pipeline {name!r}{what}.{near}")

    def record(self, run: str | None = None, pipeline: str | None = None, *, trials: bool = True) -> Record:
        """A run by its id (or its beginning), else the newest one, of a pipeline when one is named.

        Without `trials` the newest one that is neither a trial nor a comparison's.
        """
        return find_record(self.records, run, pipeline, self.current, trials)

    # undo

    def undo(self) -> str:
        """Take the last change back and say what it was. Raises `RunStateError` when there is none."""
        with self.busy():
            self._check()
            if not self._undo:
                raise RunStateError(
                    "there is nothing to undo: nothing was written, run or set since the notebook began"
                )
            snapshot = self._undo[-1]
            session = snapshot.mark.session if snapshot.mark is not None else snapshot.began
            now = self._snapshot(session, snapshot.home)
            try:
                self._restore(snapshot)
                if self._home.notes is not None:
                    run_held(self._home.notes.log.take_back)
            except BaseException:
                self._put_back(now)
                raise
            self._undo.pop()
            if snapshot.deleted:  # they are back as objects of their own
                self._read(self._home)
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
    def change(self, label: str, **sessions: Any) -> Iterator[None]:
        """Around a change: it can be undone, and when it fails nothing has happened. `sessions` says of whole sessions what
        `Snapshot` does."""
        with self.busy():
            self._check()
            snapshot = self._snapshot(None)
            try:
                yield
                self._bind()
                self._remember(replace(snapshot, **sessions), label)
            except BaseException as error:
                self._restore(snapshot)
                if isinstance(error, StaleSessionError):
                    self._read(self._home)
                raise

    def note_comparison(self, comparison: Comparison, last: Record | None) -> None:
        """Note a comparison, within a `change`. Its last run is the bench's last, unless the bench has it already."""
        if last is not None and not any(last.run is run for run in self.runs):
            self.records = (*self.records, last)
        self.current = comparison.pipeline if comparison.pipeline in self.pipelines else self.current
        self.newest = comparison

    # how it works

    def _write(self, pipelines: Mapping[str, Pipeline], label: str, current: str | None = None) -> None:
        current = current or self.current
        if list(pipelines.items()) == list(self.pipelines.items()):  # a cell run again, as after a restart
            with self.busy():
                self.current = current
                self._bind()
            return
        with self.change(label):
            self.pipelines = dict(pipelines)
            self.current = current if current in pipelines else next(iter(pipelines), None)

    def _snapshot(self, session: Session | None, home: Home | None = None) -> Snapshot:
        """The bench now. `home` is where the session lives, when that is not where the bench's do."""
        return Snapshot(
            "", dict(self.pipelines), self.settings, self.records, self.current, dict(self.sessions),
            (home or self._home).shared_values(), SessionMark.of(session) if session is not None else None, self.newest,
            home,
        )  # fmt: skip

    def _remember(self, snapshot: Snapshot, label: str, is_noted: bool = False) -> None:
        """The change can be undone from now on, in another kernel too where the bench is kept."""
        snapshot = replace(snapshot, label=label)
        if self._home.notes is not None and not is_noted:
            is_here = snapshot.home in (None, self._home)  # else its session is one of another database's
            noted = snapshot if is_here else replace(snapshot, mark=None, began=None)
            change = self._home.notes.change(noted, Contents.of(self))
            log = self._home.notes.log
            run_held(lambda: log.add(change))
        self._undo.append(snapshot)
        del self._undo[:-UNDO_LIMIT]

    def _restore(self, snapshot: Snapshot) -> None:
        """Put the bench back, and let the store of its sessions do so too."""
        self._put_back(snapshot)
        (snapshot.home or self._home).settle(snapshot)

    def _put_back(self, snapshot: Snapshot) -> None:
        self.pipelines = dict(snapshot.pipelines)
        self.settings, self.records, self.current = snapshot.settings, snapshot.records, snapshot.current
        self._home.sessions, self.newest = dict(snapshot.sessions), snapshot.newest
        if snapshot.mark is not None:
            snapshot.mark.restore()
        self._bind()

    def _check(self) -> None:
        """Raise `StaleSessionError` when another kernel changed the bench, which is read again then."""
        notes = self._home.notes
        if notes is not None:
            try:
                run_sync(notes.log.check)
            except StaleSessionError:
                self._read(self._home)
                raise

    def _read(self, home: Home) -> tuple[str, ...]:
        """Make the bench what is kept of it at `home`; returns what there is to say about that."""
        if home.notes is None:
            kept = Kept(replace(Contents.of(self), records=home.records, sessions=home.sessions), home.undo)
        else:
            kept = run_sync(home.notes.read)
        self._home.records, self._home = self.records, home
        aside = tuple(record for record in home.records if not record.is_at_home)
        contents = kept.contents
        self.pipelines, self.settings = dict(contents.pipelines), contents.settings
        self.records = home.records if home.notes is None else (*contents.records, *aside)
        self.current = contents.current
        home.sessions, home.undo = dict(contents.sessions), kept.undo
        self.newest = self.last
        self._bind()
        return kept.remarks

    def _bind(self) -> None:
        self.hidden = self._variables.bind(self.namespace, self.pipelines.values(), self.current)
