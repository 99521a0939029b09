"""One pipeline under several ADKs: which steps are the same, what differs in the others, and the rule behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from adknb.compare.portability import Change, Deviation, Looked, Portability
from adknb.core.escape import escape, one_line
from adknb.notebook.cards.diff_pieces import diff_html, diff_text
from adknb.notebook.cards.html import card, chip, cut, div, facts, head, heading, span, table, title
from adknb.notebook.cards.text import fitted, wrapped
from adknb.notebook.cards.words import counted
from adknb.rules.differences import Difference

DEVIATIONS: Final = 30
"""Deviations that are drawn in full; `to_frame()` has all."""
DIFF: Final = 3_000
"""Characters of a word diff."""
_COLUMNS: Final = {"java": "java", "go": "go", "go_fixed": "go", "js": "js"}


def portability_html(result: Portability) -> str:
    _, *others = result.rules
    pieces = [head(f"Portability of {result.pipeline}", span(_where(result), "adknb-dim"))]
    pieces.append(div(result.headline, "adknb-message"))
    if not result.explained and result.deviations:
        pieces.append(div(_NOT_EXPLAINED, "adknb-message adknb-dim"))
    columns = [("Step", "adknb-name"), *((name, "") for name in others)]
    rows = [
        [cut(_step(result, looked), 60), *(_cell_html(result, looked, name) for name in others)]
        for looked in _steps(result)
    ]
    pieces.append(table(columns, rows))
    for place, deviation in enumerate(result.deviations[:DEVIATIONS]):
        pieces.append(_deviation_html(result, deviation, is_open=place == 0))
    pieces.extend(div(line, "adknb-dim") for line in _more(result))
    pieces.append(_rules_html(result))
    return card(*pieces)


def portability_text(result: Portability) -> str:
    _, *others = result.rules
    lines = [
        wrapped(one_line(f"Portability of {result.pipeline} · {_where(result)}", 400)),
        wrapped(one_line(result.headline, 2_000)),
    ]
    if not result.explained and result.deviations:
        lines.append(wrapped(_NOT_EXPLAINED))
    rows = [
        [_step(result, looked), *(_short(_cell(result, looked, name)) for name in others)] for looked in _steps(result)
    ]
    lines += ["", fitted(["Step", *others], rows)]
    for deviation in result.deviations[:DEVIATIONS]:
        lines += ["", wrapped(one_line(_title(result, deviation), 400), "--- ", "    ")]
        for change in deviation.changes:
            lines.append(wrapped(f"{change.aspect}:", "  "))
            lines.extend(wrapped(line, "    ", "      ") for line in _reasons(result, deviation, change))
            lines.append(diff_text(change.before, change.after, "    "))
    lines.extend(_more(result))
    lines.extend(_rules_text(result))
    return "\n".join(lines)


_RULES: Final = "The rules behind the differences"
_NOT_EXPLAINED: Final = (
    "The rules behind the differences were not looked for, because the tools would run again for each: explain=True, in a "
    "notebook --explain, does so."
)


def _where(result: Portability) -> str:
    return " · ".join(
        [counted(len(result.inputs), "input"), counted(len(result.steps), "step"), "the same replies under all"]
    )


def _steps(result: Portability) -> list[Looked]:
    """The steps, and after them each turn that differs as a whole."""
    whole = [Looked(each.input, each.turn, "") for each in result.deviations if not each.step]
    return [*result.steps, *dict.fromkeys(whole)]


def _step(result: Portability, looked: Looked) -> str:
    """`DraftAgent`, with its turn and input where there are several."""
    words = [looked.step or "the turn as a whole"]
    if any(len(each.messages) > 1 for each in result.inputs):
        words.append(f"turn {looked.turn}")
    if len(result.inputs) > 1:
        words.append(f"input {looked.input}")
    return " · ".join(words)


def _found(result: Portability, looked: Looked, rules: str) -> Deviation | None:
    key = (*looked, rules)
    return next((each for each in result.deviations if (each.input, each.turn, each.step, each.rules) == key), None)


def _cell(result: Portability, looked: Looked, rules: str) -> str:
    """What a step is under a rule set, in words: `same`, `differs: history, events`, `refused`."""
    if rules in result.refused:
        return "refused"
    found = _found(result, looked, rules)
    if found is None:
        return "same" if looked not in result.unsteady else "differs: from run to run"
    if found.aspect == "step":
        return found.changes[0].after
    return f"differs: {', '.join(change.aspect for change in found.changes)}"


def _short(said: str) -> str:
    """`differs: history, state, events` as `differs: history, +2`."""
    first, *more = said.split(", ")
    return f"{first}, +{len(more)}" if more else first


def _cell_html(result: Portability, looked: Looked, rules: str) -> str:
    said = _cell(result, looked, rules)
    word, _, what = said.partition(": ")
    kind = {"same": "good", "refused": "bad"}.get(word, "warn")
    return f"{chip(word, kind)} {escape(what)}".rstrip()


def _title(result: Portability, deviation: Deviation) -> str:
    """`go · reader · tokens in 168 → 191`."""
    before, after = deviation.tokens
    tokens = f"tokens in {' → '.join(dict.fromkeys((f'{before:,}', f'{after:,}')))}"
    looked = Looked(deviation.input, deviation.turn, deviation.step)
    return " · ".join([deviation.rules, _step(result, looked), *([tokens] if deviation.step else [])])


def _deviation_html(result: Portability, deviation: Deviation, is_open: bool) -> str:
    said = ", ".join(change.aspect for change in deviation.changes)
    rows = [
        (
            change.aspect,
            [
                *(escape(line) for line in _reasons(result, deviation, change)),
                diff_html(change.before, change.after, DIFF),
            ],
        )
        for change in deviation.changes
    ]
    summary = f"{title(_title(result, deviation))} {span(said, 'adknb-dim')}"
    body = f'<div class="adknb-changes">{facts(rows, "adknb-diffs")}</div>'
    return f"<details{' open' if is_open else ''}><summary>{summary}</summary>{body}</details>"


def _reasons(result: Portability, deviation: Deviation, change: Change) -> list[str]:
    """The rules behind a change, by name and sentence; `_rules` says the rest of them once."""
    if "python" in (result.rules[0], deviation.rules):
        return ["google-adk itself ran here: none of its rules can be tried alone"]
    if result.explained and not change.causes:
        return ["no single rule makes it"]
    return [f"rule {cause.name}: {cause.sentence}" for cause in change.causes]


def _rules(result: Portability) -> list[Difference]:
    """Every rule that is behind a deviation, in the order in which they come up."""
    return list(dict.fromkeys(cause for deviation in result.deviations for cause in deviation.causes))


def _said(rule: Difference, result: Portability) -> list[tuple[str, str]]:
    """What each ADK that was looked at does by a rule; `go_fixed` stands in the column of `go`."""
    columns = dict.fromkeys(_COLUMNS[name] for name in result.rules if name in _COLUMNS)
    return [(column, getattr(rule, column)) for column in columns]


def _rules_html(result: Portability) -> str:
    rules = _rules(result)
    if not rules:
        return ""
    names = [name for name, _ in _said(rules[0], result)]
    columns = [("Rule", "adknb-name"), ("What it is about", ""), *((name, "") for name in names), ("Source", "")]
    rows = [
        [escape(text) for text in (rule.name, rule.sentence, *(said for _, said in _said(rule, result)), rule.source)]
        for rule in rules
    ]
    return heading(_RULES) + table(columns, rows)


def _rules_text(result: Portability) -> Iterator[str]:
    rules = _rules(result)
    if rules:
        yield from ("", _RULES)
    for rule in rules:
        yield wrapped(f"{rule.name}: {rule.sentence}", "  ", "    ")
        yield from (wrapped(f"{name}: {said}", "    ", "      ") for name, said in _said(rule, result))
        yield wrapped(f"source: {rule.source}", "    ", "      ")


def _more(result: Portability) -> list[str]:
    more = len(result.deviations) - DEVIATIONS
    return [f"… {counted(more, 'more deviation')}; to_frame() has all"] if more > 0 else []
