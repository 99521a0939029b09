"""The bench moves: into a database and back, with what is kept there of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from adknb.core.run import Session
from adknb.notebook import writing
from adknb.notebook.bench_changes import ChangingBench
from adknb.notebook.bench_documents import Identity
from adknb.notebook.bench_home import MEMORY, DatabaseHome, Home
from adknb.notebook.pipelines import Pipeline
from adknb.notebook.records import Record, Settings
from adknb.runtime.sync import run_held


class OpeningBench(ChangingBench):
    """A bench whose sessions live in memory or in a database."""

    def __init__(self, namespace: dict[str, Any] | None = None) -> None:
        super().__init__(namespace)
        self._homes: dict[tuple[str, str], DatabaseHome] = {}
        self._notebook: str | None = None

    @property
    def home(self) -> Home:
        """Where the bench's sessions live."""
        return self._home

    @property
    def notebook(self) -> str:
        """The notebook's name: as it was said, else as the front end tells it, else `default`."""
        told = self.namespace.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
        return self._notebook or (told if isinstance(told, str) else "") or "default"

    def open(self, url: str, notebook: str | None = None) -> tuple[str, ...]:
        """Let sessions live in the database (`memory`: in this process again), and make the bench what it was there.

        Pipelines that were written in this kernel before win over those of the same name that are kept, settings too.
        Returns what there is to say about it. Raises `SessionStoreError`; then nothing has happened.
        """
        with self.busy():
            before = self._notebook
            try:
                self._notebook = notebook or self._notebook
                home = self._memory if url == MEMORY else self._home_at(url)
                left, pipelines, settings, current = self._home, self.pipelines, self.settings, self.current
                remarks = self._read(home)
            except BaseException:
                self._notebook = before
                raise
        if home is not left or (home.notes is not None and home.notes.log.is_empty):
            self._bring_along(pipelines, settings, current)
        return remarks

    def _bring_along(self, pipelines: Mapping[str, Pipeline], settings: Settings, current: str | None) -> None:
        plain = Settings()
        said = {
            field.name: value
            for field in fields(Settings)
            if (value := getattr(settings, field.name)) != getattr(plain, field.name)
        }
        merged = dict(writing.merged(self.pipelines, pipelines))
        changed = replace(self.settings, **said)
        if (merged, changed) == (self.pipelines, self.settings):
            self.current = current or self.current
            return
        with self.change("what was written before the database was opened"):
            self.pipelines, self.settings, self.current = merged, changed, current or self.current

    def _home_at(self, url: str) -> DatabaseHome:
        from adknb.sessions.database.address import address

        place = address(url)  # a relative path is that of the folder as it is now
        key = (place.text, self.notebook)
        if key not in self._homes:
            self._homes[key] = DatabaseHome(place, self.notebook, lambda: self.namespace)
        return self._homes[key]

    def _home_of(self, options: Mapping[str, Any]) -> Home:
        """Where a run with these options lives."""
        url = options.get("db")
        if url is None:
            return self._home
        return self._memory if url == MEMORY else self._home_at(url)

    def _named_session(self, home: Home, name: str, user: str | None) -> Session | None:
        """The session of this name; one that others began in the database is picked up."""
        known = home.sessions.get(name)
        if known is None:
            known = home.find(name, user or self.settings.user)
            if known is not None:
                self._pick_up(home, name, known)
        return known

    def _pick_up(self, home: Home, name: str, session: Session) -> None:
        """Give the session its name on the bench, and the bench its runs."""
        home.sessions[name] = session
        known = {id(run) for run in self.runs}
        options = {"db": home.url} if home is not self._home else {}
        new = [
            Record(run, run.root.name, session=name, options=options) for run in session.turns if id(run) not in known
        ]
        self.records = (*self.records, *new)

    def _read_again(self, home: Home, session: Session | None) -> None:
        """After somebody else wrote to a session: the bench as it is stored now, with the turns that they added."""
        if home is self._home:
            self._read(home)
        else:
            home.sessions = {name: one for name, one in home.sessions.items() if one is not session}
        for name, one in list(home.sessions.items()):
            if session is not None and Identity.of(one) == Identity.of(session):
                self._pick_up(home, name, one)

    def _forget_note(self) -> None:
        """The change that was noted last did not come about."""
        if self._home.notes is not None:
            run_held(self._home.notes.log.take_back)
