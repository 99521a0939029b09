"""One pipeline under several ADKs' rules with the same replies: what differs, first in what, and by which rule."""

from __future__ import annotations

from typing import Any

from adknb import (
    Input,
    LlmAgent,
    LoopAgent,
    ParallelAgent,
    Part,
    Runner,
    ScriptedModel,
    SequentialAgent,
    portability,
)
from adknb.compare.portability import Looked
from adknb.examples.ticket import scripted_replies, ticket_pipeline
from tests.compare.ported import SHARED_REPLIES, call, pair, plain, said, shared_key

QUESTION = "I was charged twice for September."


# the bug of a shared key


def test_under_go_the_tool_reads_an_empty_value_because_a_call_has_written_it() -> None:
    result = portability(
        shared_key(), "Go!", model=SHARED_REPLIES, rules=["java", "go", "go_fixed", "js"], explain=True
    )
    answers = {
        name: [
            change.after for deviation in result.of(name) for change in deviation.changes if change.aspect == "events"
        ]
        for name in ("go", "go_fixed", "js")
    }
    call_text = '{"function_call":{"args":{"key":"secret"},"name":"read_state"}}\n'
    response = '{"function_response":{"name":"read_state","response":{"value":"%s"}}}\ndone (final)'
    assert answers == {"go": [call_text + response % ""], "go_fixed": [], "js": []}
    (deviation,) = result.of("go")
    (events,) = (change for change in deviation.changes if change.aspect == "events")
    assert events.before == call_text + response % "SECRET_42"
    (state,) = (change for change in deviation.changes if change.aspect == "state")
    assert (state.before, state.after) == ('secret = "done"', 'secret = ""\nsecret = ""\nsecret = "done"')
    assert said(result, "go") == [
        ("reader", "history", ["output"]),
        ("reader", "declarations", ["declaration"]),
        ("reader", "state", ["output"]),
        ("reader", "events", ["output"]),
    ]
    assert said(result, "go_fixed") == [("reader", "declarations", ["declaration"])]
    assert deviation.sentence == "go, reader: its history differs (output: Which events write the output_key)"
    assert result.headline == (
        "shared: go differs in 1 of 2 steps, first in the history of reader; go_fixed differs in 1 of 2 steps, first in the "
        "declarations of reader; js differs in 2 of 2 steps, first in the system instruction of writer"
    )


def test_rules_are_looked_for_unless_tools_would_run_again() -> None:
    calls = []

    def read_state(key: str) -> str:
        """Read."""
        calls.append(key)
        return "x"

    agent = LlmAgent(name="reader", instruction="Read.", tools=[read_state])
    model = ScriptedModel([call("read_state", key="k"), "done"])
    plain = portability(agent, "Go!", model=model)
    assert (plain.explained, len(calls), plain.of("go")[0].causes) == (False, 3, ())
    assert plain.of("go")[0].sentence == "go, reader: its declarations differ"
    explained = portability(agent, "Go!", model=model, explain=True)
    assert (explained.explained, [cause.name for cause in explained.of("go")[0].causes]) == (True, ["declaration"])


# the ticket pipeline


def test_the_ticket_pipeline_is_the_same_under_go_and_in_another_order_under_js() -> None:
    result = portability(ticket_pipeline(), [QUESTION], model=scripted_replies())
    assert result.headline == (
        "ticket_pipeline: the same under go as under java; js differs in 3 of 3 steps, first in the system instruction of "
        "TriageAgent"
    )
    assert result.steps == (
        Looked("1", 1, "TriageAgent"), Looked("1", 1, "DraftAgent"), Looked("1", 1, "PolicyCheckAgent"),
    )  # fmt: skip
    assert said(result, "js") == [
        (step, "system instruction", ["identity", "system"])
        for step in ("TriageAgent", "DraftAgent", "PolicyCheckAgent")
    ]


def test_replies_of_runs_that_were_made_are_taken_and_no_model_is_asked() -> None:
    asked = []

    def answer(request: Any) -> str:
        asked.append(request.agent)
        return f"{request.agent} {request.ordinal}"

    runner = Runner(ticket_pipeline(), model=ScriptedModel(answer))
    run = runner.run(QUESTION, state={"user:tier": "gold"})
    later = runner.run("Any update?", session=run.session)
    assert len(asked) == 6
    alone, conversation = (portability(ticket_pipeline(), each, rules=["java", "go"]) for each in (run, [later]))
    assert len(asked) == 6
    assert alone.inputs == (Input((QUESTION,), {"user:tier": "gold"}, name="1"),)
    assert conversation.inputs == (Input((QUESTION, "Any update?"), {"user:tier": "gold"}, name="1"),)
    assert [(step.turn, step.step) for step in conversation.steps] == [
        (1, "TriageAgent"), (1, "DraftAgent"), (1, "PolicyCheckAgent"),
        (2, "TriageAgent"), (2, "DraftAgent"), (2, "PolicyCheckAgent"),
    ]  # fmt: skip
    assert (alone.deviations, conversation.deviations) == ((), ())


