"""Prompts under several strategies side by side: the first thing to know, the tokens, then each step's prompts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Final

from adknb.compare.dry import DryPrompt, PromptComparison, percent, shown
from adknb.core.escape import escape, one_line, visible
from adknb.notebook.cards import text
from adknb.notebook.cards.html import box, card, div, head, span, table, title
from adknb.notebook.cards.segments import passage_html, segment
from adknb.notebook.cards.words import counted, origin_kind
from adknb.tokens.channels import Piece

STEPS: Final = 40
"""Steps whose prompts are drawn; the table above them has all."""
PASSAGES: Final = 40
"""Passages of one step that are drawn: its system instruction and contents."""
WHOLE: Final = 4_000
"""Characters of one stretch that are drawn; `prompt(…)` has the whole."""

Passage = tuple[Piece, ...]
Passages = Sequence[Passage | None]
"""What stands at one height in each column; None where a strategy sends nothing there."""


def side_by_side(prompts: Sequence[DryPrompt]) -> list[list[Passage | None]]:
    """The passages (system instruction, each content, declarations, schema) of several prompts, equal ones at the same
    height. In every column they stand in the order in which they are sent."""
    columns = [_passages(prompt.pieces) for prompt in prompts]
    merged: list[Hashable] = []
    for column in columns:
        merged = _merge(merged, [_identity(passage) for passage in column])
    heights: list[list[Passage | None]] = [[None] * len(columns) for _ in merged]
    for place, column in enumerate(columns):
        height = 0
        for passage in column:
            height = merged.index(_identity(passage), height)
            heights[height][place] = passage
            height += 1
    return [height for height in heights if any(passage is not None for passage in height)]


def comparison_html(comparison: PromptComparison) -> str:
    columns, rows = _summary(comparison)
    pieces = [
        head(_title(comparison), span(_where(comparison), "adknb-dim")),
        box(escape(comparison.headline), "warn"),
    ]
    pieces.extend(div(remark, "adknb-dim") for remark in comparison.remarks)
    pieces.append(table(columns, [[escape(cell) for cell in row] for row in rows]))
    drawn = comparison.rows()
    widest = max(drawn[:STEPS], key=lambda prompts: sum(prompts[0].twice.values()), default=None)
    pieces.extend(_step_html(prompts, prompts is widest) for prompts in drawn[:STEPS])
    if len(drawn) > STEPS:
        pieces.append(
            div(f"… {len(drawn) - STEPS:,} more requests; comparison.prompt(…) has their prompts", "adknb-dim")
        )
    return card(*pieces)


def comparison_text(comparison: PromptComparison) -> str:
    columns, rows = _summary(comparison)
    lines = [
        one_line(f"{_title(comparison)} · {_where(comparison)}", 400), "", visible(comparison.headline),
        *(one_line(remark, 1_000) for remark in comparison.remarks), "",
        text.columns([name for name, _ in columns], rows, right=_numbers(columns)),
    ]  # fmt: skip
    for prompts in comparison.rows()[:STEPS]:
        lines.extend(["", f"--- {one_line(prompts[0].title, 200)}"])
        heights = side_by_side(prompts)
        for heights_passages in heights[:PASSAGES]:
            sent_by = [prompt for prompt, passage in zip(prompts, heights_passages, strict=True) if passage is not None]
            passage = next(passage for passage in heights_passages if passage is not None)
            who = "all" if len(sent_by) == len(prompts) else " and ".join(shown(prompt.strategy) for prompt in sent_by)
            said = one_line("".join(piece.text for piece in passage), 80)
            lines.append(f"{visible(who):<12}{one_line(_label(passage), 80)}: {said}")
        if len(heights) > PASSAGES:
            lines.append(f"… {len(heights) - PASSAGES:,} more")
    return "\n".join(lines)


def _title(comparison: PromptComparison) -> str:
    return f"Prompts of {comparison.run.root.name}: {' | '.join(map(shown, comparison.strategies))}"


def _where(comparison: PromptComparison) -> str:
    return f"no model was asked · counted with {comparison.counted_by} · run {comparison.run.id}"


def _summary(comparison: PromptComparison) -> tuple[list[tuple[str, str]], list[list[str]]]:
    """The columns and rows of the table: a request's tokens under each strategy, and what others save and leave out."""
    others = [shown(strategy) for strategy in comparison.strategies[1:]]
    columns = [("Step", "adknb-name")]
    columns += [(f"{shown(strategy)} tokens", "adknb-num") for strategy in comparison.strategies]
    columns += [(f"{other} saves", "adknb-num") for other in others]
    columns += [("Sent twice", "")] + [(f"{other} leaves out", "") for other in others]
    rows = []
    for first, *rest in comparison.rows():
        rows.append(
            [
                first.title,
                *(f"{prompt.tokens:,}" if prompt.request is not None else "fails" for prompt in (first, *rest)),
                *(_saved(first, prompt) for prompt in rest),
                ", ".join(f"{key} ({tokens:,})" for key, tokens in first.twice.items()),
                *(", ".join(prompt.left_out) for prompt in rest),
            ]
        )
    return columns, rows


