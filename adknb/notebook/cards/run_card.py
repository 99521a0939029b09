"""What `Runner.run` shows: the steps as they went, the answer, the state, and what to beware of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adknb.analysis.accounts import accounts
from adknb.analysis.freshness import Ledger, Write
from adknb.core.escape import one_line
from adknb.core.run import Run, StepRun
from adknb.notebook.cards import text
from adknb.notebook.cards.error_card import error_box, error_text
from adknb.notebook.cards.html import block, box, card, chip, cut, div, head, heading, span, table
from adknb.notebook.cards.state_table import state_html, state_text
from adknb.notebook.cards.waiting import waiting_lines
from adknb.notebook.cards.words import counted, duration
from adknb.tables.frame import Row
from adknb.tables.session import message_text
from adknb.tables.state import state_rows
from adknb.tables.steps import step_rows
from adknb.tokens.counter import default_counter

RUNNING: Final = "running"
STATUS_KINDS: Final = {
    "completed": "good", "failed": "bad", "interrupted": "bad", "waiting": "warn", "paused": "warn", "skipped": "warn",
    RUNNING: "warn",
}  # fmt: skip
_STEP_COLUMNS: Final = (
    ("Step", "adknb-name"), ("Status", ""), ("Time", "adknb-num"), ("Tokens in", "adknb-num"),
    ("Tokens out", "adknb-num"), ("Wrote → read by", ""), ("Note", ""),
)  # fmt: skip


class Facts:
    """What both forms of the card show, gathered once."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.ledger = Ledger(run)
        self.costs = accounts(self.ledger, default_counter())
        self.steps = step_rows(self.ledger, self.costs)
        self.is_over = run.status != RUNNING
        """While a run goes on, its steps are shown; answer and state follow at its end."""
        self.state = state_rows(self.ledger, default_counter()) if self.is_over else []

    def summary(self) -> list[str]:
        """The numbers of the headline. Counts name their tokenizer; `reported` stands for the model's own."""
        asked = sum(row["input_tokens"] for row in self.steps)
        answered = sum(row["output_tokens"] for row in self.steps)
        sources = ", ".join(dict.fromkeys(row["counted_by"] for row in self.steps if row["counted_by"]))
        tokens = f"{asked:,} tokens in, {answered:,} out" + (f" ({sources})" if sources else "")
        time = [duration(self.run.ms)] if self.is_over else []
        facts = [counted(len(self.steps), "step"), *time, tokens, f"rules {self.run.rules}"]
        if self.run.strategy != "as_written":
            facts.append(f"strategy {self.run.strategy}")
        if self.ledger.turn > 1:
            facts.append(f"turn {self.ledger.turn}")
        return [*facts, *filter(None, [self.run.label]), f"run {self.run.id}"]

    def warnings(self) -> list[str]:
        """One sentence for each call that waits and each old value that steps read, then the run's own notes."""
        readers: dict[Write, list[str]] = {}
        for read in self.ledger.reads:
            if read.stale and read.write is not None and read.step.name not in readers.setdefault(read.write, []):
                readers[read.write].append(read.step.name)
        stale = [
            f"{', '.join(names)} read {write.key!r} as {write.step} left it in turn {write.turn}: "
            "nothing had written it in this turn."
            for write, names in readers.items()
        ]
        replaced = ["An earlier turn of this session was replaced after this run."] if self.run.stale else []
        return [*waiting_lines(self.run), *stale, *replaced, *self.run.notes]

    def wrote(self, step: StepRun) -> list[str]:
        """`triage → DraftAgent, PolicyCheckAgent` for each key; without the arrow when no placeholder read it."""
        return [
            " → ".join(filter(None, [key, ", ".join(self.ledger.readers_of(step, key))])) for key in step.state_delta
        ]

    def numbers(self, row: Row) -> list[str]:
        """A step's time and tokens; what a running step will have is left open."""
        asked, answered = f"{row['input_tokens']:,}", f"{row['output_tokens']:,}"
        if row["status"] == RUNNING:
            return ["", asked if row["requests"] else "", ""]
        return [duration(row["ms"]), asked, answered]

    def notes(self, step: StepRun, row: Row) -> list[str]:
        """What the step sends twice, then what is to be said of it."""
        costs = [cost for cost in self.costs if cost.step is step and cost.twice]
        keys = ", ".join(dict.fromkeys(key for cost in costs for key in cost.twice))
        tokens = sum(sum(cost.twice.values()) for cost in costs)
        twice = [f"sends {keys} twice ({counted(tokens, 'token')})"] if costs else []
        return [*twice, *([row["note"]] if row["note"] else [])]


