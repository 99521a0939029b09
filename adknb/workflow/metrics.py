"""Figures of a workflow's steps, over any number of runs."""

from __future__ import annotations

import math
import threading
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adknb.core.errors import AdknbError, SpecError, near_names
from adknb.workflow.events import StepEvent

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class StepMetrics:
    """The figures of one step. `actions` counts its events; `latencies` are of the attempts that succeeded, in milliseconds."""

    step: str
    actions: Mapping[str, int]
    tokens: int
    latencies: tuple[float, ...]

    @property
    def retries(self) -> int:
        return self.actions.get("retry", 0)

    @property
    def average_latency(self) -> float:
        """Milliseconds; 0 before the first success."""
        return math.fsum(self.latencies) / len(self.latencies) if self.latencies else 0.0

    def percentile(self, percent: float) -> float:
        """The latency, in milliseconds, that `percent` (0 to 100) of the attempts did not pass; 0 before the first success.

        Between two of them it is interpolated, as in numpy and pandas.
        """
        if not 0 <= percent <= 100:
            raise SpecError(f"a percentile is from 0 to 100, not {percent!r}")
        if not self.latencies:
            return 0.0
        ordered = sorted(self.latencies)
        below, share = divmod((len(ordered) - 1) * percent / 100, 1)
        low, high = ordered[int(below)], ordered[min(int(below) + 1, len(ordered) - 1)]
        return low + (high - low) * share


class MetricsObserver:
    """Collects latencies (8 bytes each), retries, tokens and outcomes by step. For tasks and threads alike.

    >>> metrics = MetricsObserver()
    >>> for ms in (10.0, 20.0, 40.0):
    ...     metrics.on_event(StepEvent("news", "run-1", 0, "research", "completed", latency_ms=ms, tokens=100))
    >>> step = metrics.step("research")
    >>> step.percentile(50), step.tokens, step.retries
    (20.0, 300, 0)
    """

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}
        self._lock = threading.Lock()

    def on_event(self, event: StepEvent) -> None:
        if not event.step_name:  # of the run itself
            return
        with self._lock:
            kept = self._kept.setdefault(event.step_name, _Kept())
            kept.actions[event.action] += 1
            kept.tokens += event.tokens
            if event.action == "completed":
                kept.latencies.append(event.latency_ms)

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps that were heard of, in that order."""
        return tuple(self._kept)

    def step(self, name: str) -> StepMetrics:
        """The figures of a step as they are now. Raises `AdknbError` for a step that was not heard of."""
        with self._lock:
            kept = self._kept.get(name)
            if kept is None:
                raise AdknbError(f"nothing was heard of a step {name!r}.{near_names(name, self._kept)}")
            return StepMetrics(name, dict(kept.actions), kept.tokens, tuple(kept.latencies))

    def to_frame(self) -> pd.DataFrame:
        """A row a step: outcomes, retries, cache hits, tokens, and the mean and percentiles of latency in milliseconds."""
        import pandas as pd

        rows = [_row(self.step(name)) for name in self.steps]
        return pd.DataFrame(rows, columns=[*_row(StepMetrics("", {}, 0, ()))]).set_index("step")


@dataclass(slots=True)
class _Kept:
    actions: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    latencies: array[float] = field(default_factory=lambda: array("d"))


def _row(step: StepMetrics) -> dict[str, str | int | float]:
    counted = ("completed", "failed", "skipped", "fallback", "continued", "retry", "cache_hit")
    return {
        "step": step.step,
        **{action: step.actions.get(action, 0) for action in counted},
        "tokens": step.tokens,
        "mean_ms": step.average_latency,
        "p50_ms": step.percentile(50),
        "p90_ms": step.percentile(90),
        "p99_ms": step.percentile(99),
    }