def test_several_inputs_and_conversations_keep_their_names() -> None:
    result = portability(
        LlmAgent(name="A", instruction="Say {data?}"),
        [Input(("one",), name="plain"), Input(("two", "three"), {"data": {"a": 1.0}}, name="map")],
        model=ScriptedModel(lambda request: "ok"),
        rules=["java", "go"],
    )
    assert [(each.input, each.turn, each.step, each.aspect) for each in result.deviations] == [
        ("map", 1, "A", "system instruction"), ("map", 2, "A", "system instruction"),
    ]  # fmt: skip
    assert result.steps == (Looked("plain", 1, "A"), Looked("map", 1, "A"), Looked("map", 2, "A"))


# single points


def test_a_dict_in_a_placeholder() -> None:
    result = portability(
        LlmAgent(name="A", instruction="Data: {data}"),
        "hi",
        model=ScriptedModel(["ok"]),
        state={"data": {"a": 1, "b": [True]}},
    )
    (go,), (js,) = result.of("go"), result.of("js")
    assert (go.changes[0].before.split("\n")[0], go.changes[0].after.split("\n")[0]) == (
        "Data: {a=1, b=[true]}", "Data: map[a:1 b:[true]]",
    )  # fmt: skip
    assert js.changes[0].after.endswith('Data: {"a":1,"b":[true]}')
    assert [cause.name for cause in go.causes] == ["text_of"]
    assert [cause.name for cause in js.causes] == ["text_of", "system"]
    assert go.sentence == "go, A: its system instruction differs (text_of: How a value reads that is no text)"
    assert go.causes[0].go == "map[a:1 b:[x <nil>]], 2"


def test_a_placeholder_with_a_dollar() -> None:
    result = portability(
        LlmAgent(name="A", instruction="{$a}"),
        "hi",
        model=ScriptedModel(["ok"]),
        state={"$a": "gold"},
        rules=["java", "go"],
    )
    (deviation,) = result.deviations
    assert [change[:3] for change in map(plain, deviation.changes)] == [
        (
            "system instruction",
            'gold\n\nYou are an agent. Your internal name is "A".',
            '{$a}\n\nYou are an agent. Your internal name is "A".',
        )
    ]
    assert [cause.name for cause in deviation.causes] == ["parse"]


def test_thoughts_alone_make_go_ask_again_for_a_reply_that_nobody_recorded() -> None:
    result = portability(
        LlmAgent(name="A", instruction="a"),
        "hi",
        model=ScriptedModel([[Part("hmm", thought=True)]]),
        rules=["java", "go"],
    )
    (deviation,) = result.deviations
    assert [(change.aspect, [cause.name for cause in change.causes]) for change in deviation.changes] == [
        ("requests", ["step_ends"]), ("error", ["step_ends"]),
    ]  # fmt: skip
    assert plain(deviation.changes[0]) == ("requests", "1 request", "2 requests")
    assert deviation.changes[1].after == (
        "ReplyMissingError: agent 'A': no reply was recorded for request 2: under java its model got 1"
    )


def test_none_sends_the_same_under_all() -> None:
    none = {"instruction": "b {a}", "include_contents": "none"}
    result = pair({"instruction": "a", "output_key": "a"}, none, {"A": ["1"], "B": ["2"]})
    assert result.of("go") == []
    assert said(result, "js") == [(name, "system instruction", ["system"]) for name in "AB"]


