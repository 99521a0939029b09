"""The chain around a step's agent, and the links that are shipped: log and cache."""

import logging
from dataclasses import replace
from typing import Any

import pytest

from adknb.core.errors import AdknbError, SpecError
from adknb.workflow.cache import ResultCache
from adknb.workflow.middleware import CacheMiddleware, CallNext, LoggingMiddleware, StepReply, StepRequest, chain
from tests.workflow.requests import Agent, request

pytestmark = pytest.mark.anyio


class Link:
    """Notes when it is passed, and marks what goes through."""

    def __init__(self, name: str, passed: list[str]) -> None:
        self.name = name
        self.passed = passed

    async def __call__(self, request: StepRequest, call_next: CallNext) -> StepReply:
        self.passed.append(f"{self.name} in")
        reply = await call_next(request.with_payload(f"{request.data.payload}{self.name}"))
        self.passed.append(f"{self.name} out")
        return reply.with_payload(f"{reply.payload}{self.name}")


async def test_the_first_is_the_outermost() -> None:
    passed, agent = list[str](), Agent()
    reply = await chain([Link("a", passed), Link("b", passed)], agent)(request("bees:"))
    assert passed == ["a in", "b in", "b out", "a out"]
    assert reply == StepReply("about bees:abba", tokens=10)
    assert agent.payloads == ["bees:ab"]


async def test_without_links_the_agent_is_asked() -> None:
    agent, asked = Agent(), request("bees")
    assert (await chain([], agent)(asked)).payload == "about bees"
    assert agent.asked == [asked]


async def test_a_link_may_answer_itself_or_ask_again() -> None:
    agent = Agent(ConnectionError("refused"))

    async def own(request: StepRequest, call_next: CallNext) -> StepReply:
        return StepReply("mine")

    async def again(request: StepRequest, call_next: CallNext) -> StepReply:
        try:
            return await call_next(request)
        except ConnectionError:
            return await call_next(request)

    assert (await chain([own], agent)(request("bees"))).payload == "mine"
    assert agent.asked == []
    assert (await chain([again], agent)(request("bees"))).payload == "about bees"
    assert len(agent.asked) == 2


async def test_an_error_goes_through() -> None:
    passed, error = list[str](), KeyError("x")
    with pytest.raises(KeyError) as caught:
        await chain([Link("a", passed)], Agent(error))(request("bees"))
    assert caught.value is error
    assert passed == ["a in"]


async def test_a_link_that_gives_no_reply_is_named() -> None:
    async def forgetful(request: StepRequest, call_next: CallNext) -> StepReply:
        await call_next(request)
        return None  # type: ignore[return-value]  # what happens to who forgets it

    with pytest.raises(AdknbError, match="step 'research': middleware forgetful gave a NoneType, not a StepReply"):
        await chain([forgetful], Agent())(request("bees"))
    with pytest.raises(SpecError, match="5 is no middleware"):
        chain([5], Agent())  # type: ignore[list-item]


def test_another_payload_is_another_question() -> None:
    asked = request({"a": 1}, key="k")
    same, other = asked.with_payload({"a": 1}), asked.with_payload({"a": 2})
    assert same.key == asked.key
    assert same.key != other.key
    assert replace(asked, data=other.data).key == other.key
    assert other.key != request({"a": 1}, key="l").with_payload({"a": 2}).key
    assert (other.data.payload, other.data.context) == ({"a": 2}, {"tone": "neutral"})
    assert request("a").with_payload("b").key is None


async def test_the_cache_answers_what_was_asked_before() -> None:
    agent, cache = Agent(), ResultCache()
    handler = chain([CacheMiddleware(cache)], agent)
    first = await handler(request("bees", key="k"))
    second = await handler(request("bees", key="k"))
    assert (first, second) == (StepReply("about bees", tokens=10), StepReply("about bees", cached=True))
    await handler(request("bees", key="l"))
    assert (len(agent.asked), cache.hits, cache.misses) == (2, 1, 2)


async def test_the_cache_asks_what_has_no_key_and_keeps_no_error() -> None:
    agent, cache = Agent(), ResultCache()
    handler = chain([CacheMiddleware(cache)], agent)
    for _ in range(2):
        await handler(request("bees"))
    assert (len(agent.asked), len(cache), cache.misses) == (2, 0, 0)
    agent.errors = [KeyError("x")]
    with pytest.raises(KeyError):
        await handler(request("bees", key="k"))
    assert (await handler(request("bees", key="k"))).cached is False


async def test_the_cache_keeps_changes_of_the_context() -> None:
    async def agent(request: StepRequest) -> StepReply:
        return StepReply({"facts": [1]}, {"checked": True})

    handler = chain([CacheMiddleware(ResultCache())], agent)
    await handler(request("bees", key="k"))
    assert await handler(request("bees", key="k")) == StepReply({"facts": [1]}, {"checked": True}, cached=True)


async def test_a_changed_payload_behind_the_cache_gets_no_old_answer() -> None:
    agent, cache = Agent(), ResultCache()

    async def ask(payload: Any) -> Any:
        async def edited(request: StepRequest, call_next: CallNext) -> StepReply:
            return await call_next(request.with_payload(payload))

        return (await chain([edited, CacheMiddleware(cache)], agent)(request("bees", key="k"))).payload

    assert [await ask("ants"), await ask("wasps"), await ask("ants")] == ["about ants", "about wasps", "about ants"]
    assert agent.payloads == ["ants", "wasps"]


async def test_the_log_says_what_was_sent_and_what_came(caplog: pytest.LogCaptureFixture) -> None:
    times = iter([10.0, 10.25, 20.0, 21.5])
    handler = chain([LoggingMiddleware(level=logging.INFO, width=20, clock=lambda: next(times))], Agent())
    failing = chain([LoggingMiddleware(level=logging.INFO, clock=lambda: next(times))], Agent(KeyError("x")))
    with caplog.at_level(logging.INFO, "adknb.workflow"):
        await handler(request("\x1b[2J" + "bees " * 20))
        with pytest.raises(KeyError):
            await failing(request({"topic": "ants"}))
    assert [record.getMessage() for record in caplog.records] == [
        r"[news] step research (attempt 1) is sent: \x1b[2Jbees bees be…",
        r"[news] step research (attempt 1) said after 0.250 s: about \x1b[2Jbees b…",
        '[news] step research (attempt 1) is sent: {"topic": "ants"}',
        "[news] step research (attempt 1) raised after 1.500 s: KeyError: 'x'",
    ]
