"""A comparison whose every text is hostile: names, messages, state, answers, prompts, errors, notes, measures."""

from __future__ import annotations

from adknb import Input
from adknb.compare.comparison import Comparison
from adknb.core.escape import one_line
from tests.notebook.comparisons import comparison, prompt, step, trial


def hostile(payload: str) -> Comparison:
    """Two inputs under two variants; each trial has one step that answers and one that fails."""
    said = payload if payload.strip() else f"{payload}."
    names = (said, f"{said} 2")

    def fails(answer: str) -> None:
        raise ValueError(payload)

    inputs = [Input((said, said), {said: said}, {said: said, "": said}, said), Input((said,), {}, said, "2")]
    records = []
    for variant in names:
        for asked in inputs:
            answer = f"{payload} {variant == names[1] and 'again'}"
            records.append(
                trial(
                    variant,
                    asked.name,
                    step(said, 50, answer, prompts=(prompt(answer, (payload, answer)),), twice={payload: 3}, note=payload,
                         tools=(payload,), model=payload, counted_by=payload),
                    step(f"{said} 2", 50, "", error=payload, status="failed"),
                    error=payload,
                )
            )  # fmt: skip
    name = one_line(said, 1_000)  # a measure's name has no invisible characters
    measures = {name: lambda answer: payload, f"{name} 2": fails}
    return comparison(
        records, inputs, variants=names, agents=(said,), categories=lambda answer: answer[-30:], measures=measures,
        pipeline=payload,
    )  # fmt: skip
