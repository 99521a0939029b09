"""How a step ended, and what the data is after it: the one place that says so, for a run and for a resumed one alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from adknb.workflow.data import PipelineData, PipelineError, PipelineMetadata
from adknb.workflow.keys import output_names

StepStatus: TypeAlias = Literal["completed", "skipped", "fallback", "continued"]
_WARN: Final = ("continued", "fallback")


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """How a step ended after which the workflow went on.

    `status` is `completed`, `skipped` (its condition said no; with an `error` it failed under ErrorAction.SKIP), `fallback`
    or `continued`. `payload` and `updates`, what it adds to the context beside its output, count where the step has an
    output: `completed` and `fallback`. `metadata` is of that output; `attempts` counts all, `tokens` those of all attempts.
    `cached` says that the answer was kept from before. `wrote` are the state keys of its agents, sorted, `temp:` ones left out.
    """

    index: int
    step: str
    status: StepStatus
    metadata: PipelineMetadata
    payload: Any = None
    updates: Mapping[str, Any] = field(default_factory=dict)
    error: PipelineError | None = None
    attempts: int = 0
    tokens: int = 0
    cached: bool = False
    wrote: tuple[str, ...] = ()

    @property
    def has_output(self) -> bool:
        return self.status in ("completed", "fallback")

    @property
    def context(self) -> dict[str, Any]:
        """What the step adds to the context: its output under its names, and its updates."""
        if not self.has_output:
            return {}
        return {**dict.fromkeys(output_names(self.step), self.payload), **self.updates}

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON, which `from_dict` reads."""
        return {
            "index": self.index, "step": self.step, "status": self.status, "metadata": self.metadata.to_dict(),
            "payload": self.payload, "updates": dict(self.updates),
            "error": None if self.error is None else asdict(self.error),
            "attempts": self.attempts, "tokens": self.tokens, "cached": self.cached, "wrote": list(self.wrote),
        }  # fmt: skip

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> StepOutcome:
        """The inverse of `to_dict`. Raises `KeyError`, `TypeError` or `ValueError` for what is none."""
        metadata = dict(data["metadata"])
        metadata["timestamp"] = datetime.fromisoformat(metadata["timestamp"])
        metadata["previous_steps"] = tuple(metadata["previous_steps"])
        error = data["error"]
        return StepOutcome(
            data["index"], data["step"], data["status"], PipelineMetadata(**metadata), data["payload"], data["updates"],
            PipelineError(**error) if error is not None else None, data["attempts"], data["tokens"], data["cached"],
            tuple(data["wrote"]),
        )  # fmt: skip


def after(data: PipelineData, outcomes: Sequence[StepOutcome]) -> PipelineData:
    """The data after a group of steps that all started from `data`, their outcomes in the order of the steps.

    A lone step's output is the payload. Of several steps with an output it is a dict of them by the steps' names, so that
    none is lost. Context and warnings are everyone's; `error` is the last one's. What steps skip is as if it had not been.
    """
    said = [outcome for outcome in outcomes if outcome.has_output]
    failed = [outcome.error for outcome in outcomes if outcome.status == "continued"]
    warned = [outcome.error for outcome in outcomes if outcome.error is not None and outcome.status in _WARN]
    for outcome in said:
        data = with_output(data, outcome)
    changes: dict[str, Any] = {}
    if said and len(outcomes) > 1:
        changes["payload"] = {outcome.step: outcome.payload for outcome in said}
        changes["metadata"] = _joined(said)
    if failed:
        changes["error"] = failed[-1]
    if warned:
        changes["warnings"] = (*data.warnings, *warned)
    return data.with_(**changes) if changes else data


def with_output(data: PipelineData, outcome: StepOutcome) -> PipelineData:
    """The data with what a step put out."""
    context = data.with_context(**outcome.context).context
    return PipelineData(
        outcome.payload, outcome.metadata, context, data.error, data.warnings, data.schema_version
    )  # fmt: skip


def _joined(said: Sequence[StepOutcome]) -> PipelineMetadata:
    """The metadata of several steps at once: the last one's, with their names, the longest latency, all tokens and retries."""
    each = [outcome.metadata for outcome in said]
    return PipelineMetadata(
        each[-1].step_id,
        ", ".join(metadata.step_name for metadata in each),
        max(metadata.timestamp for metadata in each),
        max(metadata.latency_ms for metadata in each),
        sum(metadata.token_used for metadata in each),
        sum(metadata.retry_count for metadata in each),
        (*each[0].previous_steps, *(metadata.step_id for metadata in each[:-1])),
    )


def previous_steps(data: PipelineData) -> tuple[str, ...]:
    """The ids of the steps that are behind whoever gets `data`."""
    return (*data.metadata.previous_steps, data.metadata.step_id)