def test_a_schemas_reply_is_stored_raw_parsed() -> None:
    schema = {"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}, "required": ["n"]}
    result = pair(
        {"instruction": "a", "output_key": "a", "output_schema": schema},
        {"instruction": "{a}"},
        {"A": ['{"n": 1}'], "B": ["2"]},
    )
    assert said(result, "go") == [
        ("A", "state", ["output", "output"]),
        ("B", "system instruction", ["output", "output"]),
    ]
    (a, b) = result.of("go")
    assert plain(a.changes[0]) == ("state", 'a = {"n":1}', 'a = "{\\"n\\": 1}"')
    assert [change.after.split("\n")[0] for change in b.changes] == ['{"n": 1}']
    assert [change.before.split("\n")[0] for change in b.changes] == ["{n=1}"]
    assert [row.sentence for row in b.causes] == [
        "Which events write the output_key", "A reply that does not fit the output_schema",
    ]  # fmt: skip


def test_steps_of_a_loop_are_told_apart() -> None:
    loop = LoopAgent(name="loop", max_iterations=2, sub_agents=[LlmAgent(name="A", instruction="{n?}", output_key="n")])
    result = portability(loop, "hi", model=ScriptedModel(["1", "2"]), rules=["java", "js"])
    assert [(each.step, each.aspect) for each in result.deviations] == [
        ("A#1", "system instruction"), ("A#2", "system instruction"),
    ]  # fmt: skip


def test_the_children_of_a_parallel_get_their_own_replies() -> None:
    fan = ParallelAgent(
        name="fan", sub_agents=[LlmAgent(name=name, instruction=name, output_key=name) for name in "AB"]
    )
    result = portability(fan, "hi", model=ScriptedModel({"A": ["1"], "B": ["2"]}), rules=["java", "go", "go_fixed"])
    assert result.headline == "fan: the same under go and go_fixed as under java"
    assert {step.step for step in result.steps} == {"A", "B"}


# rules that tools show


def test_a_tool_that_returns_a_list() -> None:
    def names() -> list[str]:
        """Names."""
        return ["a"]

    agent = LlmAgent(name="A", instruction="a", tools=[names])
    result = portability(agent, "hi", model=ScriptedModel([call("names"), "done"]), rules=["java", "js"], explain=True)
    (deviation,) = result.deviations
    (history,) = (change for change in deviation.changes if change.aspect == "history")
    assert [cause.name for cause in history.causes] == ["tool_result"]
    assert '{"result":["a"]}' in history.before
    assert '{"results":["a"]}' in history.after


def test_a_temp_value_that_a_session_begins_with() -> None:
    agent = LlmAgent(name="A", instruction="{temp:x?}!")
    result = portability(agent, "hi", model=ScriptedModel(["ok"]), state={"temp:x": "1"})
    assert [cause.name for cause in result.of("js")[0].changes[0].causes] == ["start_state", "system"]


# as a table


def test_the_table_has_a_row_for_each_difference() -> None:
    result = portability(shared_key(), "Go!", model=SHARED_REPLIES, rules=["java", "go"], explain=True)
    frame = result.to_frame()
    assert frame[["rules", "input", "turn", "step", "aspect", "rule"]].values.tolist() == [
        ["go", "1", 1, "reader", "history", "output"],
        ["go", "1", 1, "reader", "declarations", "declaration"],
        ["go", "1", 1, "reader", "state", "output"],
        ["go", "1", 1, "reader", "events", "output"],
    ]
    assert frame["sentence"][0] == "Which events write the output_key"
    assert (frame["before"][2], frame["after"][2]) == ('secret = "done"', 'secret = ""\nsecret = ""\nsecret = "done"')
    assert frame["tokens_after"][0] > 0
    empty = portability(ticket_pipeline(), QUESTION, model=scripted_replies(), rules=["java", "go"]).to_frame()
    assert (list(empty.columns), len(empty)) == (list(frame.columns), 0)


# which rows, and whose strategy


def thinking_pair() -> tuple[SequentialAgent, ScriptedModel]:
    root = SequentialAgent(name="p", sub_agents=[LlmAgent(name=name, instruction=name) for name in "AB"])
    return root, ScriptedModel({"A": [[Part("hmm", thought=True), Part("1")]], "B": ["2"]})


def test_only_points_in_which_both_adks_differ_are_named() -> None:
    root, model = thinking_pair()
    (history,) = (
        change
        for deviation in portability(root, "hi", model=model, rules=["java", "js"]).of("js")
        for change in deviation.changes
        if change.aspect == "history"
    )
    sentences = [cause.sentence for cause in history.causes]
    assert "Another agent's thoughts in the history" in sentences
    assert "A history that does not end on the user's side" not in sentences  # java and js both send it as it is


def test_a_run_is_repeated_under_its_own_strategy() -> None:
    root, model = thinking_pair()
    default, alone = (Runner(root, model=model, strategy=name).run("hi") for name in ("default", "state_only"))
    assert [each.step for each in portability(root, default, rules=["java", "go"]).deviations] == ["B"]
    assert portability(root, alone, rules=["java", "go"]).deviations == ()
    assert len(portability(root, alone, rules=["java", "go"], strategy="default").deviations) == 1
