"""Runs and sessions as DataFrames: exact numbers, plain names and dtypes."""

import json
import re
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from adknb import (
    AdknbError,
    Content,
    FunctionCall,
    FunctionTool,
    LlmAgent,
    LlmResponse,
    Part,
    Run,
    Runner,
    RunStateError,
    ScriptedModel,
    SequentialAgent,
    Session,
    Usage,
)  # fmt: skip
from adknb.core import views
from adknb.examples.ticket import ticket_pipeline
from adknb.tokens.channels import CHANNELS
from tests.factories import DRAFT, TRIAGE, ticket_run


def run_ticket(*triages: Any) -> Run:
    """The pipeline's last turn, one turn for each triage reply, all in one session."""
    model = ScriptedModel(
        {"TriageAgent": list(triages), "DraftAgent": [DRAFT] * 3, "PolicyCheckAgent": ["APPROVE"] * 3}
    )
    runner = Runner(ticket_pipeline(guarded=True), model=model)
    run = runner.run("I was charged twice for September.", user_id="user-42", state={"user:tier": "gold"})
    for _ in triages[1:]:
        run = runner.run("My router has been offline since Monday.", session=run.session)
    return run


def rows(frame: pd.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    plain = [[None if value is pd.NA else value for value in frame[column].tolist()] for column in columns]
    return list(zip(*plain, strict=True))


THOUGHT = [Part(text="Hm.", thought=True)]
"""A reply that writes no key."""


def test_state() -> None:
    state = run_ticket(TRIAGE).state
    assert list(state.columns) == [
        "key", "scope", "value", "type", "characters", "tokens", "written_by", "event", "read_by", "fresh"
    ]  # fmt: skip
    assert rows(state, "key", "scope", "type", "characters", "tokens", "written_by", "event", "read_by", "fresh") == [
        ("user:tier", "user", "str", 4, 1, "preset", None, "DraftAgent", "preset"),
        ("triage", "session", "str", 65, 21, "TriageAgent", 2, "DraftAgent, PolicyCheckAgent", "fresh"),
        ("temp:triage_ok", "temp", "bool", 4, 1, "DraftAgent", 3, "", "discarded after the turn"),
        ("draft", "session", "str", 70, 15, "DraftAgent", 4, "PolicyCheckAgent", "fresh"),
        ("verdict", "session", "str", 7, 3, "PolicyCheckAgent", 5, "", "fresh"),
    ]
    assert state["value"].tolist() == ["gold", TRIAGE, True, DRAFT, "APPROVE"]


def test_the_stale_value_is_marked_in_every_table() -> None:
    run = run_ticket(TRIAGE, THOUGHT)
    assert rows(run.state, "key", "written_by", "fresh") == [
        ("user:tier", "preset", "preset"),
        ("triage", "TriageAgent (turn 1)", "stale: turn 1"),
        ("draft", "DraftAgent", "fresh"),
        ("verdict", "PolicyCheckAgent", "fresh"),
        ("temp:triage_ok", "DraftAgent", "discarded after the turn"),
    ]
    assert rows(run.steps, "step", "stale") == [
        ("TriageAgent", ""), ("DraftAgent", "triage: turn 1"), ("PolicyCheckAgent", "triage: turn 1")
    ]  # fmt: skip
    assert rows(run.tokens, "step", "stale") == rows(run.steps, "step", "stale")
    assert rows(run.events, "event", "step", "stale") == [
        (6, "", ""),
        (7, "TriageAgent", ""),
        (8, "DraftAgent", "triage: turn 1"),
        (9, "DraftAgent", "triage: turn 1"),
        (10, "PolicyCheckAgent", "triage: turn 1"),
    ]
    prompt = run.prompt("DraftAgent")
    assert rows(prompt[prompt["origin"] == "state"], "key", "fresh") == [
        ("triage", "stale: turn 1"), ("user:tier", "preset")
    ]  # fmt: skip
    assert rows(views.table(run.session, "turns"), "turn", "stale") == [(1, ""), (2, "triage: turn 1")]


def test_a_write_after_a_stale_read_names_it() -> None:
    agents = (LlmAgent(name="Reader", instruction="{k?}"), LlmAgent(name="Writer", output_key="k"))
    runner = Runner(
        SequentialAgent(name="seq", sub_agents=agents),
        model=ScriptedModel({"Reader": ["r1", "r2"], "Writer": ["w1", "w2"]}),
    )
    run = runner.run("Two.", session=runner.run("One.").session)
    assert rows(run.state_history, "turn", "event", "step", "author", "key", "change", "old", "new", "stale") == [
        (2, 6, "Writer", "Writer", "k", "overwritten", "w1", "w2", "Reader read turn 1")
    ]


def test_state_history_has_one_row_a_write() -> None:
    run = run_ticket("Billing, I think.")
    assert rows(run.state_history, "turn", "event", "step", "key", "change", "old", "new") == [
        (1, 2, "TriageAgent", "triage", "new", None, "Billing, I think."),
        (1, 3, "DraftAgent", "temp:triage_ok", "new", None, False),
        (1, 3, "DraftAgent", "draft", "new", None, "ESCALATE: triage output was missing or malformed"),
        (1, 4, "PolicyCheckAgent", "verdict", "new", None, "APPROVE"),
    ]
    assert views.table(run.session, "state_history").equals(run.state_history)


def test_a_kept_temp_key_is_not_called_discarded() -> None:
    run = ticket_run(temp_keys="keep")
    assert rows(run.state, "key", "fresh")[2] == ("temp:ok", "fresh")
    run = ticket_run()
    run.status = "paused"  # the turn is not over: the key is still there
    assert rows(run.state, "key", "fresh")[2] == ("temp:ok", "fresh")


def test_steps() -> None:
    steps = run_ticket(TRIAGE).steps
    said = ("scripted", "o200k_base", "scripted: ignores your prompt")
    assert rows(steps, "step", "agent", "status", "requests", "key", "readers", "model", "counted_by", "note") == [
        ("TriageAgent", "TriageAgent", "completed", 1, "triage", "DraftAgent, PolicyCheckAgent", *said),
        ("DraftAgent", "DraftAgent", "completed", 1, "temp:triage_ok, draft", "PolicyCheckAgent", *said),
        ("PolicyCheckAgent", "PolicyCheckAgent", "completed", 1, "verdict", "", *said),
    ]
    assert rows(steps, "input_tokens", "output_tokens", "cumulative") == [(74, 21, 95), (120, 15, 230), (143, 3, 376)]
    assert (steps["ms"] > 0).all()


def test_a_skipped_step_asked_nothing() -> None:
    steps = run_ticket("Billing, I think.").steps
    assert rows(steps, "step", "status", "requests", "input_tokens", "output_tokens", "model", "counted_by")[1] == (
        "DraftAgent", "skipped", 0, 0, 0, "", ""
    )  # fmt: skip


def test_tokens_by_channel() -> None:
    tokens = run_ticket(TRIAGE).tokens
    assert list(tokens.columns) == [
        "step", "agent", "request", *CHANNELS, "total", "output", "sent_twice", "twice", "stale", "reported",
        "counted_by",
    ]  # fmt: skip
    assert rows(tokens, "step", "request", *CHANNELS, "total", "output", "sent_twice", "twice") == [
        ("TriageAgent", 1, 67, 0, 7, 0, 0, 0, None, 74, 21, 0, ""),
        ("DraftAgent", 1, 63, 20, 7, 30, 0, 0, None, 120, 15, 20, "triage"),
        ("PolicyCheckAgent", 1, 48, 34, 7, 54, 0, 0, None, 143, 3, 34, "triage, draft"),
    ]
    assert rows(tokens, "reported", "counted_by") == [(False, "o200k_base")] * 3


def lookup(order: int) -> dict[str, str]:
    """Looks up an order."""
    return {"order": str(order), "status": "paid twice"}


def run_with_tool() -> Run:
    agent = LlmAgent(
        name="Helper",
        instruction="Help. {user:tier?}",
        tools=(FunctionTool(lookup),),
        output_key="answer",
        output_schema={"type": "OBJECT", "properties": {"text": {"type": "STRING"}}},
    )
    call = Content("model", (Part(function_call=FunctionCall("lookup", {"order": 7}, "call-1")),))
    model = ScriptedModel(
        {"Helper": [LlmResponse(call, Usage(180, 12)), LlmResponse(Content.model('{"text": "Paid twice."}'))]}
    )
    return Runner(agent, model=model).run("Where is order 7?", state={"user:tier": "gold"})


def test_reported_usage_wins_request_by_request() -> None:
    run = run_with_tool()
    assert rows(run.tokens, "request", *CHANNELS, "total", "output", "reported") == [
        (1, 16, 0, 6, 0, 39, 14, 105, 180, 12, True),
        (2, 16, 0, 6, 34, 39, 14, None, 109, 8, False),
    ]
    assert rows(run.steps, "input_tokens", "output_tokens", "cumulative", "counted_by") == [
        (289, 20, 309, "reported, o200k_base")
    ]


def without_id(part: Part) -> dict[str, Any]:
    """Call ids are random: they are neither shown nor counted."""
    return {
        kind: {name: value for name, value in said.items() if name != "id"} for kind, said in part.to_dict().items()
    }


def test_the_prompt_joined_is_what_was_sent() -> None:
    run = run_with_tool()
    for number, request in enumerate(run.step("Helper").requests, 1):
        prompt = run.prompt("Helper", number)
        assert "".join(prompt["text"][prompt["role"] == "system"]) == request.sent.system_instruction
        for place, content in enumerate(request.sent.contents):
            own = prompt[prompt["content"] == place]
            assert set(own["role"]) == {content.role}
            for text, part in zip(own["text"], content.parts, strict=True):
                assert text == part.text or json.loads(text) == without_id(part)
        assert prompt["tokens"].sum() == run.tokens.loc[number - 1, list(CHANNELS[:-1])].sum()


def test_the_prompt_says_where_each_piece_is_from() -> None:
    prompt = run_with_tool().prompt("Helper", 2)
    assert rows(prompt, "role", "content", "origin", "key", "tokens", "channel", "author", "event", "fresh") == [
        ("system", None, "instruction", "", 3, "instruction", "", None, ""),
        ("system", None, "state", "user:tier", 0, "injected_state", "", None, "preset"),
        ("system", None, "separator", "", 1, "instruction", "", None, ""),
        ("system", None, "identity", "", 12, "instruction", "", None, ""),
        ("user", 0, "user message", "", 6, "user_message", "user", 1, ""),
        ("model", 1, "tool call", "", 14, "history", "Helper", 2, ""),
        ("user", 2, "tool response", "", 20, "history", "Helper", 3, ""),
        ("tools", None, "tools", "", 39, "tools", "", None, ""),
        ("schema", None, "schema", "", 14, "schema", "", None, ""),
    ]


def test_events() -> None:
    events = run_with_tool().events
    assert rows(events, "event", "turn", "step", "author", "kind", "text", "calls", "responses", "writes", "final") == [
        (1, 1, "", "user", "user message", "Where is order 7?", "", "", "", True),
        (2, 1, "Helper", "Helper", "tool call", "", 'lookup({"order":7})', "", "", False),
        (3, 1, "Helper", "Helper", "tool response", "", "", 'lookup → {"order":"7","status":"paid twice"}', "", False),
        (4, 1, "Helper", "Helper", "reply", '{"text": "Paid twice."}', "", "", "answer", True),
    ]
    assert rows(events, "input_tokens", "output_tokens") == [(None, None), (180, 12), (None, None), (None, None)]
    assert events["id"].is_unique


def test_session_tables() -> None:
    session = run_ticket(TRIAGE, THOUGHT).session
    turns = views.table(session, "turns")
    assert rows(turns, "turn", "pipeline", "message", "output", "status", "steps") == [
        (1, "ticket_pipeline", "I was charged twice for September.", "APPROVE", "completed", 3),
        (2, "ticket_pipeline", "My router has been offline since Monday.", "APPROVE", "completed", 3),
    ]
    assert views.table(session, "state").equals(session.turns[-1].state)
    assert views.table(session, "events")["event"].tolist() == list(range(1, 11))
    fresh = views.table(Session("new", state={"user:tier": "gold"}), "state")
    assert rows(fresh, "key", "scope", "written_by", "event") == [("user:tier", "user", "preset", None)]


@pytest.mark.parametrize("name", ["state", "state_history", "events", "steps", "tokens"])
def test_dtypes_are_plain_and_hold_even_without_rows(name: str) -> None:
    empty = Run(ticket_pipeline(guarded=True), Session("s"), Content.user("Hello."), {})
    assert len(views.table(empty, name)) == 0
    full = views.table(run_with_tool(), name)
    assert full.dtypes.equals(views.table(empty, name).dtypes)
    assert {str(dtype) for dtype in full.dtypes} <= {"object", "int64", "Int64", "float64", "bool"}


@pytest.mark.parametrize(
    ("step", "request_number", "message"),
    [
        ("Draft", 1, "has no step 'Draft'. Did you mean 'DraftAgent'?"),
        ("DraftAgent", 1, "step DraftAgent asked no model (it is skipped), so there is no prompt to show."),
        ("TriageAgent", 2, "step TriageAgent has no request 2; it made 1, numbered from 1. Ask for request=1."),
        ("TriageAgent", 0, "step TriageAgent has no request 0; it made 1, numbered from 1. Ask for request=1."),
    ],
)
def test_a_prompt_that_there_is_not(step: str, request_number: int, message: str) -> None:
    with pytest.raises(RunStateError) as caught:
        run_ticket("Billing, I think.").prompt(step, request_number)
    assert str(caught.value).endswith(message)


def test_a_table_that_there_is_not() -> None:
    with pytest.raises(AdknbError, match=r"a Run has no table 'stat'\. Did you mean 'state'"):
        views.table(ticket_run(), "stat")


class WordCounter:
    """Counts words, to be told from the usual counter."""

    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())

    def starts(self, text: str) -> list[int]:
        return [word.start() for word in re.finditer(r"\S+", text)]


def test_another_counter_is_named_beside_its_counts() -> None:
    tokens = views.table(run_ticket(TRIAGE), "tokens", WordCounter())
    assert rows(tokens, "step", "user_message", "total", "counted_by")[0] == ("TriageAgent", 6, 39, "words")


@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_text_goes_through_the_tables(text: str) -> None:
    run = ticket_run(Session("s", state={"long enough to be no other key": text, text: [text]}))
    assert run.state["value"].tolist()[0] == text
    assert run.state["characters"].tolist()[0] == len(text)
