"""When a breaker lets calls through, with a clock that is set by hand."""

import asyncio
import math
import queue
import random
import threading
from typing import Any

import anyio
import pytest

from adknb.core.errors import ModelError, SpecError
from adknb.workflow.circuit import CircuitBreaker
from adknb.workflow.errors import BudgetExceededError, CircuitOpenError

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def fail(breaker: CircuitBreaker, error: BaseException | None = None) -> None:
    error = error or ConnectionError("refused")
    with pytest.raises(type(error)), breaker.guard():
        raise error


def succeed(breaker: CircuitBreaker) -> None:
    with breaker.guard():
        pass


def refused(breaker: CircuitBreaker) -> CircuitOpenError:
    with pytest.raises(CircuitOpenError) as caught, breaker.guard():
        pytest.fail("the call was made")
    return caught.value


def test_it_opens_at_the_threshold(clock: Clock) -> None:
    breaker = CircuitBreaker(3, 30.0, clock=clock)
    for failures in (1, 2):
        fail(breaker)
        assert (breaker.state, breaker.failures) == ("closed", failures)
    fail(breaker)
    assert breaker.state == "open"
    refused(breaker)


def test_a_success_forgets_the_failures(clock: Clock) -> None:
    breaker = CircuitBreaker(2, 30.0, clock=clock)
    for _ in range(5):
        fail(breaker)
        succeed(breaker)
    assert (breaker.state, breaker.failures) == ("closed", 0)


def test_open_it_refuses_until_the_time_is_over(clock: Clock) -> None:
    breaker = CircuitBreaker(1, 30.0, name="search", clock=clock)
    fail(breaker)
    clock.now = 29.5
    error = refused(breaker)
    assert error.retry_after == 0.5
    assert str(error) == (
        "the call was not made: circuit breaker 'search' is open, and tries again in 0.5 s. "
        "Last failure: ConnectionError: refused"
    )
    clock.now = 30.0
    assert breaker.state == "half_open"
    succeed(breaker)
    assert breaker.state == "closed"


def test_a_trial_that_fails_opens_it_for_as_long_again(clock: Clock) -> None:
    breaker = CircuitBreaker(5, 30.0, clock=clock)
    for _ in range(5):
        fail(breaker)
    clock.now = 30.0
    fail(breaker)
    assert breaker.state == "open"
    clock.now = 59.9
    refused(breaker)
    clock.now = 60.0
    succeed(breaker)
    assert breaker.state == "closed"


def test_all_trials_must_succeed_before_it_closes(clock: Clock) -> None:
    breaker = CircuitBreaker(1, 30.0, 3, clock=clock)
    fail(breaker)
    clock.now = 30.0
    succeed(breaker)
    succeed(breaker)
    assert breaker.state == "half_open"
    succeed(breaker)
    assert breaker.state == "closed"
    fail(breaker)
    clock.now = 60.0
    succeed(breaker)
    fail(breaker)
    assert breaker.state == "open"


def test_trials_under_way_count_against_their_number(clock: Clock) -> None:
    breaker = CircuitBreaker(1, 30.0, 2, clock=clock)
    fail(breaker)
    clock.now = 30.0
    with breaker.guard(), breaker.guard():
        error = refused(breaker)
    assert str(error) == (
        "the call was not made: the circuit breaker is half open, and its trial calls are still under way. "
        "Last failure: ConnectionError: refused"
    )
    assert error.retry_after == 0.0
    assert breaker.state == "closed"


def test_a_cancelled_trial_is_given_back(clock: Clock) -> None:
    breaker = CircuitBreaker(1, 30.0, clock=clock)
    fail(breaker)
    clock.now = 30.0
    fail(breaker, asyncio.CancelledError())
    assert breaker.state == "half_open"
    succeed(breaker)
    assert breaker.state == "closed"


def answered(status: int) -> ModelError:
    error = ModelError("refused")
    error.status = status
    return error


