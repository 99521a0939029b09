"""A workflow's runs as OpenTelemetry traces, in the words of its conventions for generative AI."""

from __future__ import annotations

import threading
from datetime import datetime
from typing import TYPE_CHECKING, Final

from adknb.core.errors import AdknbError
from adknb.workflow.events import StepEvent

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer
    from opentelemetry.util.types import AttributeValue

_ENDS: Final = frozenset({"completed", "retry", "failed", "cache_hit"})
"""What ends an attempt."""


class OpenTelemetryObserver:
    """Makes a span `invoke_workflow NAME` for each run, and in it a span `invoke_agent STEP` for each attempt of a step.

    Attributes are those of the GenAI semantic conventions where they have a word (`gen_ai.operation.name`,
    `gen_ai.workflow.name`, `gen_ai.agent.name`, `gen_ai.conversation.id`, `gen_ai.usage.*`, `error.type`), else
    `adknb.step.index`, `adknb.step.attempt`, `adknb.tokens`. What happens beside attempts (a skip, a wait, a fallback, a
    checkpoint) is an event of the run's span. Nothing that was sent or said is in a trace, error messages neither.

    `tracer` is the application's; by default that of the global provider. Needs the extra `opentelemetry`.

    >>> from opentelemetry.sdk.trace import TracerProvider
    >>> observer = OpenTelemetryObserver(TracerProvider().get_tracer("newsroom"))
    >>> observer.on_event(StepEvent("news", "run-1", -1, "", "run_started"))
    """

    def __init__(self, tracer: Tracer | None = None) -> None:
        try:
            from opentelemetry import trace
        except ImportError as error:
            raise AdknbError("OpenTelemetryObserver needs the extra: pip install 'adknb[opentelemetry]'") from error
        self._trace: Final = trace
        self._tracer: Final = tracer or trace.get_tracer("adknb")
        self._runs: dict[str, Span] = {}
        self._attempts: dict[tuple[str, int], Span] = {}
        self._lock: Final = threading.Lock()

    def on_event(self, event: StepEvent) -> None:
        with self._lock:  # one observer may watch workflows in several threads
            self._record(event)

    def _record(self, event: StepEvent) -> None:
        attempt = (event.run_id, event.step_index)
        if event.action == "run_started":
            self._runs[event.run_id] = self._begin_run(event)
        elif event.action in ("run_completed", "run_failed"):
            self._end_run(event)
        elif event.action == "started":
            self._end(self._attempts.pop(attempt, None), event)
            self._attempts[attempt] = self._begin_attempt(event)
        elif event.action in _ENDS and attempt in self._attempts:
            self._end(self._attempts.pop(attempt), event)
        elif event.run_id in self._runs:
            self._runs[event.run_id].add_event(event.action, _details(event), timestamp=_nanoseconds(event.at))

    def _begin_run(self, event: StepEvent) -> Span:
        return self._tracer.start_span(
            f"invoke_workflow {event.workflow}",
            attributes={
                "gen_ai.operation.name": "invoke_workflow",
                "gen_ai.workflow.name": event.workflow,
                "gen_ai.conversation.id": event.run_id,
            },
            start_time=_nanoseconds(event.at),
        )

    def _begin_attempt(self, event: StepEvent) -> Span:
        run = self._runs.get(event.run_id)
        return self._tracer.start_span(
            f"invoke_agent {event.step_name}",
            context=self._trace.set_span_in_context(run) if run is not None else None,
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": event.step_name,
                "gen_ai.workflow.name": event.workflow,
                "gen_ai.conversation.id": event.run_id,
                "adknb.step.index": event.step_index,
                "adknb.step.attempt": event.attempt,
            },
            start_time=_nanoseconds(event.at),
        )

    def _end_run(self, event: StepEvent) -> None:
        for attempt in [attempt for attempt in self._attempts if attempt[0] == event.run_id]:
            self._end(self._attempts.pop(attempt), event)
        self._end(self._runs.pop(event.run_id, None), event)

    def _end(self, span: Span | None, event: StepEvent) -> None:
        if span is None:
            return
        span.set_attribute("adknb.tokens", event.tokens)
        if event.usage is not None:
            span.set_attribute("gen_ai.usage.input_tokens", event.usage.input_tokens)
            span.set_attribute("gen_ai.usage.output_tokens", event.usage.output_tokens)
        if event.error is not None:
            span.set_attribute("error.type", event.error.code)
            span.set_status(self._trace.StatusCode.ERROR, event.error.category)
        if event.action == "cache_hit":
            span.set_attribute("adknb.cached", True)
        span.end(_nanoseconds(event.at))


def _details(event: StepEvent) -> dict[str, AttributeValue]:
    details: dict[str, AttributeValue] = {}
    if event.step_name:
        details |= {"gen_ai.agent.name": event.step_name, "adknb.step.index": event.step_index}
    if event.wait:
        details["adknb.wait"] = event.wait
    if event.error is not None:
        details["error.type"] = event.error.code
    return details


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1e9)
