"""The card of a comparison: inputs that open, what is left out, its tables, and that no text in it acts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from wcwidth import wcswidth

from adknb import Input, SpecError
from adknb.compare.comparison import Comparison
from adknb.core.escape import visible
from adknb.core.views import card_html, table
from adknb.notebook.cards.lab_inputs import ALL, DRAWN
from tests.browser.payloads import PAYLOADS
from tests.notebook.comparisons import comparison, prompt, step, ten, trial
from tests.notebook.hostile_comparison import hostile
from tests.notebook.lab_reading import SECTIONS, Reading, cells

TAGS = {
    "b", "div", "style", "span", "table", "thead", "tbody", "tr", "th", "td", "h4", "details", "summary", "del", "ins", "img",
}  # fmt: skip
ATTRIBUTES = {
    "class", "dir", "scope", "data-label", "style", "colspan", "rowspan", "tabindex", "src", "alt", "width",
}  # fmt: skip

# inputs that open


def test_flipped_inputs_open_first_and_once() -> None:
    html = card_html(ten())
    flipped, every = html.split(SECTIONS[3])[1].split(SECTIONS[4])
    assert flipped.count("what was sent and answered") == 2
    assert every.count("what was sent and answered") == 8
    assert cells(html, SECTIONS[3])[0] == [
        "2", "My router is offline.", "152", "112", "40 (26 %)", "1 of 2", "CheckAgent APPROVE→REJECT"
    ]  # fmt: skip
    assert (
        '<del><span class="adknb-mark">−</span>APPROVE</del><ins><span class="adknb-mark">+</span>REJECT: no.</ins>'
        in (flipped)
    )


def test_the_most_flipped_inputs_come_first_then_the_greatest_saving() -> None:
    records = []
    for name, tokens, answers in (("1", 10, ("no", "no")), ("2", 5, ("no", "yes")), ("3", 1, ("no", "no"))):
        for variant, sent, (draft, check) in (("default", 20, ("yes", "yes")), ("none", tokens, answers)):
            steps = step("DraftAgent", sent, draft), step("CheckAgent", 10, check)
            records.append(trial(variant, name, *steps))
    html = card_html(comparison(records))
    flipped = cells(html, "Only inputs whose answers changed category: 3 of 3")
    assert [row[0] for row in flipped if len(row) > 1] == ["3", "1", "2"]
    every = cells(html, "All inputs, the greatest saving first")
    assert [row[0] for row in every if len(row) > 1] == ["3", "2", "1"]


def test_the_repeat_in_which_a_category_changed_is_the_one_that_opens() -> None:
    records = [
        trial(variant, "1", step("CheckAgent", 9, answer), repeat=repeat)
        for variant, answers in (("default", ("yes", "yes")), ("none", ("yes", "no")))
        for repeat, answer in enumerate(answers)
    ]
    assert "what was sent and answered, repeat 2 of 2" in card_html(comparison(records, repeats=2))


def many(inputs: int, text: str, variants: int = 3, steps: int = 8) -> Comparison:
    names = [f"variant {place}" for place in range(variants)]
    records = [
        trial(
            name,
            str(number),
            *(
                step(
                    f"Agent{place}", 100 + place, f"{number} {variant} {text}", prompts=(prompt(f"{variant} {text}", ("A", text)),)
                )
                for place in range(steps)
            ),
        )
        for variant, name in enumerate(names)
        for number in range(inputs)
    ]  # fmt: skip
    asked = [Input((f"{number} {text}",), name=str(number)) for number in range(inputs)]
    return comparison(records, asked, variants=names, agents=[f"Agent{place}" for place in range(steps)])


def test_a_large_comparison_stays_small_and_says_what_is_left_out() -> None:
    html = card_html(many(200, 'a word & <another> "word" ' * 80))
    assert len(html.encode()) < 1_500_000
    assert html.count("what was sent and answered") <= DRAWN
    assert "… 160 more rows …" in html
    assert "all rows: comparison.by_input, comparison.to_frame()" in html
    assert "Any input in full: comparison.inspect(&#x27;0&#x27;)" in html


def test_texts_too_long_to_compare_here_point_to_the_input() -> None:
    html = card_html(many(2, "x" * 30_000, variants=2, steps=2))
    assert len(html) < ALL
    assert "differs, in 60,008 characters: comparison.inspect(&#x27;0&#x27;)" in html
    assert "x" * 2_001 not in html


def test_many_steps_and_variants_are_counted() -> None:
    made = many(1, "x", variants=8, steps=50)
    html = card_html(made)
    assert (
        "Not drawn: 38 steps with fewer tokens and how 10 later steps add up and 2 variants; comparison.tokens has all."
        in (html)
    )
    assert "… 11 more rows …" in html
    assert "3 more variants: comparison.by_input" in html
    assert "… 38 more steps: comparison.inspect(&#x27;0&#x27;)" in html


def test_a_table_wider_than_an_output_comes_in_parts() -> None:
    html = card_html(many(1, "x", variants=8, steps=1))
    rows = cells(html, SECTIONS[0])
    assert [row[0] for row in rows].count("Agent0") > 2
    assert all(len(row) < 12 for row in rows)


def test_texts_of_a_million_characters() -> None:
    text = "word " * 200_000
    html = card_html(many(2, text, variants=2, steps=2))
    assert len(html) < ALL
    assert text[:10_000] not in html
    assert "differs, in 2,000,008 characters: comparison.inspect(&#x27;0&#x27;)" in html


# tables


@pytest.mark.parametrize(
    ("name", "columns", "rows"),
    [
        ("rows", ["variant", "input", "repeat", "step"], 40),
        ("summary", ["variant", "step", "n", "input_tokens"], 6),
        ("tokens", ["variant", "step", "runs", "instruction"], 4),
        ("twice", ["variant", "step", "key", "runs"], 2),
        ("flips", ["variant", "input", "repeat", "step"], 2),
        ("by_input", ["input", "message", "variant", "input_tokens"], 10),
        ("encodable", ["variant", "input", "repeat", "step"], 40),
    ],
)
def test_every_table_is_there_and_has_a_view(name: str, columns: list[str], rows: int) -> None:
    data = table(ten(), name)
    assert list(data.columns[:4]) == columns
    assert len(data) == rows
    styler: Any = ten().view(name)
    assert styler._repr_html_().startswith('<div class="adknb mathjax_ignore')
    assert repr(styler).split() != []


def test_a_view_names_columns_as_text_and_rounds_numbers() -> None:
    records = [trial("default", "1", step("DraftAgent", 100, "x"), error="")]
    made = comparison(records, kind="dry", measures={"{<b>}": len})
    styler: Any = made.view("rows")
    assert "counted by</th>" in styler._repr_html_()
    answered: Any = comparison(records, measures={"{<b>}": len}).view("rows")
    assert ">{&lt;b&gt;}</th>" in answered._repr_html_()
    summary: Any = ten().view("summary")
    assert ">105.5</td>" in summary._repr_html_()
    assert ">37.9</td>" in summary._repr_html_()


def test_a_measures_name_is_a_columns() -> None:
    with pytest.raises(
        SpecError, match=r"^the measure 'a\\ud800' names a column, so its name has no invisible characters\.$"
    ):
        comparison([], [Input(("One",), name="1")], measures={"a\ud800": len})


# hostile texts


@pytest.mark.parametrize("name", PAYLOADS)
def test_hostile_texts_are_shown_and_do_nothing(name: str) -> None:
    made = hostile(PAYLOADS[name])
    for result in (made, made.inspect("2"), made.inspect(1)):
        html, text = card_html(result), str(result)
        reading = Reading(html)
        assert set(reading.tags) <= TAGS
        assert reading.attributes <= ATTRIBUTES
        assert visible(reading.text) == reading.text
        assert visible(text) == text
        assert re.findall('<img class="adknb-chart" src="(?!data:image/svg)', html) == []


@settings(max_examples=30, deadline=None)
@given(st.text(min_size=1, max_size=60))
def test_a_terminals_lines_hold_whatever_the_names(name: str) -> None:
    for line in str(hostile(name)).split("\n"):
        assert wcswidth(line) <= 100
