"""The dry comparison: its prompts are the bytes that the run, or a run under the other strategy, really sends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from adknb import (
    Content,
    FunctionResponse,
    LlmAgent,
    LlmRequest,
    ReplyMissingError,
    Runner,
    RunStateError,
    ScriptedModel,
    SequentialAgent,
    SpecError,
    Usage,
)
from adknb.compare.dry import PromptComparison, compare_prompts
from adknb.core.content import FunctionCall, Part
from adknb.core.requests import LlmResponse
from adknb.core.run import Run
from adknb.core.tools import LongRunningFunctionTool
from adknb.examples.ticket import MESSAGE, scripted_replies, ticket_pipeline

CONFORMANCE = Path(__file__).parent.parent / "conformance"
sys.path.insert(0, str(CONFORMANCE))

from case import content_json, runs as runs_of  # noqa: E402  # found through the path above
from check import read_lines  # noqa: E402

CASES = [case for name in ("cases", "features", "gemini") for case in read_lines(CONFORMANCE / f"{name}.jsonl")]


def runs(case: dict[str, Any], strategy: str) -> list[Run]:
    return runs_of(case, strategy, lambda agent, request: None)


def sent(request: LlmRequest | None) -> Any:
    """A request without the ids of its calls, which no two runs share."""
    assert request is not None
    contents = [content_json(content) for content in request.contents]
    return request.system_instruction, contents, dict(request.tools), dict(request.config)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_every_recorded_case_dry_is_what_a_run_under_the_other_setting_sends(case: dict[str, Any]) -> None:
    """The replies are scripted, so a run under the other setting differs in its histories alone."""
    by_strategy = {strategy: runs(case, strategy) for strategy in ("as_written", "default", "none")}
    for made_under, own_runs in by_strategy.items():
        compared = [compare_prompts(run, list(by_strategy)) for run in own_runs]
        for strategy, other_runs in by_strategy.items():
            for comparison, run, other_run in zip(compared, own_runs, other_runs, strict=False):
                assert [step.name for step in run.step_runs] == [step.name for step in other_run.step_runs]
                for step, other_step in zip(run.step_runs, other_run.step_runs, strict=True):
                    for number, (own, other) in enumerate(zip(step.requests, other_step.requests, strict=True), 1):
                        dry = comparison.prompt(f"{step.agent.name}#{step.number}", strategy, number)
                        assert sent(dry.request) == sent(other.sent)
                        if strategy == made_under:
                            assert dry.request is own.sent
                            assert dry.is_as_sent


def ticket(strategy: str = "as_written") -> PromptComparison:
    runner = Runner(ticket_pipeline(), model=scripted_replies(), strategy=strategy)
    return compare_prompts(runner.run(MESSAGE, state={"user:tier": "gold"}))


def test_the_first_sentence_and_the_remarks() -> None:
    comparison = ticket()
    assert comparison.headline == (
        "PolicyCheckAgent is sent the values of triage and draft twice (42 tokens); NONE would save 40 of 159 tokens (25 %)."
    )
    assert comparison.remarks == [
        "Over all steps NONE would save 47 of 359 tokens (13 %).",
        "Under NONE the user's message does not reach DraftAgent and PolicyCheckAgent.",
        "NONE still sends twice: triage to DraftAgent and draft to PolicyCheckAgent.",
    ]
    assert ticket("none").headline == (
        "PolicyCheckAgent would be sent, under DEFAULT, the values of triage and draft twice (42 tokens); NONE would save "
        "40 of 159 tokens (25 %)."
    )


def test_the_table() -> None:
    data = ticket().to_frame()
    assert list(data.columns) == [
        "step", "agent", "request", "strategy", "instruction", "injected_state", "user_message", "history", "tools",
        "schema", "total", "sent_twice", "twice", "saved", "saved_percent", "left_out", "as_sent", "counted_by", "note",
    ]  # fmt: skip
    rows = {(row["step"], row["strategy"]): row for row in data.to_dict("records")}
    assert rows["PolicyCheckAgent", "none"] == {
        "step": "PolicyCheckAgent", "agent": "PolicyCheckAgent", "request": 1, "strategy": "none", "instruction": 48, "injected_state": 42, "user_message": 0,
        "history": 29, "tools": 0, "schema": 0, "total": 119, "sent_twice": 19, "twice": "draft", "saved": 40,
        "saved_percent": 25.2, "left_out": "the user's message, TriageAgent's reply (inserted as triage)",
        "as_sent": False, "counted_by": "o200k_base", "note": "",
    }  # fmt: skip
    triage = rows["TriageAgent", "none"]
    assert (triage["saved"], triage["left_out"], triage["as_sent"]) == (0, "", True)
    assert (
        data[["instruction", "injected_state", "user_message", "history", "tools", "schema"]].sum(axis=1)
        == data["total"]
    ).all()


def test_what_a_second_turn_and_tools_lose() -> None:
    def look(what: str) -> dict[str, Any]:
        """Look something up."""
        return {"found": what}

    pipeline = SequentialAgent(
        name="root",
        sub_agents=[
            LlmAgent(name="Finder", tools=[look], output_key="fact"),
            LlmAgent(name="Teller", instruction="{fact}"),
        ],
    )
    call = LlmResponse(Content("model", (Part(function_call=FunctionCall("look", {"what": "x"})),)))
    runner = Runner(
        pipeline, model=ScriptedModel({"Finder": [call, "x it is", call, "x again"], "Teller": ["one", "two"]})
    )
    second = runner.run("and now?", session=runner.run("what?").session)
    comparison = compare_prompts(second)
    assert comparison.prompt("Finder", "none", 1).left_out == (
        "an earlier message", "Finder's earlier tool call", "Finder's earlier tool response", "Finder's earlier reply",
        "Teller's earlier reply",
    )  # fmt: skip
    own = comparison.prompt("Finder", "NONE", 2).request
    assert own is not None
    assert [content.role for content in own.contents] == ["user", "model", "user"]
    assert comparison.prompt("Teller", "none").left_out[-3:] == (
        "the user's message", "Finder's tool call", "Finder's tool response",
    )  # fmt: skip
    assert comparison.prompt("Finder", "none", 2).title == "Finder, request 2"


def test_a_left_out_message_that_set_the_inserted_state_is_the_message_alone() -> None:
    pipeline = SequentialAgent(
        name="root", sub_agents=[LlmAgent(name="A", output_key="a"), LlmAgent(name="B", instruction="{tone?} {a}")]
    )
    first = Runner(pipeline, model="echo").run("Hi")
    second = Runner(pipeline, model="echo").run("Hi", session=first.session, state={"tone": "kind"})
    assert compare_prompts(second).prompt("B", "none").left_out == (
        "an earlier message", "A's earlier reply", "B's earlier reply", "the user's message",
    )  # fmt: skip
    assert compare_prompts(second, ["default", Nothing()]).prompt("B", "nothing").left_out[-1] == (
        "A's reply (inserted as a)"
    )


def test_counts_are_compared_whatever_the_model_reported() -> None:
    reply = LlmResponse(Content.model("Hello."), usage=Usage(input_tokens=1_000, output_tokens=2))
    run = Runner(LlmAgent(name="A", instruction="Greet."), model=ScriptedModel({"A": [reply]})).run("Hi")
    comparison = compare_prompts(run)
    assert comparison.prompt("A", "default").tokens == comparison.prompt("A", "none").tokens < 100
    assert comparison.headline.startswith("No step is sent a state value twice; NONE would save 0 of ")


def test_a_before_model_callback_keeps_its_edits_where_the_prompt_is_the_sent_one() -> None:
    def shorten(context: Any, request: LlmRequest) -> None:
        request.contents = request.contents[-1:]
        request.append_instructions(["Be brief."])

    edited = LlmAgent(name="B", before_model_callback=shorten)
    pipeline = SequentialAgent(name="root", sub_agents=[LlmAgent(name="A"), LlmAgent(name="A2"), edited])
    run = Runner(pipeline, model=ScriptedModel({"A": ["a"], "A2": ["a2"], "B": ["b"]})).run("Hi")
    comparison = compare_prompts(run)
    as_sent = comparison.prompt("B", "default")
    assert as_sent.request is run.step("B").requests[0].sent
    assert (as_sent.is_as_sent, as_sent.note) == (True, "")
    assert comparison.prompt("B", "none").is_as_sent  # the callback left what NONE would send
    state_only = compare_prompts(run, ["default", Nothing()]).prompt("B", "nothing")
    assert state_only.note == "a before_model_callback changed the contents that were sent; it is not called here"
    assert state_only.request is not None
    assert state_only.request.contents == []
    assert str(state_only.request.system_instruction).endswith("Be brief.")


class Nothing:
    """A strategy of the user's own."""

    name = "nothing"

    def contents(self, history: Any) -> list[Any]:
        return []


