"""Bounded queues: how many tasks run, wait and are refused; what a map takes from its source; that nothing is left behind."""

import asyncio
import gc
import random
import tracemalloc
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import aclosing
from typing import Any

import anyio.lowlevel
import pytest

from adknb.core.errors import RunStateError, SpecError
from adknb.workflow.backpressure import BackpressureController
from adknb.workflow.errors import QueueFullError

pytestmark = pytest.mark.anyio


class Crowd:
    """Tasks that wait until they are let go; counts how many run, and in what order they began."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.began: list[object] = []
        self.cancelled: list[object] = []
        self.gates: dict[object, anyio.Event] = {}

    def task(self, name: object) -> Callable[[], Coroutine[Any, Any, object]]:
        return lambda: self.run(name)

    async def run(self, name: object) -> object:
        self.began.append(name)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.gates.setdefault(name, anyio.Event()).wait()
        except asyncio.CancelledError:
            self.cancelled.append(name)
            raise
        finally:
            self.now -= 1
        if isinstance(name, Exception):
            raise name
        return f"did {name}"

    async def let_go(self, *names: object) -> None:
        for name in names:
            self.gates.setdefault(name, anyio.Event()).set()
        await anyio.wait_all_tasks_blocked()


async def test_as_many_run_as_may_and_the_rest_wait_in_order() -> None:
    crowd = Crowd()
    async with BackpressureController(2, queue_size=3) as controller:
        tasks = [await controller.submit(crowd.task(number)) for number in range(5)]
        await anyio.wait_all_tasks_blocked()
        assert (crowd.began, controller.in_flight, controller.queued) == ([0, 1], 2, 3)
        await crowd.let_go(1)
        assert (crowd.began, controller.in_flight, controller.queued) == ([0, 1, 2], 2, 2)
        await crowd.let_go(0, 2, 3, 4)
        assert [await task for task in tasks] == [f"did {number}" for number in range(5)]
    assert (crowd.began, crowd.most) == ([0, 1, 2, 3, 4], 2)


async def test_a_full_queue_refuses_when_asked_to() -> None:
    crowd = Crowd()
    async with BackpressureController(1, queue_size=1) as controller:
        await controller.submit(crowd.task("a"), wait=False)
        await controller.submit(crowd.task("b"), wait=False)
        with pytest.raises(QueueFullError, match="1 run and 1 wait already"):
            await controller.submit(crowd.task("c"), wait=False)
        await crowd.let_go("a")
        await controller.submit(crowd.task("d"), wait=False)
        await crowd.let_go("b", "d")
    assert crowd.began == ["a", "b", "d"]


async def test_a_full_queue_lets_wait_when_asked_to() -> None:
    crowd, submitted = Crowd(), list[str]()
    async with BackpressureController(1, queue_size=1) as controller:

        async def feed() -> None:
            for name in "abcd":
                await controller.submit(crowd.task(name))
                submitted.append(name)

        feeder = asyncio.create_task(feed())
        await anyio.wait_all_tasks_blocked()
        assert submitted == ["a", "b"]
        with pytest.raises(QueueFullError):
            await controller.submit(crowd.task("x"), wait=False)
        await crowd.let_go("a")
        assert submitted == ["a", "b", "c"]
        await crowd.let_go("b", "c", "d")
        await feeder
    assert crowd.began == ["a", "b", "c", "d"]


async def test_without_a_queue_only_what_runs_is_taken() -> None:
    crowd = Crowd()
    async with BackpressureController(1) as controller:
        await controller.submit(crowd.task("a"), wait=False)
        with pytest.raises(QueueFullError):
            await controller.submit(crowd.task("b"), wait=False)
        await crowd.let_go("a")


async def test_an_error_is_its_tasks_alone() -> None:
    crowd, error = Crowd(), KeyError("a")
    async with BackpressureController(1, queue_size=2) as controller:
        failing = await controller.submit(crowd.task(error))
        other = await controller.submit(crowd.task("b"))
        await crowd.let_go(error, "b")
        with pytest.raises(KeyError) as caught:
            await failing
        assert caught.value is error
        assert await other == "did b"


async def test_a_submitted_task_may_be_cancelled_running_or_waiting() -> None:
    crowd = Crowd()
    async with BackpressureController(1, queue_size=2) as controller:
        running = await controller.submit(crowd.task("a"))
        waiting = await controller.submit(crowd.task("b"))
        last = await controller.submit(crowd.task("c"))
        await anyio.wait_all_tasks_blocked()
        waiting.cancel()
        running.cancel()
        await crowd.let_go("c")
        assert await last == "did c"
        assert (controller.in_flight, controller.queued) == (0, 0)
    assert (crowd.began, crowd.cancelled) == (["a", "c"], ["a"])


async def test_its_end_waits_for_all_tasks() -> None:
    crowd = Crowd()
    async with BackpressureController(1, queue_size=2) as controller:
        tasks = [await controller.submit(crowd.task(name)) for name in "abc"]
        for name in "abc":
            crowd.gates[name] = anyio.Event()
            crowd.gates[name].set()
    assert [task.result() for task in tasks] == ["did a", "did b", "did c"]


async def test_left_by_an_error_it_cancels_all_tasks() -> None:
    crowd, tasks = Crowd(), list[asyncio.Task[object]]()

    async def main() -> None:
        async with BackpressureController(2, queue_size=2) as controller:
            for name in "abc":
                tasks.append(await controller.submit(crowd.task(name)))
            await anyio.wait_all_tasks_blocked()
            raise OSError("stop")

    with pytest.raises(OSError, match="stop"):
        await main()
    assert all(task.cancelled() for task in tasks)
    assert sorted(map(str, crowd.cancelled)) == ["a", "b"]


@pytest.mark.parametrize("waits", [True, False])
async def test_left_by_a_cancellation_it_cancels_all_tasks(waits: bool) -> None:
    crowd, tasks = Crowd(), list[asyncio.Task[object]]()
    with anyio.move_on_after(0.02) as scope:
        async with BackpressureController(1, queue_size=2) as controller:
            for name in "abc":
                tasks.append(await controller.submit(crowd.task(name)))
            if waits:
                await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert all(task.cancelled() for task in tasks)
    assert crowd.cancelled == ["a"]


async def test_a_cancelled_end_still_waits_for_what_tasks_clean_up() -> None:
    steps: list[str] = []

    async def work() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                for _ in range(20):
                    await anyio.lowlevel.checkpoint()
            steps.append("cleaned up")

    with anyio.move_on_after(0.01):
        async with BackpressureController(1) as controller:
            await controller.submit(work)
            await anyio.sleep_forever()
    steps.append("left")
    assert steps == ["cleaned up", "left"]


async def test_who_waits_for_room_while_it_closes_is_refused() -> None:
    crowd, controller = Crowd(), BackpressureController(1)
    async with controller:
        await controller.submit(crowd.task("a"))
        waiting = [asyncio.create_task(controller.submit(crowd.task(name))) for name in "bc"]
        await anyio.wait_all_tasks_blocked()
        crowd.gates["a"].set()
    for each in waiting:
        with pytest.raises(RunStateError, match="closed while it waited for room"):
            await each
    assert crowd.began == ["a"]


async def test_it_is_open_once_at_a_time_and_again_later() -> None:
    controller, crowd = BackpressureController(1, queue_size=2), Crowd()
    with pytest.raises(RunStateError, match="submit needs an open controller"):
        await controller.submit(crowd.task("a"))
    async with controller:
        with pytest.raises(RunStateError, match="open already"):
            await controller.__aenter__()
    async with controller:
        task = await controller.submit(crowd.task("a"))
        await crowd.let_go("a")
        assert await task == "did a"
    assert (controller.in_flight, controller.queued) == (0, 0)


@pytest.mark.parametrize(("inflight", "queue"), [(0, 0), (-1, 3), (1, -1)])
def test_bounds_that_make_no_sense_are_refused(inflight: int, queue: int) -> None:
    with pytest.raises(SpecError, match="max_inflight is 1 or more"):
        BackpressureController(inflight, queue)


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


@pytest.mark.parametrize("seed", range(20))
async def test_any_schedule_ends_each_task_once(seed: int) -> None:
    random_ = random.Random(seed)
    inflight, queue = random_.randint(1, 4), random_.randint(0, 5)
    now = most = refused = 0
    done = list[int]()

    async def work(number: int) -> int:
        nonlocal now, most
        now += 1
        most = max(most, now)
        try:
            for _ in range(random_.randrange(6)):
                await anyio.lowlevel.checkpoint()
        finally:
            now -= 1
        done.append(number)
        if number % 7 == 0:
            raise KeyError(number)
        return number

    tasks = dict[int, asyncio.Task[int]]()
    async with BackpressureController(inflight, queue) as controller:
        for number in range(150):
            assert controller.in_flight + controller.queued <= inflight + queue
            try:
                tasks[number] = await controller.submit(lambda number=number: work(number), wait=random_.random() < 0.7)  # type: ignore[misc]
            except QueueFullError:
                refused += 1
            if random_.random() < 0.1 and tasks:
                random_.choice([*tasks.values()]).cancel()
            for _ in range(random_.randrange(3)):
                await anyio.lowlevel.checkpoint()
    outcomes = await asyncio.gather(*tasks.values(), return_exceptions=True)
    assert all(task.done() for task in tasks.values())
    assert len(tasks) + refused == 150
    assert most <= inflight
    assert len(set(done)) == len(done)
    for number, outcome in zip(tasks, outcomes, strict=True):
        if isinstance(outcome, asyncio.CancelledError):
            continue
        assert number in done
        assert repr(outcome) == (f"KeyError({number})" if number % 7 == 0 else f"{number}")
