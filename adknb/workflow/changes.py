"""Whether a workflow is still the one that a checkpoint was made by, and what differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from adknb.compare.fingerprint import fingerprint
from adknb.workflow.checkpoints import Aspects, Checkpoint
from adknb.workflow.errors import WorkflowChangedError
from adknb.workflow.step import Step

_ASPECTS: Final = (
    "agent", "model", "condition", "input_adapter", "transformer", "output_adapter", "context_updates", "fallback", "reads",
)  # fmt: skip
"""What a step's output depends on. Timeouts, retries, error actions, caches, budgets may change at any time."""
_KEEPING: Final = "resume(run_id, despite_changes=True), in a cell --despite-changes"


def aspects(step: Step, model: Any, shared: Sequence[Any]) -> Aspects:
    """A hash of each thing that the step's output depends on. `shared` are the workflow's own settings that all steps share,
    `model` answers for agents that name none."""
    own: dict[str, Any] = {name: getattr(step, name) for name in _ASPECTS}
    own["model"] = step.model if step.model is not None else model
    return {name: fingerprint(value) for name, value in {**own, "settings": list(shared)}.items() if value is not None}


def check_unchanged(
    checkpoint: Checkpoint, steps: Sequence[Step], now: Sequence[Aspects], *, despite_changes: bool
) -> None:
    """Raise `WorkflowChangedError` when a step that is behind the checkpoint is another one now.

    Steps that are still to come may be changed, added or left out: that is what resuming is for. With `despite_changes`
    those behind may be changed too, as long as they stand where they stood.
    """
    names = [step.name for step in steps]
    moved: list[str] = []
    changed: list[str] = []
    for outcome in checkpoint.outcomes:
        then, here = checkpoint.steps[outcome.index], names[outcome.index : outcome.index + 1]
        if here != [then]:
            place = f"is number {names.index(then) + 1}" if then in names else "is gone"
            moved.append(f"step {then!r}, which was number {outcome.index + 1}, {place}")
            continue
        before, after = checkpoint.aspects[outcome.index], now[outcome.index]
        differing = [name for name in (*_ASPECTS, "settings") if before.get(name) != after.get(name)]
        if differing:
            changed.append(f"step {then!r}: {', '.join(differing)} changed")
    if moved or (changed and not despite_changes):
        keep = "" if moved else f", or keep what they said: {_KEEPING}"
        raise WorkflowChangedError(
            f"run {checkpoint.run_id!r} cannot be resumed, since steps that are done are others now: "
            f"{'; '.join([*moved, *changed])}. Put them back, run the workflow anew{keep}."
        )