def test_own_strategies_maps_and_one_strategy_alone() -> None:
    run = ticket().run
    comparison = compare_prompts(run, ["default", {"DraftAgent": "none"}, Nothing()])
    assert comparison.strategies == ("default", "DraftAgent=none", "nothing")
    assert comparison.headline == (
        "PolicyCheckAgent is sent the values of triage and draft twice (42 tokens); DraftAgent=none would save 0 of 159 "
        "tokens (0 %), nothing would save 69 of 159 tokens (43 %)."
    )
    assert compare_prompts(run, ["default"]).headline == (
        "PolicyCheckAgent is sent the values of triage and draft twice (42 tokens); the prompts are 159 tokens in all."
    )
    assert compare_prompts(run, ["none", "default"]).headline == (
        "DraftAgent would be sent, under NONE, the value of triage twice (23 tokens); DEFAULT would add 7 to 119 tokens "
        "(6 %)."
    )


def test_a_prompt_that_adk_cannot_build_says_so() -> None:
    def ask(question: str) -> None:
        """Ask a person."""

    agent = LlmAgent(name="A", tools=[LongRunningFunctionTool(ask)])
    call = LlmResponse(Content("model", (Part(function_call=FunctionCall("ask", {"question": "x"})),)))
    runner = Runner(agent, model=ScriptedModel({"A": [call, "done"]}), strategy="none")
    session = runner.run("Hi").session
    unknown = FunctionResponse("ask", {"answer": 1}, "adk-unknown")
    run = runner.run(unknown, session=session)
    comparison = compare_prompts(run)
    failed = comparison.prompt("A", "default")
    assert (failed.request, failed.tokens, failed.is_as_sent) == (None, 0, False)
    assert failed.note == (
        "ADK fails to build this request: No function call event found for function response IDs: [adk-unknown]"
    )
    assert comparison.saved("none") == 0
    assert comparison.to_frame()["saved"].tolist() == [0, 0]
    assert comparison.remarks == [f"A, DEFAULT: {failed.note}."]
    assert "fails" in str(comparison)


