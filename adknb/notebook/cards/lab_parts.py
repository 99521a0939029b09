"""Parts of a comparison's card: the sentences, the charts with their numbers, and what is sent twice."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from adknb.compare.comparison import Comparison
from adknb.compare.dry import shown
from adknb.compare.findings import Finding
from adknb.compare.records import COUNTED_CHANNELS
from adknb.core.escape import escape, one_line
from adknb.notebook import charts
from adknb.notebook.cards import lab_words as words, text
from adknb.notebook.cards.html import box, cut, div, heading, table
from adknb.notebook.cards.lab_grid import Cell, Group, Lead, grid_html, grid_text
from adknb.notebook.cards.words import label
from adknb.notebook.growth import growth
from adknb.tables.frame import Row
from adknb.tables.lab import token_rows, twice_rows

SENTENCES: Final = 30
"""Sentences that are drawn; `comparison.sentences` has all."""
TWICE: Final = 20
"""Rows of what is sent twice."""
SENT_TWICE: Final = "Tokens sent twice: by key, and again with the history"


def sentences_html(comparison: Comparison) -> str:
    findings = words.ordered(comparison)
    strongest = words.strongest(findings)
    nothing = words.nothing_concluded(comparison)
    pieces = [box(f"<b>{escape(nothing)}</b>", "warn")] if nothing else []
    if nothing and words.are_alike(findings):
        return "".join([*pieces, div(words.ALIKE, "adknb-dim")])
    pieces += [_sentence(finding, finding is strongest) for finding in _drawn(findings, strongest)]
    if len(findings) > SENTENCES:
        pieces.append(div(f"… {len(findings) - SENTENCES:,} more: comparison.sentences", "adknb-dim"))
    if said := words.confidence(comparison):
        pieces.append(div(said, "adknb-dim"))
    return "".join(pieces)


def sentences_text(comparison: Comparison) -> Iterator[str]:
    findings = words.ordered(comparison)
    strongest = words.strongest(findings)
    if nothing := words.nothing_concluded(comparison):
        yield text.wrapped(nothing, "! ", "  ")
        if words.are_alike(findings):
            yield words.ALIKE
            return
    for finding in _drawn(findings, strongest):
        mark = "* " if finding is strongest else "  "
        yield text.wrapped(one_line(finding.sentence, 1_000), mark, "    ")
    if len(findings) > SENTENCES:
        yield f"… {len(findings) - SENTENCES:,} more: comparison.sentences"
    if said := words.confidence(comparison):
        yield text.wrapped(said)


def charts_html(comparison: Comparison) -> str:
    """The charts as pictures, each with its numbers as a table one click away."""
    if not any(row["counted"] for row in token_rows(comparison)):
        return ""
    pieces = [
        _figure(charts.tokens_spec(comparison), _tokens_said(comparison), _tokens_table(comparison)),
        _figure(charts.growth_spec(comparison), _growth_said(comparison), _growth_table(comparison)),
    ]
    left_out = []
    if (more := len(comparison.steps) - len(charts.drawn_steps(comparison))) > 0:
        left_out.append(f"{more:,} steps with fewer tokens")
    if (more := len(growth(comparison).places) - charts.PLACES) > 0:
        left_out.append(f"how {more:,} later steps add up")
    if (more := len(comparison.names) - charts.VARIANTS) > 0:
        left_out.append(f"{more:,} variants")
    note = [div(f"Not drawn: {' and '.join(left_out)}; comparison.tokens has all.", "adknb-dim")] if left_out else []
    return "".join([f'<div class="adknb-figures">{"".join(pieces)}</div>', *note])


def twice_html(comparison: Comparison) -> str:
    leads, groups = _twice(comparison)
    if not groups:
        return ""
    step, key = ([cut(cell, 60) for cell in cells[:TWICE]] for _, cells in leads)
    left = len(leads[0][1]) - TWICE
    more = [div(f"… {left:,} more: comparison.twice", "adknb-dim")] if left > 0 else []
    return "".join([heading(SENT_TWICE), grid_html([("Step", step), ("Key", key)], groups), *more])


def twice_text(comparison: Comparison) -> Iterator[str]:
    leads, groups = _twice(comparison)
    if groups:
        left = len(leads[0][1]) - TWICE
        more = f"\n… {left:,} more: comparison.twice" if left > 0 else ""
        drawn = [(heading, cells[:TWICE]) for heading, cells in leads]
        yield f"{SENT_TWICE}\n{grid_text(drawn, groups)}{more}"


def _drawn(findings: Sequence[Finding], strongest: Finding | None) -> Sequence[Finding]:
    """The first findings, and the strongest one in any case."""
    drawn = findings[:SENTENCES]
    return drawn if strongest is None or strongest in drawn else [strongest, *drawn[:-1]]


def _sentence(finding: Finding, is_strongest: bool) -> str:
    """The sentence with its clauses below each other."""
    clauses = "".join(div(clause, "") for clause in finding.clauses)
    html = f'<div class="adknb-says"><b>{escape(one_line(finding.place, 200))}</b><div>{clauses}</div></div>'
    if is_strongest:
        grown = words.changes_answers(finding) or (finding.tokens is not None and finding.tokens.difference > 0)
        return box(html, "warn" if grown else "good")
    return html


def _figure(spec: charts.Spec, said: str, numbers: str) -> str:
    """A picture, so that no front end treats it as part of the page: safe, and kept where a notebook is not trusted."""
    source = b64encode(charts.svg(spec).encode()).decode()
    image = f'<img class="adknb-chart" src="data:image/svg+xml;base64,{source}" alt="{escape(said)}" width="440">'
    numbers = f'<div class="adknb-wide" tabindex="0">{numbers}</div>'
    return f'<div class="adknb-figure">{image}<details><summary>the numbers</summary>{numbers}</details></div>'


def _tokens_said(comparison: Comparison) -> str:
    steps = charts.drawn_steps(comparison)
    rows = [row for row in token_rows(comparison) if row["step"] in steps]
    said = [f"{row['step']} {shown(row['variant'])} {row['counted']:,.0f}" for row in rows]
    return one_line(f"Bars: mean input tokens of each step by channel. {'; '.join(said)}", 1_000)


def _growth_said(comparison: Comparison) -> str:
    grown = growth(comparison)
    ends = [
        f"{shown(variant)} {known[-1]:,.0f}"
        for variant, totals in zip(grown.variants, grown.totals, strict=True)
        if (known := [total for total in totals if total is not None])
    ]
    return one_line(
        f"Lines: input tokens that a run has sent so far, step by step. At the end: {'; '.join(ends)}", 1_000
    )


def _tokens_table(comparison: Comparison) -> str:
    rows = token_rows(comparison)
    used = [channel for channel in COUNTED_CHANNELS if any(row[channel] for row in rows)]
    columns = [("Step and variant", ""), *((label(channel), "adknb-num") for channel in (*used, "counted"))]
    ordered = [row for step in comparison.steps for row in rows if row["step"] == step]
    cells = [
        [cut(f"{row['step']} {shown(row['variant'])}", 60), *(f"{row[name]:,.1f}" for name in (*used, "counted"))]
        for row in ordered
    ]
    return table(columns, cells)


def _growth_table(comparison: Comparison) -> str:
    grown = growth(comparison)
    columns = [("Step", ""), *((one_line(shown(variant), 40), "adknb-num") for variant in grown.variants)]
    cells = [
        [cut(place, 40), *(f"{totals[row]:,.1f}" if totals[row] is not None else "" for totals in grown.totals)]
        for row, place in enumerate(grown.places)
    ]
    return table(columns, cells)


def _twice(comparison: Comparison) -> tuple[Sequence[Lead], list[Group]]:
    """Steps and keys, those with the most tokens first, and their numbers; no group when nothing is sent twice."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in twice_rows(comparison):
        found.setdefault((row["step"], row["key"]), {})[row["variant"]] = row
    places = sorted(found, key=lambda place: -max(row["tokens"] for row in found[place].values()))

    def group(heading: str, short: str, cell: Callable[[Row], Cell]) -> Group:
        cells = [
            [cell(found[place][name]) if name in found[place] else [] for name in comparison.names] for place in places
        ]
        return Group(heading, short, [shown(name) for name in comparison.names], cells)

    groups = [
        group("Tokens a run", "tokens", lambda row: [f"{row['tokens']:,.1f}"]),
        group("Of its input", "of input", lambda row: [f"{row['percent']:.0f} %"]),
        group("Cost a run", "cost", lambda row: [f"{row['cost']:.3g}"] if row["cost"] is not None else []),
    ]
    leads = [("Step", [step for step, _ in places]), ("Key", [key for _, key in places])]
    return leads, [each for each in groups if each.says]
