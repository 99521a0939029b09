"""Two runs beside each other: what differs as a whole, then step by step; equal steps take one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adknb.core.escape import escape, one_line
from adknb.core.run import Run
from adknb.notebook.cards.diff_pieces import diff_html, diff_text
from adknb.notebook.cards.html import card, div, facts as facts_html, head, span
from adknb.notebook.cards.text import wrapped
from adknb.notebook.results import RunDiff
from adknb.notebook.run_diff import (
    PROMPT,
    REPLY,
    STATE,
    TOKENS,
    Part,
    StepDiff,
    run_parts,
    step_diffs,
)

_WHOLE: Final = "The runs as a whole"
_SAME_AS_REPLY: Final = "as the reply"
_SHORT: Final = 80
"""Columns in which a label and both its texts stand in one line."""


class Facts:
    """What both forms of the card show, gathered once."""

    def __init__(self, diff: RunDiff) -> None:
        self.before, self.after = diff.before, diff.after
        parts = run_parts(diff.before, diff.after)
        self.steps = step_diffs(diff.before, diff.after)
        self.title = f"Runs {diff.before.id} and {diff.after.id}"
        differing = sum(bool(step.changed) for step in self.steps)
        self.differ = bool(differing or any(part.change != "same" for part in parts))
        count = f"{differing} of {len(self.steps)} steps differ" if differing else "every step is the same"
        self.summary = " · ".join([count, _tokens([part for part in parts if part.name in TOKENS])])
        self.whole = [part for part in parts if part.change != "same" and part.name not in TOKENS]

    def title_of(self, step: StepDiff) -> str:
        """`DraftAgent · differs in: reply, state · tokens in 43 → 44 (+1), tokens out 14`."""
        tokens = _tokens([part for part in step.parts if part.name in TOKENS])
        alone = step.alone
        if alone is not None:
            run = self.after if step.before is None else self.before
            return f"{step.name} · only in run {run.id} · {alone.status} · {tokens}"
        names = dict.fromkeys(part.name for part in step.changed if part.name not in TOKENS) or ["tokens"]
        what = f"differs in {', '.join(names)}" if step.changed else "the same"
        return f"{step.name} · {what} · {tokens}"


def run_diff_html(diff: RunDiff) -> str:
    return card(run_diff_body(diff))


def run_diff_body(diff: RunDiff) -> str:
    """What stands in the card, as a part of another."""
    facts = Facts(diff)
    pieces = [
        head(facts.title, span(facts.summary, "adknb-dim")),
        _legend(facts.before, facts.after) if facts.differ else "",
    ]  # fmt: skip
    if facts.whole:
        pieces.append(_section(_WHOLE, [(_label(part), part) for part in facts.whole]))
    for step in facts.steps:
        title = facts.title_of(step)
        pieces.append(_section(title, _shown(step)) if step.changed else div(title, "adknb-dim adknb-equal"))
    return "".join(pieces)


def run_diff_text(diff: RunDiff) -> str:
    facts = Facts(diff)
    lines = [wrapped(one_line(f"{facts.title} · {facts.summary}", 400))]
    if facts.differ:
        lines.append(wrapped(f"[-only in {facts.before.id}-] {{+only in {facts.after.id}+}}"))
    if facts.whole:
        lines.append(f"--- {_WHOLE}")
        lines.extend(_part_text(_label(part), part) for part in facts.whole)
    for step in facts.steps:
        lines.append(wrapped(one_line(facts.title_of(step), 400), "--- ", "    "))
        lines.extend(_part_text(label, part) for label, part in _shown(step))
    return "\n".join(lines)


def _shown(step: StepDiff) -> list[tuple[str, Part]]:
    """The parts that are drawn, with their labels: what differs; of a step that only one run has, its reply and state."""
    left_out = TOKENS if step.alone is None else (*TOKENS, "status", *PROMPT)
    parts = [part for part in step.changed if part.name not in left_out]
    reply = step.part(REPLY)
    several = any(part.request is not None and part.request > 1 for part in step.parts)
    shown = []
    for part in parts:
        is_reply = part.name == STATE and (part.before, part.after) == (reply.before, reply.after)
        label = f"{_label(part)}, request {part.request}" if several and part.request is not None else _label(part)
        shown.append((label, Part(part.name, None, None, part.key) if is_reply else part))
    return shown


def _label(part: Part) -> str:
    return f"{part.name} {part.key}".strip()


def _rows(parts: Sequence[tuple[str, Part]]) -> str:
    """The parts as labels with their word diffs beside them."""
    return facts_html([(one_line(label, 200), [_words(part)]) for label, part in parts], "adknb-diffs")


def _words(part: Part) -> str:
    return _SAME_AS_REPLY if part.change == "same" else diff_html(*_texts(part))


def _part_text(label: str, part: Part) -> str:
    heading = wrapped(f"{one_line(label, 200)}:", "  ", "    ")
    if part.change == "same":
        return f"{heading} {_SAME_AS_REPLY}"
    before, after = _texts(part)
    if len(heading) + len(before) + len(after) < _SHORT and "\n" not in before + after:
        return f"{heading} {diff_text(before, after)}"
    return f"{heading}\n{diff_text(before, after, '    ')}"


def _texts(part: Part) -> tuple[str, str]:
    before, after = ("" if text is None else str(text) for text in (part.before, part.after))
    return before, after


def _tokens(parts: Sequence[Part]) -> str:
    """`tokens in 43 → 44 (+1), tokens out 14`."""
    said = []
    for part in parts:
        numbers = [f"{number:,}" for number in (part.before, part.after) if isinstance(number, int)]
        change = f" ({part.difference:+,})" if part.change == "changed" else ""
        said.append(f"{part.name} {' → '.join(dict.fromkeys(numbers))}{change}")
    return ", ".join(said)


def _legend(before: Run, after: Run) -> str:
    sides = (("del", "−", before), ("ins", "+", after))
    marked = " ".join(
        f'<{tag}><span class="adknb-mark">{sign}</span>only in run {escape(run.id)}</{tag}>' for tag, sign, run in sides
    )
    return f'<div class="adknb-message">{marked}</div>'


def _section(title: str, parts: Sequence[tuple[str, Part]]) -> str:
    body = f'<div class="adknb-changes">{_rows(parts)}</div>' if parts else ""
    return f'<div class="adknb-part">{div(title, "adknb-label")}{body}</div>'