def test_runs_without_prompts_and_failed_runs() -> None:
    skipped = LlmAgent(name="A", before_agent_callback=lambda context: "no")
    empty = compare_prompts(Runner(skipped, model="echo").run("Hi"))
    assert empty.headline == "No step of this run asked a model, so there is no prompt to compare."
    assert (empty.prompts, empty.remarks, empty.rows()) == ((), [], [])
    assert len(empty.to_frame()) == 0
    assert "No step of this run asked a model" in str(empty)
    with pytest.raises(ReplyMissingError) as caught:
        Runner(LlmAgent(name="A"), model=ScriptedModel({})).run("Hi")
    assert caught.value.run is not None
    assert compare_prompts(caught.value.run).prompt("A", "none").is_as_sent


def test_copied_steps_are_as_their_own_run_sent_them() -> None:
    run = Runner(ticket_pipeline(), model=scripted_replies()).run(MESSAGE)
    mixed = Runner(ticket_pipeline(), model=scripted_replies(), strategy="none").run_from(run, "PolicyCheckAgent")
    sent_as = {(prompt.step.name, prompt.strategy): prompt.is_as_sent for prompt in compare_prompts(mixed).prompts}
    assert sent_as["DraftAgent", "default"]
    assert not sent_as["DraftAgent", "none"]
    assert not sent_as["PolicyCheckAgent", "default"]
    assert sent_as["PolicyCheckAgent", "none"]


@pytest.mark.parametrize(
    ("strategies", "message"),
    [
        (["nne"], "there is no context strategy 'nne'. Did you mean 'none'?"),
        (["none", "NONE"], "strategies to compare need different names, at least one; there are ['none', 'none']"),
        ([], "strategies to compare need different names, at least one; there are []"),
    ],
)
def test_wrong_strategies(strategies: Sequence[str], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        compare_prompts(ticket().run, strategies)
    assert str(caught.value) == message


def test_asking_for_a_prompt_that_there_is_not() -> None:
    comparison = ticket()
    with pytest.raises(RunStateError, match=r"has no step 'DraftAgnt'\. Did you mean 'DraftAgent'"):
        comparison.prompt("DraftAgnt", "none")
    with pytest.raises(RunStateError, match=r"'state_only' was not compared\. There are: 'default', 'none'\."):
        comparison.prompt("DraftAgent", "state_only")
    with pytest.raises(RunStateError, match=r"step DraftAgent has no request 2; it made 1\."):
        comparison.prompt("DraftAgent", "none", 2)
