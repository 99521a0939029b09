"""Where a run can pause, and how it goes on: the journal of what was done, replayed instead of done again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from adknb.core.errors import PipelineChangedError
from adknb.core.run import JournalEntry, Run


class Paused(Exception):
    """Control flow: the run reached the step that it was told not to start. Never reaches a user."""


class Journal:
    """Entries to replay first, then a limit on how many new steps may start.

    `steps` is how many may start (None: all of them); `until` allows steps up to and including the one of this name (or
    `name#number`).
    """

    def __init__(
        self, run: Run, replay: Sequence[JournalEntry] = (), steps: int | None = None, until: str | None = None
    ) -> None:
        self._run = run
        self._replay = list(replay)
        self._position = 0
        self._steps = steps
        self._until = until
        self.replayed_ids = {event.id for entry in replay for event in entry.events}

    def next(self, path: str, moment: Literal["before", "step", "after"]) -> tuple[JournalEntry, bool]:
        """The entry for what comes now, and whether it was done already.

        Raises `Paused` instead of opening a new step beyond the limit, and `PipelineChangedError` when the entries
        belong to another pipeline.
        """
        if self._position < len(self._replay):
            entry = self._replay[self._position]
            if (entry.path, entry.moment) != (path, moment):
                recorded = self._run.parent or self._run
                raise PipelineChangedError(
                    f"run {recorded.id} was recorded with {entry.path!r} where the pipeline now has {path!r}. "
                    "Run the pipeline from its start."
                )
            self._position += 1
            self._run.journal.append(entry)
            return entry, True
        if moment == "step":
            if self._steps is not None:
                if self._steps == 0:
                    raise Paused
                self._steps -= 1
            if self._until is not None and any(is_step(entry, self._until) for entry in self._run.journal):
                raise Paused
        entry = JournalEntry(path, moment)
        self._run.journal.append(entry)
        return entry, False

    @property
    def is_whole(self) -> bool:
        """Whether every step is to run, from the first to the last."""
        return not self._replay and self._steps is None and self._until is None

    def remaining(self) -> list[JournalEntry]:
        """The entries that are not replayed yet."""
        return self._replay[self._position :]


def is_step(entry: JournalEntry, name: str) -> bool:
    """Whether the entry is the step of this name (or `name#number`), or the step that it ran in."""
    agent, _, number = name.partition("#")
    if entry.moment == "step" and entry.path.rsplit("/", 1)[-1] == name:
        return True
    return any(step.agent.name == agent and number in ("", str(step.number)) for step in entry.steps)
