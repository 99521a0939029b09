"""Portability in a notebook: its card in both forms, `%adk portability` and `%adk lint --for`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest
from wcwidth import wcswidth

from adknb import (
    FunctionCall,
    Input,
    LlmAgent,
    LlmRequest,
    Part,
    Portability,
    ScriptedModel,
    SequentialAgent,
    ToolContext,
    portability,
)
from adknb.notebook.cards.portability_card import DEVIATIONS
from adknb.notebook.complete import complete
from adknb.notebook.verbs import VERBS
from tests.notebook.notebook import Notebook
from tests.notebook.test_cards import ATTRIBUTES, HOSTILE, TAGS, Reading

CARD_TAGS = TAGS | {"ins", "del"}


def read_state(key: str, tool_context: ToolContext) -> dict[str, Any]:
    """Read."""
    return {"value": str(tool_context.state.get(key) or "")}


def shared(**options: Any) -> Portability:
    writer = LlmAgent(name="writer", instruction="Write.", output_key="secret")
    reader = LlmAgent(name="reader", instruction="Read.", tools=[read_state], output_key="secret")
    call = Part(function_call=FunctionCall("read_state", {"key": "secret"}))
    model = ScriptedModel({"writer": ["SECRET_42"], "reader": [call, "done"]})
    root = SequentialAgent(name="shared", sub_agents=[writer, reader])
    return portability(root, "Go!", model=model, rules=["java", "go"], **options)


def text_value(value: Any) -> Portability:
    """One agent whose prompt reads a value that is no text."""
    agent = LlmAgent(name="A", instruction="Say {data}")
    return portability(agent, "hi", model=ScriptedModel(["ok"]), state={"data": value}, rules=["java", "go"])


# the card


def test_the_card_as_text() -> None:
    assert str(text_value({"a": 1})).split("\n") == [
        "Portability of A · 1 input · 1 step · the same replies under all",
        "A: go differs in 1 of 1 steps, first in the system instruction of A",
        "",
        "Step  go",
        "A     differs: system instruction",
        "",
        "--- go · A · tokens in 19",
        "  system instruction:",
        "    rule text_of: How a value reads that is no text",
        "    Say [-{a=1}-]{+map[a:1]+}",
        "",
        '    You are an agent. Your internal name is "A".',
        "",
        "The rules behind the differences",
        "  text_of: How a value reads that is no text",
        "    java: {a=1, b=[x, null]}, 2.0",
        "    go: map[a:1 b:[x <nil>]], 2",
        "    source: Java String.valueOf; Go %v; JS JSON.stringify",
    ]


def test_the_card_as_html_says_the_same() -> None:
    html = text_value({"a": 1}).to_html()
    text = Reading(html).text
    for said in (
        "go differs in 1 of 1 steps, first in the system instruction of A",
        "rule text_of: How a value reads that is no text",
        "Say −{a=1}+map[a:1]",
        "The rules behind the differences",
        "Java String.valueOf; Go %v; JS JSON.stringify",
    ):
        assert said in text
    assert '<span class="adknb-chip adknb-warn">differs</span> system instruction' in html
    assert html.count("<details open>") == 1


def test_a_tool_that_would_run_again_is_said() -> None:
    remark = "The rules behind the differences were not looked for, because the tools would run again for each:"
    plain, explained = shared(), shared(explain=True)
    assert remark in str(plain)
    assert remark in Reading(plain.to_html()).text
    assert remark not in str(explained)
    assert "rule output: Which events write the output_key" in str(explained)
    assert "reader  differs: history, +3\n" in str(explained)


def test_the_same_everywhere_is_one_line_and_a_table() -> None:
    result = text_value("text")
    assert str(result).split("\n") == [
        "Portability of A · 1 input · 1 step · the same replies under all",
        "A: the same under go as under java",
        "",
        "Step  go",
        "A     same",
    ]
    assert '<span class="adknb-chip adknb-good">same</span>' in result.to_html()


def test_what_is_refused_is_said_in_the_table() -> None:
    inner = SequentialAgent(name="inner", sub_agents=[LlmAgent(name="A", instruction="b")])
    root = SequentialAgent(name="p", sub_agents=[LlmAgent(name="A", instruction="a"), inner])
    result = portability(root, "hi", model=ScriptedModel(lambda request: "ok"), rules=["java", "go"])
    assert str(result).split("\n")[-2:] == ["A#1   refused", "A#2   refused"]
    assert '<span class="adknb-chip adknb-bad">refused</span>' in result.to_html()


def test_turns_and_inputs_stand_beside_a_step_where_there_are_several() -> None:
    agent = LlmAgent(name="A", instruction="Say {data}")
    inputs = [Input(("one", "two"), {"data": 2.0}, name="x"), Input(("three",), {"data": "t"}, name="y")]
    result = portability(agent, inputs, model=ScriptedModel(lambda request: "ok"), rules=["java", "go"])
    assert "A · turn 2 · input x  differs: system instruction\nA · turn 1 · input y  same\n" in str(result)


@pytest.mark.skipif(
    find_spec("google") is None or find_spec("google.adk") is None, reason="google-adk is not installed"
)
def test_google_adk_itself_is_one_of_the_adks() -> None:
    agents = [LlmAgent(name=name, instruction=name.lower()) for name in "AB"]
    root = SequentialAgent(name="p", sub_agents=agents)
    result = portability(root, "hi", model=ScriptedModel({"A": ["1"], "B": ["2"]}), rules=["java", "python"])
    assert result.headline == "p: python differs in 1 of 2 steps, first in the history of B"
    assert "    google-adk itself ran here: none of its rules can be tried alone\n" in str(result)


@pytest.mark.parametrize("payload", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_text(payload: str) -> None:
    agents = [
        LlmAgent(name="A", description=payload, instruction="Say {k} {data}", output_key=payload),
        LlmAgent(name="B", description=payload, instruction="b"),
    ]
    root = SequentialAgent(name="p", sub_agents=agents)
    inputs = Input((f"x{payload}",), {"k": payload, "data": {payload: 1.0}}, name=payload)
    result = portability(root, inputs, model=ScriptedModel({"A": [payload], "B": [payload]}))
    reading = Reading(result.to_html())
    assert set(reading.tags) <= CARD_TAGS
    assert reading.attributes <= ATTRIBUTES | {"open"}
    assert reading.open == []
    for text in (str(result), reading.text):
        assert all(character == "\n" or character.isprintable() for character in text)
        text.encode("utf-8")
    assert max(map(wcswidth, str(result).split("\n"))) <= 100


def test_many_deviations_and_long_texts_stay_within_bounds() -> None:
    agent = LlmAgent(name="A", instruction="Say {data}")
    inputs = [Input((f"m{n}",), {"data": {"a": "word " * 20_000, "b": 1.0}}) for n in range(DEVIATIONS + 3)]
    result = portability(agent, inputs, model=ScriptedModel(lambda request: "ok"), rules=["java", "go"], explain=False)
    assert len(result.deviations) == DEVIATIONS + 3
    html, text = result.to_html(), str(result)
    assert "… 3 more deviations; to_frame() has all" in text
    assert "… 3 more deviations; to_frame() has all" in Reading(html).text
    assert len(html) < 500_000
    assert len(text) < 300_000


# the verb


@pytest.fixture
def begun(notebook: Notebook) -> Notebook:
    notebook.run("%%agent A --pipeline p --key a\nSay {data?}.", "A")
    notebook.run("%%agent B --key b\nB reads {a}.", "B")
    notebook.run("%%pipeline p --state 'data:={\"x\":1.5}'\nhi", "run")
    return notebook


def ask_another_model(notebook: Notebook) -> list[str]:
    """From now on another model answers; returns whom it has answered."""
    asked: list[str] = []

    def answer(request: LlmRequest) -> str:
        asked.append(request.agent)
        return "new"

    notebook.names["model"] = ScriptedModel(answer)
    notebook.run("%adk use --model model")
    return asked


def test_the_last_runs_replies_are_taken_and_no_model_is_asked(begun: Notebook) -> None:
    asked = ask_another_model(begun)
    result = begun.run("p_ = %adk portability\np_").value
    assert isinstance(result, Portability)
    assert result.headline == (
        "p: go differs in 1 of 2 steps, first in the system instruction of A; js differs in 2 of 2 steps, first in the system "
        "instruction of A"
    )
    assert [cause.name for cause in result.of("go")[0].causes] == ["text_of"]
    assert asked == []
    assert "Portability of p" in begun.run("%adk portability").text


def test_rules_and_runs_are_named(begun: Notebook) -> None:
    first = begun.last.id
    begun.run("%%pipeline p --state data=text\nhi", "run")
    assert begun.run("%adk portability p --rules java go").value.headline == "p: the same under go as under java"
    named = begun.run(f"%adk portability p --rules go java go_fixed --run {first}").value
    assert (named.rules, named.headline) == (
        ("go", "java", "go_fixed"),
        "p: the same under go_fixed as under go; java differs in 1 of 2 steps, first in the system instruction of A",
    )


def test_the_rules_of_the_run_come_first(begun: Notebook) -> None:
    begun.run("%%pipeline p --rules js\nhi", "run")
    assert begun.run("%adk portability").value.rules == ("js", "java", "go")


def test_messages_of_a_variable_are_asked_once(begun: Notebook) -> None:
    asked = ask_another_model(begun)
    begun.names["messages"] = ["one", ["two", "three"]]
    result = begun.run("%adk portability --input messages --rules java go").value
    assert (len(result.steps), asked) == (6, ["A", "B"] * 3)
    assert result.headline == "p: the same under go as under java"


def test_lint_for_another_adk(begun: Notebook) -> None:
    begun.run("%%agent C --key c\nC reads {$x?}.", "C")
    assert "differs-under-go" not in begun.run("%adk lint").text
    text = begun.run("%adk lint --for go").text
    assert "warning C, line 1, column 9  differs-under-go\n" in text
    assert "warning A, line 1, column 5  differs-under-go\n" in text
    assert "{data?} is {x=1.5} under java, map[x:1.5] under go. (rule text_of)" in " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("%adk port", ["portability"]),
        ("%adk portability ", ["A", "B", "p"]),
        ("%adk portability p --rules java j", ["java", "js"]),
        ("%adk portability p --in", ["--input"]),
        ("%adk portability --input mess", ["messages"]),
        ("%adk lint --for go", ["go", "go_fixed"]),
    ],
)
def test_completion(begun: Notebook, text: str, offered: list[str]) -> None:
    begun.names["messages"] = ["one"]
    assert complete(begun.bench, VERBS, text)[1] == offered
