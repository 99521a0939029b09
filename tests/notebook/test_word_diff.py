"""Word diffs: what a person reads, and that both texts can be put together again."""

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from adknb.notebook.word_diff import LIMIT, word_diff


def marked(before: str, after: str) -> str:
    """The diff in brackets: `[-gone-]{+come+}`."""
    brackets = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
    return "".join(brackets[kind][0] + text + brackets[kind][1] for kind, text in word_diff(before, after))


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("", "", ""),
        ("the same", "the same", "the same"),
        ("", "new", "{+new+}"),
        ("old", "", "[-old-]"),
        ("gold", "silver", "[-gold-]{+silver+}"),
        ("at most 120 words", "at most 80 words", "at most [-120-]{+80+} words"),
        ("Draft a reply.", "Draft a short reply.", "Draft a{+ short+} reply."),
        ("Do not promise refunds.", "Never promise refunds, or credit.",
         "[-Do not-]{+Never+} promise refunds{+, or credit+}."),
        # a word between two changes goes with them
        ("one the two", "three the four", "[-one the two-]{+three the four+}"),
        # lines that only one text has go whole, also where the next begins like them
        ("user, by user:\nHi.\nuser, by A:\nHo.", "user, by A:\nHo.", "[-user, by user:\nHi.\n-]user, by A:\nHo."),
        ("a\nb\nc", "a\nc", "a\n[-b\n-]c"),
        ("a\nb", "a\nb\nc", "a\nb{+\nc+}"),
        # Chinese and Japanese have no spaces
        ("東京は晴れ", "東京は雨です", "東京は[-晴れ-]{+雨です+}"),
    ],
)  # fmt: skip
def test_what_is_shown(before: str, after: str, shown: str) -> None:
    assert marked(before, after) == shown


texts = st.text(st.sampled_from("ab .\n\t漢\ud800"), max_size=60) | st.text(max_size=60)


@given(texts, texts)
def test_both_texts_can_be_read_off(before: str, after: str) -> None:
    stretches = word_diff(before, after)
    assert "".join(text for kind, text in stretches if kind != "added") == before
    assert "".join(text for kind, text in stretches if kind != "removed") == after
    assert all(text for _, text in stretches)
    assert all(first.kind != second.kind for first, second in pairwise(stretches))


@given(texts)
def test_a_text_is_the_same_as_itself(text: str) -> None:
    assert [kind for kind, _ in word_diff(text, text)] == (["same"] if text else [])


def test_texts_that_differ_over_too_much_are_not_compared_inside() -> None:
    before, after = "old " * LIMIT, "new old " * LIMIT
    assert [kind for kind, _ in word_diff(f"a {before}z", f"a {after}z")] == ["same", "removed", "added", "same"]


def test_a_long_text_with_one_change_is_compared() -> None:
    before = "word " * 500_000
    after = before[:1_000_000] + "other " + before[1_000_000:]
    assert [(kind, text) for kind, text in word_diff(before, after) if kind != "same"] == [("added", " other")]
