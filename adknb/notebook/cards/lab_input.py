"""One input of a comparison in full: its messages, then step by step the answers and prompts against the first variant's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from adknb.compare.answers import ABSENT, field_changes
from adknb.compare.dry import shown
from adknb.compare.inspect import InputComparison, StepComparison, prompt_text
from adknb.compare.leaks import leaked_what
from adknb.compare.records import StepRecord
from adknb.core.escape import escape, one_line
from adknb.notebook.cards import text
from adknb.notebook.cards.diff_pieces import diff_html, diff_text
from adknb.notebook.cards.html import block, box, card, div, facts, head, lines, span
from adknb.tables.state import value_text

NAME: Final = 60
"""Characters of a name."""
FIELDS: Final = 12
"""Fields of an answer's JSON that are named."""
VALUE: Final = 120
"""Characters of a field's value, and of a state's."""


class Limits(NamedTuple):
    """How much is drawn: steps, characters of each text, and characters of two texts that are still compared."""

    steps: int
    text: int
    compared: int


WHOLE: Final = Limits(40, 20_000, 400_000)
SHORT: Final = Limits(12, 2_000, 20_000)
"""Within the card of the whole comparison."""


class Line(NamedTuple):
    """One thing that is said of a step: a label, and either two texts to compare (`before` is not None) or one.

    `is_folded` says that it opens with a click; `kind` is that of a box, for what must not be overlooked.
    """

    label: str
    text: str
    before: str | None = None
    is_folded: bool = False
    kind: str = ""


def input_html(one: InputComparison) -> str:
    return card(head(_title(one), span(_summary(one), "adknb-dim")), input_body(one, WHOLE))


def input_body(one: InputComparison, limits: Limits) -> str:
    """What the card shows below its title."""
    pieces = [facts([(label, [_passage(said, limits)]) for label, said in _asked(one)])]
    pieces += [box(escape(one_line(said, 1_000)), "bad") for said in failures(one)]
    if not one.trials:
        return "".join([*pieces, div("Not done yet: no trial of it has come to its end.", "adknb-dim")])
    if len(one.trials) > 1:
        pieces.append(_legend(one))
    steps = one.steps
    pieces += [_step_html(one, step, limits) for step in steps[: limits.steps]]
    if len(steps) > limits.steps:
        pieces.append(div(f"… {len(steps) - limits.steps:,} more steps: {way_in(one)}", "adknb-dim"))
    return "".join(pieces)


def input_text(one: InputComparison) -> str:
    said = [text.wrapped(one_line(f"{_title(one)} · {_summary(one)}", 400))]
    for label, passage in _asked(one):
        said += [f"{label}:", text.passage(passage)]
    said += [text.wrapped(f"! {one_line(failure, 1_000)}", "", "  ") for failure in failures(one)]
    if not one.trials:
        said.append("Not done yet: no trial of it has come to its end.")
    elif len(one.trials) > 1:
        first, others = _sides(one)
        said += [f"[-only in {first}-] {{+only in {others}+}}"]
    for step in one.steps[: WHOLE.steps]:
        said += ["", text.wrapped(one_line(_step_title(one, step), 400), "--- ", "    ")]
        for line in _lines(one, step):
            label = text.wrapped(f"{line.label}:", "  ", "    ")
            body = text.passage(line.text) if line.before is None else diff_text(line.before, line.text, "    ")
            said.append(f"{label}\n{body}")
    return "\n".join(said)


def failures(one: InputComparison) -> list[str]:
    """The errors that ended trials before any step could hold them."""
    return [
        f"{shown(variant)} failed: {trial.error}"
        for variant, trial in one.trials.items()
        if trial.error and not any(step.error for step in trial.steps)
    ]


def way_in(one: InputComparison) -> str:
    """How to get all of it."""
    repeat = f", repeat={one.repeat}" if one.repeat else ""
    return f"comparison.inspect({one_line(repr(one.input.name), NAME)}{repeat})"


def _title(one: InputComparison) -> str:
    return f"Input {one_line(one.input.name, NAME)} of {one_line(one.comparison.pipeline, NAME)}"


def _summary(one: InputComparison) -> str:
    first, *others = [one_line(shown(name), NAME) for name in one.comparison.names]
    against = f"{first} against {', '.join(others)}" if others else first
    repeats = one.comparison.repeats
    return f"{against} · repeat {one.repeat + 1} of {repeats}" if repeats > 1 else against


def _asked(one: InputComparison) -> Iterator[tuple[str, str]]:
    """What the conversation was: messages, start state, what was expected."""
    messages = one.input.messages
    for number, message in enumerate(messages, 1):
        yield (f"Message {number}" if len(messages) > 1 else "Message"), message
    if one.input.state:
        yield "Start state", "\n".join(f"{key}: {value_text(value)}" for key, value in one.input.state.items())
    expected = one.input.expected
    if isinstance(expected, str):
        yield "Expected", expected
    elif expected:
        yield "Expected", "\n".join(f"{step or 'final answer'}: {said}" for step, said in expected.items())


def _legend(one: InputComparison) -> str:
    first, others = _sides(one)
    marked = [
        f'<{tag}><span class="adknb-mark">{sign}</span>only in {escape(side)}</{tag}>'
        for tag, sign, side in (("del", "−", first), ("ins", "+", others))
    ]
    return f'<div class="adknb-message">{" ".join(marked)}</div>'


def _sides(one: InputComparison) -> tuple[str, str]:
    first, *others = [one_line(shown(name), NAME) for name in one.comparison.names]
    return first, others[0] if len(others) == 1 else "the other"


