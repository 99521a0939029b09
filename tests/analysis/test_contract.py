"""The contract: who writes each key, who reads it, what it holds, and the class of constants."""

from __future__ import annotations

import ast
import re
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adknb import BaseAgent, Event, EventActions, LlmAgent, ParallelAgent, Runner, ScriptedModel, SequentialAgent
from adknb.analysis.constants import constant_names, constants_class, literal
from adknb.analysis.contract import contract
from adknb.core.tools import FunctionTool
from adknb.examples.ticket import MESSAGE, scripted_replies, ticket_pipeline
from adknb.runtime.callbacks import ToolContext

GUARDED = '''\
"""The state keys of a pipeline."""

# Pipeline: ticket_pipeline


class StateKeys:
    """Every state key: who writes it, who reads it, and what it holds."""

    # producer: TriageAgent
    # consumer: DraftAgent (required), PolicyCheckAgent (required), perhaps callback require_triage of DraftAgent
    # shape: JSON object {category, urgency, summary}
    TRIAGE = "triage"

    # producer: outside the pipeline
    # consumer: DraftAgent (optional)
    # shape: unknown
    # note: set from outside
    USER_TIER = "user:tier"

    # producer: DraftAgent, perhaps callback require_triage of DraftAgent
    # consumer: PolicyCheckAgent (required)
    # shape: text
    DRAFT = "draft"

    # producer: perhaps callback require_triage of DraftAgent
    # consumer: none in the pipeline
    # shape: unknown
    TEMP_TRIAGE_OK = "temp:triage_ok"

    # producer: PolicyCheckAgent
    # consumer: none in the pipeline
    # shape: text
    VERDICT = "verdict"
'''


def test_the_ticket_pipeline() -> None:
    made = contract(ticket_pipeline())
    assert [entry.key for entry in made] == ["triage", "user:tier", "draft", "verdict"]
    triage = made["triage"]
    assert [str(producer) for producer in triage.producers] == ["TriageAgent"]
    assert [str(consumer) for consumer in triage.consumers] == ["DraftAgent (required)", "PolicyCheckAgent (required)"]
    assert (triage.scope, triage.required, triage.shape) == (
        "session", "required", "JSON object {category, urgency, summary}",
    )  # fmt: skip
    tier = made["user:tier"]
    assert (tier.producers, tier.required, tier.scope, tier.note) == ((), "optional", "user", "set from outside")
    assert made["verdict"].required == ""
    assert made.unknown == ()
    with pytest.raises(KeyError, match="nope"):
        made["nope"]


def test_code_that_may_write_is_said_to() -> None:
    made = contract(ticket_pipeline(guarded=True))
    assert made.to_python() == GUARDED
    assert made.unknown == ("before_agent_callback require_triage of DraftAgent",)


def test_a_run_shows_who_wrote_what() -> None:
    pipeline = ticket_pipeline(guarded=True)
    good = Runner(pipeline, model=scripted_replies()).run(MESSAGE, state={"user:tier": "gold"})
    made = contract(pipeline, run=good)
    assert [str(producer) for producer in made["temp:triage_ok"].producers] == ["callback require_triage of DraftAgent"]
    assert made["temp:triage_ok"].shape == "boolean"
    assert [str(producer) for producer in made["user:tier"].producers] == ["preset"]
    assert made["user:tier"].note == ""
    assert [(producer.how, producer.seen) for producer in made["draft"].producers] == [
        ("output_key", True), ("callback require_triage", False),
    ]  # fmt: skip
    prose = {"TriageAgent": ["It is about billing."], "PolicyCheckAgent": ["REJECT"]}
    bad = contract(pipeline, run=Runner(pipeline, model=ScriptedModel(prose)).run(MESSAGE))
    assert [(producer.how, producer.certain, producer.seen) for producer in bad["draft"].producers] == [
        ("output_key", True, False), ("callback require_triage", True, True),
    ]  # fmt: skip
    assert (bad["triage"].documented, bad["triage"].seen) == ("JSON object {category, urgency, summary}", "text")


