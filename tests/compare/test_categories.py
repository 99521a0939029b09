"""How the category of a step's answer is found, and how categories flip."""

from __future__ import annotations

import pickle
from typing import Any, Literal

import pytest
from hypothesis import example, given, strategies as st
from pydantic import BaseModel

from adknb import LlmAgent, SpecError
from adknb.compare.categories import Categories, Given, flip
from adknb.examples.ticket import ticket_pipeline

TRIAGE, DRAFT, POLICY = (agent for agent in ticket_pipeline().sub_agents if isinstance(agent, LlmAgent))


def asking(instruction: str) -> LlmAgent:
    return LlmAgent(name="A", instruction=instruction)


def found(categories: Categories, *answers: str) -> list[str]:
    return [categories.category(answer) for answer in answers]


class Reason(BaseModel):
    text: str
    kind: Literal["money", "time"]


class Verdict(BaseModel):
    reasons: list[Reason]
    reason: Reason
    verdict: Literal["APPROVE", "REJECT"]


# words that are given


def test_given_words_are_found_whole_and_the_first_counts() -> None:
    categories = Categories.of(None, [], ["APPROVE", "REJECT"])
    assert categories.rule == "the first of APPROVE, REJECT in the answer"
    assert found(
        categories, "APPROVE", "I would REJECT, not APPROVE.", "**REJECT**: x", "approve or REJECT", "Rejected? Approve!",
        "APPROVED", "PRE_APPROVE", "REJECT2", "", "no idea",
    ) == ["APPROVE", "REJECT", "REJECT", "REJECT", "APPROVE", "", "", "", "", ""]  # fmt: skip


def test_of_two_words_at_one_place_the_longer_counts() -> None:
    categories = Categories.of(None, [], ["NOT", "NOT APPROVED", "c++", "N/A"])
    assert found(categories, "NOT APPROVED.", "NOT so", "in C++", "n/a") == ["NOT APPROVED", "NOT", "c++", "N/A"]


def test_words_that_differ_in_case_alone_stay_apart() -> None:
    assert found(Categories.of(None, [], ("yes", "YES")), "yes", "YES", "say YES or yes") == ["yes", "YES", "YES"]


def test_of_many_words_the_rule_names_some() -> None:
    rule = Categories.of(None, [], [f"W{number}" for number in range(10)]).rule
    assert rule == "the first of W0, W1, W2, W3, W4, W5, W6, W7 and 2 more in the answer"


# a field that is given


def test_a_given_field_is_read_as_text() -> None:
    categories = Categories.of(TRIAGE, [], "json:category")
    assert categories.rule == "the field category of the JSON"
    assert found(
        categories, '{"category": " Billing "}', '```json\n{"category": 2}\n```', '{"category": true}', '{"category": 1.5}',
        '{"category": null}', '{"category": ["a"]}', '{"category": {}}', '{"kind": "x"}', '["category"]', "billing",
    ) == ["Billing", "2", "true", "1.5", "", "", "", "", "", ""]  # fmt: skip


def test_a_given_field_may_be_inside_an_object() -> None:
    categories = Categories.of(None, [], "json:result.category")
    assert categories.rule == "the field result.category of the JSON"
    assert found(categories, '{"result": {"category": "x"}}', '{"result": "x"}', '{"category": "x"}') == ["x", "", ""]


# a function that is given


def test_a_given_function_says_it_all() -> None:
    categories = Categories.of(TRIAGE, [], lambda answer: answer[:1] or None)
    assert categories.rule == "a function"
    assert found(categories, "yes", "") == ["y", ""]


def test_a_function_that_fails_is_named_with_the_answer() -> None:
    def first_word(answer: str) -> str:
        return answer.split()[0]

    with pytest.raises(SpecError) as caught:
        Categories.of(None, [], first_word).category(" ")
    assert str(caught.value) == (
        "categories: the function first_word failed on the answer '': IndexError('list index out of range'). "
        "Return None for an answer without a category."
    )


