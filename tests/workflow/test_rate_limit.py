"""Calls are spaced as the limit says. Time is a number here; nobody waits."""

import math
import random
import threading
from typing import Any

import anyio
import pytest

from adknb.core.errors import SpecError
from adknb.workflow.middleware import chain
from adknb.workflow.rate_limit import RateLimitMiddleware
from tests.workflow.flows import Time
from tests.workflow.requests import Agent, request

pytestmark = pytest.mark.anyio


async def test_calls_that_come_too_soon_wait_for_their_turn() -> None:
    time, agent = Time(100.0), Agent()
    limit = RateLimitMiddleware(30, per=60.0, clock=time, sleep=time.sleep)
    handler = chain([limit], agent)
    for pause in (0.0, 0.0, 1.5, 5.0, 0.0):
        time.now += pause
        await handler(request("bees"))
    assert time.slept == [2.0, 0.5, 2.0]
    assert (limit.waited, len(agent.asked)) == (4.5, 5)


def test_a_burst_comes_first() -> None:
    time = Time(100.0)
    limit = RateLimitMiddleware(60, per=60.0, burst=3, clock=time)
    assert [limit.turn() for _ in range(5)] == [0.0, 0.0, 0.0, 1.0, 2.0]
    time.now += 4.0
    assert [limit.turn() for _ in range(3)] == [0.0, 0.0, 1.0]
    time.now += 1000.0
    assert [limit.turn() for _ in range(4)] == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("seed", range(10))
def test_no_time_has_more_calls_than_the_rate_and_a_burst(seed: int) -> None:
    random_, time = random.Random(seed), Time(100.0)
    rate, burst = random_.randint(1, 20), random_.randint(1, 5)
    limit = RateLimitMiddleware(rate, per=10.0, burst=burst, clock=time)
    made = []
    for _ in range(300):
        time.now += random_.choice([0.0, 0.0, 0.1, 1.0])
        made.append(time.now + limit.turn())
    assert made == sorted(made)
    for number, first in enumerate(made):
        within = sum(first <= at < first + 10.0 - 1e-6 for at in made[number:])
        assert within <= rate + burst - 1


def test_threads_share_the_limit() -> None:
    limit, start = RateLimitMiddleware(10, per=10.0, clock=lambda: 0.0), threading.Barrier(8)
    turns: list[float] = []

    def work() -> None:
        start.wait()
        for _ in range(50):
            turns.append(limit.turn())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(turns) == [float(number) for number in range(400)]


async def test_a_wait_ends_when_it_is_cancelled() -> None:
    agent = Agent()
    handler = chain([RateLimitMiddleware(1, per=3600.0)], agent)
    await handler(request("bees"))
    with anyio.move_on_after(0.01) as scope:
        await handler(request("bees"))
    assert scope.cancelled_caught
    assert len(agent.asked) == 1


@pytest.mark.parametrize(
    "fields",
    [{"rate": 0}, {"rate": 1, "per": 0.0}, {"rate": 1, "burst": 0}, {"rate": 1, "per": math.nan}, {"rate": 1.5}],
)
def test_a_limit_that_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="rate and burst are calls from 1"):
        RateLimitMiddleware(**fields)