def test_order_is_told_where_it_is_wrong() -> None:
    made = contract(
        SequentialAgent(
            name="root",
            sub_agents=[
                LlmAgent(name="Early", instruction="{late} {nobody} {side?}"),
                LlmAgent(name="Late", output_key="late"),
                ParallelAgent(
                    name="fan",
                    sub_agents=[LlmAgent(name="P", instruction="{side}"), LlmAgent(name="Q", output_key="side")],
                ),
            ],
        )
    )
    assert {entry.key: entry.note for entry in made} == {
        "late": "Early reads it before it is written",
        "nobody": "nobody writes it",
        "side": "Early reads it before it is written; P reads it while it is being written",
    }


def test_tools_custom_agents_and_instruction_functions() -> None:
    def remember(fact: str, tool_context: ToolContext) -> dict[str, Any]:
        """Remember a fact."""
        tool_context.state["fact"] = fact
        return {}

    def instruct(context: Any) -> str:
        return f"Use {context.state['fact']} and {context.state['temp:hint']}"

    class Router(BaseAgent):
        async def _run_async_impl(self, ctx: Any) -> AsyncGenerator[Event]:
            yield Event(self.name, actions=EventActions(state_delta={"temp:hint": 1}))

    made = contract(
        SequentialAgent(
            name="root",
            sub_agents=[
                Router(name="Router"),
                LlmAgent(name="Teller", tools=[FunctionTool(remember)], output_key="told"),
                LlmAgent(name="User", instruction=instruct),
            ],
        )
    )
    assert {entry.key: [str(each) for each in (*entry.producers, *entry.consumers)] for entry in made} == {
        "temp:hint": ["perhaps custom agent Router", "perhaps instruction function of User"],
        "fact": ["perhaps tool remember of Teller", "perhaps instruction function of User"],
        "told": ["Teller"],
    }
    assert made.unknown == (
        "custom agent Router", "tool remember of Teller", "instruction function instruct of User",
    )  # fmt: skip


def test_the_table() -> None:
    data = contract(ticket_pipeline()).to_frame()
    assert list(data.columns) == [
        "key", "constant", "scope", "producer", "consumer", "required", "shape", "seen", "note",
    ]  # fmt: skip
    assert data.loc[1].to_dict() == {
        "key": "user:tier", "constant": "USER_TIER", "scope": "user", "producer": "",
        "consumer": "DraftAgent (optional)", "required": "optional", "shape": "", "seen": "",
        "note": "set from outside",
    }  # fmt: skip


def test_names_of_constants() -> None:
    keys = ["user:tier", "step.extract", "step-extract", "triageResult", "HTTPCode", "2nd", "é", "…", "", "class"]
    assert list(constant_names(keys).values()) == [
        "USER_TIER", "STEP_EXTRACT", "STEP_EXTRACT_2", "TRIAGE_RESULT", "HTTP_CODE", "KEY_2ND", "E", "KEY", "KEY_2",
        "CLASS",
    ]  # fmt: skip
    assert list(constant_names(["a-b", "a.b", "a_b_2"]).values()) == ["A_B", "A_B_2", "A_B_2_2"]


def test_literals_show_what_would_not_be_seen() -> None:
    assert literal("user:tier") == '"user:tier"'
    assert literal('a"b') == '"a\\"b"'
    assert literal("it's") == '"it\'s"'
    assert literal("naïve") == '"naïve"'
    assert literal("a\u202eb\ud800") == '"a\\u202eb\\ud800"'


@given(st.text(), st.lists(st.text(), unique=True), st.text())
def test_the_class_is_python_whatever_the_keys_are(pipeline: str, keys: list[str], fact: str) -> None:
    source = constants_class(pipeline, [(key, {"producer": fact, "note": key}) for key in keys])
    encoded = source.encode("utf-8")
    module: dict[str, Any] = {}
    exec(compile(encoded, "keys.py", "exec"), module)
    found = {name: value for name, value in vars(module["StateKeys"]).items() if not name.startswith("_")}
    assert list(found.values()) == keys
    assert all(re.fullmatch("[A-Z][A-Z0-9_]*", name) for name in found)
    assert len(ast.parse(encoded).body) == 2


def test_a_pipeline_name_cannot_name_the_encoding() -> None:
    source = constants_class("-*- coding: utf-7 -*-", [("k", {})])
    module: dict[str, Any] = {}
    exec(compile(source.encode("utf-8"), "keys.py", "exec"), module)
    assert module["StateKeys"].K == "k"
