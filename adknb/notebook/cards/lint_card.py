"""What lint found: one row a finding, errors first."""

from __future__ import annotations

from textwrap import fill
from typing import Final

from adknb.analysis.findings import SEVERITIES, Finding, Lint
from adknb.core.escape import escape, one_line, visible
from adknb.notebook.cards.html import card, chip, cut, head, span, table
from adknb.notebook.cards.words import counted

WIDTH: Final = 100
"""Columns of the text form."""
_INDENT: Final = " " * 8
SEVERITY_KINDS: Final = {"error": "bad", "warning": "warn", "info": ""}
_COLUMNS: Final = (("Severity", ""), ("Where", ""), ("What happens", ""), ("Fix", ""))


def lint_html(lint: Lint) -> str:
    rows = [
        [
            chip(finding.severity, SEVERITY_KINDS[finding.severity]),
            f'{escape(_where(finding))}<br><span class="adknb-dim">{escape(finding.code)}</span>',
            cut(finding.message, 400),
            cut(finding.fix, 400),
        ]
        for finding in lint
    ]
    return card(
        head(f"Lint of {lint.pipeline}", span(_summary(lint), "adknb-dim")), table(_COLUMNS, rows) if rows else ""
    )


def lint_text(lint: Lint) -> str:
    lines = [one_line(f"Lint of {lint.pipeline}: {_summary(lint)}", 300)]
    for finding in lint:
        lines.append(f"{finding.severity:<8}{visible(_where(finding))}  {visible(finding.code)}")
        lines.extend(_wrapped(line) for line in (finding.message, finding.fix) if line)
    return "\n".join(lines)


def _wrapped(sentence: str) -> str:
    line = one_line(sentence, 2_000)
    return fill(line, WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False)


def _where(finding: Finding) -> str:
    place = finding.place
    return finding.agent if place is None else f"{finding.agent}, line {place.line}, column {place.column}"


def _summary(lint: Lint) -> str:
    counts = [(sum(finding.severity == severity for finding in lint), severity) for severity in SEVERITIES]
    said = [f"{number:,} info" if noun == "info" else counted(number, noun) for number, noun in counts if number]
    return ", ".join(said) or "nothing found"
