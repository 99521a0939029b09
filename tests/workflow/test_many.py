"""Many inputs: in order, at most so many at once, refused or waited for, and no more memory for more of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import anyio
import pytest

from adknb.workflow.backpressure import BackpressureController
from adknb.workflow.errors import QueueFullError, StepFailedError
from adknb.workflow.step import Step
from tests.workflow.flows import adds, left_behind, workflow

pytestmark = pytest.mark.anyio


async def test_results_come_in_the_order_of_the_inputs() -> None:
    async def slower_for_smaller(payload: int) -> int:
        for _ in range(20 - payload):
            await anyio.lowlevel.checkpoint()
        return payload * 10

    flow = workflow(Step(name="a", agent=slower_for_smaller))
    results = [result.output async for result in flow.map(range(10), max_inflight=5)]
    assert results == [number * 10 for number in range(10)]
    assert left_behind() == set()


async def test_a_slow_step_slows_whoever_makes_the_inputs() -> None:
    made, running, most = 0, 0, 0

    def inputs() -> Iterator[int]:
        nonlocal made
        for number in range(30):
            made += 1
            yield number

    async def slow(payload: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        running -= 1
        return payload

    flow = workflow(Step(name="a", agent=slow))
    ahead: list[int] = []
    async for _ in flow.map(inputs(), max_inflight=3, queue_size=2):
        ahead.append(made - len(ahead))
    assert most == 3
    assert max(ahead) <= 3 + 2
    assert made == 30


async def test_an_error_ends_the_map_and_leaves_nothing_behind() -> None:
    flow = workflow(Step(name="a", agent=adds("a", *[ValueError("odd")] * 20)))
    with pytest.raises(StepFailedError):
        await anext(flow.map(["in"] * 20, max_inflight=5))
    assert left_behind() == set()


async def test_submit_waits_or_refuses_as_asked() -> None:
    go_on = anyio.Event()

    async def waits(payload: str) -> str:
        await go_on.wait()
        return f"{payload}!"

    flow = workflow(Step(name="a", agent=waits))
    async with BackpressureController(1, queue_size=1) as controller:
        first = await flow.submit(controller, "1")
        second = await flow.submit(controller, "2", {"tone": "calm"}, wait=False)
        with pytest.raises(QueueFullError, match="1 run and 1 wait already"):
            await flow.submit(controller, "3", wait=False)
        go_on.set()
        third = await flow.submit(controller, "3")
        assert [(await task).output for task in (first, second, third)] == ["1!", "2!", "3!"]
        assert (await second).data.context["tone"] == "calm"


MEMORY = """
import anyio, gc, resource, sys
from adknb import ScriptedModel, LlmAgent, SequentialWorkflow, Step, LlmResponse, Content, Usage

async def double(payload):
    return payload * 2

flow = SequentialWorkflow(
    [Step(name="a", agent=double), Step(name="b", agent=LlmAgent(name="b"))],
    model=ScriptedModel([LlmResponse(Content.model("x" * 1000), Usage(10, 10))]), checkpoint=True, token_budget=10_000,
)

def megabytes():
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize() / 2**20

async def main():
    count, sizes = 0, {}
    async for result in flow.map(("y" * 1000 for _ in range(int(sys.argv[1]))), max_inflight=4, queue_size=4):
        count += 1
        if count in (1000, 10000):
            sizes[count] = megabytes()
    print(*sizes.values())

anyio.run(main)
"""


@pytest.mark.soak
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_ten_thousand_inputs_take_no_more_memory_than_a_thousand() -> None:
    done = subprocess.run([sys.executable, "-c", MEMORY, "10000"], capture_output=True, text=True, check=True)
    first, last = map(float, done.stdout.split())
    assert last <= first * 1.1