@pytest.mark.parametrize(
    ("error", "counts"),
    [
        (answered(503), True),
        (answered(429), True),
        (KeyError("x"), True),
        (TimeoutError(), True),
        (answered(400), False),
        (SpecError("wrong"), False),
        (BudgetExceededError("no", 1, 0, 1), False),
        (CircuitOpenError("another", 3.0), False),
        (ExceptionGroup("in a tool", [CircuitOpenError("another", 3.0)]), False),
        (asyncio.CancelledError(), False),
        (KeyboardInterrupt(), False),
    ],
)
def test_which_errors_are_failures_of_what_is_called(error: BaseException, counts: bool, clock: Clock) -> None:
    breaker = CircuitBreaker(1, clock=clock)
    fail(breaker, error)
    assert breaker.state == ("open" if counts else "closed")


def test_an_error_that_does_not_count_forgets_no_failures(clock: Clock) -> None:
    breaker = CircuitBreaker(2, clock=clock)
    fail(breaker)
    fail(breaker, answered(400))
    assert breaker.failures == 1


def test_the_user_may_say_which_errors_count(clock: Clock) -> None:
    breaker = CircuitBreaker(1, counts=lambda error: isinstance(error, KeyError), clock=clock)
    fail(breaker)
    assert breaker.state == "closed"
    fail(breaker, KeyError())
    assert breaker.state == "open"


def test_a_call_counts_for_the_state_in_which_it_began(clock: Clock) -> None:
    breaker = CircuitBreaker(1, 30.0, 2, clock=clock)
    late_success, late_failure, error = breaker.guard(), breaker.guard(), OSError("late")
    late_success.__enter__()
    late_failure.__enter__()
    fail(breaker)
    clock.now = 30.0
    succeed(breaker)
    assert not late_failure.__exit__(OSError, error, None)
    assert breaker.state == "half_open"
    late_success.__exit__(None, None, None)
    assert breaker.state == "half_open"  # it was no trial: one is still missing
    succeed(breaker)
    assert breaker.state == "closed"


def test_a_call_that_began_before_a_reset_is_nothing_to_it(clock: Clock) -> None:
    breaker = CircuitBreaker(1, clock=clock)
    late = breaker.guard()
    late.__enter__()
    breaker.reset()
    assert not late.__exit__(OSError, OSError("late"), None)
    assert breaker.state == "closed"


def test_reset_closes_it(clock: Clock) -> None:
    breaker = CircuitBreaker(1, clock=clock)
    fail(breaker)
    breaker.reset()
    assert repr(breaker) == "CircuitBreaker('', closed, 0 of 1 failures)"
    succeed(breaker)


async def test_it_guards_async_calls(clock: Clock) -> None:
    breaker = CircuitBreaker(1, 30.0, clock=clock)
    calls: list[str] = []

    async def answer() -> str:
        calls.append("answer")
        return "yes"

    async def break_() -> str:
        calls.append("break")
        raise ConnectionError

    assert await breaker.call(answer) == "yes"
    with pytest.raises(ConnectionError):
        await breaker.call(break_)
    with pytest.raises(CircuitOpenError):
        await breaker.call(answer)
    assert calls == ["answer", "break"]


async def test_tasks_at_once_make_no_more_trials_than_are_allowed(clock: Clock) -> None:
    breaker = CircuitBreaker(1, 30.0, 3, clock=clock)
    fail(breaker)
    clock.now = 30.0
    gate, made, outcomes = anyio.Event(), 0, list[str]()

    async def trial() -> None:
        nonlocal made
        made += 1
        await gate.wait()

    async def caller() -> None:
        try:
            await breaker.call(trial)
        except CircuitOpenError:
            outcomes.append("refused")
        else:
            outcomes.append("made")

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(caller)
        await anyio.wait_all_tasks_blocked()
        gate.set()
    assert made == 3
    assert sorted(outcomes) == ["made"] * 3 + ["refused"] * 17
    assert breaker.state == "closed"