def _numbers(columns: Sequence[tuple[str, str]]) -> list[int]:
    return [place for place, (_, classes) in enumerate(columns) if classes == "adknb-num"]


def _saved(first: DryPrompt, other: DryPrompt) -> str:
    if first.request is None or other.request is None:
        return ""
    saved = first.tokens - other.tokens
    return f"{saved:,} ({percent(saved, first.tokens):.0f} %)" if saved else "0"


def _step_html(prompts: Sequence[DryPrompt], is_open: bool) -> str:
    totals = " · ".join(f"{shown(prompt.strategy)} {counted(prompt.tokens, 'token')}" for prompt in prompts)
    heights = side_by_side(prompts)
    heads = "".join(f'<th scope="col">{escape(_heading(prompt))}</th>' for prompt in prompts)
    body = "".join(_row_html(prompts, passages) for passages in heights[:PASSAGES])
    if len(heights) > PASSAGES:
        body += f'<tr><td colspan="{len(prompts)}" class="adknb-dim">… {len(heights) - PASSAGES:,} more …</td></tr>'
    grid = (
        f'<table class="adknb-table" style="table-layout:fixed"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )
    summary = f"{title(prompts[0].title)} {span(totals, 'adknb-dim')}"
    return f"<details{' open' if is_open else ''}><summary>{summary}</summary>{grid}</details>"


def _heading(prompt: DryPrompt) -> str:
    return f"{shown(prompt.strategy)}, as it was sent" if prompt.is_as_sent else shown(prompt.strategy)


def _row_html(prompts: Sequence[DryPrompt], passages: Passages) -> str:
    cells = []
    for prompt, passage in zip(prompts, passages, strict=True):
        inner = span("not sent", "adknb-dim") if passage is None else _passage_html(prompt, passage)
        cells.append(f'<td data-label="{escape(shown(prompt.strategy))}">{inner}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _passage_html(prompt: DryPrompt, pieces: Passage) -> str:
    segments = [segment(_tag(prompt, piece), origin_kind(piece.origin), piece.text, WHOLE) for piece in pieces]
    return div(_label(pieces), "adknb-dim") + passage_html(segments, pieces[0].content is not None)


def _tag(prompt: DryPrompt, piece: Piece) -> str:
    if piece.origin == "separator":
        return ""
    words = [" ".join(filter(None, [piece.origin, piece.key])), f"{piece.tokens:,}"]
    if piece.origin == "state" and piece.key in prompt.twice:
        words.append("sent twice")
    return " · ".join(words)


def _label(passage: Passage) -> str:
    """`System instruction · 60 tokens`, `user, by TriageAgent · 30 tokens`."""
    first = passage[0]
    tokens = counted(sum(piece.tokens for piece in passage), "token")
    if first.content is None:
        named = {"system": "System instruction", "tools": "Tool declarations", "schema": "Output schema"}
        return f"{named[first.role]} · {tokens}"
    author = f", by {first.source.author}" if first.source is not None else ""
    return f"role {first.role or 'none'}{author} · {tokens}"


def _passages(pieces: Sequence[Piece]) -> list[Passage]:
    return [tuple(group) for _, group in groupby(pieces, lambda piece: (piece.role, piece.content))]


def _identity(passage: Passage) -> Hashable:
    """What two passages must share to be the same: their texts and the event that they came from."""
    source = passage[0].source
    said = tuple((piece.text, piece.origin) for piece in passage)
    return passage[0].role, source.id if source is not None else None, said


def _merge(first: list[Hashable], second: list[Hashable]) -> list[Hashable]:
    """Both sequences in one, each in its own order, what they share once."""
    merged: list[Hashable] = []
    for _, start, end, other_start, other_end in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        merged += first[start:end]
        if first[start:end] != second[other_start:other_end]:
            merged += second[other_start:other_end]
    return merged
