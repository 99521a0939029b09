"""A run as a trace: one span for it, one for each attempt, in the conventions' words."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as conventions

from adknb.core.usage import Usage
from adknb.workflow.data import PipelineData, PipelineError
from adknb.workflow.events import StepAction, StepEvent
from adknb.workflow.telemetry import OpenTelemetryObserver

ERROR = PipelineError("ModelError", "answered 503: SECRET", "research", True, "model", "high")
BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Trace:
    """An observer, and the spans that it made."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.observer = OpenTelemetryObserver(provider.get_tracer("test"))
        self.now = BEGIN

    def tell(
        self, action: StepAction, step: str = "research", index: int = 0, run: str = "run-1", **fields: Any
    ) -> None:
        self.now += timedelta(seconds=1)
        if action.startswith("run_"):
            step, index = "", -1
        self.observer.on_event(StepEvent("news", run, index, step, action, at=self.now, **fields))

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())


@pytest.fixture
def trace() -> Trace:
    return Trace()


def seconds(span: ReadableSpan) -> tuple[float, float]:
    start = BEGIN.timestamp()
    return (span.start_time or 0) / 1e9 - start, (span.end_time or 0) / 1e9 - start


def test_a_run_with_a_retry(trace: Trace) -> None:
    trace.tell("run_started")
    trace.tell("started", attempt=1, data=PipelineData("SECRET"))
    trace.tell("retry", attempt=1, error=ERROR, wait=1.5)
    trace.tell("started", attempt=2, data=PipelineData("SECRET"))
    trace.tell("completed", attempt=2, data=PipelineData("SECRET"), tokens=1_500, usage=Usage(1_200, 300))
    trace.tell("run_completed", tokens=1_500, usage=Usage(1_200, 300))
    first, second, run = trace.spans
    assert [(span.name, span.status.status_code.name, seconds(span)) for span in (first, second, run)] == [
        ("invoke_agent research", "ERROR", (2.0, 3.0)),
        ("invoke_agent research", "UNSET", (4.0, 5.0)),
        ("invoke_workflow news", "UNSET", (1.0, 6.0)),
    ]
    assert run.context is not None
    for span in (first, second):
        assert span.parent is not None
        assert span.parent.span_id == run.context.span_id
    assert dict(first.attributes or {}) == {
        conventions.GEN_AI_OPERATION_NAME: conventions.GenAiOperationNameValues.INVOKE_AGENT.value,
        conventions.GEN_AI_AGENT_NAME: "research",
        conventions.GEN_AI_WORKFLOW_NAME: "news",
        conventions.GEN_AI_CONVERSATION_ID: "run-1",
        "adknb.step.index": 0,
        "adknb.step.attempt": 1,
        "adknb.tokens": 0,
        "error.type": "ModelError",
    }
    assert first.status.description == "model"
    assert dict(second.attributes or {}) == {
        conventions.GEN_AI_OPERATION_NAME: "invoke_agent",
        conventions.GEN_AI_AGENT_NAME: "research",
        conventions.GEN_AI_WORKFLOW_NAME: "news",
        conventions.GEN_AI_CONVERSATION_ID: "run-1",
        "adknb.step.index": 0,
        "adknb.step.attempt": 2,
        "adknb.tokens": 1_500,
        conventions.GEN_AI_USAGE_INPUT_TOKENS: 1_200,
        conventions.GEN_AI_USAGE_OUTPUT_TOKENS: 300,
    }
    assert dict(run.attributes or {}) == {
        conventions.GEN_AI_OPERATION_NAME: conventions.GenAiOperationNameValues.INVOKE_WORKFLOW.value,
        conventions.GEN_AI_WORKFLOW_NAME: "news",
        conventions.GEN_AI_CONVERSATION_ID: "run-1",
        "adknb.tokens": 1_500,
        conventions.GEN_AI_USAGE_INPUT_TOKENS: 1_200,
        conventions.GEN_AI_USAGE_OUTPUT_TOKENS: 300,
    }
    assert "SECRET" not in "".join(span.to_json() for span in trace.spans)


def test_what_happens_beside_attempts_is_an_event_of_the_run(trace: Trace) -> None:
    trace.tell("run_started")
    trace.tell("skipped", "check", 1)
    trace.tell("waiting", "editing", 2, wait=2.5)
    trace.tell("started", "editing", 2, attempt=1)
    trace.tell("failed", "editing", 2, attempt=1, error=ERROR)
    trace.tell("fallback", "editing", 2, error=ERROR)
    trace.tell("run_completed")
    attempt, run = trace.spans
    assert attempt.status.status_code.name == "ERROR"
    assert [(event.name, dict(event.attributes or {})) for event in run.events] == [
        ("skipped", {"gen_ai.agent.name": "check", "adknb.step.index": 1}),
        ("waiting", {"gen_ai.agent.name": "editing", "adknb.step.index": 2, "adknb.wait": 2.5}),
        ("fallback", {"gen_ai.agent.name": "editing", "adknb.step.index": 2, "error.type": "ModelError"}),
    ]


def test_a_cache_hit_ends_its_attempt(trace: Trace) -> None:
    trace.tell("run_started")
    trace.tell("started", attempt=1)
    trace.tell("cache_hit", attempt=1)
    trace.tell("cache_hit", "check", 1)
    trace.tell("run_completed")
    attempt, run = trace.spans
    assert (attempt.attributes or {})["adknb.cached"] is True
    assert [event.name for event in run.events] == ["cache_hit"]


def test_steps_and_runs_at_once_do_not_mix(trace: Trace) -> None:
    for run in ("run-1", "run-2"):
        trace.tell("run_started", run=run)
        trace.tell("started", "a", 0, run)
        trace.tell("started", "b", 1, run)
    for run in ("run-2", "run-1"):
        trace.tell("completed", "b", 1, run)
        trace.tell("completed", "a", 0, run)
    trace.tell("run_completed", run="run-1")
    trace.tell("run_completed", run="run-2")
    spans = trace.spans
    assert [span.name for span in spans] == [
        "invoke_agent b", "invoke_agent a", "invoke_agent b", "invoke_agent a",
        "invoke_workflow news", "invoke_workflow news",
    ]  # fmt: skip
    runs = {(span.attributes or {})["gen_ai.conversation.id"]: span.context for span in spans[4:]}
    for span in spans[:4]:
        context = runs[(span.attributes or {})["gen_ai.conversation.id"]]
        assert span.parent is not None
        assert context is not None
        assert span.parent.span_id == context.span_id


def test_a_run_that_fails_ends_what_is_open(trace: Trace) -> None:
    trace.tell("run_started")
    trace.tell("started", attempt=1)
    trace.tell("run_failed", error=ERROR)
    assert [(span.name, span.status.status_code.name) for span in trace.spans] == [
        ("invoke_agent research", "ERROR"),
        ("invoke_workflow news", "ERROR"),
    ]


def test_without_the_run_attempts_stand_alone(trace: Trace) -> None:
    trace.tell("skipped")
    trace.tell("started", attempt=1)
    trace.tell("completed", attempt=1)
    trace.tell("run_completed")
    (attempt,) = trace.spans
    assert attempt.parent is None


def test_by_default_spans_go_to_the_global_provider() -> None:
    observer = OpenTelemetryObserver()
    observer.on_event(StepEvent("news", "run-1", -1, "", "run_started"))
    observer.on_event(StepEvent("news", "run-1", -1, "", "run_completed"))
