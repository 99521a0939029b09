"""What an agent's outline says, in the words that its card and its pipeline's card share, in both forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from adknb.analysis.findings import SEVERITIES, Finding
from adknb.core.escape import escape
from adknb.notebook.agent_line import named_options
from adknb.notebook.cards.html import box, chip, code, cut
from adknb.notebook.cards.lint_card import SEVERITY_KINDS
from adknb.notebook.cards.text import wrapped
from adknb.notebook.cards.words import counted
from adknb.notebook.outline import AgentOutline

FINDINGS: Final = 8
"""Findings that a card shows; `%adk lint` has all."""
BRACES: Final = 3
_BESIDE: Final = ("--key", "--include")
"""Options that other lines tell of."""
_HISTORY: Final = {
    "default": "the whole conversation, with what other agents said",
    "none": "the newest message of the user or another agent, and what follows it",
}


class Line(NamedTuple):
    """A name, what is said of it, and a warning word; each may be empty."""

    name: str = ""
    words: str = ""
    warning: str = ""

    def html(self) -> str:
        pieces = [code(self.name) if self.name else "", cut(self.words, 300) if self.words else ""]
        return " ".join([*filter(None, pieces), *([chip(self.warning, "warn")] if self.warning else [])])

    def text(self) -> str:
        return " ".join(filter(None, [self.name, self.words, f"[{self.warning}]" if self.warning else ""]))


def reads(outline: AgentOutline) -> list[Line]:
    """One line a key: required or optional, and who writes it."""
    lines = []
    for read in outline.reads:
        need = "optional" if read.optional else "required"
        if read.source is not None:
            lines.append(Line(read.key, f"{need} ← {read.source}"))
        else:
            lines.append(
                Line(read.key, f"{need}, else an empty place" if read.optional else need, "nobody writes it yet")
            )
    return lines


def writes(outline: AgentOutline) -> list[Line]:
    """The agent's own key and who reads it, then what its callbacks and tools may write."""
    key = outline.agent.options.key
    lines = [Line(key, f"→ {', '.join(outline.readers)}" if outline.readers else "read by no step")] if key else []
    lines += [Line(", ".join(keys), f"perhaps, in {name}") for name, keys in outline.callback_keys.items()]
    return lines


def history(outline: AgentOutline) -> Line:
    """Which history the agent's requests carry."""
    include = outline.agent.options.include
    return Line("", f"{include}: {_HISTORY.get(include, 'no history of this name')}")


def options(outline: AgentOutline) -> Iterator[tuple[str, list[Line]]]:
    """Each further option with its names; one that the notebook does not define says so."""
    names = outline.agent.options.names()
    for option, value in named_options(outline.agent.options).items():
        if option in _BESIDE:
            continue
        listed = [name for of, name in names if of == option]
        lines = [Line(name, "", "not defined yet" if name in outline.undefined else "") for name in listed]
        yield option.lstrip("-"), lines or [Line("", value)]


def braces(outline: AgentOutline) -> list[Line]:
    """The first stretches in braces that pass through, and how many more there are."""
    lines = [Line(place.text, f"line {place.line}") for place in outline.braces[:BRACES]]
    more = len(outline.braces) - BRACES
    return [*lines, Line("", f"and {more:,} more")] if more > 0 else lines


def findings_html(findings: Sequence[Finding], named: bool = False) -> str:
    """The first findings; `named` says whose each is."""
    return "".join(
        box(
            f"{chip(finding.severity, SEVERITY_KINDS[finding.severity])} {escape(_message(finding, named))}"
            + (f' <span class="adknb-dim">{escape(finding.fix)}</span>' if finding.fix else ""),
            SEVERITY_KINDS[finding.severity],
        )
        for finding in findings[:FINDINGS]
    )


def findings_text(findings: Sequence[Finding], named: bool = False) -> list[str]:
    return [
        wrapped(f"{finding.severity}: {_message(finding, named)} {finding.fix}".rstrip(), "", "  ")
        for finding in findings[:FINDINGS]
    ]


def hint(pipeline: str, findings: Sequence[Finding]) -> list[str]:
    """How many findings are not shown, and where they are."""
    more = len(findings) - FINDINGS
    return [f"{more:,} more findings: %adk lint {pipeline}"] if more > 0 else []


def counts(findings: Iterable[Finding]) -> str:
    """`1 error, 2 warnings`; empty when there is nothing."""
    numbers = Counter(finding.severity for finding in findings)
    return ", ".join(
        f"{numbers[severity]:,} info" if severity == "info" else counted(numbers[severity], severity)
        for severity in SEVERITIES
        if numbers[severity]
    )


def _message(finding: Finding, named: bool) -> str:
    place = f"line {finding.place.line}" if finding.place is not None else ""
    where = ", ".join(filter(None, [finding.agent if named else "", place]))
    return f"{where}: {finding.message}" if where else finding.message
