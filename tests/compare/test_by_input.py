"""The table of inputs: what each saves and which answers changed, the greatest saving first."""

from __future__ import annotations

from adknb import LlmRequest, ModelError
from adknb.compare.lab import compare_variants
from tests.compare.pipelines import Asked, texts, two_steps

LONG = "I was charged twice for September, and nobody has answered my letters since."


def answer(request: LlmRequest) -> str:
    """B approves of what it sees the message of, and fails at one that fails."""
    said = " ".join(texts(request))
    if "fail" in said and request.agent == "B":
        raise ModelError("gone")
    return "APPROVE" if request.agent == "A" or "[A]" not in said or "charged" in said else "REJECT"


def test_the_greatest_saving_comes_first_and_what_failed_last() -> None:
    comparison = compare_variants(
        two_steps(), ["fail", "Hi.", LONG], ["default", "none", "state_only"], model=Asked(answer), repeat=2
    )
    columns = ["variant", "input", "input_tokens", "saved", "saved_percent", "flips", "equal", "answers", "error"]
    rows = comparison.by_input[columns].astype(object).where(comparison.by_input[columns].notna(), None)
    assert [tuple(row) for row in rows.itertuples(index=False)] == [
        ("none", "3", 57.0, 15.0, 100 * 15 / 72, "B approve→reject", 2, 4, ""),
        ("state_only", "2", 37.0, 9.0, 100 * 9 / 46, "B reject→approve", 2, 4, ""),
        ("state_only", "3", 63.0, 9.0, 100 * 9 / 72, "", 4, 4, ""),
        ("none", "2", 44.0, 2.0, 100 * 2 / 46, "", 4, 4, ""),
        ("none", "1", 43.0, None, None, "", 2, 2, ""),
        ("state_only", "1", None, None, None, "", 2, 2, "ModelError: agent 'B': gone"),
    ]
    assert list(comparison.by_input["message"]) == [LONG, "Hi.", LONG, "Hi.", "fail", "fail"]
