"""What a comparison's card says in words, alike in HTML and in plain text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from adknb.compare.comparison import Comparison
from adknb.compare.dry import shown
from adknb.compare.findings import Finding
from adknb.core.escape import one_line
from adknb.notebook.cards.words import counted

SAID: Final = 4
"""Names, errors or notes that are said before the rest is counted."""
TEXT: Final = 200
"""Characters of an error or a note."""
ALIKE: Final = "That holds of every step and variant; what was measured stands below."
NAME: Final = 60
"""Characters of a name in a sentence."""


def title(comparison: Comparison) -> str:
    """`ticket: DEFAULT against NONE`."""
    first, *others = (one_line(shown(name), NAME) for name in comparison.names)
    return f"{one_line(comparison.pipeline, NAME)}: {' against '.join([first, *([listed(others)] if others else [])])}"


def kind_sentence(comparison: Comparison) -> str:
    """How the comparison was made, and so what its numbers mean."""
    first = one_line(shown(comparison.names[0]), NAME)
    return {
        "run": "Kind run: each variant ran the whole pipeline, so differences add up from step to step.",
        "paired": f"Kind paired: one run under {first} supplied the history, and at every step each variant was asked once "
        "from that same session, so only what the variant changes differs.",
        "dry": "Kind dry: no model was asked; the prompts of runs that were there already were worked out under each variant.",
    }[comparison.kind]


def circumstances(comparison: Comparison) -> str:
    """Inputs, repeats, models, temperature, seed, and how tokens are counted, in one line."""
    rows = [row for row in comparison.rows if row["requests"]]
    models = _different(row["model"] for row in rows)
    warmth = _different(f"{row['temperature']:g}" for row in rows if row["temperature"] is not None)
    asked = comparison.kind != "dry"
    sources = _different(source for row in rows for source in row["counted_by"].split(", "))
    seeds = _different(str(row["seed"]) for row in rows if row["seed"] is not None)
    if not seeds and comparison.seed is not None:  # a model that takes none; the statistics do
        seeds = [str(comparison.seed)]
    seed = f"seed{'s' * (len(seeds) > 1)} {listed(seeds)}" if seeds else "no seed"
    return " · ".join(
        filter(
            None,
            [
                counted(len(comparison.inputs), "input"),
                counted(comparison.repeats, "repeat") if asked else "",
                f"model{'s' * (len(models) > 1)} {listed(models)}" if models else "",
                (f"temperature {listed(warmth)}" if warmth else "temperature not set") if asked else "",
                f"input tokens {listed(map(_source, sources))}" if sources else "",
                seed if asked else "",
            ],
        )
    )


def warnings(comparison: Comparison) -> list[str]:
    """What the numbers lack: trials that were not done, and those that failed."""
    said = []
    total = len(comparison.records) + comparison.missing
    if comparison.missing:
        said.append(
            f"{comparison.missing:,} of {counted(total, 'trial')} are missing: the comparison was stopped before its end. "
            "What follows is about the others."
        )
    errors = Counter(record.error for record in comparison.records if record.error)
    if errors:
        reasons = [_times(error, count) for error, count in errors.most_common(SAID)]
        more = [f"{len(errors) - SAID:,} other errors"] if len(errors) > SAID else []
        said.append(
            f"{errors.total():,} of {counted(total, 'trial')} failed, and their failed steps count in no mean: "
            f"{'; '.join([*reasons, *more])}"
        )
    return said


def ordered(comparison: Comparison) -> list[Finding]:
    """The findings by variant, that of the whole pipeline before those of the steps."""
    found = comparison.findings.listed
    return [
        finding
        for variant in comparison.names[1:]
        for finding in sorted((each for each in found if each.variant == variant), key=lambda each: bool(each.step))
    ]


def strongest(findings: Sequence[Finding]) -> Finding | None:
    """The finding to read first: changed answers before tokens, then the greatest change. None when none is concluded."""
    shown_ones = [finding for finding in findings if finding.concluded]
    return max(shown_ones, key=_strength, default=None)


def changes_answers(finding: Finding) -> bool:
    """Whether it is shown that answers change."""
    return any(claim is not None and claim.concluded for claim in (finding.answers, finding.expected))


def nothing_concluded(comparison: Comparison) -> str:
    """The sentence that stands in plain sight when no difference is shown; "" when one is, or nothing was compared."""
    findings = comparison.findings
    compared = [finding for finding in findings.listed if finding.tokens is not None]
    if not compared or any(finding.concluded for finding in compared):
        return ""
    numbers = [finding.tokens.n for finding in compared if finding.tokens is not None]
    inputs = counted(max(numbers), "input")
    if max(numbers) < findings.least and comparison.kind == "dry":
        return (
            f"The tokens are exact for these prompts. About other inputs nothing can be concluded from {inputs}: at least "
            f"{findings.least} would be needed."
        )
    if max(numbers) < findings.least:
        return f"Nothing can be concluded from {inputs}: at least {findings.least} would be needed."
    some = f"; some have fewer than the {findings.least} that it takes" if min(numbers) < findings.least else ""
    return f"Nothing can be concluded: on {inputs} no difference is shown{some}."


def are_alike(findings: Sequence[Finding]) -> bool:
    """Whether every sentence says the same, so that one is enough."""
    return len({tuple(finding.clauses) for finding in findings}) == 1


def confidence(comparison: Comparison) -> str:
    """At what confidence the sentences hold together; "" when none has an interval."""
    claims = comparison.findings.claims
    tested = [finding.tokens for finding in comparison.findings.listed if finding.tokens is not None]
    if not tested or tested[0].n < tested[0].least:
        return ""
    if claims == 1:
        return "The interval is at 95 %."
    each = f"{100 * tested[0].confidence:.4g} %"
    return f"{claims} claims are made together: each interval and test is at {each}, so that all hold at 95 %."


def remarks(comparison: Comparison) -> list[str]:
    """How categories were found, which of the user's measures failed, what models said of their replies."""
    said = []
    measured = comparison.measured
    if comparison.kind != "dry":
        rules = [f"{one_line(agent, NAME)} by {rule}" for agent, rule in measured.rules.items()]
        if rules:
            said.append(f"Categories: {_counted(rules, '; ')}.")
        agents = dict.fromkeys(step.agent for record in comparison.records for step in record.steps)
        without = [one_line(agent, NAME) for agent in agents if agent not in measured.rules]
        if without:
            said.append(f"No categories in the answers of {_counted(without)}: they are compared as whole texts.")
    for name, failures in measured.failed.items():
        said.append(
            f"The measure {one_line(name, NAME)} failed on {counted(len(failures), 'answer')}: "
            f"{one_line(failures[0], TEXT)}{'; …' if len(failures) > 1 else ''}"
        )
    notes = Counter(row["note"] for row in comparison.rows if row["note"])
    if notes:
        said.append(f"Notes: {_counted([_times(note, count) for note, count in notes.most_common()], '; ')}")
    return said


def listed(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`; of many the first and how many more."""
    known = list(words)
    if len(known) > SAID:
        return _counted(known)
    return " and ".join(filter(None, [", ".join(known[:-1]), known[-1]]))


def _counted(words: Sequence[str], between: str = ", ") -> str:
    more = f" and {len(words) - SAID:,} more" if len(words) > SAID else ""
    return between.join(words[:SAID]) + more


def _different(values: Iterable[str]) -> list[str]:
    return [one_line(value, NAME) for value in dict.fromkeys(values) if value]


def _source(name: str) -> str:
    return "as the model reported them" if name == "reported" else f"counted with {name}"


def _times(text: str, count: int) -> str:
    return f"{one_line(text, TEXT)}{f' (×{count:,})' if count > 1 else ''}"


def _strength(finding: Finding) -> tuple[bool, float]:
    change = finding.tokens.relative if finding.tokens is not None and finding.tokens.concluded else None
    return changes_answers(finding), abs(change or 0.0)
