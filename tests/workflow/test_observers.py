"""Who watches is told everything in order; who raises is reported, and hurts neither the others nor the run."""

import asyncio
import logging
from typing import Any

import pytest

from adknb.core.errors import SpecError
from adknb.workflow.data import PipelineData, PipelineError
from adknb.workflow.events import StepAction, StepEvent
from adknb.workflow.observers import LoggingObserver, Observers

ERROR = PipelineError("ModelError", "answered 503", "research", True, "model", "high")


def event(action: StepAction, **fields: Any) -> StepEvent:
    return StepEvent(
        "news", "run-1", fields.pop("step_index", 0), fields.pop("step_name", "research"), action, **fields
    )


STORY = [
    event("run_started", step_index=-1, step_name=""),
    event("started", attempt=1, data=PipelineData("a topic")),
    event("retry", attempt=1, error=ERROR, wait=1.5),
    event("started", attempt=2, data=PipelineData("a topic")),
    event("completed", attempt=2, data=PipelineData({"facts": 3}), latency_ms=1234.0, tokens=1_500),
    event("skipped", step_index=1, step_name="check", detail="its condition said no"),
    event("failed", step_index=2, step_name="editing", attempt=1, error=ERROR),
    event("fallback", step_index=2, step_name="editing", error=ERROR, data=PipelineData("draft")),
    event("run_completed", step_index=-1, step_name="", latency_ms=3000.0, tokens=1_500),
]


class Recorder:
    def __init__(self) -> None:
        self.seen: list[object] = []

    def on_event(self, event: StepEvent) -> None:
        self.seen.append(event)


class OfTheSeed:
    def __init__(self) -> None:
        self.seen: list[object] = []

    def on_step_start(self, step: str, input: object) -> None:
        self.seen.append(("start", step, input))

    def on_step_complete(self, step: str, result: object, latency: float) -> None:
        self.seen.append(("complete", step, result, latency))

    def on_step_error(self, step: str, error: PipelineError, attempt: int) -> None:
        self.seen.append(("error", step, error, attempt))


class Broken(Recorder):
    def on_event(self, event: StepEvent) -> None:
        super().on_event(event)
        raise KeyError(event.action)


def test_each_observer_is_told_everything_in_order() -> None:
    first, second = Recorder(), Recorder()
    watching = Observers([first, second])
    for each in STORY:
        watching.notify(each)
    assert first.seen == second.seen == STORY
    assert watching.faults == ()


def test_methods_by_name_are_told_what_they_ask_for() -> None:
    observer = OfTheSeed()
    watching = Observers([observer])
    for each in STORY:
        watching.notify(each)
    assert observer.seen == [
        ("start", "research", "a topic"),
        ("error", "research", ERROR, 1),
        ("start", "research", "a topic"),
        ("complete", "research", {"facts": 3}, 1.234),
        ("error", "editing", ERROR, 1),
    ]


def test_one_method_is_enough() -> None:
    class Latencies:
        seen: list[float] = []  # noqa: RUF012

        def on_step_complete(self, step: str, result: object, latency: float) -> None:
            self.seen.append(latency)

    watching = Observers([Latencies()])
    for each in STORY:
        watching.notify(each)
    assert Latencies.seen == [1.234]
    assert watching.faults == ()


def test_an_observer_that_raises_is_reported_and_hurts_nothing(caplog: pytest.LogCaptureFixture) -> None:
    broken, other = Broken(), Recorder()
    watching = Observers([broken, other, broken])
    for each in STORY:
        watching.notify(each)
    assert other.seen == STORY
    (fault,) = watching.faults
    assert (fault.observer, repr(fault.error), fault.often) == (broken, "KeyError('run_started')", 2 * len(STORY))
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage() == (
        "observer Broken raised at 'run_started' of step ''; the workflow goes on, and further errors of it are only counted"
    )
    assert record.exc_info is not None


def test_an_interrupt_goes_through() -> None:
    class Interrupted:
        def on_event(self, event: StepEvent) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Observers([Interrupted()]).notify(STORY[0])


class Asynchronous:
    async def on_event(self, event: StepEvent) -> None:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("observer", "message"),
    [
        (object(), "is no observer: it needs on_event"),
        (Asynchronous(), "an observer's methods are plain functions"),
    ],
)
def test_what_cannot_be_told_is_refused_at_once(observer: object, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Observers([observer])


def test_the_log_has_a_line_for_each_event(caplog: pytest.LogCaptureFixture) -> None:
    observer = LoggingObserver()
    with caplog.at_level(logging.INFO, "adknb.workflow"):
        for each in STORY:
            observer.on_event(each)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "[news] run_started"),
        ("INFO", "[news] step research started"),
        ("WARNING", "[news] step research retry (attempt 1) in 1.50 s: ModelError: answered 503"),
        ("INFO", "[news] step research started"),
        ("INFO", "[news] step research completed in 1,234 ms, 1,500 tokens"),
        ("INFO", "[news] step check skipped: its condition said no"),
        ("WARNING", "[news] step editing failed (attempt 1): ModelError: answered 503"),
        ("WARNING", "[news] step editing fallback: ModelError: answered 503"),
        ("INFO", "[news] run_completed in 3,000 ms, 1,500 tokens"),
    ]


def test_the_log_is_safe_to_print(caplog: pytest.LogCaptureFixture) -> None:
    hostile = PipelineError("ModelError", "line\nfeed \x1b[2J" + "x" * 1000, "a")
    LoggingObserver(logging.getLogger("mine"), logging.DEBUG).on_event(event("failed", error=hostile))
    (record,) = caplog.records
    assert record.name == "mine"
    assert "\n" not in record.getMessage()
    assert r"\x1b[2J" in record.getMessage()
    assert len(record.getMessage()) == 500


def test_what_the_log_does_not_show_is_not_made() -> None:
    logger = logging.getLogger("adknb.quiet")
    logger.setLevel(logging.ERROR)
    wrong: Any = object()  # has no attribute that a line could be made of, but for the error
    with pytest.raises(AttributeError):
        LoggingObserver(logger).on_event(wrong)
    LoggingObserver(logger).on_event(event("started"))


def test_an_observer_that_asks_for_something_cancelled_cancels_nobody() -> None:
    class Asks:
        def on_event(self, event: StepEvent) -> None:
            raise asyncio.CancelledError

    watching = Observers([Asks()])
    watching.notify(event("started"))
    assert isinstance(watching.faults[0].error, asyncio.CancelledError)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_is_no_observer_s_fault(kind: type[BaseException]) -> None:
    class Ends:
        def on_event(self, event: StepEvent) -> None:
            raise kind

    with pytest.raises(kind):
        Observers([Ends()]).notify(event("started"))


def test_a_result_from_a_cache_completes_the_step_too() -> None:
    observer = OfTheSeed()
    watching = Observers([observer])
    watching.notify(event("started", data=PipelineData("a topic")))
    watching.notify(event("cache_hit", data=PipelineData("kept"), latency_ms=2.0))
    assert observer.seen == [("start", "research", "a topic"), ("complete", "research", "kept", 0.002)]
