"""Checkpoints: what a run has behind it, kept as notes in the session store, each step's in one transaction with its events.

A run has the note 0, which says what was begun, and a note `index + 1` for each step that is behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, overload

from adknb.core.protocols import KeepsNotes, Note
from adknb.core.views import Viewed, table
from adknb.workflow.data import PipelineData
from adknb.workflow.errors import CheckpointError, SchemaVersionError
from adknb.workflow.outcome import StepOutcome

if TYPE_CHECKING:
    import pandas as pd

KIND: Final = "workflow"
"""The kind of the notes."""

Aspects = Mapping[str, str]
"""What a step is made of: a hash for each thing that its output depends on."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What is stored of a run: what it was given, which `steps` it has, and how those ended that are behind it.

    `user_id` and `app_name` are those of its session, whose id is the run's.
    """

    workflow: str
    run_id: str
    app_name: str
    user_id: str
    begun: datetime
    data: PipelineData
    steps: tuple[str, ...]
    aspects: tuple[Aspects, ...]
    outcomes: tuple[StepOutcome, ...] = ()

    @property
    def done(self) -> tuple[str, ...]:
        """The steps behind it, which are not called again."""
        return tuple(outcome.step for outcome in self.outcomes)

    @property
    def next_steps(self) -> tuple[str, ...]:
        """The steps before it."""
        done = set(self.done)
        return tuple(step for step in self.steps if step not in done)

    @property
    def updated(self) -> datetime:
        """When the last step ended, or the run began."""
        return max([self.begun, *(outcome.metadata.timestamp for outcome in self.outcomes)])

    @property
    def token_used(self) -> int:
        return sum(outcome.tokens for outcome in self.outcomes)

    def with_steps(self, steps: tuple[str, ...], aspects: tuple[Aspects, ...]) -> Checkpoint:
        """The same run, to be gone on with by these steps."""
        return replace(self, steps=steps, aspects=aspects)

    def begin_note(self) -> Note:
        return Note(KIND, self.run_id, 0, {
            "workflow": self.workflow, "app_name": self.app_name, "user_id": self.user_id,
            "begun": self.begun.isoformat(), "data": self.data.to_dict(),
            "steps": list(self.steps), "aspects": [dict(each) for each in self.aspects],
        })  # fmt: skip


class Checkpoints(Viewed, Sequence[Checkpoint]):
    """The runs of a workflow that can be resumed, the oldest first."""

    __slots__ = ("checkpoints", "workflow")

    def __init__(self, workflow: str, checkpoints: Iterable[Checkpoint]) -> None:
        self.workflow = workflow
        self.checkpoints = tuple(checkpoints)

    @overload
    def __getitem__(self, index: int) -> Checkpoint: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Checkpoint, ...]: ...
    def __getitem__(self, index: int | slice) -> Checkpoint | tuple[Checkpoint, ...]:
        return self.checkpoints[index]

    def __len__(self) -> int:
        return len(self.checkpoints)

    def __repr__(self) -> str:
        return f"Checkpoints({self.workflow!r}, {', '.join(each.run_id for each in self) or 'none'})"

    def to_frame(self) -> pd.DataFrame:
        """One row a run: `run_id`, `begun`, `updated`, `done`, `next`, `token_used`."""
        return table(self, "checkpoints")


def step_note(run_id: str, outcome: StepOutcome) -> Note:
    return Note(KIND, run_id, outcome.index + 1, outcome.to_dict())


async def read_checkpoints(store: KeepsNotes, workflow: str) -> list[Checkpoint]:
    """Every run of the workflow that can be resumed, the oldest first."""
    notes: dict[str, list[Note]] = {}
    for note in await store.get_notes(KIND):
        notes.setdefault(note.name, []).append(note)
    found = [_read(run_id, own) for run_id, own in notes.items() if _workflow_of(own) == workflow]
    return sorted(found, key=lambda checkpoint: checkpoint.begun)


async def read_checkpoint(store: KeepsNotes, run_id: str) -> Checkpoint | None:
    """What is stored of this run; None when nothing is."""
    notes = await store.get_notes(KIND, run_id)
    return _read(run_id, notes) if notes else None


async def clear_checkpoint(store: KeepsNotes, run_id: str) -> None:
    await store.delete_notes(KIND, run_id)


def now() -> datetime:
    return datetime.now(UTC)


def _workflow_of(notes: Sequence[Note]) -> str:
    data = notes[0].data
    return str(data.get("workflow")) if isinstance(data, Mapping) else ""


def _read(run_id: str, notes: Sequence[Note]) -> Checkpoint:
    try:
        first, *rest = notes
        data: Mapping[str, Any] = first.data
        return Checkpoint(
            data["workflow"], run_id, data["app_name"], data["user_id"], datetime.fromisoformat(data["begun"]),
            PipelineData.from_dict(data["data"]), tuple(data["steps"]), tuple(data["aspects"]),
            tuple(StepOutcome.from_dict(note.data) for note in rest),
        )  # fmt: skip
    except SchemaVersionError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(
            f"the checkpoint of workflow run {run_id!r} cannot be read: {type(error).__name__}: {error}. It was written by "
            f"another version, or changed by hand. Forget it: workflow.prune_checkpoints([{run_id!r}])"
        ) from error
