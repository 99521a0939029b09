"""What the bench notes down: its settings, each run, and what a turn's cell asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from adknb.core.errors import RunStateError, near_names
from adknb.core.run import Run, RunConfig
from adknb.notebook.answering import Recording

SHOWN_ASIDE: Final = 3
"""So many trials and runs of comparisons an error names."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What pipelines run with when a cell does not say otherwise. `model` is a name or a model object.

    `base_url` is where models behind an API are asked, `record` the file in which replies are kept, `stream` asks for
    replies in pieces, `resumable` lets a long-running call pause a run.
    """

    model: Any = None
    rules: str = "java"
    strategy: Any = "as_written"
    user: str = "user"
    base_url: str | None = None
    record: Recording | None = None
    stream: bool = False
    resumable: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A run on the bench: which pipeline, from which cell, into which named session.

    `options` are the model, strategy, rules and the like that its cell named; going on from the run keeps them. A `trial`
    lives on a copy of its session; `variant` is that of the comparison which made the run. Nothing goes on from these two
    unless it names them.
    """

    run: Run
    pipeline: str
    cell: str | None = None
    session: str | None = None
    trial: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    variant: str | None = None

    @property
    def is_aside(self) -> bool:
        """Whether it is a trial or a comparison's."""
        return self.trial or self.variant is not None

    @property
    def is_at_home(self) -> bool:
        """Whether its session lives where the bench's sessions do."""
        return self.variant is None and "db" not in self.options


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What one `%%pipeline` asks for. `turn` counts from 1; `session` is a name."""

    message: str
    session: str | None = None
    cell: str | None = None
    append: bool = False
    turn: int | None = None
    pause: bool = False
    user: str | None = None
    state: Mapping[str, Any] | None = None
    clear: Sequence[str] = ()
    config: RunConfig | None = None


def find_record(
    records: Sequence[Record], run: str | None, pipeline: str | None, current: str | None, trials: bool
) -> Record:
    """A run by its id (or its beginning), else the newest one, of a pipeline when one is named; without `trials` the
    newest that is no trial and no comparison's. Raises `RunStateError` with the near ids; `current` is the pipeline in
    use."""
    found = [record for record in records if pipeline in (None, record.pipeline)]
    if run is not None:
        named = [record for record in found if record.run.id.startswith(run)]
        if (
            len({record.run.id for record in named}) == 1
        ):  # several of them: a session that was imported under other names
            return named[-1]
        known = [record.run.id for record in named or found]
        if named:
            raise RunStateError(f"several runs begin with {run!r}: {', '.join(known)}. Write more of the id.")
        of = f" of {pipeline!r}" if pipeline is not None else ""
        raise RunStateError(f"there is no run {run!r}{of}.{near_names(run, known)}")
    if usual := [record for record in found if trials or not record.is_aside]:
        return usual[-1]
    name = pipeline or current
    of, magic = (f"of {name!r} ", name) if name is not None else ("", "NAME")
    make = f"%%pipeline {magic}, with the message below it."
    if found:
        raise RunStateError(f"there is no run {of}yet but {_aside(found)}. Name one: --run ID. Or make one: {make}")
    raise RunStateError(f"there is no run {of}yet. Make one: {make}")


def _aside(records: Sequence[Record]) -> str:
    """Trials and runs of comparisons in words, the newest first."""
    named = [
        f"{record.run.id} ({f'variant {record.variant} of a comparison' if record.variant is not None else 'a trial'})"
        for record in reversed(records)
    ]
    more = len(named) - SHOWN_ASIDE
    return ", ".join(named[:SHOWN_ASIDE]) + (f" and {more} more (%adk runs)" if more > 0 else "")
