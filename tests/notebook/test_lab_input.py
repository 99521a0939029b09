"""One input of a comparison in full, and its prompts as texts."""

from __future__ import annotations

import re

import pytest

from adknb import Input, RunStateError
from adknb.compare.inspect import prompt_text
from adknb.compare.records import SentPiece
from adknb.core.views import card_html
from tests.notebook.comparisons import comparison, prompt, step, ten, trial
from tests.notebook.lab_reading import Reading


def test_the_text_twin() -> None:
    default = prompt("Check it.", ("user", "Hello."), ("DraftAgent", "Dear customer."))
    none = prompt("Check it.", ("DraftAgent", "Dear customer."))
    records = [
        trial("default", "a", step("CheckAgent", 100, '{"verdict": "APPROVE", "why": [1]}', prompts=(default,))),
        trial("none", "a", step("CheckAgent", 60, '{"verdict": "REJECT"}', prompts=(none,), tools=("lookup",))),
    ]
    asked = Input(("Hello.",), {"user:tier": "gold", "n": 1}, {"CheckAgent": "APPROVE"}, "a")
    made = comparison(records, [asked], categories="json:verdict", measures={"length": len})
    assert str(made.inspect("a")) == (
        "Input a of ticket · DEFAULT against NONE\n"
        "Message:\n  Hello.\n"
        "Start state:\n  user:tier: gold\n  n: 1\n"
        "Expected:\n  CheckAgent: APPROVE\n"
        "[-only in DEFAULT-] {+only in NONE+}\n"
        "\n"
        "--- CheckAgent · input tokens DEFAULT 100, NONE 60 · NONE: APPROVE→REJECT\n"
        "  fields:\n"
        "  verdict: APPROVE → REJECT\n"
        "  why[0]: 1 → absent\n"
        "  answer:\n"
        '    {"verdict": "[-APPROVE", "why": [1]-]{+REJECT"+}}\n'
        "  tools called:\n"
        "  DEFAULT: none\n"
        "  NONE: lookup\n"
        "  length:\n"
        "  DEFAULT: 34\n"
        "  NONE: 21\n"
        "  prompt:\n"
        "    [system instruction]\n"
        "    Check it.\n"
        "\n"
        "    [-[user]\n"
        "    Hello.-]\n"
        "\n"
        "    [user, by DraftAgent]\n"
        "    Dear customer."
    )


def test_three_variants_name_each_side() -> None:
    records = [
        trial(variant, "1", step("CheckAgent", 9, answer))
        for variant, answer in (("default", "yes"), ("none", "yes"), ("state_only", "no"))
    ]
    made = comparison(records, variants=("default", "none", "state_only"))
    assert str(made.inspect(1)).split("\n")[2:] == [
        "  I was charged twice for September.",
        "[-only in DEFAULT-] {+only in the other+}",
        "",
        "--- CheckAgent · input tokens DEFAULT 9, NONE 9, state_only 9 · state_only: yes→no",
        "  answer under NONE:",
        "  the same as under DEFAULT",
        "  answer under state_only:",
        "    [-yes-]{+no+}",
        "  prompt under NONE:",
        "  the same",
        "  prompt under state_only:",
        "  the same",
    ]


def test_turns_steps_of_one_side_and_what_went_wrong() -> None:
    leak = "[DraftAgent] said: Dear customer."
    records = [
        trial("default", "1", step("DraftAgent", 9, leak), step("CheckAgent", 9, "", guarded=True, turn=2, prompts=())),
        trial(
            "none", "1", step("DraftAgent", 9, "", error="ModelError: 503", status="failed"), error="ModelError: 503"
        ),
    ]
    made = comparison(records, [Input(("One.", "Two."), name="1")])
    assert str(made.inspect(1)).split("\n")[1:] == [
        "Message 1:",
        "  One.",
        "Message 2:",
        "  Two.",
        "[-only in DEFAULT-] {+only in NONE+}",
        "",
        "--- turn 1 · DraftAgent · input tokens DEFAULT 9, NONE 9",
        "  answer under DEFAULT:",
        f"  {leak}",
        "  history in the answer under DEFAULT:",
        f"  {leak}",
        "  error under NONE:",
        "  ModelError: 503",
        "  prompt:",
        "  the same",
        "",
        "--- turn 2 · CheckAgent · input tokens DEFAULT 9",
        "  answer under DEFAULT:",
        "  (nothing)",
        "  guard under DEFAULT:",
        "  a callback answered; the model was not asked",
        "  under NONE:",
        "  this step did not run",
    ]
    html = card_html(made.inspect(1))
    boxes = re.findall(r'<div class="adknb-box adknb-(\w+)">', html)
    assert boxes == ["warn", "bad", "warn"]


