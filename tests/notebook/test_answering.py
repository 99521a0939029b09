"""Who answers on the bench: recorded replies, streamed replies, a model in place of the agents' own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from adknb import Content, LlmAgent, LlmRequest, LlmResponse, Run, RunConfig, Runner, ScriptedModel, SequentialAgent
from adknb.core.errors import ModelError
from adknb.notebook.answering import Recording
from adknb.notebook.bench import Bench
from adknb.notebook.cards.run_card import run_html, run_text
from adknb.notebook.pipelines import AgentOptions
from adknb.notebook.records import TurnRequest


def bench_of(model: Any) -> Bench:
    bench = Bench()
    bench.put_agent("p", "A", "a", AgentOptions(key="a"))
    bench.put_agent("p", "B", "b {a}", AgentOptions(key="b"))
    bench.use(model=model)
    return bench


def test_a_recording_answers_in_place_of_the_model(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    asked: list[str] = []

    def answer(request: LlmRequest) -> str:
        asked.append(request.agent)
        return f"{request.agent}{len(asked)}"

    bench = bench_of(ScriptedModel(answer))
    bench.use(record=Recording(str(file)))
    first = bench.run("p", "hi")
    again = bench.run("p", "hi")
    assert asked == ["A", "B"]
    assert [step.output for step in again.step_runs] == [step.output for step in first.step_runs] == ["A1", "B2"]
    lines = file.read_text().splitlines()
    assert len(lines) == 2
    assert again.step("A").notes == []
    reply = again.step("A").requests[0].reply
    assert reply is not None
    assert reply.note == "replayed from p.jsonl (recorded from scripted)"
    colleague = Bench()
    colleague.put_agent("p", "A", "a", AgentOptions(key="a"))
    colleague.put_agent("p", "B", "b {a}", AgentOptions(key="b"))
    run = colleague.run("p", "hi", model=f"replay:{file}")
    assert run.output == "B2"


def test_a_recording_of_one_turn_only(tmp_path: Path) -> None:
    bench = bench_of(ScriptedModel({"A": ["a1"], "B": ["b1"]}))
    bench.run("p", "hi", record=Recording(str(tmp_path / "one.jsonl"), "new"))
    bench.run("p", "hi")
    assert len((tmp_path / "one.jsonl").read_text().splitlines()) == 2


def test_a_model_for_this_run_answers_whatever_the_agents_name() -> None:
    bench = Bench()
    bench.namespace["mine"] = LlmAgent(name="mine", model="gemini-2.5-flash", instruction="x")
    run = bench.run("mine", "hi", models="echo")
    assert run.output == "hi"
    assert run.step("mine").notes == ["echo answered in place of gemini-2.5-flash"]


def test_a_missing_model_is_told_before_anything_happens() -> None:
    bench = bench_of(ScriptedModel({"A": ["a1"], "B": ["b1"]}))
    run = bench.run("p", "hi")
    with pytest.raises(ModelError, match="there is no model 'nope'"):
        bench.try_step("B", "x", models="nope")
    assert bench.runs == [run]


class InPieces:
    """Streams its answer word by word, and lets the test look in between."""

    name = "pieces"

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        words = ["one ", "two ", "three"]
        if stream:
            for word in words:
                yield LlmResponse(Content.model(word), partial=True)
        yield LlmResponse(Content.model("".join(words)))


def test_pieces_are_shown_and_kept_nowhere() -> None:
    seen: list[tuple[str, str, str]] = []

    def look(run: Run) -> None:
        step = run.step_runs[-1]
        seen.append((step.partial, run_text(run).partition("So far, by A")[2].strip(), run_html(run)))

    root = SequentialAgent(name="p", sub_agents=[LlmAgent(name="A", output_key="a")])
    run = Runner(root, model=InPieces(), observer=look).run("hi", config=RunConfig(streaming=True))
    partials = list(dict.fromkeys(partial for partial, _, _ in seen))
    assert partials == ["", "one ", "one two ", "one two three"]
    shown = next((text, html) for partial, text, html in seen if partial == "one two ")
    assert shown[0] == "one two"
    assert "So far, by A" in shown[1]
    assert [event.text for event in run.session.events] == ["hi", "one two three"]
    assert run.session.state == {"a": "one two three"}
    assert run.step("A").partial == ""
    assert "So far" not in run_text(run)


async def test_an_interrupted_stream_leaves_nothing() -> None:
    runner = Runner(LlmAgent(name="A", output_key="a"), model=InPieces())
    events = runner.stream("hi", config=RunConfig(streaming=True))
    first = await anext(events)
    assert (first.partial, first.text) == (True, "one ")
    await events.aclose()
    assert runner.last_run is not None
    assert [event.text for event in runner.last_run.session.events] == ["hi"]
    assert runner.last_run.session.state == {}


def test_streaming_as_a_setting_and_for_one_turn() -> None:
    bench = bench_of(InPieces())
    assert bench.run("p", TurnRequest("hi", config=RunConfig(streaming=True))).config.streaming
    assert not bench.run("p", "hi").config.streaming
    bench.use(stream=True)
    assert bench.run("p", "hi").config.streaming
