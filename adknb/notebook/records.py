"""What the bench notes down: its settings, each run, and what a turn's cell asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adknb.core.run import Run, RunConfig
from adknb.notebook.answering import Recording


@dataclass(frozen=True, slots=True)
class Settings:
    """What pipelines run with when a cell does not say otherwise. `model` is a name or a model object.

    `base_url` is where models behind an API are asked, `record` the file in which replies are kept, `stream` asks for
    replies in pieces.
    """

    model: Any = None
    rules: str = "java"
    strategy: Any = "as_written"
    user: str = "user"
    base_url: str | None = None
    record: Recording | None = None
    stream: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A run on the bench: which pipeline, from which cell, into which named session.

    `options` are the model, strategy, rules and the like that its cell named; going on from the run keeps them. A `trial`
    lives on a copy of its session.
    """

    run: Run
    pipeline: str
    cell: str | None = None
    session: str | None = None
    trial: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


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
