"""How often and when a call is tried again. Time is a number here; nobody waits."""

import asyncio
from collections.abc import Awaitable, Callable

import anyio
import pytest
from hypothesis import given, strategies as st

from adknb.core.errors import ModelError, SpecError
from adknb.workflow.actions import ErrorAction
from adknb.workflow.classifier import ClassificationRule, ErrorCategory, ErrorClassifier, ErrorSeverity
from adknb.workflow.retry import ExponentialBackoff, RetryAttempt, RetryPolicy
from tests.workflow.flows import Time

pytestmark = pytest.mark.anyio

EVEN = ExponentialBackoff(1.0, 10.0, jitter=0)


class Failing:
    """A call that raises these errors in turn, then answers."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answered"


def busy(retry_after: float | None = None) -> ModelError:
    error = ModelError("busy")
    error.status, error.retry_after = 503, retry_after
    return error


@pytest.mark.parametrize(("failures", "slept"), [(0, []), (1, [1.0]), (2, [1.0, 2.0]), (4, [1.0, 2.0, 4.0, 8.0])])
async def test_tried_until_it_answers(failures: int, slept: list[float]) -> None:
    time, call = Time(), Failing(*[busy() for _ in range(failures)])
    assert await RetryPolicy(5, EVEN).run(call, sleep=time.sleep, clock=time) == "answered"
    assert (call.calls, time.slept) == (failures + 1, slept)


@pytest.mark.parametrize("attempts", [1, 2, 3, 7])
async def test_max_attempts_are_attempts_in_all(attempts: int) -> None:
    time, call = Time(), Failing(*[busy() for _ in range(20)])
    last = call.errors[attempts - 1]
    with pytest.raises(ModelError) as caught:
        await RetryPolicy(attempts, EVEN).run(call, sleep=time.sleep, clock=time)
    assert caught.value is last
    assert (call.calls, len(time.slept)) == (attempts, attempts - 1)


async def test_who_watches_is_told_before_each_wait() -> None:
    time, told = Time(), list[tuple[RetryAttempt, float]]()
    first, second = busy(), busy(3.5)
    await RetryPolicy(3, EVEN).run(
        Failing(first, second),
        on_retry=lambda attempt: told.append((attempt, time.now)),
        sleep=time.sleep,
        clock=time,
    )
    assert told == [(RetryAttempt(1, first, 1.0), 0.0), (RetryAttempt(2, second, 3.5), 1.0)]


@pytest.mark.parametrize(
    ("retry_on", "error", "calls"),
    [
        (None, busy(), 2),
        (None, SpecError("wrong"), 1),
        (None, KeyError("unknown"), 1),
        (KeyError, KeyError("known"), 2),
        ((KeyError, OSError), OSError("known"), 2),
        ((KeyError, OSError), busy(), 1),
        (lambda error: "again" in str(error), ValueError("try again"), 2),
        (lambda error: "again" in str(error), busy(), 1),
    ],
)
async def test_which_errors_are_tried_again(
    retry_on: type[Exception] | tuple[type[Exception], ...] | Callable[[Exception], bool] | None,
    error: Exception,
    calls: int,
) -> None:
    time, call = Time(), Failing(error)
    policy = RetryPolicy(3, EVEN, retry_on=retry_on)
    try:
        await policy.run(call, sleep=time.sleep, clock=time)
    except type(error):
        assert calls == 1
    assert call.calls == calls
    assert policy.is_retriable(error) is (calls == 2)


async def test_the_classifier_that_is_given_decides() -> None:
    rule = ClassificationRule(ErrorCategory.TOOL, ErrorSeverity.LOW, ErrorAction.RETRY, types=(KeyError,))
    classifier, time, call = ErrorClassifier([rule]), Time(), Failing(KeyError("source"))
    policy = RetryPolicy(2, EVEN)
    assert await policy.run(call, classifier=classifier, sleep=time.sleep, clock=time) == "answered"
    with pytest.raises(ModelError):
        await policy.run(Failing(busy()), classifier=classifier, sleep=time.sleep, clock=time)
    assert time.slept == [1.0]


@pytest.mark.parametrize(
    ("asked", "slept"), [(None, [1.0]), (0.0, [1.0]), (0.5, [1.0]), (7.0, [7.0]), (90.0, [90.0]), (120.0, [120.0])]
)
async def test_a_server_gets_the_wait_that_it_asks_for(asked: float | None, slept: list[float]) -> None:
    time, call = Time(), Failing(busy(asked))
    await RetryPolicy(2, EVEN).run(call, sleep=time.sleep, clock=time)
    assert time.slept == slept


async def test_a_server_that_asks_for_too_long_a_wait_is_not_asked_again() -> None:
    time, call = Time(), Failing(busy(120.5))
    with pytest.raises(ModelError):
        await RetryPolicy(5, EVEN).run(call, sleep=time.sleep, clock=time)
    assert (call.calls, time.slept) == (1, [])


async def test_own_waits_may_be_as_long_as_one_likes() -> None:
    time, call = Time(), Failing(*[busy(1.0) for _ in range(9)])
    with pytest.raises(ModelError):
        await RetryPolicy(4, ExponentialBackoff(100.0, 300.0, jitter=0)).run(call, sleep=time.sleep, clock=time)
    assert time.slept == [100.0, 200.0, 300.0]


@pytest.mark.parametrize(
    ("deadline", "calls", "slept"),
    [(0.5, 1, []), (1.0, 1, []), (1.001, 2, [1.0]), (3.0, 2, [1.0]), (3.5, 3, [1.0, 2.0]), (100.0, 4, [1.0, 2.0, 4.0])],
)
async def test_no_attempt_begins_at_the_deadline_or_later(deadline: float, calls: int, slept: list[float]) -> None:
    time, call = Time(), Failing(*[busy() for _ in range(9)])
    with pytest.raises(ModelError):
        await RetryPolicy(4, EVEN).run(call, deadline=deadline, sleep=time.sleep, clock=time)
    assert (call.calls, time.slept) == (calls, slept)


async def test_the_time_of_the_calls_counts_towards_the_deadline() -> None:
    time = Time()

    async def slow() -> str:
        time.now += 4.0
        raise busy()

    with pytest.raises(ModelError):
        await RetryPolicy(9, EVEN).run(slow, deadline=10.0, sleep=time.sleep, clock=time)
    assert time.slept == [1.0]


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(1)])
async def test_what_is_no_error_of_the_call_is_never_tried_again(error: BaseException) -> None:
    time, call = Time(), Failing(error)
    policy = RetryPolicy(3, EVEN, retry_on=lambda error: True)
    with pytest.raises(type(error)):
        await policy.run(call, sleep=time.sleep, clock=time)
    assert (call.calls, time.slept) == (1, [])
    assert policy.is_retriable(error) is False


async def swallowed(wait: Callable[[], Awaitable[object]]) -> str:
    """A call that makes an ordinary error of its cancellation."""
    try:
        await wait()
    except asyncio.CancelledError:
        raise ConnectionError("closed") from None
    return "never"


async def test_after_a_cancellation_nothing_is_tried_again_whatever_the_call_made_of_it() -> None:
    time, calls = Time(), 0

    async def call() -> str:
        nonlocal calls
        calls += 1
        return await swallowed(anyio.sleep_forever)

    task = asyncio.create_task(RetryPolicy(5, EVEN).run(call, sleep=time.sleep, clock=time))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(ConnectionError):
        await task
    assert (calls, time.slept) == (1, [])


async def test_a_cancellation_from_before_that_was_taken_back_does_not_count() -> None:
    time, call = Time(), Failing(busy())

    async def absorbs() -> str:
        with pytest.raises(asyncio.CancelledError):
            await anyio.sleep_forever()
        return await RetryPolicy(2, EVEN).run(call, sleep=time.sleep, clock=time)

    task = asyncio.create_task(absorbs())
    await asyncio.sleep(0)
    task.cancel()
    assert await task == "answered"
    assert call.calls == 2


async def test_a_wait_ends_when_it_is_cancelled() -> None:
    call = Failing(busy(60.0), busy())
    with anyio.move_on_after(0.01) as scope:
        await RetryPolicy(3, EVEN).run(call)
    assert scope.cancelled_caught
    assert call.calls == 1


async def test_one_policy_serves_many_calls_at_once() -> None:
    time, policy = Time(), RetryPolicy(4, EVEN)
    calls = [Failing(*[busy() for _ in range(failures)]) for failures in (0, 1, 2, 3, 3, 2, 1, 0)]
    answers = await asyncio.gather(*(policy.run(call, sleep=time.sleep, clock=time) for call in calls))
    assert answers == ["answered"] * 8
    assert [call.calls for call in calls] == [1, 2, 3, 4, 4, 3, 2, 1]


@given(
    initial=st.floats(0, 100),
    more=st.floats(0, 1000),
    multiplier=st.floats(1, 100),
    jitter=st.floats(0, 1),
    draw=st.floats(0, 1),
    attempt=st.integers(1, 10_000),
)
def test_no_wait_is_longer_than_the_maximum(
    initial: float, more: float, multiplier: float, jitter: float, draw: float, attempt: int
) -> None:
    backoff = ExponentialBackoff(initial, initial + more, multiplier, jitter, draw=lambda: draw)
    whole = ExponentialBackoff(initial, initial + more, multiplier, 0)(attempt)
    wait = backoff(attempt)
    assert 0 <= whole * (1 - jitter) <= wait <= whole <= initial + more or wait == pytest.approx(whole * (1 - jitter))


def test_jitter_takes_a_share_away() -> None:
    draws = iter([0.0, 0.5, 1.0])
    backoff = ExponentialBackoff(4.0, 10.0, jitter=0.25, draw=lambda: next(draws))
    assert [backoff(1), backoff(1), backoff(1)] == [4.0, 3.5, 3.0]


@pytest.mark.parametrize(
    "fields",
    [
        {"initial": -1.0},
        {"initial": 11.0},
        {"maximum": float("inf")},
        {"multiplier": 0.5},
        {"jitter": -0.1},
        {"jitter": 1.1},
        {"initial": float("nan")},
    ],
)
def test_a_backoff_that_makes_no_sense_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(SpecError, match="seconds with 0 <= initial <= maximum"):
        ExponentialBackoff(**fields)  # type: ignore[arg-type]  # `draw` is not among them


@pytest.mark.parametrize("attempts", [0, -1, True, 2.0, "3"])
def test_attempts_are_counted_from_one(attempts: int) -> None:
    with pytest.raises(SpecError, match="max_attempts are attempts in all, 1 or more"):
        RetryPolicy(attempts)


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_a_longest_wait_that_makes_no_sense_is_refused(seconds: float) -> None:
    with pytest.raises(SpecError, match="longest_wait is seconds, 0 or more"):
        RetryPolicy(2, longest_wait=seconds)
