"""What goes wrong in a workflow and its policies, beside what its agents raise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adknb.core.errors import AdknbError, PipelineChangedError, RunStateError, SpecError

if TYPE_CHECKING:
    from adknb.workflow.result import WorkflowResult


class PayloadError(AdknbError, TypeError):
    """A payload or a context value is not JSON, so it can be neither kept nor passed on."""


class SchemaVersionError(AdknbError):
    """Pipeline data of a schema version (`version`) that nobody migrates."""

    def __init__(self, message: str, version: str | None = None) -> None:
        super().__init__(message)
        self.version = version


class RefusedError(AdknbError):
    """A call was not made, by a policy that stands before it. Nothing was sent, nothing is known of what would have come."""


class BudgetExceededError(RefusedError):
    """A call was not made: its `needed` tokens are more than the `remaining` ones of the `limit`."""

    def __init__(self, message: str, needed: int, remaining: int, limit: int) -> None:
        super().__init__(message)
        self.needed = needed
        self.remaining = remaining
        self.limit = limit


class CircuitOpenError(RefusedError):
    """A call was not made, because those before it failed; `retry_after` are the seconds until the next may be tried."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class QueueFullError(RefusedError):
    """A task was not taken, because as many as may wait are waiting."""


class AdapterError(AdknbError):
    """A payload could not be converted, or is not what the next step needs."""


class CacheError(AdknbError):
    """The file of a result cache cannot be opened, or is somebody else's."""


class StepFailedError(AdknbError):
    """A step (`step`) failed for good and its error action ends the run; what it raised last is the cause.

    `result` is the `WorkflowResult` as far as the run came.
    """

    def __init__(self, message: str, step: str) -> None:
        super().__init__(message)
        self.step = step
        self.result: WorkflowResult | None = None


class StepTimeoutError(AdknbError, TimeoutError):
    """An attempt of a step took longer than the step's `timeout`."""


class WorkflowTimeoutError(AdknbError, TimeoutError):
    """A run took longer than the workflow's `timeout`. `result` is the `WorkflowResult` as far as it came."""

    result: WorkflowResult | None = None


class WriteConflictError(SpecError):
    """Two steps that run together write the same key, so one of the values would be lost."""


class WorkflowChangedError(PipelineChangedError):
    """A run cannot be resumed: steps that are done already are others in the workflow as it is now."""


class CheckpointError(RunStateError):
    """There is no checkpoint to go on from, or none that can be read."""