def run_html(run: Run) -> str:
    """The run as HTML that needs nothing else."""
    facts = Facts(run)
    pieces = [
        head(run.root.name, chip(run.status, STATUS_KINDS[run.status]), span(" · ".join(facts.summary()), "adknb-dim"))
    ]
    message = message_text(run.message)
    if message:
        pieces.append(f'<div class="adknb-message"><span class="adknb-dim">Message:</span> {cut(message, 200)}</div>')
    pieces.extend(box(cut(warning, 300), "warn") for warning in facts.warnings())
    steps = zip(run.step_runs, facts.steps, strict=True)
    pieces.append(table(_STEP_COLUMNS, [_step_cells(facts, step, row) for step, row in steps]))
    pieces.extend(heading(f"So far, by {step.name}") + block(step.partial) for step in run.step_runs if step.partial)
    if run.error is not None:
        pieces.append(error_box(run.error))
    if run.output and facts.is_over:
        pieces.extend([heading(_answer_heading(run)), block(run.output)])
    pieces.append(state_html(facts.state))
    hint = _hint(run)
    if hint and facts.is_over:
        pieces.append(div(hint, "adknb-dim adknb-hint"))
    return card(*pieces)


def run_text(run: Run) -> str:
    """The run as plain text, with no character that a terminal would obey."""
    facts = Facts(run)
    lines = [one_line(f"{run.root.name}: {run.status} · {' · '.join(facts.summary())}", 400)]
    message = message_text(run.message)
    if message:
        lines.append(f"message: {one_line(message, 200)}")
    lines.extend(f"! {one_line(warning, 400)}" for warning in facts.warnings())
    rows = [
        [row["step"], row["status"], *facts.numbers(row), "; ".join(facts.wrote(step)),
         "; ".join([*_stale(row), *facts.notes(step, row)])]
        for step, row in zip(run.step_runs, facts.steps, strict=True)
    ]  # fmt: skip
    lines.extend(["", text.columns([name for name, _ in _STEP_COLUMNS], rows, right=(2, 3, 4), limit=90)])
    for step in run.step_runs:
        if step.partial:
            lines.extend(["", one_line(f"So far, by {step.name}", 400), text.passage(step.partial)])
    if run.error is not None:
        lines.extend(["", error_text(run.error)])
    if run.output and facts.is_over:
        lines.extend(["", one_line(_answer_heading(run), 400), text.passage(run.output)])
    if facts.state:
        lines.extend(["", state_text(facts.state)])
    return "\n".join(lines)


def _step_cells(facts: Facts, step: StepRun, row: Row) -> Sequence[str]:
    notes = [*(chip(word, "warn") for word in _stale(row)), *(cut(note, 160) for note in facts.notes(step, row))]
    return [
        cut(row["step"], 60),
        chip(row["status"], STATUS_KINDS[row["status"]]),
        *facts.numbers(row),
        "<br>".join(cut(line) for line in facts.wrote(step)),
        "<br>".join(notes),
    ]


def _stale(row: Row) -> list[str]:
    return [f"stale read: {row['stale']}"] if row["stale"] else []


def _answer_heading(run: Run) -> str:
    author = next((event.author for event in reversed(run.turn_events) if event.text == run.output), "")
    return f"Final answer, by {author}" if run.status == "completed" else f"Last answer, by {author}"


def _hint(run: Run) -> str:
    asked = next((step.name for step in reversed(run.step_runs) if step.requests), None)
    if asked is None:
        return ""
    return f"More: run.prompt({asked!r}), run.tokens, run.events, run.state_history; %%pipeline … --out run binds it"
