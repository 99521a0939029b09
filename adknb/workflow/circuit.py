"""A breaker that stops calling what keeps failing, and tries it again after a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TypeVar

from adknb.core.errors import SpecError
from adknb.workflow.causes import is_refusal
from adknb.workflow.classifier import DEFAULT_CLASSIFIER, ErrorCategory
from adknb.workflow.errors import CircuitOpenError
from adknb.workflow.limits import is_count, is_seconds
from adknb.workflow.retry import Clock

T = TypeVar("T")


class CircuitState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitBreaker:
    """Refuses calls after `threshold` failures in a row, for `reset_timeout` seconds. For tasks and threads alike.

    | state       | a call                                      | it succeeds                        | it fails              |
    |-------------|---------------------------------------------|------------------------------------|-----------------------|
    | `closed`    | is made                                     | failures are forgotten             | the last one: `open`  |
    | `open`      | `CircuitOpenError`; after the time a trial  |                                    |                       |
    | `half_open` | a trial, `half_open_max_calls` in all       | once all of them did: `closed`     | `open`, for as long   |

    In `half_open` further calls are refused until the trials have ended. A call that was cancelled, or whose error does not
    count, gives its trial back. A call counts for the state in which it began, not for one that came meanwhile.

    `counts` says which errors are failures of what is called; by default all but those of category `validation`, where the
    request was at fault, and those of other policies that refused it. One breaker may guard several steps.

    >>> breaker = CircuitBreaker(threshold=1, clock=lambda: 0.0)
    >>> with breaker.guard():
    ...     raise ConnectionError("refused")
    Traceback (most recent call last):
    ConnectionError: refused
    >>> breaker.state.value
    'open'
    """

    def __init__(
        self,
        threshold: int = 5,
        reset_timeout: float = 30.0,
        half_open_max_calls: int = 1,
        *,
        counts: Callable[[Exception], bool] | None = None,
        name: str = "",
        clock: Clock = time.monotonic,
    ) -> None:
        if not (is_count(threshold) and is_count(half_open_max_calls) and is_seconds(reset_timeout)):
            raise SpecError(
                "a circuit breaker needs a threshold and half_open_max_calls from 1, and a reset_timeout above 0 seconds; "
                f"not {threshold!r}, {half_open_max_calls!r}, {reset_timeout!r}"
            )
        self.threshold = threshold
        self.reset_timeout = reset_timeout
        self.half_open_max_calls = half_open_max_calls
        self.name = name
        self._counts = counts or _is_of_the_called
        self._clock = clock
        self._lock = threading.Lock()
        self._state = CircuitState.CLOSED
        self._period = 0
        self._failures = 0
        self._trials = 0
        self._successes = 0
        self._opened_at = 0.0
        self._last_error = ""

    @property
    def state(self) -> CircuitState:
        """As the next call will find it."""
        with self._lock:
            self._let_time_pass()
            return self._state

    @property
    def failures(self) -> int:
        """Failures in a row, while closed."""
        return self._failures

    async def call(self, function: Callable[[], Awaitable[T]]) -> T:
        """The result of `function`. Raises `CircuitOpenError`, with the last failure's words, instead of calling it."""
        with self.guard():
            return await function()

    @contextmanager
    def guard(self) -> Iterator[None]:
        """The block is the call, sync or async. Raises `CircuitOpenError` instead of entering it."""
        period = self._enter()
        try:
            yield
        except BaseException as error:
            is_failure = False
            try:
                is_failure = isinstance(error, Exception) and not is_refusal(error) and self._counts(error)
            finally:  # a trial is given back also when `counts` raises
                if is_failure:
                    self._failed(period, f"{type(error).__name__}: {error}")
                else:
                    self._undecided(period)
            raise
        else:
            self._succeeded(period)

    def reset(self) -> None:
        """Close it and forget its failures."""
        with self._lock:
            self._change(CircuitState.CLOSED)

    def _enter(self) -> int:
        """The period that the call belongs to: the time from one change of state to the next."""
        with self._lock:
            self._let_time_pass()
            if self._state is CircuitState.OPEN:
                raise self._refusal(self._opened_at + self.reset_timeout - self._clock())
            if self._state is CircuitState.HALF_OPEN:
                if self._trials >= self.half_open_max_calls:
                    raise self._refusal(0.0)
                self._trials += 1
            return self._period

    def _succeeded(self, period: int) -> None:
        with self._lock:
            if period != self._period:
                return
            self._failures = 0
            if self._state is CircuitState.HALF_OPEN:
                self._successes += 1
                if self._successes >= self.half_open_max_calls:
                    self._change(CircuitState.CLOSED)

    def _failed(self, period: int, error: str) -> None:
        with self._lock:
            if period != self._period:
                return
            self._last_error = error
            self._failures += 1
            if self._state is CircuitState.HALF_OPEN or self._failures >= self.threshold:
                self._change(CircuitState.OPEN)

    def _undecided(self, period: int) -> None:
        with self._lock:
            if period == self._period and self._state is CircuitState.HALF_OPEN:
                self._trials -= 1

    def _let_time_pass(self) -> None:
        if self._state is CircuitState.OPEN and self._clock() >= self._opened_at + self.reset_timeout:
            self._change(CircuitState.HALF_OPEN)

    def _change(self, state: CircuitState) -> None:
        self._state = state
        self._period += 1
        self._failures = self._trials = self._successes = 0
        if state is CircuitState.OPEN:
            self._opened_at = self._clock()
        elif state is CircuitState.CLOSED:
            self._last_error = ""

    def _refusal(self, left: float) -> CircuitOpenError:
        which = f"circuit breaker {self.name!r}" if self.name else "the circuit breaker"
        if self._state is CircuitState.OPEN:
            what = f"the call was not made: {which} is open, and tries again in {left:.1f} s"
        else:
            what = f"the call was not made: {which} is half open, and its trial calls are still under way"
        why = f". Last failure: {self._last_error}" if self._last_error else ""
        return CircuitOpenError(f"{what}{why}", max(0.0, left))

    def __repr__(self) -> str:
        return f"CircuitBreaker({self.name!r}, {self.state.value}, {self._failures} of {self.threshold} failures)"


def _is_of_the_called(error: Exception) -> bool:
    return DEFAULT_CLASSIFIER.classify(error).category is not ErrorCategory.VALIDATION
