"""What follows from a comparison, in numbers and sentences, and what a test may demand of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from adknb import Comparison, LlmAgent, ScriptedModel, SequentialAgent, SpecError, Variant, compare_variants
from adknb.core.requests import LlmRequest
from adknb.testing import assert_comparison
from tests.notebook.comparisons import comparison, step, trial


def pipeline() -> SequentialAgent:
    return SequentialAgent(
        name="ticket",
        sub_agents=[
            LlmAgent(name="Triage", instruction="Classify.", output_key="triage"),
            LlmAgent(name="Check", instruction="Triage: {triage}\nReply APPROVE or REJECT."),
        ],
    )


def compared(
    inputs: int,
    check: Callable[[LlmRequest], str] = lambda request: "APPROVE",
    *,
    repeat: int = 1,
    variants: Sequence[Any] = ("default", "none"),
) -> Comparison:
    model = ScriptedModel({"Triage": lambda request: "This is about billing.", "Check": check})
    return compare_variants(pipeline(), [f"Ticket {n}." for n in range(inputs)], variants, model=model, repeat=repeat)


def is_none(request: LlmRequest) -> bool:
    return len(request.contents) == 1


def ticket(request: LlmRequest) -> str:
    return request.contents[0].text


def test_with_three_inputs_nothing_can_be_concluded_and_it_says_how_many_would_be_needed() -> None:
    comparison = compared(3)
    assert comparison.findings.claims == 5
    assert comparison.sentences == [
        "NONE on Triage: 3 inputs: nothing can be concluded; at least 8 would be needed",
        "NONE on Check: 3 inputs: nothing can be concluded; at least 8 would be needed",
        "NONE over all steps: 3 inputs: nothing can be concluded; at least 8 would be needed",
    ]


def test_tokens_and_answers_of_each_step_and_of_the_whole() -> None:
    assert compared(10).sentences == [
        "NONE on Triage: no difference in input tokens on any of 10 inputs; answers equal on 10 of 10; how much answers "
        "differ anyway is not known with one repeat",
        "NONE on Check: 9.1 % fewer input tokens (4 of 44 a run; 95 % interval 4 to 4, held together over 5 claims; n = 10); "
        "categories equal on 10 of 10; how much answers differ anyway is not known with one repeat",
        "NONE over all steps: 6.2 % fewer input tokens (4 of 64 a run; 95 % interval 4 to 4, held together over 5 claims; "
        "n = 10)",
    ]


def test_flips_one_way_are_more_than_chance_and_say_which_way() -> None:
    comparison = compared(20, lambda request: "REJECT: no" if is_none(request) else "APPROVE")
    answers = comparison.finding("none", "Check").answers
    assert answers is not None
    assert (answers.n, answers.changed, dict(answers.directions), answers.concluded) == (
        20,
        20,
        {"APPROVE→REJECT": 20},
        True,
    )
    assert (
        "categories changed on 20 of 20, all APPROVE→REJECT: more than chance (p < 0.001, corrected for 5 claims)"
        in comparison.finding("none", "Check").sentence
    )


def test_a_variant_that_differs_from_itself_as_much_shows_nothing() -> None:
    """Each repeat answers otherwise, whatever the variant: the noise floor is as high as the disagreement."""
    comparison = compared(12, lambda request: ("APPROVE", "REJECT")[request.repeat % 2], repeat=2)
    answers = comparison.finding("none", "Check").answers
    assert answers is not None
    assert (answers.floor, answers.concluded) == (1.0, False)
    assert (
        "no more than a variant differs from itself (floor 100 %, repeat 2)"
        in comparison.finding("none", "Check").sentence
    )


def test_a_repeat_that_failed_under_one_variant_is_left_out_of_both() -> None:
    """Of three repeats `none` fails at the first: what is left is equal, repeat by repeat."""
    tokens, said = (90, 10, 20), ("APPROVE", "REJECT", "REJECT")
    failed = trial("none", "1", step("A", 1, "", error="ModelError: no", status="failed"), error="ModelError: no")
    made = comparison(
        [*(trial("default", "1", step("A", tokens[each], said[each]), repeat=each) for each in range(3)),
         failed, *(trial("none", "1", step("A", tokens[each], said[each]), repeat=each) for each in (1, 2))],
        repeats=3, agents=["A"],
    )  # fmt: skip
    found = made.finding("none", "A")
    assert found.tokens is not None
    assert found.answers is not None
    assert (found.tokens.before, found.tokens.after) == (15.0, 15.0)
    assert (found.answers.disagreement, found.answers.floor, found.answers.repeats) == (0.0, 0.0, 2)


def test_a_step_that_its_sibling_s_failure_ended_is_no_changed_answer() -> None:
    whole = [step("A", 20, "APPROVE"), step("B", 20, "APPROVE")]
    ended = [step("A", 20, "", status="interrupted"), step("B", 20, "", status="failed", error="ModelError: gone")]
    made = comparison(
        [trial("default", "1", *whole), trial("default", "2", *whole), trial("none", "1", *whole),
         trial("none", "2", *ended, error="ModelError: gone")],
        agents=["A", "B"],
    )  # fmt: skip
    for name in ("A", "B"):
        answers = made.finding("none", name).answers
        assert answers is not None
        assert (answers.n, answers.same) == (1, 1)
    assert list(made.summary["n"]) == [2, 2, 2, 1, 1, 1]
    assert list(made.tokens["runs"]) == [2, 2, 1, 1]


def test_a_function_of_categories_is_asked_once_an_answer() -> None:
    asked: list[str] = []

    def category(answer: str) -> str:
        asked.append(answer)
        raise ValueError("no")

    made = comparison(
        [trial(variant, "1", step("A", 20, f"from {variant}")) for variant in ("default", "none", "v")],
        variants=["default", "none", "v"], agents=["A"], categories=category,
    )  # fmt: skip
    assert len(made.measured.failed["categories"]) == 3
    assert asked == ["from default", "from none", "from v"]


def test_free_texts_have_no_directions() -> None:
    comparison = compared(12, lambda request: f"A text about {ticket(request)} of {len(request.contents)}")
    assert not comparison.finding("none", "Check").by_category
    assert comparison.finding("none", "Check").sentence.endswith(
        "answers changed on 12 of 12; how much answers differ anyway is not known with one repeat"
    )


def test_expected_answers() -> None:
    inputs = [{"message": f"Ticket {n}.", "expected": "REJECT"} for n in range(10)]
    model = ScriptedModel({"Triage": lambda r: "x", "Check": lambda r: "REJECT: no" if is_none(r) else "APPROVE"})
    comparison = compare_variants(pipeline(), inputs, model=model)
    expected = comparison.finding("none", "Check").expected
    assert expected is not None
    assert (expected.right, expected.gained, expected.lost, expected.concluded) == ((0, 10), 10, 0, True)


def test_assert_comparison_passes_when_nothing_grew_or_flipped() -> None:
    assert_comparison(compared(3), changes=0)


def test_assert_comparison_names_grown_steps_flipped_inputs_and_errors() -> None:
    longer = Variant("longer", prompts={"Check": "Triage: {triage}\nPlease reply APPROVE or REJECT, and nothing else."})
    comparison = compared(
        7, lambda request: "REJECT" if "nothing else" in str(request.system_instruction) else "APPROVE",
        variants=["default", longer],
    )  # fmt: skip
    with pytest.raises(AssertionError) as failure:
        assert_comparison(comparison)
    assert str(failure.value) == (
        "ticket, against 'default':\n"
        "'longer', Check: input tokens grew from 44.0 to 49.0 a run (11.4 %, allowed 0.0 %; n = 7)\n"
        "'longer': 7 flipped answers, allowed 0\n"
        "  Check, input 1: APPROVE→REJECT\n  Check, input 2: APPROVE→REJECT\n  Check, input 3: APPROVE→REJECT\n"
        "  Check, input 4: APPROVE→REJECT\n  Check, input 5: APPROVE→REJECT\n  … 2 more"
    )
    assert_comparison(comparison, token_growth=0.12, flips=7)
    assert_comparison(comparison, steps=["Triage"])


def test_assert_comparison_fails_on_errors_and_on_expectations() -> None:
    def check(request: LlmRequest) -> str:
        if is_none(request):
            raise ValueError("no")
        return "APPROVE"

    with pytest.raises(AssertionError, match=r"'none': 2 errors, allowed 0\n  Check, input 1: .*no"):
        assert_comparison(compared(2, check))
    with pytest.raises(
        AssertionError, match=r"'none': no input says what is expected, so as_expected=0\.5 cannot be judged"
    ):
        assert_comparison(compared(2), as_expected=0.5)


def test_assert_comparison_sees_a_step_that_only_the_variant_has() -> None:
    made = comparison([
        trial("default", "1", step("DraftAgent", 100, "We are on it.")),
        trial("none", "1", step("DraftAgent", 90, "We are on it."), step("DraftAgent#2", 90, "We are on it.")),
    ])  # fmt: skip
    with pytest.raises(
        AssertionError, match=r"'none', over all steps: input tokens grew from 100\.0 to 180\.0 a run \(80\.0 %"
    ):
        assert_comparison(made)
    assert_comparison(made, token_growth=0.8)
    assert_comparison(made, steps=["DraftAgent"])


def test_assert_comparison_sees_that_the_first_variant_failed() -> None:
    made = comparison([
        trial("default", "1", step("DraftAgent", 100, "", error="ModelError: no", status="failed"), error="ModelError: no"),
        trial("none", "1", step("DraftAgent", 900, "We are on it.")),
    ])  # fmt: skip
    with pytest.raises(AssertionError, match=r"'default': 1 errors, allowed 0\n  DraftAgent, input 1: ModelError: no"):
        assert_comparison(made)


def test_assert_comparison_needs_something_to_compare() -> None:
    with pytest.raises(SpecError, match="there is only the variant 'default', so nothing to hold against it"):
        assert_comparison(compared(2, variants=["default"]))


def test_assert_comparison_knows_its_variants_and_steps() -> None:
    with pytest.raises(SpecError, match=r"there is no variant 'nome'\. Did you mean 'none'\?"):
        assert_comparison(compared(2), variants=["nome"])
    with pytest.raises(SpecError, match=r"there is no step 'Chek'\. Did you mean 'Check'\?"):
        assert_comparison(compared(2), steps=["Chek"])
