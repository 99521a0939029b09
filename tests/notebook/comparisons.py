"""Comparisons built by hand: known numbers and answers, for tests of what shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from adknb import Input, LlmAgent, SequentialAgent, Variant
from adknb.compare.comparison import Comparison
from adknb.compare.measured import Measuring
from adknb.compare.records import SentPiece, StepRecord, TrialRecord
from adknb.compare.trial import Kind

MESSAGES: Final = (
    "I was charged twice for September.", "My router is offline.", "How do I change my address?", "Where is my contract?",
    "The price went up.", "Nobody came.", "The app is slow.", "I want to cancel.", "Please call me.", "The line is noisy.",
)  # fmt: skip


def prompt(instruction: str, *contents: tuple[str, str]) -> tuple[SentPiece, ...]:
    """A request: a system instruction, and contents as `(author, text)`."""
    system = SentPiece(instruction, "instruction", "instruction", 10, "system")
    return (
        system,
        *(
            SentPiece(text, "other agent", "history", 5, "user", None, number, author)
            for number, (author, text) in enumerate(contents)
        ),
    )


def step(name: str, tokens: int, answer: str, **values: Any) -> StepRecord:
    """A step that was sent 10 tokens of instruction and the rest as history; counted, by one request."""
    given: dict[str, Any] = {
        "requests": 1, "input_tokens": tokens, "output_tokens": 4, "counted": tokens, "counted_by": "o200k_base",
        "channels": {"instruction": 10, "history": tokens - 10}, "ms": 20.0, "answer": answer, "model": "small",
        "prompts": (prompt("Reply.", ("user", "Hello.")),),
    }  # fmt: skip
    return StepRecord(name, name.partition("#")[0], **{**given, **values})


def trial(variant: str, name: str, *steps: StepRecord, repeat: int = 0, error: str = "") -> TrialRecord:
    return TrialRecord(variant, name, repeat, steps, steps[-1].answer if steps and not error else "", error)


def comparison(
    records: Sequence[TrialRecord],
    inputs: Sequence[Input] | None = None,
    variants: Sequence[str] = ("default", "none"),
    *,
    kind: Kind = "run",
    repeats: int = 1,
    agents: Sequence[str] = ("DraftAgent", "CheckAgent"),
    categories: Any = None,
    measures: Mapping[str, Any] | None = None,
    pipeline: str = "ticket",
    seed: int | None = 7,
) -> Comparison:
    """A comparison of these trials. Without `inputs` there is one for each name in the records, with `MESSAGES`."""
    names = list(dict.fromkeys(record.input for record in records))
    asked = inputs or [Input((MESSAGES[place],), name=name) for place, name in enumerate(names)]
    root = SequentialAgent(name=pipeline, sub_agents=[LlmAgent(name=agent) for agent in agents])
    made = tuple(Variant(name, name if name in ("default", "none") else "as_written") for name in variants)
    measuring = Measuring(root, made, categories, measures or {})
    return Comparison(pipeline, kind, made, tuple(asked), repeats, tuple(records), measuring, seed)


def ten(**values: Any) -> Comparison:
    """Ten inputs: NONE saves 40 of 100 tokens on CheckAgent, whose answer it turns to REJECT on inputs 2 and 5."""
    records = []
    for variant in ("default", "none"):
        for number in range(1, 11):
            flipped = variant == "none" and number in (2, 5)
            check = 100 if variant == "default" else 60
            records.append(
                trial(
                    variant,
                    str(number),
                    step("DraftAgent", 50, "We are on it.", twice={"triage": 12}),
                    step("CheckAgent", check + number, "REJECT: no." if flipped else "APPROVE"),
                )
            )
    return comparison(records, categories={"CheckAgent": ["APPROVE", "REJECT"]}, **values)
