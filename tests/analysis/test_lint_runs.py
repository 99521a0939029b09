"""What lint finds only in a run, and that its errors are what stops one."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from adknb import (
    BaseAgent,
    LoopAgent,
    MissingKeyError,
    ParallelAgent,
    Runner,
    ScriptedModel,
    SequentialAgent,
    lint,
)
from adknb.examples.ticket import MESSAGE, scripted_replies, ticket_pipeline
from tests.analysis.pipelines import found, llm, only, place, steps


def test_temp_keys_from_an_earlier_turn() -> None:
    finding = only(llm("A", "{temp:x}"), "temp-earlier-turn", state=["temp:x"])
    assert finding.message == (
        "'temp:x' is there in the session's first turn only: temp: keys are discarded when a turn ends."
    )
    pipeline = steps(llm("A", "{temp:n?}"), llm("B", key="temp:n"))
    runner = Runner(pipeline, model=ScriptedModel({"A": ["1", "2"], "B": ["old", "new"]}), temp_keys="keep")
    first = runner.run("one")
    second = runner.run("two", session=first.session)
    assert not found(pipeline, "temp-earlier-turn", run=first)
    stale = only(pipeline, "temp-earlier-turn", run=second)
    assert stale.message == (
        "A read 'temp:n' of turn 1. ADK's contract discards temp: keys when a turn ends; ADK Java's in-memory service keeps "
        "them."
    )


def test_a_run_shows_stale_reads_large_values_and_maps() -> None:
    pipeline = steps(llm("A", key="big"), llm("B", "{big} {given}"))
    model = ScriptedModel({"A": ["x" * 8_000, ""], "B": ["1", "2"]})
    run = Runner(pipeline, model=model).run("one", state={"given": {"a": 1}})
    large = only(pipeline, "large-value", run=run)
    assert (large.severity, large.agent) == ("warning", "A")
    assert (
        large.message
        == "'big' holds 8,000 characters and goes into the prompt of B; it is stored with its event and in the state."
    )
    given_map = only(pipeline, "map-in-prompt", run=run)
    assert (given_map.message, place(given_map)) == (
        "'given' holds a map, and a map arrives as {a=…}, not as JSON.", (1, 7, "{given}"),
    )  # fmt: skip
    unread = only(
        steps(llm("A", key="big")), "large-value", run=Runner(steps(llm("A", key="big")), model=model).run("one")
    )
    assert unread.severity == "info"


def test_a_stale_read_has_its_place_and_its_fix() -> None:
    def sometimes(context: Any) -> str | None:
        return "skipped" if "verdict" in context.state else None

    pipeline = ticket_pipeline()
    triage = pipeline.sub_agents[0].model_copy(update={"before_agent_callback": (sometimes,)})
    pipeline = SequentialAgent(name="ticket_pipeline", sub_agents=(triage, *pipeline.sub_agents[1:]))
    replies = {"TriageAgent": ["{}"], "DraftAgent": ["1", "2"], "PolicyCheckAgent": ["OK", "OK"]}
    runner = Runner(pipeline, model=ScriptedModel(replies))
    second = runner.run("again", session=runner.run("once").session)
    stale = found(pipeline, "stale-read", run=second)
    assert [(finding.agent, place(finding)) for finding in stale] == [
        ("DraftAgent", (2, 16, "{triage}")),
        ("PolicyCheckAgent", (1, 9, "{triage}")),
    ]
    assert stale[0].message == (
        "DraftAgent read 'triage' as TriageAgent left it in turn 1: this turn had not written it."
    )
    assert stale[0].fix == "Clear it when a turn starts (clear=['triage']), or keep it under temp:."


def test_a_stale_read_in_a_loops_first_iteration_is_told() -> None:
    loop = LoopAgent(name="loop", max_iterations=2, sub_agents=[llm("A", "{k?}", key="k")])
    runner = Runner(loop, model=ScriptedModel({"A": ["1", "2", "3", "4"]}))
    second = runner.run("again", session=runner.run("once").session)
    (stale,) = found(loop, "stale-read", run=second)
    assert stale.message.startswith("A#1 read 'k' as A#2 left it in turn 1")


def test_the_ticket_pipeline_after_a_run() -> None:
    run = Runner(ticket_pipeline(), model=scripted_replies()).run(MESSAGE)
    assert [finding.code for finding in lint(ticket_pipeline(), run=run)] == ["fragile-boundary", "braces-pass"]


KEYS = st.sampled_from("abc")


def leaf() -> st.SearchStrategy[BaseAgent]:
    reads = st.lists(st.tuples(KEYS, st.sampled_from(["", "?"])), max_size=2)
    return st.builds(
        lambda name, read, key: llm(f"A{name}", " ".join(f"{{{each}{mark}}}" for each, mark in read), key),
        st.integers(0, 10**9),
        reads,
        st.one_of(st.none(), KEYS),
    )


def workflow(children: st.SearchStrategy[BaseAgent]) -> st.SearchStrategy[BaseAgent]:
    def make(kind: type[BaseAgent], name: int, agents: list[BaseAgent]) -> BaseAgent:
        limit: dict[str, Any] = {"max_iterations": 2} if kind is LoopAgent else {}
        return kind(name=f"W{name}", sub_agents=agents, **limit)

    kinds = st.sampled_from([SequentialAgent, SequentialAgent, LoopAgent, ParallelAgent])
    agents = st.lists(children, min_size=1, max_size=4, unique_by=lambda agent: agent.name)
    return st.builds(make, kinds, st.integers(0, 10**9), agents)


@given(st.recursive(leaf(), workflow, max_leaves=8), st.sets(KEYS))
def test_an_error_is_what_stops_the_run(root: BaseAgent, given_keys: set[str]) -> None:
    findings = lint(root, state=given_keys)
    try:
        Runner(root, model="echo").run("Hi", state=dict.fromkeys(given_keys, "given"))
        stopped = ""
    except MissingKeyError as error:
        stopped = error.key
    if any(finding.severity == "error" for finding in findings):
        assert stopped
    elif not any(finding.code == "written-at-once" for finding in findings):
        assert not stopped