def test_a_function_returns_a_text_or_none() -> None:
    function: Any = len
    with pytest.raises(SpecError, match="categories: the function len must return a text or None, not 3"):
        Categories.of(None, [], function).category("abc")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            "category",
            "categories: 'category' names no field. A field of the JSON is given as 'json:category' (or "
            "'json:result.category'), words as a list: ['APPROVE', 'REJECT'].",
        ),
        ("json:", "categories: 'json:' names no field."),
        ("json:a..b", "categories: 'json:a..b' names no field."),
        (
            [],
            "categories: [] is none of a list of words (['APPROVE', 'REJECT']), a field of the JSON ('json:category') "
            "and a function of the answer.",
        ),
        (["APPROVE", " "], "categories: ['APPROVE', ' '] is none of"),
        (["APPROVE", 1], "categories: ['APPROVE', 1] is none of"),
        (7, "categories: 7 is none of"),
    ],
)
def test_what_says_no_categories_is_refused(wrong: Any, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        Categories.of(None, [], wrong)
    assert str(caught.value).startswith(message)


# rule 1: the output_schema


def test_the_first_enum_of_the_output_schema_is_the_category() -> None:
    agent = LlmAgent(name="A", instruction='{"other": "a|b"}', output_schema=Verdict)
    categories = Categories.of(agent, ["OK"])
    assert categories.rule == "the field reason.kind of the JSON"
    assert found(categories, '{"reason": {"kind": "MONEY"}}', '{"reason": {"kind": "both"}}') == ["money", "both"]


def test_fields_of_lists_and_a_schema_without_enums_are_no_categories() -> None:
    schema = {
        "type": "OBJECT",
        "properties": {
            "many": {
                "type": "ARRAY",
                "items": {"type": "OBJECT", "properties": {"x": {"type": "STRING", "enum": ["a"]}}},
            },
            "text": {"type": "STRING"},
        },
    }
    assert Categories.of(LlmAgent(name="A", output_schema=schema), []).rule == ""
    with_example = LlmAgent(name="A", output_schema=schema, instruction='{"text": "a|b"}')
    assert Categories.of(with_example, []).rule == "the field text of the JSON"


def test_a_schema_that_is_itself_an_enum_has_no_field() -> None:
    agent = LlmAgent(name="A", output_schema={"type": "STRING", "enum": ["a", "b"]})
    assert Categories.of(agent, ['"a"', '"b"']).rule == "the whole answer"


# rule 2: the instruction's example


def test_alternatives_in_the_instructions_example_are_the_category() -> None:
    categories = Categories.of(TRIAGE, ["OK", "NO"])
    assert categories.rule == "the field category of the JSON"
    assert found(categories, '{"category": "Billing"}', '{"category": "refund"}', "billing") == [
        "billing",
        "refund",
        "",
    ]


@pytest.mark.parametrize(
    ("instruction", "field"),
    [
        ('{"note": "text", "kind": "a|b"}', "kind"),
        ('{"kind": "a | b |c"}', "kind"),
        ('{"kind": "a" | "b"}', "kind"),
        ('{"note": "x", "result": {"note": "y", "kind": "a|b"}, "k": "c|d"}', "result.kind"),
        ('{"result": {"note": "y"}, "kind": "a|b"}', "kind"),
        ('Use {triage}. Reply: {"kind": "a|b"}', "kind"),
        ('Like [this {"kind": "a|b"}', ""),
        ('{"items": [{"kind": "a|b"}]}', ""),
        ('{"items": [{"kind": "a|b"}], "all": "c|d"}', "all"),
        ('{"kind": "a|"}', ""),
        ('{"kind": "|"}', ""),
        ('{"kind": "a"}', ""),
        ('"kind": "a|b"', ""),
        ("a|b", ""),
        ('{"say \\"kind\\"": "a|b"}', 'say \\"kind\\"'),
        ('}}]{"kind": "a|b"}', "kind"),
    ],
)
def test_the_example_is_read_field_by_field(instruction: str, field: str) -> None:
    assert Categories.of(asking(instruction), []).rule == (f"the field {field} of the JSON" if field else "")


# rule 3: words in capitals


def test_the_leading_word_in_capitals_is_the_category() -> None:
    answers = ["APPROVE", "REJECT: promises a refund", "I think so", " **APPROVE**.", ""]
    categories = Categories.of(POLICY, answers)
    assert categories.rule == "the first word in capitals"
    assert found(categories, *answers) == ["APPROVE", "REJECT", "", "APPROVE", ""]
    assert found(
        categories, "NEEDS_REVIEW: x", "Approve", "APPROVEd", "A reply", "ESCALATE: triage was missing", "R2D2", "x APPROVE"
    ) == ["NEEDS_REVIEW", "", "", "", "ESCALATE", "", ""]  # fmt: skip


@pytest.mark.parametrize(
    ("answers", "rule"),
    [
        (["APPROVE", "well, I do think so"], "the first word in capitals"),
        (["APPROVE", "well, I do think so", "it is fine with me"], ""),
        (["APPROVE", "well, I do think so", " ", ""], "the first word in capitals"),
        ([f"APPROVE_{letter} because of it" for letter in "ABCDEFGH"], ""),
        (["APPROVE", *(f"X{letter} because of it" for letter in "ABCDEFG")], "the first word in capitals"),
        (["APPROVE", *(f"X{letter} because of it" for letter in "ABCDEFGH")], ""),
        (["SELECT name FROM users"], ""),
        (["APPROVAL was not easy"], ""),
    ],
)
def test_half_of_the_answers_begin_so_with_few_words_that_the_instruction_names(answers: list[str], rule: str) -> None:
    assert Categories.of(POLICY, answers).rule == rule


def test_without_an_instruction_that_is_text_any_word_in_capitals_counts() -> None:
    assert Categories.of(None, ["SELECT name FROM users"]).rule == "the first word in capitals"
    assert Categories.of(asking(""), ["SELECT name FROM users"]).rule == "the first word in capitals"
    computed = LlmAgent(name="A", instruction=lambda context: "Reply YES or NO.")
    assert Categories.of(computed, ["YES, it seems to be so"]).rule == "the first word in capitals"


# rule 4: the whole answer


def test_short_answers_are_categories_as_a_whole() -> None:
    answers = ["Billing.", " billing ", "BILLING!", "not  sure…", "", "…"]
    categories = Categories.of(DRAFT, answers)
    assert categories.rule == "the whole answer"
    assert found(categories, *answers) == ["billing", "billing", "billing", "not sure", "", ""]
    assert found(categories, "one two three", "one two three four", "x" * 40, "x" * 41) == [
        "one two three",
        "",
        "x" * 40,
        "",
    ]


@pytest.mark.parametrize(
    ("answers", "rule"),
    [
        (["yes", "one two three four"], ""),
        (["yes", "x" * 41], ""),
        ([f"word {number}" for number in range(8)], "the whole answer"),
        ([f"word {number}" for number in range(9)], ""),
        ([], ""),
        (["", " "], ""),
        (["…"], ""),
    ],
)
def test_long_or_many_different_answers_have_no_category(answers: list[str], rule: str) -> None:
    categories = Categories.of(DRAFT, iter(answers))
    assert categories.rule == rule
    assert rule or categories.category("yes") == ""


# flips


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("APPROVE", "REJECT", "APPROVE→REJECT"),
        ("APPROVE", "APPROVE", ""),
        ("APPROVE", "", "APPROVE→none"),
        ("", "REJECT", "none→REJECT"),
        ("", "", ""),
        ("billing", "Billing", "billing→Billing"),
    ],
)
def test_flips(before: str, after: str, shown: str) -> None:
    assert flip(before, after) == shown


