"""What google-adk asks an agent's model for beside the agent: a summary of the conversation, a search of its own."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: pip install 'adknb[adk]'")

from google.adk.agents import LlmAgent, SequentialAgent
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.tools.google_search_tool import GoogleSearchTool

from adknb import Runner
from tests.adk.asked import OfGemini, Plain, Replies, alone, replying, without_chance

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:.*EXPERIMENTAL.*"),
    pytest.mark.filterwarnings("ignore:(Sequential|Parallel|Loop)Agent is deprecated"),
    pytest.mark.filterwarnings("ignore:The `plugins` argument is deprecated"),
]

SUMMED = {
    "A": [[{"text": text}] for text in ("one", "two", "three")],
    "": [[{"text": text}] for text in ("hi, one", "more, two", "three")],
}


def summed(model: Any) -> App:
    """Its model writes a summary after each turn."""
    return App(
        name="shop",
        root_agent=LlmAgent(name="A", model=model, instruction="x"),
        events_compaction_config=EventsCompactionConfig(compaction_interval=1, overlap_size=0),
    )


async def in_one_session(app: App) -> list[Any]:
    runner = Runner(app)
    runs: list[Any] = []
    for message in ("hi", "more", "last"):
        runs.append(await runner.run_async(message, session=runs[-1].session if runs else "s"))
    return runs


async def test_summaries_are_what_later_turns_are_sent() -> None:
    model = replying(Plain, SUMMED)
    await alone(summed(model), "hi", "more", "last")
    expected = without_chance(model._log)
    model = replying(Plain, SUMMED)
    app = summed(model)
    runs = await in_one_session(app)
    assert without_chance(model._log) == expected
    assert app.events_compaction_config is not None
    assert app.events_compaction_config.summarizer is None
    assert [part["text"] for content in expected[4]["contents"] for part in content["parts"]] == [
        "hi, one", "more, two", "last"
    ]  # fmt: skip
    assert [[len(step.requests) for step in run.step_runs] for run in runs] == [[1], [1], [1]]
    assert [[len(step.events) for step in run.step_runs] for run in runs] == [[1], [1], [1]]
    assert [[event.author for event in run.turn_events] for run in runs] == [["user", "A", "user"]] * 3
    assert runs[0].notes == [
        "google-adk asked the model of A for a summary, too: no step shows that",
        "google-adk summed the conversation up; a session in a database keeps its events and not the summary",
    ]
    assert runs[0].output == "one"


async def test_a_run_in_parts_says_that_nothing_is_summed_up() -> None:
    model = replying(Plain, SUMMED)
    config = EventsCompactionConfig(compaction_interval=1, overlap_size=0, summarizer=LlmEventSummarizer(llm=model))
    root = SequentialAgent(name="root", sub_agents=[LlmAgent(name="A", model=model, instruction="x")])
    runner = Runner(App(name="shop", root_agent=root, events_compaction_config=config))
    run = await runner.step_async(await runner.run_async("hi", pause=True))
    assert run.status == "completed"
    assert run.notes == ["run in parts, so google-adk summed no events up (events_compaction_config)"]
    assert len(model._log) == 1


def look_up(order: str) -> dict[str, str]:
    """Look an order up."""
    return {"status": order}


async def test_a_search_agent_of_google_adk_is_not_the_agent() -> None:
    """google-adk makes an agent with the same model for a built-in tool that stands beside others."""
    replies: Replies = {
        "A": [[{"function_call": {"name": "google_search_agent", "args": {"request": "q"}}}], [{"text": "two"}]],
        "google_search_agent": [[{"text": "found"}]],
    }

    def agent(model: Any) -> LlmAgent:
        tools = [look_up, GoogleSearchTool(bypass_multi_tools_limit=True)]
        return LlmAgent(name="A", model=model, instruction="x", tools=tools)

    model = replying(OfGemini, replies, "gemini-2.5-flash")
    await alone(agent(model), "hi")
    expected = without_chance(model._log)
    model = replying(OfGemini, replies, "gemini-2.5-flash")
    run = await Runner(agent(model)).run_async("hi")
    assert without_chance(model._log) == expected
    assert len(expected) == 3
    assert [request.sent.ordinal for request in run.step("A").requests] == [0, 1]
    assert run.output == "two"
    assert run.notes == ["google-adk asked the model of A for google_search_agent, too: no step shows that"]
