"""Inputs of a comparison from DataFrames."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adknb import SpecError
from adknb.compare.inputs import Input, as_inputs


def error_of(value: Any, **options: Any) -> str:
    with pytest.raises(SpecError) as caught:
        as_inputs(value, **options)
    return str(caught.value)


def test_a_frame() -> None:
    frame = pd.DataFrame(
        {
            "message": ["One.", "Two.", "Three."],
            "state:user:tier": ["gold", None, ""],
            "state:count": [1, 2, 3],
            "state": [{"a": [np.float64(0.5)]}, '{"count": 9, "b": null}', float("nan")],
            "expected": [1.0, float("nan"), 3.0],
            "expected:TriageAgent": ["billing", pd.NA, "other"],
            "name": ["a", "b", "c"],
            "unknown": [object(), object(), object()],
        },
        index=[7, 7, 9],
    )
    found = as_inputs(frame)
    assert found == (
        Input(("One.",), {"a": [0.5], "user:tier": "gold", "count": 1}, {"": "1", "TriageAgent": "billing"}, "a"),
        Input(("Two.",), {"count": 2, "b": None}, None, "b"),
        Input(("Three.",), {"count": 3}, {"": "3", "TriageAgent": "other"}, "c"),
    )
    assert [type(each.state["count"]) for each in found] == [int, int, int]
    assert json.loads(json.dumps(found[0].to_dict()))["state"] == {"a": [0.5], "user:tier": "gold", "count": 1}


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (pd.Series([3, None], dtype="Int64"), [3]),
        (pd.Series([3.5, None], dtype="float32"), [3.5]),
        (pd.Series([True, None], dtype="boolean"), [True]),
        (pd.Series(["x", None], dtype="category"), ["x"]),
        (pd.Series(["x", None], dtype="string"), ["x"]),
        (pd.Series([np.int8(3), np.datetime64("NaT")], dtype="object"), [3]),
        (pd.Series([{"n": np.array([[1, 2], [3, 4]])}, pd.NaT], dtype="object"), [{"n": [[1, 2], [3, 4]]}]),
    ],
)
def test_state_of_any_dtype_is_json(column: pd.Series[Any], values: list[Any]) -> None:
    found = as_inputs(pd.DataFrame({"message": ["One.", "Two."], "state:v": column}))
    assert [each.state for each in found] == [{"v": values[0]}, {}]
    assert json.loads(json.dumps(found[0].to_dict()))["state"] == {"v": values[0]}


def test_conversations_of_a_frame() -> None:
    frame = pd.DataFrame({"messages": [["a", "b"], ("c", "d"), '["e", "f"]', np.array(["g", "h"])]})
    assert [each.messages for each in as_inputs(frame)] == [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]


def test_rows_with_a_message_and_rows_with_messages() -> None:
    frame = pd.DataFrame({"message": ["a", None, ""], "messages": [None, ["b", "c"], '["d"]']})
    assert [each.messages for each in as_inputs(frame)] == [("a",), ("b", "c"), ("d",)]


def test_the_name_is_the_name_else_the_id_else_the_place() -> None:
    frame = pd.DataFrame({"message": list("abcd"), "name": ["x", " ", None, ""], "id": [1.0, 20.0, 30.0, None]})
    assert [each.name for each in as_inputs(frame)] == ["x", "20", "30", "4"]


def test_a_name_from_another_column_leaves_the_id_out() -> None:
    frame = pd.DataFrame({"message": ["a", "b"], "ticket": ["x", None], "id": [70, 71]})
    assert [each.name for each in as_inputs(frame, columns={"name": "ticket"})] == ["x", "2"]


def test_columns_under_other_names() -> None:
    frame = pd.DataFrame(
        {
            "ticket_text": ["One.", "Two."],
            "message": ["not this", "nor this"],
            "messages": ["nor", "these"],
            "label": ["billing", "other"],
            "plan": ["gold", None],
            "ticket": [11, 12],
            "id": [1, 1],
            "expected:PolicyAgent": ["APPROVE", "REJECT"],
        }
    )
    columns = {"message": "ticket_text", "expected:TriageAgent": "label", "state:user:tier": "plan", "name": "ticket"}
    assert as_inputs(frame, columns=columns) == (
        Input(("One.",), {"user:tier": "gold"}, {"PolicyAgent": "APPROVE", "TriageAgent": "billing"}, "11"),
        Input(("Two.",), {}, {"PolicyAgent": "REJECT", "TriageAgent": "other"}, "12"),
    )


def test_a_renamed_column_is_no_longer_its_own_name() -> None:
    frame = pd.DataFrame({"name": ["Same.", "Same."], "expected": ["gold", "silver"]})
    found = as_inputs(frame, columns={"message": "name", "state:tier": "expected"})
    assert found == (Input(("Same.",), {"tier": "gold"}, None, "1"), Input(("Same.",), {"tier": "silver"}, None, "2"))


def test_labels_that_are_no_text_are_no_columns() -> None:
    frame = pd.DataFrame([["a", 1, 2, 3]], columns=pd.Index(["message", 7, ("state", "x"), None], dtype="object"))
    assert as_inputs(frame) == (Input(("a",), name="1"),)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pd.DataFrame(), "the DataFrame: no column is called 'message' or 'messages'. The columns are: none."),
        (pd.DataFrame({"message": []}), "the DataFrame: there is no input. Inputs are a message"),
        (
            pd.DataFrame({"MESSAGE": ["a"], "Nachricht": ["b"], "x\u202e": [1]}),
            "the DataFrame: no column is called 'message' or 'messages'. Did you mean 'MESSAGE'? The columns are: 'MESSAGE', "
            "'Nachricht', 'x\\u202e'. Say which holds the messages: columns={'message': …}",
        ),
        (
            pd.DataFrame([[0] * 15], columns=[f"c{place}" for place in range(15)]),
            "the DataFrame: no column is called 'message' or 'messages'. The columns are: 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', "
            "'c6', 'c7', 'c8', 'c9', 'c10', 'c11' and 3 more. Say which",
        ),
        (
            pd.DataFrame([["a", "b"]], columns=["message", "message"]),
            "the DataFrame: two columns are called 'message'. Rename one of them.",
        ),
        (
            pd.DataFrame({"message": ["a", None]}, index=[5, 6]),
            "the DataFrame, row 2, column 'message': it is empty. Every input needs a message.",
        ),
        (
            pd.DataFrame({"message": ["a"], "state:when": [pd.Timestamp(2024, 5, 1)]}),
            "the DataFrame, row 1: state: key 'when': a Timestamp cannot be stored. State holds JSON values",
        ),
        (
            pd.DataFrame({"message": ["a"], "state:v": [np.longdouble(1)]}),
            "the DataFrame, row 1: state: key 'v': a longdouble cannot be stored.",
        ),
        (
            pd.DataFrame({"message": ["a"], "state:v": [float("inf")]}),
            "the DataFrame, row 1: state: key 'v': inf is not a JSON number.",
        ),
        (
            pd.DataFrame({"message": ["a", "b", "c"], "name": ["x", "y", "x"]}),
            "the DataFrame, row 1 and the DataFrame, row 3 have the same name, 'x'.",
        ),
    ],
)  # fmt: skip
def test_what_no_frame_of_inputs_is(frame: pd.DataFrame, said: str) -> None:
    assert error_of(frame).startswith(said)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            {"mesage": "text"},
            "columns names no field of an input with 'mesage'. Did you mean 'message' or 'messages' or 'state'?",
        ),
        ({"state:": "text"}, "columns names no field of an input with 'state:'. Did you mean 'state' or 'state:KEY'?"),
        (
            {"message": "txt"},
            "the DataFrame: columns says that 'message' is 'txt', and there is no such column. Did you mean 'text'?",
        ),
        (
            {"message": 0},
            "the DataFrame: columns says that 'message' is 0, and there is no such column. There is: 'text'.",
        ),
        (
            {"expected": "text"},
            "the DataFrame: no column is called 'message' or 'messages'. The columns are: 'text'. Say which",
        ),
    ],
)
def test_wrong_columns(columns: dict[str, Any], said: str) -> None:
    assert error_of(pd.DataFrame({"text": ["a"]}), columns=columns).startswith(said)