def test_threads_at_once_make_no_more_trials_than_are_allowed(clock: Clock) -> None:
    breaker = CircuitBreaker(1, 30.0, 3, clock=clock)
    fail(breaker)
    clock.now = 30.0
    start, ended = threading.Barrier(20), threading.Event()
    made, refusals = queue.SimpleQueue[int](), queue.SimpleQueue[int]()

    def work(number: int) -> None:
        start.wait()
        try:
            with breaker.guard():
                made.put(number)
                ended.wait(10)
        except CircuitOpenError:
            refusals.put(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for _ in range(17):
        refusals.get(timeout=10)
    ended.set()
    for thread in threads:
        thread.join()
    assert (made.qsize(), refusals.qsize()) == (3, 0)
    assert breaker.state == "closed"


MODEL_STEPS = 400


@pytest.mark.parametrize("seed", range(20))
def test_any_schedule_agrees_with_the_table(seed: int, clock: Clock) -> None:
    """A schedule of calls that begin and end in any order, against the docstring's table written out as plain code."""
    random_ = random.Random(seed)
    threshold, trials = random_.choice([1, 2, 4]), random_.choice([1, 2, 3])
    breaker = CircuitBreaker(threshold, 10.0, trials, clock=clock)
    state, opened, failures, begun, good, period = "closed", 0.0, 0, 0, 0, 0
    flying: list[tuple[Any, int]] = []
    seen = set()
    for _ in range(MODEL_STEPS):
        clock.now += random_.choice([0.0, 0.5, 4.0])
        if state == "open" and clock.now >= opened + 10.0:
            state, period, begun, good = "half_open", period + 1, 0, 0
        seen.add(state)
        assert breaker.state == state
        if random_.random() < 0.5 or not flying:
            guard = breaker.guard()
            if state == "open" or (state == "half_open" and begun == trials):
                with pytest.raises(CircuitOpenError):
                    guard.__enter__()
                continue
            guard.__enter__()
            begun += state == "half_open"
            flying.append((guard, period))
            continue
        guard, its = flying.pop(random_.randrange(len(flying)))
        end = random_.choice(["succeeded"] * 3 + ["failed"] * 5 + ["cancelled"])
        if end == "succeeded":
            guard.__exit__(None, None, None)
        else:
            error = ConnectionError() if end == "failed" else asyncio.CancelledError()
            assert not guard.__exit__(type(error), error, None)
        if its != period:
            continue
        if end == "cancelled":
            begun -= state == "half_open"
        elif end == "failed":
            failures += 1
            if state == "half_open" or failures == threshold:
                state, opened, failures, period = "open", clock.now, 0, period + 1
        else:
            failures = 0
            if state == "half_open":
                good += 1
                if good == trials:
                    state, period = "closed", period + 1
    assert seen == {"closed", "open", "half_open"}


@pytest.mark.parametrize("fields", [
    {"threshold": 0}, {"threshold": math.nan}, {"reset_timeout": 0.0}, {"reset_timeout": math.nan}, {"half_open_max_calls": 0},
])  # fmt: skip
def test_a_breaker_that_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="a circuit breaker needs"):
        CircuitBreaker(**fields)


async def test_a_trial_is_given_back_when_the_say_about_it_raises(clock: Clock) -> None:
    def undecided(error: Exception) -> bool:
        if str(error) == "odd":
            raise LookupError("what is that?")
        return True

    async def fail(word: str) -> None:
        raise ConnectionError(word)

    breaker = CircuitBreaker(1, 10.0, counts=undecided, clock=clock)
    with pytest.raises(ConnectionError):
        await breaker.call(lambda: fail("refused"))
    clock.now += 10.0
    with pytest.raises(LookupError):
        await breaker.call(lambda: fail("odd"))
    with breaker.guard():
        pass
    assert breaker.state == "closed"
