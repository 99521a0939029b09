"""The *Prompt* tab: one request as it was sent, or as it would be under another strategy, and the edit beside it."""

from __future__ import annotations

from typing import Final

from adknb.compare.dry import percent, shown
from adknb.core.escape import escape
from adknb.core.specs import LlmAgent
from adknb.notebook.cards.diff_pieces import diff_html
from adknb.notebook.cards.html import block, box, cut, div, head, heading, span
from adknb.notebook.cards.prompt_card import Facts, PromptView, channels_html, part_html
from adknb.notebook.cards.words import counted
from adknb.notebook.explorer.explorer import Explorer
from adknb.notebook.explorer.pieces import TEXT, Pane, nothing, page_of, taken, where
from adknb.notebook.explorer.reading import AS_SENT

PARTS: Final = 20
"""Passages of a request on one page."""


def prompt_pane(explorer: Explorer, size: int = PARTS, limit: int = TEXT) -> Pane:
    """The request, `size` passages a page, at most `limit` characters of each stretch."""
    step = explorer.step
    edit = _edit(explorer)
    if step is None:
        return Pane(edit + _instruction(explorer))
    if not step.requests:
        return Pane(edit + nothing(f"{step.name} asked no model (it is {step.status})."))
    reading = explorer.reading
    assert reading is not None
    number = min(explorer.request, len(step.requests))
    view = PromptView(reading.run, step.name, number)
    dry_words, made_of, fails = "", None, ""
    if explorer.strategy != AS_SENT:
        dry = reading.dry(step, explorer.strategy).prompt(step.name, explorer.strategy, number)
        made_of, fails = dry.pieces, dry.note
        sent = reading.costs(step)[number - 1].channels.counted
        dry_words = _savings(explorer.strategy, sent, dry.tokens, dry.is_as_sent, dry.request is not None)
        lost = f"Left out: {', '.join(dict.fromkeys(dry.left_out))}." if dry.left_out else ""
        dry_words += div(lost, "adknb-dim") if lost else ""
    facts = Facts(view, reading.ledger, made_of)
    parts = facts.parts()
    page = page_of(len(parts), size, explorer.page)
    html = [
        edit,
        head(facts.title, span(facts.total(), ""), span(facts.where, "adknb-dim")),
        box(dry_words, "warn") if dry_words else "",
        box(escape(fails), "bad") if fails else "",
        channels_html(facts.sums),
        *(box(cut(warning, 300), "warn") for warning in facts.warnings),
        where(page, len(parts), "passages"),
        *(part_html(facts, title, rows, limit) for title, rows in taken(parts, page)),
    ]
    return Pane("".join(html), page)


def _savings(strategy: str, sent: int, tokens: int, is_as_sent: bool, can_be_built: bool) -> str:
    """`Under NONE it would be 83 of 240 tokens: 157 fewer (65 %). No model was asked.`"""
    name = shown(strategy)
    if is_as_sent:
        return f"<b>{escape(name)}</b>: exactly what was sent, {counted(sent, 'token')}."
    if not can_be_built:
        return f"<b>{escape(name)}</b>: this prompt cannot be built."
    saved = sent - tokens
    change = f"saves {saved:,}" if saved >= 0 else f"adds {-saved:,}"
    return (
        f"<b>{escape(name)}</b>, worked out without asking a model: {change} of {counted(sent, 'token')} "
        f"({percent(abs(saved), sent):.0f} %), leaving {tokens:,}."
    )


def _edit(explorer: Explorer) -> str:
    """What the draft changes, word by word; nothing where there is none."""
    if explorer.draft is None:
        return ""
    ran_with_it = explorer.step is not None and getattr(explorer.step.agent, "instruction", None) == explorer.draft
    said = (
        "Your edit, which this run has; it is not written yet"
        if ran_with_it
        else "Your edit, not run and not written yet"
    )
    return heading(said) + diff_html(explorer.prompt or "", explorer.draft)


def _instruction(explorer: Explorer) -> str:
    """An agent that has not run: its instruction as it is written."""
    prompt = explorer.prompt
    if prompt is None:
        root = explorer.root
        agent = root.find_agent(explorer.agent) if root is not None else None
        why = "its instruction is a function" if isinstance(agent, LlmAgent) else "it asks no model"
        return nothing(f"{explorer.selected or 'Nothing'} has not run yet, and {why}.")
    return (
        head(f"Prompt of {explorer.selected}", span("as it is written; it has not run yet", "adknb-dim"))
        + f'<div class="adknb-part">{block(prompt)}</div>'
    )
