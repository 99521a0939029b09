"""How often a call is tried, and how long between the attempts."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from adknb.core.errors import SpecError
from adknb.workflow.causes import asked_wait
from adknb.workflow.classifier import DEFAULT_CLASSIFIER, ErrorClassifier
from adknb.workflow.limits import is_count

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")
Sleep: TypeAlias = Callable[[float], Awaitable[None]]
Clock: TypeAlias = Callable[[], float]


@dataclass(frozen=True, slots=True)
class ExponentialBackoff:
    """Seconds to wait after each failed attempt: `initial`, then `multiplier` times as long each time, at most `maximum`.

    Of each wait a random share of up to `jitter` (0 to 1) is taken away, so that callers that failed together do not come
    back together. `draw` gives the random numbers, from 0 to 1.

    >>> backoff = ExponentialBackoff(1.0, 10.0, jitter=0)
    >>> [backoff(attempt) for attempt in (1, 2, 3, 4, 5)]
    [1.0, 2.0, 4.0, 8.0, 10.0]
    """

    initial: float = 1.0
    maximum: float = 10.0
    multiplier: float = 2.0
    jitter: float = 0.1
    draw: Callable[[], float] = field(default=random.random, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not (0 <= self.initial <= self.maximum < float("inf") and self.multiplier >= 1 and 0 <= self.jitter <= 1):
            raise SpecError(
                f"{self!r}: seconds with 0 <= initial <= maximum, a multiplier from 1, and a jitter from 0 to 1 are needed"
            )

    def __call__(self, attempt: int) -> float:
        """Seconds to wait after the attempt of this number, which counts from 1."""
        try:
            seconds = min(self.initial * self.multiplier ** (attempt - 1), self.maximum)
        except OverflowError:
            seconds = self.maximum if self.initial else 0.0
        return seconds * (1 - self.jitter * self.draw())


class RetryAttempt(NamedTuple):
    """An attempt, counted from 1, that failed and will be followed by another in `wait` seconds."""

    attempt: int
    error: Exception
    wait: float


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How a call is tried again, by tenacity.

    `max_attempts` are attempts in all: 1 is no retry. `backoff` gives the seconds to wait after the attempt of a number; where
    the server asked for a longer wait (Retry-After) it gets that, and is not asked again where it wants more than
    `longest_wait`. `retry_on` says which errors are tried again: exception types, or a function of the error; None leaves
    it to the classifier.

    >>> import anyio
    >>> async def call() -> str:
    ...     return "answered"
    >>> anyio.run(RetryPolicy(max_attempts=3).run, call)
    'answered'
    """

    max_attempts: int = 1
    backoff: Callable[[int], float] = ExponentialBackoff()
    retry_on: type[Exception] | tuple[type[Exception], ...] | Callable[[Exception], bool] | None = None
    longest_wait: float = 120.0

    def __post_init__(self) -> None:
        if not is_count(self.max_attempts):
            raise SpecError(f"max_attempts are attempts in all, 1 or more, not {self.max_attempts!r}")
        if not self.longest_wait >= 0:
            raise SpecError(f"longest_wait is seconds, 0 or more, not {self.longest_wait!r}")

    def is_retriable(self, error: BaseException, classifier: ErrorClassifier | None = None) -> bool:
        """Whether the same call may be made again after this error. Never after a cancellation or an interrupt."""
        if not isinstance(error, Exception):
            return False
        if self.retry_on is None:
            return (classifier or DEFAULT_CLASSIFIER).classify(error).is_retriable
        if isinstance(self.retry_on, (type, tuple)):
            return isinstance(error, self.retry_on)
        return bool(self.retry_on(error))

    async def run(
        self,
        call: Callable[[], Awaitable[T]],
        *,
        classifier: ErrorClassifier | None = None,
        deadline: float | None = None,
        on_retry: Callable[[RetryAttempt], object] | None = None,
        sleep: Sleep | None = None,
        clock: Clock = time.monotonic,
    ) -> T:
        """The result of `call`, or the error of its last attempt.

        `deadline` is a time of `clock`: no attempt begins at it or later, so a wait that would reach it is not begun, and the
        error is raised at once. An attempt that is under way is not ended here. `on_retry` is told before each wait. Once
        the task is cancelled nothing is tried again, whatever the call made of its cancellation.
        """
        if self.max_attempts == 1:
            return await call()
        cancelled = cancellation()
        try:
            return await call()
        except Exception as error:
            failed: list[Exception] = [error]
        import anyio
        from tenacity import AsyncRetrying, retry_if_exception

        plan = _Plan(self, deadline, clock)

        def may_succeed(error: BaseException) -> bool:
            return not cancelled() and self.is_retriable(error, classifier)

        def tell(state: RetryCallState) -> None:
            error = _error(state)
            if on_retry is not None and isinstance(error, Exception):
                on_retry(RetryAttempt(state.attempt_number, error, state.upcoming_sleep))

        async def attempt() -> T:
            if failed:  # the first was made above, since nearly all need no second and nothing that is for it
                raise failed.pop()
            return await call()

        retrying = AsyncRetrying(
            retry=retry_if_exception(may_succeed),
            wait=plan.wait,
            stop=plan.stop,
            before_sleep=tell,
            sleep=sleep or anyio.sleep,
            reraise=True,
        )
        return await retrying(attempt)


class _Plan:
    """The waits of one run, as tenacity asks for them: first how long, then whether to stop instead."""

    def __init__(self, policy: RetryPolicy, deadline: float | None, clock: Clock) -> None:
        self._policy: Final = policy
        self._deadline: Final = deadline
        self._clock: Final = clock

    def wait(self, state: RetryCallState) -> float:
        return max(self._policy.backoff(state.attempt_number), _asked(state))

    def stop(self, state: RetryCallState) -> bool:
        return (
            state.attempt_number >= self._policy.max_attempts
            or _asked(state) > self._policy.longest_wait
            or (self._deadline is not None and self._clock() + state.upcoming_sleep >= self._deadline)
        )


def _asked(state: RetryCallState) -> float:
    """Seconds that the server asked to wait, 0 where it did not."""
    error = _error(state)
    return (asked_wait(error) or 0.0) if error is not None else 0.0


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None


def cancellation() -> Callable[[], bool]:
    """A function that says whether the current task was asked to end since now."""
    import asyncio

    task = asyncio.current_task()
    if task is None:
        return lambda: False
    before = task.cancelling()
    return lambda: task.cancelling() > before