def test_what_failed_before_any_step_and_what_was_not_done() -> None:
    inputs = [Input(("One",), name="1"), Input(("Two",), name="2")]
    made = comparison([trial("default", "1", error="MissingKeyError: tier")], inputs)
    assert str(made.inspect("1")).endswith("  One\n! DEFAULT failed: MissingKeyError: tier")
    assert str(made.inspect("2")).endswith("  Two\nNot done yet: no trial of it has come to its end.")
    assert "Not done yet" in card_html(made.inspect("2"))


def test_a_dry_comparison_has_prompts_alone() -> None:
    records = [
        trial(variant, "1", step("CheckAgent", 9, "", prompts=(prompt(text),)))
        for variant, text in (("default", "Do this."), ("none", "Do that."))
    ]
    made = comparison(records, kind="dry")
    assert str(made.inspect(1)).endswith("  prompt:\n    [system instruction]\n    Do [-this-]{+that+}.")
    assert "answer" not in str(made.inspect(1))


def test_the_html_folds_prompts_and_shows_answers() -> None:
    html = card_html(ten().inspect("2"))
    assert Reading(html).text.startswith("Input 2 of ticket DEFAULT against NONE")
    assert html.count("<del>") == 2  # the legend, and the one answer that changed
    records = [
        trial(variant, "1", step("CheckAgent", 9, "x", prompts=(prompt(text),)))
        for variant, text in (("default", "Do this."), ("none", "Do that."))
    ]
    assert "<details><summary>what differs</summary>" in card_html(comparison(records).inspect(1))


def test_a_repeat_is_named_and_must_be_there() -> None:
    records = [trial("default", "1", step("CheckAgent", 9, str(repeat)), repeat=repeat) for repeat in (0, 1)]
    made = comparison(records, repeats=2)
    assert str(made.inspect(1, repeat=1)).startswith("Input 1 of ticket · DEFAULT against NONE · repeat 2 of 2\n")
    assert made.inspect(1, repeat=1).trials["default"].answer == "1"
    with pytest.raises(RunStateError, match=r"^there is no repeat 2: everything was asked 2 times, 0 is the first$"):
        made.inspect(1, repeat=2)
    with pytest.raises(RunStateError, match="there is no input '7'"):
        made.inspect("7")


def test_steps_stand_in_the_order_of_the_first_variant_that_has_them() -> None:
    made = comparison(
        [
            trial("default", "1", step("A", 1, ""), step("C", 1, "")),
            trial("none", "1", step("A", 1, ""), step("B", 1, "")),
        ]
    )
    one = made.inspect(1)
    assert [(each.step, list(each.records), list(each.rows)) for each in one.steps] == [
        ("A", ["default", "none"], ["default", "none"]), ("C", ["default"], ["default"]), ("B", ["none"], ["none"]),
    ]  # fmt: skip


def test_a_prompt_as_text() -> None:
    first = (
        SentPiece("You ", "instruction", "instruction", 1, "system"),
        SentPiece("gold", "state", "injected_state", 1, "system", "tier"),
        SentPiece("Hi", "user message", "user_message", 1, "user", None, 0, "user"),
        SentPiece("For context:", "other agent", "history", 1, "user", None, 1, "DraftAgent"),
        SentPiece("[DraftAgent] said: x", "other agent", "history", 1, "user", None, 1, "DraftAgent"),
        SentPiece("{}", "tools", "tools", 1, "tools"),
        SentPiece("{}", "schema", "schema", 1, "schema"),
    )
    second = (SentPiece("again", "added", "history", 1, "", None, 0, None),)
    assert prompt_text([first, second]) == (
        "[system instruction]\nYou gold\n\n[user]\nHi\n\n[user, by DraftAgent]\nFor context:\n[DraftAgent] said: x\n\n"
        "[tool declarations]\n{}\n\n[output schema]\n{}\n\n[request 2]\n\n[no role]\nagain"
    )


def test_a_prompt_without_requests_is_no_text() -> None:
    assert prompt_text([]) == ""
