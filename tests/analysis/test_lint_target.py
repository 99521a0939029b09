"""What lint says of another ADK before anything runs there."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import LlmAgent, LoopAgent, SequentialAgent, SpecError, ToolContext, lint
from adknb.examples.ticket import ticket_pipeline
from adknb.rules.differences import DIFFERENCES
from tests.analysis.pipelines import llm, steps

SCHEMA = {
    "type": "OBJECT",
    "properties": {"n": {"type": "INTEGER"}, "tags": {"type": "ARRAY", "items": {"type": "STRING", "enum": ["a"]}}},
    "required": ["n"],
}


def read_state(key: str, tool_context: ToolContext) -> dict[str, Any]:
    """Read a value from session state by key."""
    return {"value": tool_context.state.get(key)}


def said(root: Any, target: str = "go", **options: Any) -> list[str]:
    return [
        str(finding) for finding in lint(root, target=target, **options) if finding.code == f"differs-under-{target}"
    ]


def test_nothing_is_said_of_a_pipeline_that_runs_the_same() -> None:
    assert [said(ticket_pipeline(), target) for target in ("java", "go", "go_fixed", "js")] == [[]] * 4
    assert not [finding for finding in lint(llm("A", "{$a}")) if finding.code.startswith("differs")]


def test_a_key_that_a_tools_call_clobbers() -> None:
    root = steps(llm("writer", "w", "secret"), llm("reader", "r", "secret", tools=[read_state]))
    assert said(root) == [
        "reader: warning differs-under-go: Under go every event of reader writes 'secret', a call of a tool too, with an "
        "empty text: what writer wrote there is gone before a tool can read it; tools and placeholders read an empty value "
        "until the answer comes. (rule output) Give reader an output_key of its own."
    ]
    assert said(root, "go_fixed") == said(root, "js") == []
    codes = [[finding.code for finding in lint(root, target=target)] for target in (None, "go", "js")]
    assert codes == [["overwritten"], ["differs-under-go"], []]


def test_a_key_of_its_own_is_only_good_to_know() -> None:
    (own,) = said(llm("A", "a", "a", tools=[read_state]))
    assert own.startswith("A: info differs-under-go: Under go every event of A writes 'a', a call of a tool too,")
    (read,) = said(llm("A", "{a?}", "a", tools=[read_state]))
    assert read.startswith("A: warning differs-under-go: ")
    assert read.endswith("Give A an output_key of its own that nothing reads before its answer.")


def test_names_that_another_adk_refuses() -> None:
    twice = steps(llm("A", "a"), SequentialAgent(name="inner", sub_agents=[llm("A", "b")]))
    (finding,) = said(twice)
    assert finding.startswith(
        "root: error differs-under-go: go does not take the names: two agents of 'root' are named 'A': "
    )
    assert finding.endswith("(rule check_names) ASCII letters, digits and _, and each name once, fit every ADK.")


def test_a_placeholder_that_only_one_substitutes() -> None:
    root = llm("A", "Say {tier?}\nand {$a}.")
    assert said(root, state=["$a"]) == [
        "A:2:5: warning differs-under-go: {$a} is the key '$a' under java, stays as it is under go. (rule parse) Name the key "
        "in ASCII letters, digits and _ alone, after app:, user: or temp: if need be."
    ]
    (there,) = [finding for finding in lint(root, rules="go", target="java") if finding.code == "differs-under-java"]
    assert there.message == "{$a} stays as it is under go, is the key '$a' under java. (rule parse)"


@pytest.mark.parametrize(
    ("value", "java", "go", "js"),
    [
        ({"a": [1, None]}, "{a=[1, null]}", "map[a:[1 <nil>]]", '{"a":[1,null]}'),
        (["x", "y"], "[x, y]", "[x y]", '["x","y"]'),
        (2.0, "2.0", "2", "2"),
    ],
)
def test_values_whose_text_differs(value: Any, java: str, go: str, js: str) -> None:
    for target, text in (("go", go), ("js", js)):
        assert said(llm("A", "Say {data} {data}"), target, state={"data": value}) == [
            f"A:1:5: warning differs-under-{target}: {{data}} is {java} under java, {text} under {target}. (rule text_of) Write "
            "text to the state."
        ]


@pytest.mark.parametrize("value", ["text", True, 7])
def test_values_that_read_the_same(value: Any) -> None:
    assert (
        said(llm("A", "{data}"), "go", state={"data": value})
        == said(llm("A", "{data}"), "js", state={"data": value})
        == []
    )


def test_a_value_is_not_said_twice_where_the_placeholder_differs_already() -> None:
    assert len(said(llm("A", "{$a}"), state={"$a": {"x": 1}})) == 1


def test_null_is_refused_by_java_alone() -> None:
    (finding,) = [
        each for each in lint(llm("A", "a"), rules="go", target="java", state={"k": None}) if "java" in each.code
    ]
    assert (finding.severity, finding.agent) == ("error", "A")
    assert finding.message.startswith("java does not take 'k': ")
    assert said(llm("A", "{k?}"), state={"k": None}) == []


def test_a_reply_to_a_schema_is_a_map_or_text() -> None:
    writer = llm("W", "w", "w", output_schema=SCHEMA)
    fix = "Leave out the output_schema of W and check its text in a callback: text reads the same everywhere."
    root = steps(writer, llm("R", "{w}"))
    assert said(root) == [
        'R:1:1: warning differs-under-go: {w} is {n=1, tags=[a]} under java, {"n": 1, "tags": ["a"]} under go. (rule output) '
        + fix
    ]
    assert said(root, "js")[0] == (
        'R:1:1: warning differs-under-js: {w} is {n=1, tags=[a]} under java, {"n":1,"tags":["a"]} under js. (rule text_of) '
        + fix
    )
    assert said(steps(writer)) == [
        "W: info differs-under-go: 'w' holds a map under java, text under go. (rule output) Code that reads it must take both."
    ]


def test_quotes_in_a_description_are_escaped_under_go() -> None:
    assert said(llm("A", "a", description='Says "hi".')) == [
        "A: info differs-under-go: Under go the name and description are told in other characters: You are an agent. Your "
        'internal name is "A". The description about you is "Says \\"hi\\".". (rule identity) Leave quotes, backslashes and line '
        "breaks out of the name and description."
    ]
    assert said(llm("A", "a", description="Says hi."), "js") == []


def test_an_agent_with_a_schema_is_told_no_identity_under_js() -> None:
    assert said(llm("A", "a", output_schema=SCHEMA), "js") == [
        "A: info differs-under-js: Under js A is not told its name and description, because it has an output_schema. (rule "
        "identity) If the answer depends on them, say them in the instruction."
    ]


def test_tools_and_a_schema_by_the_models_name() -> None:
    root = llm("A", "a", output_schema=SCHEMA, tools=[read_state], model="gemini-1.5-pro")
    assert said(root) == [
        "A: warning differs-under-go: With gemini-1.5-pro, tools and an output_schema, the answer is asked for by a response "
        "schema under java, by the tool set_model_response under go. (rule schema_by_tool) Put the tools and the output_schema "
        "into two steps."
    ]


def test_a_zero_that_go_leaves_out() -> None:
    root = llm("A", "a", generate_content_config={"max_output_tokens": 0, "temperature": 0.5})
    assert said(root) == [
        "A: warning differs-under-go: max_output_tokens is sent under java, and left out under go. (rule config) Take a value "
        "that is not zero, or one that the model uses anyway."
    ]


def test_a_loop_of_one_agent_and_a_loop_of_zero() -> None:
    loop = LoopAgent(name="loop", max_iterations=2, sub_agents=[llm("A", "a")])
    message = (
        "A: info differs-under-go: From its second iteration on, A is sent its own reply last. Under go another turn of the "
        "user's follows it, 'Continue processing previous requests as instructed. Exit or provide a summary…'; under java none "
        "does. (rule contents) Say in the instruction what an iteration is to do, by a key that it reads."
    )
    assert said(loop) == [message]
    (back,) = [each for each in lint(loop, rules="go", target="java") if each.code == "differs-under-java"]
    assert back.message == message.partition("go: ")[2].partition(" Say")[0]
    assert said(LoopAgent(name="loop", max_iterations=2, sub_agents=[llm("A", "a"), llm("B", "b")])) == []
    none = LoopAgent(name="loop", max_iterations=0, sub_agents=[llm("A", "a"), llm("B", "b")])
    assert said(none) == [
        "loop: warning differs-under-go: The loop runs at most 0 times under java, without a limit under go. (rule loop_limit) "
        "Give it a max_iterations of 1 or more."
    ]


def test_a_temp_key_that_the_session_begins_with() -> None:
    root = llm("A", "{temp:x?}")
    assert said(root, "js", state={"temp:x": "1"}) == [
        "A: warning differs-under-js: 'temp:x', which the session is given to start with, is dropped under js. (rule "
        "start_state) Give it under a key without temp:, or set it in a before_agent_callback."
    ]


def test_every_rule_that_a_finding_names_is_one_of_the_differences() -> None:
    from pathlib import Path

    from adknb.analysis.checks import target

    source = Path(target.__file__).read_text()
    named = {name for name in {difference.name for difference in DIFFERENCES} if f'"{name}"' in source}
    assert named == {
        "check_names", "parse", "text_of", "check_state_value", "output", "contents", "identity", "schema_by_tool", "config",
        "loop_limit", "start_state",
    }  # fmt: skip


def test_an_adk_that_there_is_not() -> None:
    with pytest.raises(SpecError, match="there is no rule set 'gol'"):
        lint(LlmAgent(name="A"), target="gol")
