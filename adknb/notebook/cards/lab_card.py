"""A comparison as a card: what can be said, the numbers of each step, where tokens go, and every input."""

from __future__ import annotations

from adknb.compare.comparison import Comparison
from adknb.core.escape import escape
from adknb.notebook.cards import lab_words as words
from adknb.notebook.cards.html import box, card, div, head, heading
from adknb.notebook.cards.lab_inputs import inputs_html, inputs_text
from adknb.notebook.cards.lab_parts import charts_html, sentences_html, sentences_text, twice_html, twice_text
from adknb.notebook.cards.lab_steps import steps_html, steps_text
from adknb.notebook.cards.text import wrapped


def lab_html(comparison: Comparison) -> str:
    """The comparison as HTML that needs nothing else, of bounded size."""
    pieces = [
        head(words.title(comparison)),
        div(words.kind_sentence(comparison), "adknb-dim"),
        div(words.circumstances(comparison), "adknb-dim"),
    ]
    pieces += [box(escape(said), "warn") for said in words.warnings(comparison)]
    if not comparison.records:
        return card(*pieces, div("No trial has come to its end yet.", "adknb-hint"))
    pieces += [
        sentences_html(comparison), steps_html(comparison), charts_html(comparison), twice_html(comparison),
        inputs_html(comparison),
    ]  # fmt: skip
    remarks = words.remarks(comparison)
    if remarks:
        pieces += [
            heading("How it was measured"),
            *(f'<div class="adknb-dim">{escape(each)}</div>' for each in remarks),
        ]
    return card(*pieces)


def lab_text(comparison: Comparison) -> str:
    """The comparison as plain text for terminals."""
    blocks = [
        "\n".join(
            [
                wrapped(words.title(comparison)),
                wrapped(words.kind_sentence(comparison)),
                wrapped(words.circumstances(comparison)),
                *(wrapped(said, "! ", "  ") for said in words.warnings(comparison)),
            ]
        )
    ]
    if not comparison.records:
        return f"{blocks[0]}\nNo trial has come to its end yet."
    blocks.append("\n".join(sentences_text(comparison)))
    blocks += [*steps_text(comparison), *inputs_text(comparison), *twice_text(comparison)]
    if remarks := words.remarks(comparison):
        blocks.append("\n".join(wrapped(remark) for remark in remarks))
    return "\n\n".join(block for block in blocks if block)
