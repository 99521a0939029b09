"""The card of a comparison in both forms: its order, its numbers, its words."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from adknb import Input, set_prices
from adknb.compare.trial import Kind
from adknb.core.views import card_html
from adknb.notebook.cards.text import wrapped
from tests.notebook.comparisons import comparison, step, ten, trial
from tests.notebook.lab_reading import SECTIONS, Reading, cells, sections


@pytest.fixture
def prices() -> Iterator[None]:
    set_prices({"small": {"input": 1_000_000, "output": 0}})
    yield
    set_prices({})


def test_the_text_twin() -> None:
    made = ten()
    whole, draft, check = made.sentences[-1], *made.sentences[:-1]
    blocks = str(made).split("\n\n")
    assert blocks[0] == (
        "ticket: DEFAULT against NONE\n"
        "Kind run: each variant ran the whole pipeline, so differences add up from step to step.\n"
        "10 inputs · 1 repeat · model small · temperature not set · input tokens counted with o200k_base ·\nseed 7"
    )
    assert blocks[1] == "\n".join(
        [
            wrapped(whole, "  ", "    "), wrapped(draft, "  ", "    "), wrapped(check, "* ", "    "),
            "5 claims are made together: each interval and test is at 99 %, so that all hold at 95 %.",
        ]
    )  # fmt: skip
    assert blocks[2:] == [
        "Step        DEFAULT in  NONE in           NONE saves  DEFAULT out  NONE out\n"
        "DraftAgent          50       50                    0            4         4\n"
        "CheckAgent         106     65.5  40 (38 %); 40 to 40            4         4\n"
        "All steps          156      116  40 (26 %); 40 to 40            8         8",
        "Step        DEFAULT time  NONE time\n"
        "DraftAgent         20 ms      20 ms\n"
        "CheckAgent         20 ms      20 ms\n"
        "All steps          40 ms      40 ms",
        "Step        NONE equal  NONE changed\n"
        "DraftAgent    10 of 10\n"
        "CheckAgent     8 of 10  APPROVE→REJECT ×2\n"
        "All steps     18 of 20  APPROVE→REJECT ×2",
        "Only inputs whose answers changed category: 2\n"
        "Input  Message                NONE saves  NONE changed\n"
        "2      My router is offline.   40 (26 %)  CheckAgent APPROVE→REJECT\n"
        "5      The price went up.      40 (26 %)  CheckAgent APPROVE→REJECT",
        "All inputs, the greatest saving first: 10\n"
        "Input  Message                             NONE saves  NONE changed\n"
        "1      I was charged twice for September.   40 (26 %)\n"
        "2      My router is offline.                40 (26 %)  CheckAgent APPROVE→REJECT\n"
        "3      How do I change my address?          40 (26 %)\n"
        "4      Where is my contract?                40 (26 %)\n"
        "5      The price went up.                   40 (26 %)  CheckAgent APPROVE→REJECT\n"
        "6      Nobody came.                         40 (26 %)\n"
        "7      The app is slow.                     40 (25 %)\n"
        "8      I want to cancel.                    40 (25 %)\n"
        "9      Please call me.                      40 (25 %)\n"
        "10     The line is noisy.                   40 (25 %)",
        "Each input's answers and prompts, word by word: print(comparison.inspect(NAME))",
        "Tokens sent twice: by key, and again with the history\n"
        "Step        Key     DEFAULT tokens  NONE tokens  DEFAULT of input  NONE of input\n"
        "DraftAgent  triage            12.0         12.0              24 %           24 %",
        "Categories: CheckAgent by the first of APPROVE, REJECT in the answer.\n"
        "No categories in the answers of DraftAgent: they are compared as whole texts.",
    ]


def test_the_order_of_the_card() -> None:
    html = card_html(ten())
    assert sections(html) == SECTIONS
    said = Reading(html).text
    places = [
        said.index(each)
        for each in ("ticket: DEFAULT against NONE", "Kind run:", "10 inputs", "NONE over all steps", "NONE on DraftAgent",
                     "NONE on CheckAgent", "5 claims are made together", *SECTIONS[:2], "the numbers", *SECTIONS[2:])
    ]  # fmt: skip
    assert places == sorted(places)
    page = ten().to_html()
    assert page.startswith('<!doctype html>\n<html lang="en">')
    assert page.endswith(f"<title>ticket: default | none</title></head>\n<body>{html}</body></html>\n")


def test_the_strongest_finding_stands_in_a_box() -> None:
    html = card_html(ten())
    boxes = re.findall(r'<div class="adknb-box adknb-(\w+)"><div class="adknb-says"><b>(.*?)</b>', html)
    assert boxes == [("good", "NONE on CheckAgent")]
    assert html.count('<div class="adknb-says">') == 3


def test_the_tables_of_steps_have_variants_side_by_side() -> None:
    html = card_html(ten())
    assert cells(html, SECTIONS[0])[1] == [
        "CheckAgent", "106", "65.5", "40 (38 %)40 to 40", "4", "4", "20 ms", "20 ms"
    ]  # fmt: skip
    assert cells(html, SECTIONS[1])[1:] == [
        ["CheckAgent", "8 of 10", "APPROVE→REJECT ×2"], ["All steps", "18 of 20", "APPROVE→REJECT ×2"],
    ]  # fmt: skip
    assert '<th colspan="2" scope="colgroup" class="adknb-first">Input tokens</th>' in html
    assert '<td class="adknb-num adknb-first adknb-starts" data-label="Input tokens, DEFAULT">106</td>' in html
    assert '<td class="adknb-num" data-label="NONE">65.5</td>' in html


def test_what_occurs_nowhere_has_no_column_and_what_occurs_somewhere_has_its_zeros() -> None:
    assert "Guard trips" not in card_html(ten())
    records = [
        trial(
            "default",
            "1",
            step("CheckAgent", 9, "[DraftAgent] said: a rather long sentence"),
            step("DraftAgent", 9, "x", guarded=True),
        ),
        trial("none", "1", step("CheckAgent", 9, "fine"), step("DraftAgent", 9, "x")),
    ]
    html = card_html(comparison(records))
    assert cells(html, SECTIONS[1]) == [
        ["CheckAgent", "0 of 1", "0", "0", "1", "0"],
        ["DraftAgent", "1 of 1", "1", "0", "0", "0"],
        ["All steps", "1 of 2", "1", "0", "1", "0"],
    ]
    assert "Guard trips" in html
    assert "History leaked" in html


def test_costs_stand_where_prices_are_set(prices: None) -> None:
    records = [
        trial(variant, "1", step("DraftAgent", 50, "x", cost=cost, twice={"k": 5}))
        for variant, cost in (("default", 50.0), ("none", 0.25))
    ]
    html = card_html(comparison(records))
    assert cells(html, SECTIONS[0])[0][-2:] == ["50", "0.25"]
    assert cells(html, SECTIONS[2]) == [["DraftAgent", "k", "5.0", "5.0", "10 %", "10 %", "5", "5"]]
    assert '<th colspan="2" scope="colgroup" class="adknb-first">Cost</th>' in html
    assert ">Cost</th>" not in card_html(ten())


def test_expected_answers_and_own_measures() -> None:
    inputs = [Input(("Hello.",), expected="APPROVE", name="1")]
    records = [
        trial("default", "1", step("CheckAgent", 9, "APPROVE")), trial("none", "1", step("CheckAgent", 9, "REJECT now")),
    ]  # fmt: skip
    measures = {
        "words": lambda answer: len(answer.split()),
        "short": lambda answer: len(answer) < 8,
        "<b>": lambda _: 1 / 0,
    }
    made = comparison(records, inputs, categories=["APPROVE", "REJECT"], measures=measures)
    assert cells(card_html(made), SECTIONS[1])[0] == [
        "CheckAgent", "0 of 1", "APPROVE→REJECT ×1", "1 of 1", "0 of 1", "1", "2", "1 of 1", "0 of 1"
    ]  # fmt: skip
    assert "The measure <b> failed on 2 answers: input 1: ZeroDivisionError: division by zero; …" in str(made)
    assert "The measure &lt;b&gt; failed" in card_html(made)


def test_nothing_can_be_concluded_from_three_inputs_and_stands_in_plain_sight() -> None:
    records = [
        trial(variant, name, step("DraftAgent", tokens, "x"))
        for variant, tokens in (("default", 50), ("none", 40))
        for name in "123"
    ]
    made = comparison(records)
    least = made.findings.least
    said = f"Nothing can be concluded from 3 inputs: at least {least} would be needed."
    assert f"! {said}\nThat holds of every step and variant; what was measured stands below.\n" in str(made)
    html = card_html(made)
    assert f'<div class="adknb-box adknb-warn"><b>{said}</b></div>' in html
    assert '<div class="adknb-says">' not in html
    assert cells(html, SECTIONS[0])[0][3] == "10 (20 %)"


def test_nothing_shown_on_enough_inputs() -> None:
    records = [
        trial(variant, str(number), step("DraftAgent", 50, "x"))
        for variant in ("default", "none")
        for number in range(10)
    ]
    assert "! Nothing can be concluded: on 10 inputs no difference is shown.\n" in str(comparison(records))


def test_missing_and_failed_trials_are_a_warning() -> None:
    failed = step("CheckAgent", 0, "", error="ModelError: <b>503</b>", status="failed")
    records = [
        trial("default", "1", step("DraftAgent", 50, "x"), failed, error="ModelError: <b>503</b>"),
        trial("none", "1", error="SpecError: before any step"),
    ]
    inputs = [Input(("One",), name="1"), Input(("Two",), name="2")]
    made = comparison(records, inputs)
    html = card_html(made)
    warnings = re.findall(r'<div class="adknb-box adknb-warn">(.*?)</div>', html)
    assert warnings[:2] == [
        "2 of 4 trials are missing: the comparison was stopped before its end. What follows is about the others.",
        "2 of 4 trials failed, and their failed steps count in no mean: ModelError: &lt;b&gt;503&lt;/b&gt;; "
        "SpecError: before any step",
    ]
    assert '<span class="adknb-chip adknb-bad">DEFAULT failed: ModelError: &lt;b&gt;503&lt;/b&gt;</span>' in html
    assert ("Input  Message\n1      DEFAULT failed: ModelError: <b>503</b>; NONE…\n2      Two\n") in str(made)


def test_a_comparison_without_trials() -> None:
    made = comparison([], [Input(("One",), name="1")])
    assert str(made).endswith("\nNo trial has come to its end yet.")
    assert "No trial has come to its end yet." in card_html(made)
    assert sections(card_html(made)) == []


def test_one_variant_alone() -> None:
    made = comparison([trial("default", "1", step("DraftAgent", 50, "x"))], variants=("default",))
    assert str(made).startswith("ticket: DEFAULT\n")
    assert cells(card_html(made), SECTIONS[0])[0] == ["DraftAgent", "50", "4", "20 ms"]
    assert cells(card_html(made), SECTIONS[4])[0] == ["1", "I was charged twice for September.", "50"]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("run", "each variant ran the whole pipeline, so differences add up from step to step."),
        ("paired", "one run under DEFAULT supplied the history, and at every step each variant was asked once"),
        ("dry", "no model was asked; the prompts of runs that were there already were worked out under each variant."),
    ],
)
def test_a_kind_is_explained(kind: Kind, said: str) -> None:
    records = [trial(variant, "1", step("DraftAgent", 50, "x")) for variant in ("default", "none")]
    made = comparison(records, kind=kind)
    assert f"Kind {kind}: {said}" in Reading(card_html(made)).text
    assert ("temperature" in str(made)) is (kind != "dry")
    assert (">Answers, beside" in card_html(made)) is (kind != "dry")


def test_how_it_was_asked() -> None:
    values = {"temperature": 0.2, "counted_by": "reported", "note": "replayed from a.jsonl"}
    records = [
        trial("default", "1", step("DraftAgent", 50, "x", **values)),
        trial("none", "1", step("DraftAgent", 50, "x", model="large", note="replayed from a.jsonl")),
    ]
    said = str(comparison(records, seed=None))
    assert (
        "1 input · 1 repeat · models small and large · temperature 0.2 · input tokens as the model reported\n"
        "them and counted with o200k_base · no seed"
    ) in said
    assert said.endswith("Notes: replayed from a.jsonl (×2)")
