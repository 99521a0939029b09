"""One step of one run, from its condition to its outcome."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from adknb.core.events import new_id
from adknb.core.run import Run, Session
from adknb.workflow.actions import ErrorAction
from adknb.workflow.adapters import adapt, transform
from adknb.workflow.agents import Answer, StepAgent, ask_through, written_by
from adknb.workflow.data import PipelineData, PipelineError, PipelineMetadata
from adknb.workflow.errors import BudgetExceededError, StepFailedError, StepTimeoutError
from adknb.workflow.events import StepAction
from adknb.workflow.functions import FunctionAgent
from adknb.workflow.handler import call, decide, updates_of
from adknb.workflow.keys import PAYLOAD
from adknb.workflow.metering import Meter
from adknb.workflow.middleware import StepRequest
from adknb.workflow.outcome import StepOutcome, StepStatus, previous_steps, with_output
from adknb.workflow.retry import RetryAttempt, RetryPolicy, cancellation
from adknb.workflow.step import Step
from adknb.workflow.takeover import own_session
from adknb.workflow.under_way import Policies, UnderWay

T = TypeVar("T")

RETRIES: Final = RetryPolicy(max_attempts=3)
"""What ErrorAction.RETRY stands for where neither step nor workflow has a policy."""
_ONCE: Final = RetryPolicy()


@dataclass(frozen=True, slots=True)
class Performer:
    """A step made ready: its agents, and its place in the workflow, from 0."""

    index: int
    step: Step
    agent: StepAgent
    fallback: StepAgent | None


@dataclass(frozen=True, slots=True)
class Ended:
    """A step's outcome, the run of the agent that gave its output (None without one), and the runs of failed attempts.

    `state` are values for the state that neither that run wrote nor the context has.
    """

    outcome: StepOutcome
    run: Run | None = None
    failed: tuple[Run, ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Performance:
    """A step at work. `data` is what the workflow has before it, `base` the session that it starts from."""

    run: UnderWay
    performer: Performer
    data: PipelineData
    base: Session
    number: int = 0
    tokens: int = 0
    last: Meter | None = None
    ms: float = 0.0
    cancelled: Callable[[], bool] = field(init=False, repr=False)

    @property
    def step(self) -> Step:
        return self.performer.step

    @property
    def policies(self) -> Policies:
        return self.run.policies

    @property
    def runs(self) -> list[Run]:
        """The attempts so far."""
        return self.run.runs.setdefault(self.step.name, [])

    async def end(self) -> Ended:
        """Perform the step. Raises `StepFailedError` when that is what its error action says.

        A task that was cancelled ends as cancelled, whatever the user's code made of it.
        """
        self.cancelled = cancellation()
        try:
            ended = await self._end()
        except Exception as error:
            await self._stop_if_cancelled(error)
            raise
        await self._stop_if_cancelled(None)
        return ended

    async def _stop_if_cancelled(self, error: Exception | None) -> None:
        if not self.cancelled():
            return
        import asyncio

        import anyio.lowlevel

        await anyio.lowlevel.checkpoint_if_cancelled()  # raises the one that a scope of anyio's knows for its own
        raise asyncio.CancelledError from error

    async def _end(self) -> Ended:
        given = self._given()
        try:
            if self.step.condition is not None and not await call(self.step.condition, given):
                self._tell("skipped", detail="its condition said no")
                return Ended(self._outcome("skipped"))
            sent = await self._prepared(given)
            answer, outcome = await self._policy().run(
                lambda: self._attempt(given, sent),
                classifier=self.policies.classifier, deadline=self.run.deadline, on_retry=self._tell_retry,
                sleep=self.policies.sleep, clock=self.policies.clock,
            )  # fmt: skip
        except Exception as error:
            await self._stop_if_cancelled(error)
            return await self._after(error, given)
        return self._ended(outcome, answer, answer.state)

    # what goes in

    def _given(self) -> PipelineData:
        """The data as the step sees it: with the workflow's input where it says that it does not read the payload."""
        reads = self.step.reads
        if reads is None or PAYLOAD in reads:
            return self.data
        return self.data.with_(payload=self.run.given)

    async def _prepared(self, given: PipelineData) -> PipelineData:
        """The data as the agent is sent it."""
        step, payload = self.step, given.payload
        where = f"step {step.name!r}"
        if step.input_adapter is not None:
            payload = await call(adapt, step.input_adapter, payload, where)
        if step.transformer is not None:
            payload = await call(transform, step.transformer, payload, where)
        return given if payload is given.payload else given.with_(payload=payload)

    def _policy(self) -> RetryPolicy:
        own = self.step.retry_policy or self.policies.retry_policy
        return own or (RETRIES if self.step.on_error is ErrorAction.RETRY else _ONCE)

    # an attempt

    async def _attempt(self, given: PipelineData, sent: PipelineData) -> tuple[Answer, StepOutcome]:
        """One attempt: what the agent answered, and what the step makes of it."""
        self.number += 1
        self._tell("started", data=sent)
        breaker = self.step.circuit_breaker

        async def ask() -> Answer:
            return await self._ask(self.performer.agent, sent)

        answer = await (ask() if breaker is None else breaker.call(ask))
        payload = answer.payload
        if self.step.output_adapter is not None:
            payload = await call(adapt, self.step.output_adapter, payload, f"output of step {self.step.name!r}")
        outcome = self._outcome("completed", payload=payload, updates=answer.context)
        said = with_output(given, outcome)
        if self.step.context_updates is not None:
            updates = {**answer.context, **await updates_of(self.step.context_updates, said)}
            outcome = replace(outcome, updates=PipelineData(None, context=updates).context)
            said = with_output(given, outcome)
        self._tell_output(said)
        return answer, outcome

    async def _ask(self, agent: StepAgent, sent: PipelineData) -> Answer:
        """Ask within the step's time, through the middleware, on a session of this attempt's own."""
        self.last = own = Meter(self.run.budget, self.step.name, self.step.cache)

        def session() -> Session:
            return own_session(self.base, self.runs, share_history=self.policies.share_history)

        request = StepRequest(
            self.run.workflow, self.run.run_id, self.performer.index, self.step.name, self.number, sent
        )  # fmt: skip
        started = self.policies.clock()
        try:
            return await self._within(
                lambda: ask_through(self.policies.middleware, agent, request, session, own, self.runs)
            )
        finally:
            self.ms = (self.policies.clock() - started) * 1000
            self.tokens += own.tokens
            self.run.tokens += own.tokens

    async def _within(self, work: Callable[[], Awaitable[T]]) -> T:
        seconds = self.step.timeout
        if seconds is None:
            return await work()
        import anyio

        with anyio.move_on_after(seconds):
            return await work()
        raise StepTimeoutError(
            f"step {self.step.name!r} took longer than its {seconds:g} s. Give it longer (timeout=…), or less to do."
        )

    # what comes out

    async def _after(self, error: Exception, given: PipelineData) -> Ended:
        """What the error handler or the step's action makes of an error that is left."""
        classification = self.policies.classifier.classify(error)
        problem = classification.pipeline_error(error, self.step.name)
        if isinstance(error, BudgetExceededError):
            self._tell("budget", error=problem, detail=f"{error.remaining:,} of {error.limit:,} tokens are left")
        self._tell_ended("failed", problem)
        try:
            action = await decide(self.policies.error_handler, self.step, given, error, classification)
        except Exception as second:
            raise self._failed_again(second, error, "error handler") from second
        if isinstance(action, PipelineData):
            return self._instead(action, given, problem)
        match action:
            case ErrorAction.SKIP:
                self._tell("skipped", error=problem)
                return Ended(self._outcome("skipped", error=problem))
            case ErrorAction.CONTINUE:
                self._tell("continued", error=problem)
                return Ended(self._outcome("continued", error=problem))
            case ErrorAction.FALLBACK if self.performer.fallback is not None:
                return await self._fall_back(self.performer.fallback, given, problem, error)
        raise self._failure(problem) from error

    async def _fall_back(
        self, fallback: StepAgent, given: PipelineData, problem: PipelineError, error: Exception
    ) -> Ended:
        try:
            answer = await self._ask(fallback, given)
            outcome = self._outcome("fallback", payload=answer.payload, updates=answer.context, error=problem)
        except Exception as second:
            await self._stop_if_cancelled(second)
            raise self._failed_again(second, error, "fallback") from second
        self._tell_output(with_output(given, outcome), "fallback", problem)
        return self._ended(outcome, answer, {**self._said(outcome, written_by(answer.run)), **answer.state})

    def _said(self, outcome: StepOutcome, wrote: Mapping[str, Any]) -> dict[str, Any]:
        """Whoever answers in the agent's place answers under its key too, for those who read it there."""
        said = self.performer.agent.said(outcome.payload)
        return {key: value for key, value in said.items() if key not in wrote}

    def _ended(self, outcome: StepOutcome, answer: Answer, state: Mapping[str, Any]) -> Ended:
        """The session takes over the run of an agent. A function's has nothing that the outcome does not say."""
        turn = answer.run if answer.run is not None and not isinstance(answer.run.root, FunctionAgent) else None
        wrote = tuple(sorted({*written_by(turn), *state}))
        others = tuple(run for run in self.runs if run is not turn)
        return Ended(replace(outcome, wrote=wrote), turn, others, state)

    def _instead(self, data: PipelineData, given: PipelineData, problem: PipelineError) -> Ended:
        """The error handler's own data, as a fallback's output."""
        missing = object()
        updates = {name: value for name, value in data.context.items() if given.context.get(name, missing) != value}
        self.last, self.ms = None, 0.0
        outcome = self._outcome("fallback", payload=data.payload, updates=updates, error=problem)
        self._tell_output(with_output(given, outcome), "fallback", problem)
        state = self._said(outcome, {})
        return Ended(replace(outcome, wrote=tuple(state)), state=state)

    def _failed_again(self, second: Exception, first: Exception, what: str) -> StepFailedError:
        """What was to help with the first error raised one of its own."""
        again = self.policies.classifier.classify(second).pipeline_error(second, self.step.name)
        self._tell_ended("failed", again, detail=f"the {what} failed too")
        second.__cause__ = second.__cause__ or first
        return self._failure(again, f" and its {what} too")

    def _failure(self, problem: PipelineError, too: str = "") -> StepFailedError:
        times = f" after {self.number} attempts" if self.number > 1 else ""
        place = f"step {self.performer.index + 1} ({self.step.name})"
        return StepFailedError(f"{place} failed{times}{too}: {problem}", self.step.name)

    def _outcome(
        self,
        status: StepStatus,
        *,
        payload: Any = None,
        updates: Mapping[str, Any] | None = None,
        error: PipelineError | None = None,
    ) -> StepOutcome:
        own = self.last
        metadata = PipelineMetadata(
            new_id()[:12], self.step.name, latency_ms=self.ms, token_used=own.tokens if own is not None else 0,
            retry_count=max(0, self.number - 1), previous_steps=previous_steps(self.data),
        )  # fmt: skip
        cached = status == "completed" and own is not None and own.is_cached
        said = PipelineData(payload, metadata, updates or {})  # frozen: whoever made it cannot change it any more
        return StepOutcome(
            self.performer.index, self.step.name, status, metadata, said.payload, said.context, error, self.number,
            self.tokens, cached,
        )  # fmt: skip

    # who is told

    def _tell(self, action: StepAction, **fields: Any) -> None:
        self.run.tell(self.performer.index, self.step.name, action, attempt=self.number, **fields)

    def _tell_retry(self, retry: RetryAttempt) -> None:
        problem = self.policies.classifier.classify(retry.error).pipeline_error(retry.error, self.step.name)
        self._tell_ended("retry", problem, wait=retry.wait)

    def _tell_ended(self, action: StepAction, problem: PipelineError, **fields: Any) -> None:
        """An attempt failed; its time and tokens are told once."""
        own, self.last = self.last, None
        ms, self.ms = self.ms, 0.0
        self._tell(action, error=problem, latency_ms=ms, **_cost(own), **fields)

    def _tell_output(
        self, data: PipelineData, action: StepAction = "completed", problem: PipelineError | None = None
    ) -> None:
        own = self.last
        detail = ""
        if own is not None and own.is_cached and action == "completed":
            action = "cache_hit"
        elif own is not None and own.hits:
            detail = f"{own.hits} of {own.calls} calls were answered by the cache"
        self._tell(action, data=data, error=problem, latency_ms=self.ms, detail=detail, **_cost(own))


def _cost(attempt: Meter | None) -> dict[str, Any]:
    return {} if attempt is None else {"tokens": attempt.tokens, "usage": attempt.usage}
