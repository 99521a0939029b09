"""Events of a workflow, written by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from adknb.workflow.data import PipelineData, PipelineError
from adknb.workflow.events import StepAction, StepEvent

BEGIN = datetime(2026, 3, 2, 7, 30, tzinfo=UTC)


def at(ms: float) -> datetime:
    """So many milliseconds after the beginning."""
    return BEGIN + timedelta(milliseconds=ms)


def event(ms: float, place: int, name: str, action: StepAction, attempt: int = 1, **more: Any) -> StepEvent:
    return StepEvent("news", "run-1", place, name, action, attempt, at=at(ms), **more)


def error(message: str, step: str, category: str = "") -> PipelineError:
    return PipelineError("ModelError", message, step, True, category)


def eventful() -> list[StepEvent]:
    """A run in which every policy had something to do."""
    limited = error("Too many requests", "research", "rate_limit")
    slow = error("took longer than 20 ms", "editing", "timeout")
    return [
        event(0, 0, "research", "started", data=PipelineData("tides")),
        event(400, 0, "research", "retry", error=limited, wait=0.3, latency_ms=400),
        event(700, 0, "research", "started", 2, data=PipelineData("tides")),
        event(1300, 0, "research", "completed", 2, data=PipelineData({"facts": []}), tokens=1210, latency_ms=600),
        event(1300, 0, "research", "checkpoint"),
        event(1300, 1, "writing", "started", data=PipelineData("Write.")),
        event(2100, 1, "writing", "completed", data=PipelineData("An article."), tokens=940, latency_ms=800),
        event(2100, 1, "writing", "checkpoint"),
        event(2100, 2, "fact-check", "skipped", 0, detail="its condition said no"),
        event(2100, 3, "editing", "started", data=PipelineData("An article.")),
        event(2120, 3, "editing", "failed", error=slow, latency_ms=20),
        event(2130, 3, "editing", "fallback", data=PipelineData("An article, raw.")),
        event(2130, 4, "translating", "cache_hit", 0, data=PipelineData("Ein Artikel.")),
        event(2131, 5, "checking", "started", data=PipelineData("Ein Artikel.")),
        event(2140, 5, "checking", "failed", error=error("no", "checking"), tokens=5),
        event(2140, 5, "checking", "continued", error=error("no", "checking"), data=PipelineData("Ein Artikel.")),
    ]
