"""What cards are made of: cut texts, chips, tables, passages; and words without a style sheet."""

import pytest

from adknb.notebook.cards.html import ROWS, block, chip, cut, table
from adknb.notebook.cards.prompt_card import PromptView
from adknb.notebook.cards.segments import segment
from adknb.notebook.cards.text import columns, passage
from tests.factories import ticket_run
from tests.notebook.test_cards import Reading


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("short", "short"),
        ("a<b", "a&lt;b"),
        ("x" * 30, f'<span class="adknb-long">{"x" * 30}</span>'),
        (
            "one\ntwo",
            '<details class=""><summary><span class="adknb-cut">one two </span>'
            '<span class="adknb-more">7 characters</span></summary>'
            '<div class="adknb-text" dir="auto" style="white-space:pre-wrap">one\ntwo</div></details>',
        ),
    ],
)
def test_cut(text: str, html: str) -> None:
    assert cut(text) == html


def test_a_long_text_is_whole_one_click_away() -> None:
    text = "word " * 100
    assert block(text) in cut(text)
    assert "500 characters" in cut(text)


def test_a_chip_says_its_kind_in_words_only() -> None:
    assert chip("failed", "bad") == '<span class="adknb-chip adknb-bad">failed</span>'


def test_a_table_of_many_rows_keeps_both_ends() -> None:
    html = table([("n", "")], [[str(number)] for number in range(100)])
    assert html.count("<tr>") == 1 + ROWS + 1
    assert '<td colspan="1" class="adknb-dim">… 40 more rows …</td>' in html
    assert '<td class="" data-label="n">29</td>' in html
    assert '<td class="" data-label="n">30</td>' not in html
    assert '<td class="" data-label="n">99</td>' in html


def test_columns_line_up_whatever_the_width_of_characters() -> None:
    rows = [["漢字", "1", ""], ["é", "22", ""]]
    assert columns(["a", "b", "empty"], rows, right=(1,)) == "a      b\n漢字   1\né     22"


def test_a_passage_counts_what_it_leaves_out() -> None:
    assert passage("one\ntwo three", limit=7) == "  one\n  two\n  … 6 more characters"


# without the style sheet, which JupyterLab drops from a notebook that is not trusted


def test_words_stay_apart_without_a_style_sheet() -> None:
    run = ticket_run()
    assert Reading(run.to_html()).text.startswith("ticket completed 2 steps · ")
    shown = Reading(PromptView(run, "DraftAgent").to_html()).text
    assert shown.startswith("Prompt of DraftAgent 48 tokens counted with o200k_base request 1 of 1")
    assert "instruction · 3 Answer: state triage · 20 · sent twice {" in shown


def test_blank_lines_come_before_a_label_and_count_as_text() -> None:
    assert Reading(segment("state k · 1", "state", "\n\nwords", 3)).text == "\n\nstate k · 1 wor… 2 more characters"
    assert Reading(segment("", "sdk", "\n" * 5, 3)).text == "\n\n\n… 2 more characters"


def test_a_word_is_measured_as_it_is_shown() -> None:
    assert cut("\x1b" * 7) == '<span class="adknb-long">' + r"\x1b" * 7 + "</span>"
    assert cut("customer’s — on…going") == "customer’s — on…going"
    assert cut("𒐫" * 5) == f'<span class="adknb-long">{"𒐫" * 5}</span>'
