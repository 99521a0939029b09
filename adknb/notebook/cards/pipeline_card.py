"""A pipeline: its agents in order, and the keys that pass between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adknb.core.escape import one_line
from adknb.notebook.cards import outline_words as words
from adknb.notebook.cards.html import card, cut, div, head, span, table
from adknb.notebook.cards.message_card import remark_text, remarks_html
from adknb.notebook.cards.text import wrapped
from adknb.notebook.cards.words import counted
from adknb.notebook.outline import AgentOutline, Outline
from adknb.notebook.results import PipelineCard

_COLUMNS: Final = (("Agent", "adknb-name"), ("Reads", ""), ("Writes", ""), ("Options", ""))
_LABEL: Final = 9
"""Columns of a label in the text form."""


def pipeline_html(result: PipelineCard) -> str:
    outline = Outline(result.pipeline, result.rules, result.namespace, result.given, result.resumable)
    return card(
        head(result.pipeline.name, span(_summary(result), "adknb-dim")),
        table(_COLUMNS, map(_cells, outline.agents)) if outline.agents else "",
        remarks_html(result.remarks), words.findings_html(outline.findings, named=True),
        "".join(div(hint, "adknb-dim adknb-hint") for hint in words.hint(result.pipeline.name, outline.findings)),
    )  # fmt: skip


def pipeline_text(result: PipelineCard) -> str:
    outline = Outline(result.pipeline, result.rules, result.namespace, result.given, result.resumable)
    lines = [wrapped(one_line(f"{result.pipeline.name} · {_summary(result)}", 300))]
    for agent in outline.agents:
        lines.append(wrapped(one_line(_title(agent), 300)))
        for label, said in zip(("reads", "writes", "options"), _lines(agent), strict=True):
            for number, line in enumerate(said):
                head = f"   {label if number == 0 else '':<{_LABEL}}"
                lines.append(wrapped(one_line(line.text(), 400), head, " " * len(head)))
    lines.extend(remark_text(remark) for remark in result.remarks)
    lines.extend(words.findings_text(outline.findings, named=True))
    return "\n".join([*lines, *map(wrapped, words.hint(result.pipeline.name, outline.findings))])


def _summary(result: PipelineCard) -> str:
    if not result.pipeline.agents:
        return f"no agents yet. Add one: %%agent NAME --pipeline {result.pipeline.name}"
    return f"{counted(len(result.pipeline.agents), 'agent')} · rules {result.rules}"


def _title(agent: AgentOutline) -> str:
    return f"{agent.place}. {agent.agent.name}"


def _lines(agent: AgentOutline) -> tuple[list[words.Line], list[words.Line], list[words.Line]]:
    include = agent.agent.options.include
    options = [words.Line("", f"include {include}")] if include != "default" else []
    for option, names in words.options(agent):
        options += [words.Line("", f"{option} {name.name or name.words}", name.warning) for name in names]
    return words.reads(agent), words.writes(agent), options


def _cells(agent: AgentOutline) -> Sequence[str]:
    columns = ("<br>".join(line.html() for line in lines) for lines in _lines(agent))
    return [cut(_title(agent), 60), *columns]
