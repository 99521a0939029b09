"""Figures by step, equal to numpy's where numpy has them."""

import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st

from adknb.core.errors import AdknbError, SpecError
from adknb.workflow.data import PipelineError
from adknb.workflow.events import StepAction, StepEvent
from adknb.workflow.metrics import MetricsObserver

ERROR = PipelineError("ModelError", "answered 503", "research")


def tell(metrics: MetricsObserver, step: str, action: StepAction, latency_ms: float = 0.0, tokens: int = 0) -> None:
    metrics.on_event(StepEvent("news", "run-1", 0, step, action, latency_ms=latency_ms, tokens=tokens))


@pytest.fixture
def metrics() -> MetricsObserver:
    told = MetricsObserver()
    tell(told, "", "run_started")
    for latency in (100.0, 300.0, 200.0):
        tell(told, "research", "started")
        tell(told, "research", "retry", 5000.0, 10)
        tell(told, "research", "completed", latency, 1_000)
    tell(told, "check", "skipped")
    tell(told, "check", "cache_hit")
    tell(told, "", "run_completed", 9000.0, 3_000)
    return told


def test_a_step(metrics: MetricsObserver) -> None:
    step = metrics.step("research")
    assert step.actions == {"started": 3, "retry": 3, "completed": 3}
    assert (step.retries, step.tokens, step.latencies, step.average_latency) == (3, 3_030, (100.0, 300.0, 200.0), 200.0)
    assert [step.percentile(percent) for percent in (0, 25, 50, 90, 100)] == [100.0, 150.0, 200.0, 280.0, 300.0]
    assert metrics.steps == ("research", "check")


def test_a_step_without_a_success(metrics: MetricsObserver) -> None:
    step = metrics.step("check")
    assert (step.average_latency, step.percentile(50), step.retries, step.tokens) == (0.0, 0.0, 0, 0)


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=50),
    st.floats(0, 100),
)
def test_percentiles_are_numpys(latencies: list[float], percent: float) -> None:
    told = MetricsObserver()
    for latency in latencies:
        tell(told, "a", "completed", latency)
    step = told.step("a")
    assert step.percentile(percent) == pytest.approx(np.percentile(latencies, percent), abs=1e-6)
    assert min(latencies) <= step.percentile(percent) <= max(latencies)
    assert step.average_latency == pytest.approx(np.mean(latencies))


@pytest.mark.parametrize("percent", [-1, 101, float("nan")])
def test_a_percentile_out_of_range_is_refused(percent: float, metrics: MetricsObserver) -> None:
    with pytest.raises(SpecError, match="from 0 to 100"):
        metrics.step("research").percentile(percent)


def test_a_step_that_was_not_heard_of(metrics: MetricsObserver) -> None:
    with pytest.raises(AdknbError, match=r"nothing was heard of a step 'reserch'\. Did you mean 'research'\?"):
        metrics.step("reserch")


def test_as_a_table(metrics: MetricsObserver) -> None:
    frame = metrics.to_frame()
    assert list(frame.columns) == [
        "completed", "failed", "skipped", "fallback", "continued", "retry", "cache_hit", "tokens",
        "mean_ms", "p50_ms", "p90_ms", "p99_ms",
    ]  # fmt: skip
    assert list(frame.loc["research"]) == [3, 0, 0, 0, 0, 3, 0, 3_030, 200.0, 200.0, 280.0, 298.0]
    assert list(frame.loc["check"]) == [0, 0, 1, 0, 0, 0, 1, 0, 0.0, 0.0, 0.0, 0.0]
    empty = MetricsObserver().to_frame()
    assert (len(empty), list(empty.columns)) == (0, list(frame.columns))


def test_threads_lose_no_event() -> None:
    told, start = MetricsObserver(), threading.Barrier(8)

    def work() -> None:
        start.wait()
        for number in range(500):
            tell(told, f"step {number % 3}", "completed", 1.0, 2)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    steps = [told.step(name) for name in sorted(told.steps)]
    assert [(step.actions["completed"], step.tokens, len(step.latencies)) for step in steps] == [
        (1336, 2672, 1336),
        (1336, 2672, 1336),
        (1328, 2656, 1328),
    ]
