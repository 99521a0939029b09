"""The first lesson's pipeline as one page of text: its steps, prompts, state and tokens, and DEFAULT against NONE."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from textwrap import fill
from typing import Any, Final

from adknb.compare.dry import PromptComparison, compare_prompts, shown
from adknb.core.escape import one_line, visible
from adknb.core.protocols import Model
from adknb.core.run import Run
from adknb.examples.ticket import MESSAGE, scripted_replies, ticket_pipeline
from adknb.notebook.cards.text import columns
from adknb.notebook.cards.words import duration, label
from adknb.runtime.runner import Runner
from adknb.tables.state import value_text
from adknb.tokens.channels import CHANNELS

Row = Mapping[Hashable, Any]

WIDTH: Final = 100
"""Columns of the page."""
SCRIPTED: Final = "Replies: written for this lesson; they ignore message and prompts. --model local asks a model."


def demo(message: str = "", model: Model | str | None = None) -> str:
    """Run the ticket pipeline on `message` (the lesson's when empty) and return the page, at most `WIDTH` columns wide.

    Without a `model` the replies are those written for the lesson.
    """
    runner = Runner(ticket_pipeline(), model=model or scripted_replies())
    run = runner.run(message or MESSAGE, state={"user:tier": "gold"})
    steps, state, tokens = (frame.to_dict("records") for frame in (run.steps, run.state, run.tokens.fillna(0)))
    sections = {
        f"The ticket pipeline, under the rules of ADK {run.rules.capitalize()}": _heading(run, model),
        "Steps": _steps(steps),
        f"What each step was sent, in tokens ({tokens[0]['counted_by']})": _tokens(tokens),
        "DEFAULT against NONE: the same prompts, counted without asking a model": _comparison(compare_prompts(run)),
        "State, and who read it": _state(state),
        f"Answer, by {run.step_runs[-1].name}": _paragraph(run.output),
    }
    return "\n\n".join(f"{title}\n{body}" for title, body in sections.items())


def _heading(run: Run, model: Model | str | None) -> str:
    message = f"Message: {one_line(run.message.text, WIDTH - 9)}"
    return message if model is not None else f"{message}\n{SCRIPTED}"


def _steps(rows: Iterable[Row]) -> str:
    cells = [
        [row["step"], duration(row["ms"]), f"{row['input_tokens']:,}", f"{row['output_tokens']:,}", row["key"],
         row["note"] if row["status"] == "completed" else row["status"]]
        for row in rows
    ]  # fmt: skip
    return columns(["Step", "Time", "Tokens in", "out", "Wrote", "Reply"], cells, right=(1, 2, 3))


def _state(rows: Iterable[Row]) -> str:
    cells = [[row["key"], value_text(row["value"]), row["written_by"], row["read_by"]] for row in rows]
    return columns(["Key", "Value", "Written by", "Read by"], cells, limit=40)


def _tokens(rows: Iterable[Row]) -> str:
    cells = [[row["step"], *(_number(row[channel]) for channel in (*CHANNELS, "total"))] for row in rows]
    headings = ["Step", *map(label, CHANNELS), "total"]
    return columns(headings, cells, right=range(1, len(headings)))


def _comparison(comparison: PromptComparison) -> str:
    default, none = comparison.strategies
    cells = []
    for prompt, other in comparison.rows():
        tokens = [f"{prompt.tokens:,}", f"{other.tokens:,}", f"{other.saves(prompt):,}"]
        cells.append([prompt.title, *tokens, _listed(prompt.twice), _listed(other.twice)])
    headings = ["Step", shown(default), shown(none), "saved", "sent twice", f"under {shown(none)}"]
    said = [fill(sentence, WIDTH) for sentence in (comparison.headline, *comparison.remarks)]
    return "\n".join([columns(headings, cells, right=(1, 2, 3)), *said])


def _listed(twice: Mapping[str, int]) -> str:
    return ", ".join(f"{key} {tokens:,}" for key, tokens in twice.items())


def _paragraph(text: str) -> str:
    """Text of a model, safe to print, wrapped."""
    lines = visible(text).splitlines()
    return "\n".join(fill(line, WIDTH, initial_indent="  ", subsequent_indent="  ") for line in lines)


def _number(tokens: int) -> str:
    return f"{tokens:,}" if tokens else ""
