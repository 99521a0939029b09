"""Inputs of a comparison: `Input` itself, and Python values."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, strategies as st

from adknb import SpecError
from adknb.compare.inputs import Input, as_inputs

# stretches of any characters and of hostile ones: a lone surrogate or U+2028 hardly comes up among all characters
HOSTILE = st.text(st.sampled_from('\ud800\udfff\0\u2028\ufeff\r\n,"\t a'), max_size=6)
ANY_TEXT = st.lists(st.text(max_size=8) | HOSTILE, max_size=3).map("".join)
PAIR = re.compile(r"\\ud[89ab]..\\ud[c-f]..")  # as repr spells them
MESSAGES = ANY_TEXT.filter(str.strip)
STATES = st.dictionaries(
    ANY_TEXT.filter(bool),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=3,
)
INPUTS = st.builds(
    Input,
    st.lists(MESSAGES, min_size=1, max_size=3).map(tuple),
    STATES,
    st.none() | ANY_TEXT | st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=3),
    ANY_TEXT,
)


def error_of(value: Any, **options: Any) -> str:
    with pytest.raises(SpecError) as caught:
        as_inputs(value, **options)
    return str(caught.value)


# Input


@given(INPUTS)
def test_a_pickled_input_is_equal(one: Input) -> None:
    assert pickle.loads(pickle.dumps(one)) == one


@given(INPUTS)
def test_an_input_is_equal_after_its_dict(one: Input) -> None:
    assert Input.from_dict(one.to_dict()) == one


@given(INPUTS)
def test_an_input_is_equal_after_its_json(one: Input) -> None:
    assume(not PAIR.search(repr(one)))
    assert Input.from_dict(json.loads(json.dumps(one.to_dict()))) == one


def test_json_joins_two_surrogates_that_make_a_character() -> None:
    written = json.dumps(Input(("\ud83d\ude00",)).to_dict())
    assert Input.from_dict(json.loads(written)).messages == ("\U0001f600",)


def test_an_inputs_dict() -> None:
    one = Input(
        ("I was charged twice.", "In May."), {"user:tier": "gold", "seen": (1, 2)}, {"TriageAgent": "billing"}, "t7"
    )
    assert one.to_dict() == {
        "messages": ["I was charged twice.", "In May."],
        "state": {"user:tier": "gold", "seen": [1, 2]},
        "expected": {"TriageAgent": "billing"},
        "name": "t7",
    }


def test_an_input_keeps_what_it_was_given() -> None:
    tags, state = ["a"], {"user:tier": "gold"}
    one = Input(("Hi.",), {**state, "tags": tags})
    tags.append("b")
    assert one.state == {"user:tier": "gold", "tags": ["a"]}
    one.to_dict()["state"]["tags"].append("c")
    assert one.state["tags"] == ["a"]
    with pytest.raises(FrozenInstanceError):
        one.name = "other"  # type: ignore[misc]


def test_an_input_takes_a_list_of_messages_and_drops_an_empty_expectation() -> None:
    assert Input(["a", "b"], expected={}) == Input(("a", "b"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expected", "step", "found"),
    [
        (None, "", None),
        ("refund", "", "refund"),
        ("refund", "TriageAgent", None),
        ({"TriageAgent": "billing"}, "TriageAgent", "billing"),
        ({"TriageAgent": "billing"}, "", None),
        ({"": "refund", "TriageAgent": "billing"}, "", "refund"),
    ],
)
def test_what_is_expected_of_a_step(expected: Any, step: str, found: str | None) -> None:
    assert Input(("Hi.",), expected=expected).expected_of(step) == found


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("I was charged twice.", "I was charged twice."),
        ("  Hello,\n\n\tall\n", "Hello, all"),
        ("x" * 61, "x" * 59 + "…"),
        ("a\x1b[31m\u202eb\ud800\0", "a\\x1b[31m\\u202eb\\ud800\\x00"),
        ("y" * 5_000_000, "y" * 59 + "…"),
    ],
)
def test_the_title_is_one_safe_line(message: str, title: str) -> None:
    assert Input((message, "second")).title == title


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Hi.",), "the messages of an input are a tuple of texts, not one text: Input((\"I was charged twice.\",))"),
        ((7,), "the messages of an input are a tuple of texts, not a value of type int: Input((\"I was charged twice.\",))"),
        (((),), "an input needs a message, and has none"),
        ((("Hi.", " \n\t"),), "message 2 of 2 is blank"),
        ((("Hi.", 7),), "message 2 of 2 is of type int, not text"),
        ((("Hi.",), ["tier"]), "state: a dict of keys and values is needed, not a value of type list"),
        ((("Hi.",), {7: "x"}), "state: a key is text that is not empty, not 7"),
        ((("Hi.",), {"": "x"}), "state: a key is text that is not empty, not ''"),
        (
            (("Hi.",), {"score": {"a": [float("nan")]}}),
            "state: key 'score.a[0]': nan is not a JSON number. State holds JSON values: text, numbers, lists, dicts",
        ),
        ((("Hi.",), {}, 7), "expected is a text, or a dict of texts by step, not a value of type int"),
        (
            (("Hi.",), {}, {"TriageAgent": 1}),
            "expected holds texts by step, such as {\"TriageAgent\": \"billing\"}; under 'TriageAgent' it has a value of type int",
        ),
        ((("Hi.",), {}, None, 7), "an input's name is text, not a value of type int"),
    ],
)  # fmt: skip
def test_what_no_input_is(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(SpecError) as caught:
        Input(*arguments)
    assert str(caught.value) == said


def test_what_no_inputs_dict_is() -> None:
    with pytest.raises(SpecError, match=r"^an input has no field 'mesages'\. Did you mean 'messages' or 'state'\?$"):
        Input.from_dict({"mesages": ["Hi."]})
    with pytest.raises(SpecError, match=r"^an input needs messages\. There is: 'name'\.$"):
        Input.from_dict({"name": "7"})


# Python values


def test_a_text_is_one_message() -> None:
    text = "Hi.\n---\n  I was charged twice, see bill.csv"
    assert as_inputs(text) == (Input((text,), name="1"),)


def test_a_list_holds_all_kinds() -> None:
    own = Input(("Own.",), {"user:tier": "gold"}, "yes", "mine")
    found = as_inputs(
        [
            "One.",
            ["First.", "Second."],
            ("Third.",),
            {"message": "Dict.", "state": {"a": 1}, "expected": {"TriageAgent": "billing"}, "name": "d"},
            {"messages": ("x", "y"), "state:user:tier": "silver", "expected:TriageAgent": "other", "expected": "no"},
            own,
        ]
    )
    assert found == (
        Input(("One.",), name="1"),
        Input(("First.", "Second."), name="2"),
        Input(("Third.",), name="3"),
        Input(("Dict.",), {"a": 1}, {"TriageAgent": "billing"}, "d"),
        Input(("x", "y"), {"user:tier": "silver"}, {"": "no", "TriageAgent": "other"}, "5"),
        own,
    )
    assert as_inputs(found) == found


def test_one_input_and_one_dict() -> None:
    assert as_inputs(Input(("Hi.",))) == (Input(("Hi.",), name="1"),)
    assert as_inputs({"message": "Hi.", "id": 7}) == (Input(("Hi.",), name="7"),)


def test_common_state_stands_under_each_inputs_own() -> None:
    values = ["a", Input(("b",), {"user:tier": "gold"}), {"message": "c", "state": {"x": {"deep": 2}}}]
    assert [each.state for each in as_inputs(values, state={"user:tier": "free", "x": {"deep": 1, "other": 1}})] == [
        {"user:tier": "free", "x": {"deep": 1, "other": 1}},
        {"user:tier": "gold", "x": {"deep": 1, "other": 1}},
        {"user:tier": "free", "x": {"deep": 2}},
    ]


def test_numbers_of_numpy_and_absent_values_of_pandas_in_dicts() -> None:
    given = {
        "message": "Hi.",
        "state": {"n": np.int64(3), "list": np.array([1.5, 2.0]), "flag": np.True_, "gap": pd.NA, "text": np.str_("t")},
        "state:when": pd.NaT,
        "expected": pd.NA,
        "name": float("nan"),
        "id": 7.0,
    }
    (found,) = as_inputs(given, state={"common": np.float64(0.5)})
    assert found == Input(
        ("Hi.",), {"common": 0.5, "n": 3, "list": [1.5, 2.0], "flag": True, "gap": None, "text": "t"}, None, "7"
    )
    assert [type(found.state[key]) for key in ("common", "n", "flag", "text")] == [float, int, bool, str]


@pytest.mark.parametrize(
    ("expected", "text"),
    [("billing", "billing"), (3, "3"), (3.0, "3"), (3.5, "3.5"), (True, "true"), (["a"], '["a"]'), (1e300, "1e+300")],
)
def test_what_is_expected_as_text(expected: object, text: str) -> None:
    assert as_inputs([{"message": "Hi.", "expected": expected}])[0].expected == text
    found = as_inputs([{"message": "Hi.", "expected": {"A": expected}, "expected:B": expected}])[0].expected
    assert found == {"A": text, "B": text}


def test_absent_values_inside_what_is_expected() -> None:
    expected = {"A": None, "B": float("nan"), "C": pd.NA, "D": "x"}
    assert as_inputs([{"message": "Hi.", "expected": expected}])[0].expected == {"D": "x"}


def test_an_expected_object_inside_a_step_is_its_json() -> None:
    (found,) = as_inputs([{"message": "Hi.", "expected": {"TriageAgent": {"category": "Störung"}}}])
    assert found.expected == {"TriageAgent": '{"category": "Störung"}'}


WAYS = "Inputs are a message"


@pytest.mark.parametrize(
    ("value", "begins"),
    [
        ("", f"the input: there is no input. {WAYS}"),
        (" \n", f"the input: there is no input. {WAYS}"),
        ([], f"the list: there is no input. {WAYS}"),
        ((), f"the list: there is no input. {WAYS}"),
        (None, f"inputs cannot be read from a value of type NoneType. {WAYS}"),
        (7, f"inputs cannot be read from a value of type int. {WAYS}"),
        (pd.Series(["a"]), f"inputs cannot be read from a value of type Series. {WAYS}"),
        (["a", 7], f"item 2: no input is made of a value of type int. {WAYS}"),
        (["a", " "], "item 2: message 1 of 1 is blank"),
        (["a", []], "item 2: an input needs a message, and has none"),
        (["a", ["b", 7]], "item 2: message 2 of 2 is of type int, not text"),
        ([{}], "the list: no field is called 'message' or 'messages'. The fields are: none. Say which"),
        (
            [{"Mesage": "a", "id": 1}],
            "the list: no field is called 'message' or 'messages'. Did you mean 'Mesage'? The fields are: 'Mesage', 'id'. "
            "Say which holds the messages: columns={'message': …}",
        ),
        ([{"message": "a"}, {"messsage": "b"}], "item 2: no field is called 'message'. Did you mean 'messsage'? The fields are: 'messsage'."),
        ([{"message": "a"}, {"text": "b"}], "item 2: no field is called 'message'. The fields are: 'text'."),
        ([{"message": None}], "item 1, field 'message': it is empty. Every input needs a message."),
        ([{"message": "a", "messages": ["b"]}], "item 1: it has a message and messages. Leave one of them empty."),
        (
            [{"message": ["b"]}],
            "item 1, field 'message': a message is text, not a value of type list. The turns of a conversation are a list in a field called "
            "'messages'.",
        ),
        ([{"message": 7}], "item 1, field 'message': a message is text, not a value of type int."),
        ([{"messages": "Hi."}], "item 1, field 'messages': not JSON (Expecting value: line 1 column 1 (char 0)). Wanted is"),
        ([{"messages": '{"a": 1}'}], "item 1, field 'messages': messages are a list of texts, not a value of type dict"),
        ([{"messages": ["a", ""]}], "item 1: message 2 of 2 is blank"),
        ([{"message": "a", "state": "gold"}], "item 1, field 'state': not JSON (Expecting value: line 1 column 1 (char 0))."),
        ([{"message": "a", "state": ["gold"]}], "item 1, field 'state': state is an object such as"),
        ([{"message": "a", "state": {7: 1}}], "item 1: state: a key is text that is not empty, not 7"),
        ([{"message": "a", "state:b": object()}], "item 1: state: key 'b': a object cannot be stored."),
        ([{"message": "a", "expected": {7: "x"}}], "item 1: expected holds texts by step"),
        ([{"message": "a", "expected:B": object()}], "item 1, field 'expected:B': text is wanted, not a value of type object"),
        ([{"message": "a", "name": b"x"}], "item 1, field 'name': text is wanted, not a value of type bytes"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(value: Any, begins: str) -> None:
    assert error_of(value).startswith(begins)


def test_a_state_that_holds_itself_is_refused() -> None:
    state: dict[str, Any] = {}
    state["self"] = state
    said = "it is nested deeper than 200 levels, or holds itself"
    assert said in error_of([{"message": "a", "state": state}])
    assert said in error_of(["a"], state=state)


def test_wrong_common_state_and_columns() -> None:
    assert (
        error_of(["a"], state=["x"])
        == "the state of all inputs: a dict of keys and values is needed, not a value of type list"
    )
    assert error_of(["a"], state={"n": object()}).startswith(
        "the state of all inputs: key 'n': a object cannot be stored."
    )
    assert error_of(["a"], columns={"message": "b"}).startswith(
        "the list: columns are for tables and dicts, and there is none."
    )


def test_two_inputs_of_one_name() -> None:
    way_out = "Results go by the name: give each its own, or none to any."
    assert (
        error_of([{"message": "a", "name": "x"}, "b", {"message": "c", "name": "x"}])
        == f"item 1 and item 3 have the same name, 'x'. {way_out}"
    )
    assert (
        error_of([{"message": "a", "id": 2}, "b"])
        == f"item 1 and item 2 have the same name, '2', which an input without a name has from its place. {way_out}"
    )


NAMES = st.sampled_from(["message", "messages", "state", "expected", "name", "id", "state:a", "expected:b", "x"])
VALUES = st.recursive(
    st.none() | st.integers() | st.floats() | ANY_TEXT, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner)
)


@given(
    VALUES
    | st.lists(
        st.dictionaries(NAMES, VALUES | st.just('["a"]') | st.just('{"a": 1}')).map(lambda d: {"message": "m", **d})
    )
)
def test_any_value_gives_inputs_or_a_spec_error(value: Any) -> None:
    try:
        found = as_inputs(value)
    except SpecError:
        return
    assert len({each.name for each in found}) == len(found) > 0
    json.dumps([each.to_dict() for each in found], allow_nan=False)
