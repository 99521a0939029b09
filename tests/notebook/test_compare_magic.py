"""`%%compare` and `%compare`: what a line and a body ask for."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from adknb import Input, LlmAgent, ScriptedModel
from tests.notebook.asked import Asked, messages, newest
from tests.notebook.notebook import Notebook

# the two forms


def test_a_cell_compares_default_and_none_on_every_input(notebook: Notebook, asked: Asked) -> None:
    output = notebook.run("%%compare p\nCharged twice.\n---\nOffline.")
    comparison = newest(notebook)
    assert (comparison.pipeline, comparison.kind, comparison.names) == ("p", "run", ["default", "none"])
    assert messages(comparison) == [("Charged twice.",), ("Offline.",)]
    assert [(row["variant"], row["input"], row["step"]) for row in comparison.rows] == [
        ("default", "1", "A"), ("default", "1", "B"), ("default", "2", "A"), ("default", "2", "B"),
        ("none", "1", "A"), ("none", "1", "B"), ("none", "2", "A"), ("none", "2", "B"),
    ]  # fmt: skip
    assert len(asked.requests) == 8
    assert (output.value, output.text) == (None, f"{comparison}\n")


def test_a_line_compares_inputs_of_a_variable_and_can_be_taken(notebook: Notebook, asked: Asked) -> None:
    notebook.names["rows"] = ["one", ["first turn", "second turn"], Input(("three",), name="third")]
    shown = notebook.run("%compare p --inputs rows")
    assert (shown.value, shown.text) == (None, f"{newest(notebook)}\n")
    taken = notebook.run("c = %compare p --inputs rows --out same")
    comparison = notebook.names["c"]
    assert (comparison is notebook.names["same"], comparison is newest(notebook)) == (True, True)
    assert taken.text == f"{comparison}\n"
    assert [(each.name, each.messages) for each in comparison.inputs] == [
        ("1", ("one",)), ("2", ("first turn", "second turn")), ("third", ("three",)),
    ]  # fmt: skip


def test_an_agent_of_the_namespace_is_compared(notebook: Notebook, asked: Asked) -> None:
    notebook.names["by_hand"] = LlmAgent(name="Root", instruction="By hand.")
    notebook.run("%%compare by_hand\nhi")
    assert (newest(notebook).pipeline, newest(notebook).steps) == ("Root", ["Root"])
    assert [record.pipeline for record in notebook.bench.records] == ["by_hand"]


def test_nothing_of_a_message_is_lost(notebook: Notebook, asked: Asked) -> None:
    notebook.run("%%compare p\n>>> I said: {a}\n  and $b\n\n---\n  second  \n")
    assert messages(newest(notebook)) == [(">>> I said: {a}\n  and $b\n",), ("  second  ",)]


@pytest.mark.parametrize(
    ("options", "body", "expected"),
    [
        ("", "one\n+++\ntwo\n---\nthree", [("one", "two"), ("three",)]),
        ("--sep ===", "one\n---\nmore\n===\ntwo", [("one\n---\nmore",), ("two",)]),
        ("--turn-sep=----", "one\n----\ntwo\n---\nthree\n+++", [("one", "two"), ("three\n+++",)]),
        (
            "--sep 'next ticket' --turn-sep 'and then'",
            "one\nand then\ntwo\nnext ticket\nthree",
            [("one", "two"), ("three",)],
        ),
    ],
)
def test_lines_of_the_body_part_inputs_and_turns(
    notebook: Notebook, asked: Asked, options: str, body: str, expected: list[tuple[str, ...]]
) -> None:
    notebook.run(f"%%compare p {options}\n{body}")
    assert messages(newest(notebook)) == expected


def test_a_value_that_begins_with_dashes_is_joined_to_its_option(notebook: Notebook, asked: Asked) -> None:
    assert notebook.fail("%%compare p --sep ----\nhi") == (
        "UsageError: %%compare: there is no option '----'. To give it to --sep as its value, write --sep=----"
    )
    notebook.run("%%compare p --sep=----\none\n----\ntwo")
    assert messages(newest(notebook)) == [("one",), ("two",)]


# inputs


FILE = "ticket_text,plan,label\nCharged twice.,gold,billing\nOffline.,,outage\n"


def test_inputs_come_from_a_file_with_columns_of_other_names(
    notebook: Notebook, asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tickets.csv").write_text(FILE)
    columns = "--columns message=ticket_text state:user:tier=plan expected:A=label"
    notebook.run(f"%compare p --inputs tickets.csv {columns}")
    assert [(each.messages, each.state, each.expected) for each in newest(notebook).inputs] == [
        (("Charged twice.",), {"user:tier": "gold"}, {"A": "billing"}),
        (("Offline.",), {}, {"A": "outage"}),
    ]
    asked.answer = lambda request: "billing"
    notebook.run(f"%compare p --inputs tickets.csv {columns}")
    assert [row["as_expected"] for row in newest(notebook).rows if row["step"] == "A"] == [True, False] * 2


def test_inputs_come_from_a_data_frame_or_a_text(notebook: Notebook, asked: Asked) -> None:
    notebook.names.update(tickets=pd.DataFrame({"message": ["one", "two"], "id": ["x", "y"]}), text="only one")
    notebook.run("%compare p --inputs tickets")
    assert [(each.name, each.messages) for each in newest(notebook).inputs] == [("x", ("one",)), ("y", ("two",))]
    notebook.run("%compare p --inputs text")
    assert messages(newest(notebook)) == [("only one",)]


def test_state_holds_for_every_input_and_its_own_wins(notebook: Notebook, asked: Asked) -> None:
    notebook.names["more"] = {"k": "from dict", "m": 1}
    notebook.names["rows"] = ["one", {"message": "two", "state": {"k": "own"}}]
    notebook.run("%compare p --inputs rows --state-from more --state n:=3 'user:tier=very gold'")
    both = {"m": 1, "n": 3, "user:tier": "very gold"}
    assert [each.state for each in newest(notebook).inputs] == [{"k": "from dict", **both}, {"k": "own", **both}]
    notebook.run("%%compare p --state k=v\none")
    assert [each.state for each in newest(notebook).inputs] == [{"k": "v"}]


# how it is asked


def test_paired_asks_each_step_once_per_variant(notebook: Notebook, asked: Asked) -> None:
    notebook.run("%%compare p --kind paired\nhi")
    assert newest(notebook).kind == "paired"
    assert asked.take() == [("A", "hi"), ("A", "hi"), ("B", "For context:"), ("B", "hi")]


def test_repeats_and_seeds(notebook: Notebook, asked: Asked) -> None:
    notebook.run("%%compare p --repeat 2 --seed 7 --variants none\nhi")
    comparison = newest(notebook)
    assert (comparison.repeats, comparison.seed) == (2, 7)
    assert [(row["repeat"], row["step"], row["seed"]) for row in comparison.rows] == [
        (0, "A", 7), (0, "B", 7), (1, "A", 8), (1, "B", 8),
    ]  # fmt: skip
    assert sorted((request.repeat, request.config["seed"]) for request in asked.requests) == [
        (0, 7), (0, 7), (1, 8), (1, 8),
    ]  # fmt: skip


def test_concurrency_is_the_most_that_is_under_way(notebook: Notebook, asked: Asked) -> None:
    notebook.run(
        "import asyncio\nunder_way, most = 0, 0\n"
        "async def count(request):\n"
        "    global under_way, most\n"
        "    under_way += 1\n"
        "    most = max(most, under_way)\n"
        "    await asyncio.sleep(0)\n"
        "    under_way -= 1\n"
        "    return 'done'"
    )
    notebook.names["counting"] = ScriptedModel(notebook.names["count"])
    notebook.names["rows"] = [f"ticket {number}" for number in range(12)]
    notebook.run("%compare p --inputs rows --model counting --concurrency 3")
    assert notebook.names["most"] == 3


def test_the_line_and_the_bench_say_who_answers(notebook: Notebook, asked: Asked) -> None:
    notebook.run("%%agent A --pipeline p --key a --model model\nAgent A.", "A")
    notebook.run("%%compare p --variants none\nhi")
    assert [(row["step"], row["model"], row["answer"]) for row in newest(notebook).rows] == [
        ("A", "scripted", "A says 1"), ("B", "asked", "B: For context:"),
    ]  # fmt: skip
    notebook.run("%%compare p --variants none --model asked\nhi")
    assert [row["answer"] for row in newest(notebook).rows] == ["A: hi", "B: For context:"]


def test_a_limit_of_model_calls_ends_a_trial_as_a_row(notebook: Notebook, asked: Asked) -> None:
    notebook.run("%%compare p --variants none --max-llm-calls 1\nhi")
    rows = newest(notebook).rows
    assert [row["status"] for row in rows] == ["completed", "failed"]
    assert rows[1]["error"].startswith("LlmCallsLimitExceededError: agent 'B': the run asked its models 1 ")


def test_replies_are_recorded_and_replayed(notebook: Notebook, asked: Asked, tmp_path: Path) -> None:
    line = f"%%compare p --repeat 2 --record {tmp_path}/replies.jsonl\nhi"
    notebook.run(line)
    assert len(asked.take()) == 6  # the first step is asked the same under both variants, so once a repeat
    answers = [row["answer"] for row in newest(notebook).rows]
    notebook.bench.answering.close()
    notebook.run(line)
    assert (asked.take(), [row["answer"] for row in newest(notebook).rows]) == ([], answers)


# measures


@pytest.mark.parametrize(
    ("words", "answer", "categories"),
    [
        ("APPROVE REJECT", "I would REJECT it", ["REJECT", "REJECT"]),
        ("json:verdict", '{"verdict": "fine"}', ["fine", "fine"]),
        ("kinds", "well, yes", ["yes", "yes"]),
        ("first_letter", "well, yes", ["w", "w"]),
        ("by_agent", "well, yes", ["w", ""]),
    ],
)
def test_categories_are_words_a_field_or_a_variable(
    notebook: Notebook, asked: Asked, words: str, answer: str, categories: list[str]
) -> None:
    asked.answer = lambda request: answer
    notebook.names["kinds"] = ["yes", "no"]
    notebook.names["first_letter"] = lambda text: text[:1]
    notebook.names["by_agent"] = {"A": notebook.names["first_letter"], "B": ["maybe"]}
    notebook.run(f"%%compare p --variants none --categories {words}\nhi")
    assert [row["category"] for row in newest(notebook).rows] == categories


def test_measures_are_functions_of_the_notebook_or_of_python(notebook: Notebook, asked: Asked) -> None:
    notebook.run("def says(answer, asked): return asked.messages[0] in answer")
    notebook.run("%%compare p --variants default --measure len says\nhi")
    assert [(row["len"], row["says"]) for row in newest(notebook).rows] == [(5, True), (5, True)]
