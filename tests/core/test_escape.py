"""Hostile text on its way to a screen."""

import html
import unicodedata

import pytest
from hypothesis import given, strategies as st

from adknb.core.escape import escape, one_line, visible

ANY_TEXT = st.text(st.characters(exclude_categories=[]))  # lone surrogates included


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nin two lines", "plain\ttext\nin two lines"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("nul \x00 bell \x07 del \x7f csi \x9b", "nul \\x00 bell \\x07 del \\x7f csi \\x9b"),
        ("over\rwritten", "over\\x0dwritten"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\u2066isolated\u2069", "\\u2066isolated\\u2069"),
        ("a\u200bb\ufeffc\u00add", "a\\u200bb\\ufeffc\\xadd"),
        ("\ud800 alone", "\\ud800 alone"),
        ("\U000e0041\U000e0042", "\\U000e0041\\U000e0042"),
        ("pay\u200dpal", "pay\\u200dpal"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("é\u200c\u200d\u200cé", "é\u200c\\u200d\\u200cé"),
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("1\ufe0f\u20e3", "1\ufe0f\u20e3"),
        ("Z" + "\u0300" * 8, "Z" + "\u0300" * 6 + "\\u0300" * 2),
        ("Việt Nam, שָׁלוֹם, ที่นี่", "Việt Nam, שָׁלוֹם, ที่นี่"),
        ("a\ufe0fb", "a\\ufe0fb"),
        ("grapheme\u034fjoiner", "grapheme\\u034fjoiner"),
        ("\U0001bca0shorthand\U0001d173beam", "\\U0001bca0shorthand\\U0001d173beam"),
        ("\ufdd0\uffff\U0010ffff", "\\ufdd0\\uffff\\U0010ffff"),
        ("😀\ufe01\ufe0c\ufe0f", "😀\ufe01\\ufe0c\\ufe0f"),
        ("漢字 naïve €", "漢字 naïve €"),
    ],
)
def test_what_acts_or_hides_is_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_html_takes_the_five_characters_and_the_hidden_ones() -> None:
    assert escape("<a href='x' title=\"y\">&\x00\u202e") == (
        "&lt;a href=&#x27;x&#x27; title=&quot;y&quot;&gt;&amp;\\x00\\u202e"
    )


@given(ANY_TEXT)
def test_no_control_character_and_no_surrogate_is_left(text: str) -> None:
    left = {unicodedata.category(character) for character in visible(text) if character not in "\n\t"}
    assert left.isdisjoint({"Cc", "Cs", "Zl", "Zp"})
    visible(text).encode("utf-8")


@given(ANY_TEXT)
def test_html_reads_back_as_the_visible_text(text: str) -> None:
    assert html.unescape(escape(text)) == visible(text)
    assert not set(escape(text)) & set("<>\"'")


@given(ANY_TEXT, st.integers(2, 50))
def test_one_line_is_one_line_and_no_longer_than_asked(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert "\n" not in line
    assert len(line) <= limit


@pytest.mark.parametrize(
    ("text", "limit", "line"),
    [
        ("two\nlines", 20, "two lines"),
        ("exactly ten", 11, "exactly ten"),
        ("one word too many", 12, "one word to…"),
        (" " * 200 + "x", 10, "…"),
    ],
)
def test_one_line_says_that_it_was_cut(text: str, limit: int, line: str) -> None:
    assert one_line(text, limit) == line