def _step_html(one: InputComparison, step: StepComparison, limits: Limits) -> str:
    rows = [(line.label, [_line_html(one, line, limits)]) for line in _lines(one, step)]
    body = f'<div class="adknb-changes">{facts(rows, "adknb-diffs")}</div>' if rows else ""
    return f'<div class="adknb-part">{div(_step_title(one, step), "adknb-label")}{body}</div>'


def _step_title(one: InputComparison, step: StepComparison) -> str:
    """`turn 2 · PolicyCheckAgent · input tokens DEFAULT 133, NONE 93 · NONE: APPROVE→REJECT`."""
    turn = [f"turn {step.turn}"] if len(one.input.messages) > 1 else []
    tokens = [f"{one_line(shown(name), NAME)} {record.input_tokens:,}" for name, record in step.records.items()]
    changed = [f"{one_line(shown(name), NAME)}: {row['flip']}" for name, row in step.rows.items() if row["flip"]]
    return " · ".join([*turn, step.step, f"input tokens {', '.join(tokens)}", *changed])


def _lines(one: InputComparison, step: StepComparison) -> Iterator[Line]:
    base_name, *other_names = one.comparison.names
    base = step.records.get(base_name)
    others = {name: step.records[name] for name in other_names if name in step.records}
    several = len(other_names) > 1
    if one.comparison.kind != "dry":
        yield from _answer_lines(base_name, base, others, several)
    for name, record in step.records.items():
        yield from _trouble(one, name, record)
    for name in one.trials:
        if name not in step.records:
            yield Line(f"under {_shown(name)}", "this step did not run")
    yield from _tools(step)
    yield from _own_measures(one, step)
    yield from _prompt_lines(base, others, several)


def _answer_lines(
    base_name: str, base: StepRecord | None, others: dict[str, StepRecord], several: bool
) -> Iterator[Line]:
    if base is None or base.error:
        for name, record in others.items():
            if not record.error:
                yield Line(f"answer under {_shown(name)}", _said(record.answer))
        return
    answered = {name: record for name, record in others.items() if not record.error}
    if all(record.answer == base.answer for record in answered.values()):
        both = "answer, the same" if answered else f"answer under {_shown(base_name)}"
        yield Line(both, _said(base.answer))
        return
    for name, record in answered.items():
        under = f" under {_shown(name)}" if several else ""
        changes = field_changes(base.answer, record.answer)
        if record.answer == base.answer:
            yield Line(f"answer{under}", f"the same as under {_shown(base_name)}")
            continue
        if changes:
            fields = [f"{each.path or 'the whole'}: {_value(each.before)} → {_value(each.after)}" for each in changes]
            more = [f"… {len(fields) - FIELDS:,} more fields"] if len(fields) > FIELDS else []
            yield Line(f"fields{under}", "\n".join([*fields[:FIELDS], *more]))
        yield Line(f"answer{under}", record.answer, base.answer)


def _trouble(one: InputComparison, name: str, record: StepRecord) -> Iterator[Line]:
    if record.error:
        yield Line(f"error under {_shown(name)}", record.error, kind="bad")
    elif leak := leaked_what(record.answer, [agent.name for agent in one.comparison.measuring.root.walk()]):
        yield Line(f"history in the answer under {_shown(name)}", leak, kind="warn")
    if record.guarded:
        yield Line(f"guard under {_shown(name)}", "a callback answered; the model was not asked", kind="warn")


def _tools(step: StepComparison) -> Iterator[Line]:
    if any(record.tools for record in step.records.values()):
        called = [f"{_shown(name)}: {', '.join(record.tools) or 'none'}" for name, record in step.records.items()]
        yield Line("tools called", "\n".join(called))


def _own_measures(one: InputComparison, step: StepComparison) -> Iterator[Line]:
    for measure in one.comparison.measuring.own:
        values = [
            f"{_shown(name)}: {value_text(row[measure])}"
            for name, row in step.rows.items()
            if row.get(measure) is not None
        ]
        if values:
            yield Line(one_line(measure, NAME), "\n".join(values))


def _prompt_lines(base: StepRecord | None, others: dict[str, StepRecord], several: bool) -> Iterator[Line]:
    if base is None or not base.prompts:
        return
    before = prompt_text(base.prompts)
    for name, record in others.items():
        if record.prompts:
            under = f" under {_shown(name)}" if several else ""
            after = prompt_text(record.prompts)
            if after == before:
                yield Line(f"prompt{under}", "the same")
            else:
                yield Line(f"prompt{under}", after, before, is_folded=True)


def _line_html(one: InputComparison, line: Line, limits: Limits) -> str:
    if line.before is None:
        drawn = _passage(line.text, limits)
        return box(drawn, line.kind) if line.kind else drawn
    length = len(line.before) + len(line.text)
    if length > limits.compared:
        return span(f"differs, in {length:,} characters: {way_in(one)}", "adknb-dim")
    drawn = diff_html(line.before, line.text, limits.text)
    return f"<details><summary>what differs</summary>{drawn}</details>" if line.is_folded else drawn


def _passage(said: str, limits: Limits) -> str:
    if len(said) <= limits.text:
        return block(said)
    left = len(said) - limits.text
    return lines(escape(said[: limits.text]) + div(f"… {left:,} more characters", "adknb-dim"))


def _said(answer: str) -> str:
    return answer if answer.strip() else "(nothing)"


def _value(value: Any) -> str:
    return "absent" if value is ABSENT else one_line(value_text(value), VALUE)


def _shown(name: str) -> str:
    return one_line(shown(name), NAME)
