"""What stands under a prompt's cell: what the agent reads and writes, what it is sent, and what to mend."""

from __future__ import annotations

from typing import Final

from adknb.core.escape import one_line
from adknb.notebook.cards import outline_words as words
from adknb.notebook.cards.html import card, div, facts, head, span
from adknb.notebook.cards.message_card import remark_text, remarks_html
from adknb.notebook.cards.text import wrapped
from adknb.notebook.outline import AgentOutline, Outline
from adknb.notebook.results import AgentCard

_LABEL: Final = 15
"""Columns of a label in the text form."""


def agent_html(result: AgentCard) -> str:
    whole = Outline(result.pipeline, result.rules, result.namespace, result.given, result.resumable)
    outline = whole.of(result.agent.name)
    return card(
        head(result.agent.name, span(_where(result, outline), "adknb-dim")),
        facts([(label, [line.html() for line in lines]) for label, lines in _rows(outline)]),
        remarks_html(result.remarks), words.findings_html(outline.findings),
        "".join(div(hint, "adknb-dim adknb-hint") for hint in _hints(whole, outline)),
    )  # fmt: skip


def agent_text(result: AgentCard) -> str:
    whole = Outline(result.pipeline, result.rules, result.namespace, result.given, result.resumable)
    outline = whole.of(result.agent.name)
    lines = [wrapped(one_line(f"{result.agent.name} · {_where(result, outline)}", 300))]
    for label, said in _rows(outline):
        for number, line in enumerate(said):
            head = f"  {label if number == 0 else '':<{_LABEL}}"
            lines.append(wrapped(one_line(line.text(), 400), head, " " * len(head)))
    lines.extend(remark_text(remark) for remark in result.remarks)
    return "\n".join([*lines, *words.findings_text(outline.findings), *map(wrapped, _hints(whole, outline))])


def _where(result: AgentCard, outline: AgentOutline) -> str:
    place = f"agent {outline.place} of {len(result.pipeline.agents)} in {result.pipeline.name}"
    return f"{place} · version {len(result.agent.versions) + 1} · rules {result.rules}"


def _rows(outline: AgentOutline) -> list[tuple[str, list[words.Line]]]:
    rows = [
        ("reads", words.reads(outline) or [words.Line("", "no key")]),
        ("writes", words.writes(outline) or [words.Line("", "no key: its reply stands in the history only")]),
        ("include", [words.history(outline)]),
        *words.options(outline),
        ("stays as text", words.braces(outline)),
    ]
    return [(label, lines) for label, lines in rows if lines]


def _hints(whole: Outline, outline: AgentOutline) -> list[str]:
    """What is not shown here: more findings of this agent, and those of others."""
    name = whole.pipeline.name
    others = words.counts(finding for finding in whole.findings if finding.agent != outline.agent.name)
    elsewhere = [f"Elsewhere in {name}: {others}. See them: %adk lint {name}"] if others else []
    return words.hint(name, outline.findings) + elsewhere