@given(st.text(), st.text())
def test_a_flip_back_is_the_flip_reversed(before: str, after: str) -> None:
    there, back = flip(before, after), flip(after, before)
    assert (there == "") == (back == "") == (before == after)
    if there:
        assert there == f"{before or 'none'}→{after or 'none'}"
        assert back == f"{after or 'none'}→{before or 'none'}"


# any text

HOSTILE = st.text(st.characters(exclude_categories=())) | st.sampled_from(["\ud800", '{"a": "\\ud800"}', '{"a":"b|c"'])
DEEP = "[" * 100_000
DEEP_OBJECT = '{"category":' * 100_000


@given(st.lists(HOSTILE, max_size=5), HOSTILE, HOSTILE)
@example([DEEP, DEEP_OBJECT], DEEP, DEEP_OBJECT)
@example([DEEP_OBJECT], DEEP_OBJECT, DEEP)
def test_no_text_makes_them_raise(answers: list[str], instruction: str, answer: str) -> None:
    ways: list[Given | None] = [None, "json:category", ["APPROVE", "ı", "straße"], str.strip]
    for agent in (None, TRIAGE, POLICY, asking(instruction)):
        for way in ways:
            categories = Categories.of(agent, answers, way)
            assert isinstance(categories.category(answer), str)


@pytest.mark.parametrize("way", [["APPROVE"], "json:category", str.strip, None])
def test_processes_can_be_sent_them(way: Given | None) -> None:
    categories = Categories.of(POLICY, ["APPROVE"], way)
    assert pickle.loads(pickle.dumps(categories)) == categories
