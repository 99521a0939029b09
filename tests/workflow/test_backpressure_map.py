"""A map of many inputs: in order, no more taken from its source than it may, nothing left behind."""

import asyncio
import gc
import random
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import anyio.lowlevel
import pytest

from adknb.workflow.backpressure import BackpressureController
from tests.workflow.crowd import Crowd

pytestmark = pytest.mark.anyio


class Source:
    """Numbers that are made when they are asked for; `taken` says how many were."""

    def __init__(self, count: int, error: Exception | None = None) -> None:
        self.count = count
        self.error = error
        self.taken = 0

    def __iter__(self) -> Iterator[int]:
        for number in range(self.count):
            self.taken += 1
            yield number
        if self.error is not None:
            raise self.error

    async def asynchronously(self) -> AsyncIterator[int]:
        for number in self:
            await anyio.lowlevel.checkpoint()
            yield number


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize(("inflight", "queue"), [(1, 0), (1, 3), (4, 0), (4, 3), (100, 0)])
async def test_a_map_gives_results_in_order_and_runs_no_more_than_it_may(
    asynchronous: bool, inflight: int, queue: int
) -> None:
    random_, now, most = random.Random(inflight), 0, 0
    source = Source(60)

    async def work(number: int) -> int:
        nonlocal now, most
        now += 1
        most = max(most, now)
        for _ in range(random_.randrange(8)):
            await anyio.lowlevel.checkpoint()
        now -= 1
        return number * number

    items = source.asynchronously() if asynchronous else source
    results, ahead = [], 0
    async for result in BackpressureController(inflight, queue).map(work, items):
        results.append(result)
        ahead = max(ahead, source.taken - len(results))
    assert results == [number * number for number in range(60)]
    assert most <= inflight
    assert ahead <= inflight + queue
    if inflight == 4:
        assert most == 4


async def test_a_slow_function_slows_its_source() -> None:
    crowd, source = Crowd(), Source(100)
    async with aclosing(BackpressureController(2, queue_size=3).map(crowd.run, source)) as results:
        first = asyncio.create_task(anext(results))
        await anyio.wait_all_tasks_blocked()
        assert (source.taken, crowd.began) == (5, [0, 1])
        await crowd.let_go(1)
        assert (source.taken, crowd.began) == (5, [0, 1, 2])  # 0 is not given back yet
        await crowd.let_go(0)
        assert await first == "did 0"
        await anyio.wait_all_tasks_blocked()
        assert source.taken == 6
    assert crowd.now == 0


async def test_a_slow_reader_slows_the_source() -> None:
    source = Source(100)

    async def at_once(number: int) -> int:
        return number

    async with aclosing(BackpressureController(2, queue_size=3).map(at_once, source)) as results:
        for number in range(3):
            assert await anext(results) == number
            for _ in range(50):
                await anyio.lowlevel.checkpoint()
            assert source.taken == number + 6


async def test_a_result_is_given_as_soon_as_it_is_there() -> None:
    second = anyio.Event()

    async def slow() -> AsyncIterator[int]:
        yield 1
        await second.wait()
        yield 2

    async def at_once(number: int) -> int:
        return number

    async with aclosing(BackpressureController(4, queue_size=4).map(at_once, slow())) as results:
        with anyio.fail_after(10):
            assert await anext(results) == 1
            second.set()
            assert await anext(results) == 2
            with pytest.raises(StopAsyncIteration):
                await anext(results)


async def test_an_error_is_raised_in_its_place_and_the_rest_is_cancelled() -> None:
    crowd = Crowd()
    error = KeyError("b")
    names: list[object] = ["a", error, "c", "d", "e"]
    results = []

    async def read() -> None:
        async for result in BackpressureController(3, queue_size=1).map(crowd.run, names):
            results.append(result)

    reader = asyncio.create_task(read())
    await anyio.wait_all_tasks_blocked()
    await crowd.let_go(error)
    assert not reader.done()
    await crowd.let_go("a")
    with pytest.raises(KeyError) as caught:
        await reader
    assert caught.value is error
    assert results == ["did a"]
    assert sorted(map(str, crowd.cancelled)) == ["c", "d"]
    assert crowd.now == 0


async def test_an_error_of_the_source_comes_after_what_it_gave() -> None:
    results = []

    async def at_once(number: int) -> int:
        return number

    async def read() -> None:
        async for result in BackpressureController(2).map(at_once, Source(3, OSError("disk"))):
            results.append(result)

    with pytest.raises(OSError, match="disk"):
        await read()
    assert results == [0, 1, 2]


@pytest.mark.parametrize("how", ["closed", "cancelled", "failed"])
async def test_a_map_that_ends_early_leaves_no_task_behind(how: str) -> None:
    before, crowd = asyncio.all_tasks(), Crowd()
    crowd.gates[0] = anyio.Event()
    crowd.gates[0].set()

    async def read() -> None:
        async with aclosing(BackpressureController(3, queue_size=2).map(crowd.run, Source(50))) as results:
            async for _ in results:
                if how == "closed":
                    return
                if how == "failed":
                    raise OSError("stop")

    reader = asyncio.create_task(read())
    await anyio.wait_all_tasks_blocked()
    reader.cancel()
    await asyncio.wait([reader])
    assert reader.cancelled() is (how == "cancelled")
    assert asyncio.all_tasks() == before
    assert crowd.now == 0
    if how == "failed":
        assert isinstance(reader.exception(), OSError)


async def test_an_error_that_nobody_asks_for_is_no_noise() -> None:
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))

    async def fail(number: int) -> int:
        for _ in range(5 if number == 0 else 0):  # the first to be read is the last to fail
            await anyio.lowlevel.checkpoint()
        raise KeyError(number)

    async def read() -> str:
        try:
            await anext(BackpressureController(5).map(fail, range(20)))
        except KeyError as error:
            return str(error)
        return "no error"

    assert await read() == "0"
    gc.collect()
    await anyio.lowlevel.checkpoint()
    assert reported == []


async def test_ten_times_the_items_need_no_more_memory() -> None:
    async def work(number: int) -> bytes:
        await anyio.lowlevel.checkpoint()
        return bytes(1_000)

    async def peak(count: int) -> int:
        gc.collect()
        tracemalloc.start()
        try:
            async for _ in BackpressureController(8, queue_size=8).map(work, range(count)):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    await peak(100)
    assert await peak(3_000) < 1.1 * await peak(300) + 20_000


async def test_a_source_that_was_cancelled_has_not_ended() -> None:
    async def source() -> AsyncIterator[int]:
        yield 1
        raise asyncio.CancelledError

    async def same(number: int) -> int:
        return number

    results = BackpressureController(2).map(same, source())
    assert await anext(results) == 1
    with pytest.raises(asyncio.CancelledError):
        await anext(results)
