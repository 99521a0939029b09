"""Bounded queues: how many tasks run, wait and are refused, and that nothing is left behind."""

import asyncio
import random

import anyio.lowlevel
import pytest

from adknb.core.errors import RunStateError, SpecError
from adknb.workflow.backpressure import BackpressureController
from adknb.workflow.errors import QueueFullError
from tests.workflow.crowd import Crowd

pytestmark = pytest.mark.anyio


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


@pytest.mark.parametrize(("inflight", "queue"), [(0, 0), (-1, 3), (1, -1), (1.5, 0), (1, 0.5), (True, 0)])
def test_bounds_that_make_no_sense_are_refused(inflight: int, queue: int) -> None:
    with pytest.raises(SpecError, match="max_inflight is 1 or more"):
        BackpressureController(inflight, queue)


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
