"""Steps that ask a model the same at the same time: made once, but a reply that failed is for its asker alone."""

from collections.abc import AsyncGenerator, Callable

import anyio
import pytest

from adknb import SequentialWorkflow, Step
from adknb.core.content import Content
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.usage import Usage
from adknb.tokens.counter import BpeCounter
from adknb.workflow import metering
from adknb.workflow.budget import TokenBudget
from adknb.workflow.cache import ResultCache
from adknb.workflow.events import StepEvent
from adknb.workflow.metering import Meter, MeteredModel, meter

pytestmark = pytest.mark.anyio


class Slow:
    """Gives these replies, one a call, when it is let go."""

    name = "slow"

    def __init__(self, *replies: LlmResponse) -> None:
        self.replies = list(replies)
        self.asked = 0
        self.go = anyio.Event()

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        self.asked += 1
        reply = self.replies[self.asked - 1]
        await self.go.wait()
        yield reply


async def ask_at_once(model: Slow, count: int) -> list[tuple[str, bool]]:
    """What each of several askers gets: the text or error code, and whether it came from the cache."""
    got: list[tuple[str, bool]] = []
    cache, budget = ResultCache(), TokenBudget(None)

    async def ask() -> None:
        own = Meter(budget, "research", cache)
        before = meter.set(own)
        replies = [each async for each in MeteredModel(model).generate_content_async(request())]
        meter.reset(before)
        (reply,) = replies
        got.append((reply.error_code or (reply.content.parts[0].text if reply.content else "") or "", own.is_cached))

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        model.go.set()
    return got


def request() -> LlmRequest:
    return LlmRequest(agent="a", model="slow", contents=[Content.user("in")])


async def test_equal_calls_of_a_model_are_made_once() -> None:
    model = Slow(LlmResponse(Content.model("good")))
    assert sorted(await ask_at_once(model, 4)) == [("good", False), *[("good", True)] * 3]
    assert model.asked == 1


async def test_a_failed_reply_is_for_its_asker_alone() -> None:
    model = Slow(LlmResponse(error_code="SAFETY"), LlmResponse(Content.model("good")))
    assert sorted(await ask_at_once(model, 4)) == [("SAFETY", False), ("good", False), *[("good", True)] * 2]
    assert model.asked == 2


async def test_an_empty_reply_is_not_kept() -> None:
    model = Slow(LlmResponse(), LlmResponse(Content.model("good")))
    assert sorted(await ask_at_once(model, 2)) == [("", False), ("good", False)]


async def test_what_models_report_is_added_up() -> None:
    own = Meter(TokenBudget(1_000))
    before = meter.set(own)
    reported = LlmResponse(Content.model("good"), Usage(100, 20, 30, 5))
    model = Slow(reported, LlmResponse(Content.model("counted")), reported)
    model.go.set()
    for _ in range(3):
        async for _ in MeteredModel(model).generate_content_async(request()):
            continue
    meter.reset(before)
    assert own.usage == Usage(200, 40, 60, 10)
    assert own.tokens == own.budget.used == 240 + 1 + 2  # the prompt “in”, the reply “counted”


@pytest.mark.parametrize(("limit", "loaded"), [(1_000, True), (None, False)])
async def test_the_tokenizer_is_loaded_before_a_run_with_a_budget_begins(
    monkeypatch: pytest.MonkeyPatch, limit: int | None, loaded: bool
) -> None:
    counter = BpeCounter()
    monkeypatch.setattr(metering, "default_counter", lambda: counter)
    seen: list[bool] = []
    watching = Watching(lambda event: seen.append(counter._encoding is not None))
    workflow = SequentialWorkflow(
        [Step(name="a", agent=str.upper)], "w", token_budget=limit, timeout=60, observers=[watching]
    )
    await workflow.execute("hi")
    assert (seen[0], seen[-1]) == (loaded, loaded)


class Watching:
    def __init__(self, on_event: Callable[[StepEvent], None]) -> None:
        self.on_event = on_event
