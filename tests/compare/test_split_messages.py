"""Inputs of a comparison from a cell's text."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from adknb import SpecError
from adknb.compare.inputs import split_messages

# stretches of any characters and of hostile ones: a lone surrogate or U+2028 hardly comes up among all characters
HOSTILE = st.text(st.sampled_from('\ud800\udfff\0\u2028\ufeff\r\n,"\t a'), max_size=6)
ANY_TEXT = st.lists(st.text(max_size=8) | HOSTILE, max_size=3).map("".join)


@pytest.mark.parametrize(
    ("text", "conversations"),
    [
        ("One.", [["One."]]),
        ("One.\n", [["One.\n"]]),
        ("One.\n---\nTwo.", [["One."], ["Two."]]),
        ("One.\r\n---\r\nTwo.\r\n", [["One."], ["Two.\r\n"]]),
        ("\n One.\n\n---\n\nTwo. ", [["\n One.\n"], ["\nTwo. "]]),
        ("One.\r\r\n---\nTwo.", [["One.\r"], ["Two."]]),
        ("---\nOne.\n---\nTwo.\n---", [["One."], ["Two."]]),
        ("\n\n---\nOne.\n---\n\n", [["One."]]),
        ("a\n+++\nb\n---\nc", [["a", "b"], ["c"]]),
        ("a\r\n+++\r\nb", [["a", "b"]]),
        ("--- \n ---\n----\n---x\n++++\n+++ ", [["--- \n ---\n----\n---x\n++++\n+++ "]]),
        ("a\u2028---\u2028b\x0b---\x0cc\x85---\rd", [["a\u2028---\u2028b\x0b---\x0cc\x85---\rd"]]),
        ("a\n---\r", [["a\n---\r"]]),  # a lone carriage return ends no line
    ],
)
def test_a_text_between_separators(text: str, conversations: list[list[str]]) -> None:
    assert [list(each.messages) for each in split_messages(text)] == conversations
    assert [each.name for each in split_messages(text)] == [str(place + 1) for place in range(len(conversations))]


def test_other_separators_are_no_patterns() -> None:
    found = split_messages("a\n---\nb\n.*\nc\n||\nd\nxx", ".*", "||")
    assert [each.messages for each in found] == [("a\n---\nb",), ("c", "d\nxx")]


NOTHING = "there is no message. Write one, or several between lines of ---; the turns of one conversation go between lines of +++"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", NOTHING),
        (" \n\n", NOTHING),
        ("---", NOTHING),
        ("---\n---", NOTHING),
        ("a\n---\n---\nb", "input 2 (line 3) is blank: write a message, or remove one of the ---"),
        ("a\n---\n \n\n---\nb", "input 2 (line 3) is blank: write a message, or remove one of the ---"),
        ("---\n---\na", "input 1 (line 2) is blank: write a message, or remove one of the ---"),
        ("a\n---\nb\n+++\n", "turn 2 of input 2 (line 5) is blank: write a message, or remove one of the +++"),
        ("a\n---\n+++\nb", "turn 1 of input 2 (line 3) is blank: write a message, or remove one of the +++"),
        ("a\n+++\n+++\nb", "turn 2 of input 1 (line 3) is blank: write a message, or remove one of the +++"),
    ],
)
def test_blank_pieces(text: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        split_messages(text)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        (("", "+++"), "a separator is one line that is not blank, not ''"),
        (("---", " "), "a separator is one line that is not blank, not ' '"),
        (("a\nb", "+++"), "a separator is one line that is not blank, not 'a\\nb'"),
        (("---\r", "+++"), "a separator is one line that is not blank, not '---\\r'"),
        (("---", "---"), "inputs and turns need separators that differ; both are '---'"),
    ],
)
def test_what_no_separator_is(marks: tuple[str, str], said: str) -> None:
    with pytest.raises(SpecError) as caught:
        split_messages("a", *marks)
    assert str(caught.value) == said


LINES = st.lists(
    ANY_TEXT | st.sampled_from(["", "---x", " ---", "--- ", "+", "x\r", "a", "\r"]), min_size=1, max_size=5
)
WHOLE_MESSAGES = LINES.map("\n".join).filter(
    lambda text: text.strip() and not {"---", "+++"} & {line.removesuffix("\r") for line in text.split("\n")}
)
CONVERSATIONS = st.lists(st.lists(WHOLE_MESSAGES, min_size=1, max_size=3), min_size=1, max_size=4)


@given(CONVERSATIONS)
def test_joined_messages_are_split_to_the_byte(conversations: list[list[str]]) -> None:
    text = "\r\n---\r\n".join("\r\n+++\r\n".join(turns) for turns in conversations)
    assert [list(each.messages) for each in split_messages(text)] == conversations


@given(CONVERSATIONS)
def test_messages_joined_by_line_feeds_are_split_to_the_byte(conversations: list[list[str]]) -> None:
    """But for a carriage return at a message's end, which makes the line break before the separator a CRLF."""
    conversations = [[turn.rstrip("\r") for turn in turns] for turns in conversations]
    text = "\n---\n".join("\n+++\n".join(turns) for turns in conversations)
    assert [list(each.messages) for each in split_messages(f"---\n{text}\n---")] == conversations


def test_a_very_long_text() -> None:
    long = "-" * 3_000_000 + "\n" + "é\u2028\0" * 1_000_000
    assert [each.messages for each in split_messages(f"{long}\n---\n{long}")] == [(long,), (long,)]
