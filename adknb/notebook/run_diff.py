"""Two runs beside each other, step by step: what each was sent, said and wrote, and its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final, Literal

from adknb.analysis.accounts import accounts
from adknb.analysis.freshness import Ledger
from adknb.core.requests import LlmRequest
from adknb.core.run import Run, StepRun
from adknb.core.state import REMOVED
from adknb.tables.frame import Kind, Row
from adknb.tables.session import message_text
from adknb.tables.state import value_text
from adknb.tables.steps import step_rows
from adknb.tokens.channels import canonical_json, part_text
from adknb.tokens.counter import default_counter

RUN_DIFF: Final[dict[str, Kind]] = {
    "step": "text", "part": "text", "key": "text", "request": "maybe", "change": "text", "before": "value",
    "after": "value", "difference": "maybe",
}  # fmt: skip

TOKENS: Final = ("tokens in", "tokens out")
STATE: Final = "state"
SYSTEM: Final = "system instruction"
HISTORY: Final = "history"
REPLY: Final = "reply"
PROMPT: Final = (SYSTEM, HISTORY, "tools", "config", "model")
"""The parts that one request has."""

Tokens = tuple[int, int]
"""Tokens in and out."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that two runs, or one step of both, may differ in.

    `name` says what (`system instruction`, `reply`, `state` …), `key` which state key, `request` which request of the
    step, from 1. `before` and `after` are texts, or numbers of tokens; None where one run has no such thing.
    """

    name: str
    before: str | int | None
    after: str | int | None
    key: str = ""
    request: int | None = None

    @property
    def change(self) -> Literal["same", "changed", "added", "removed"]:
        if self.before == self.after:
            return "same"
        return "added" if self.before is None else "removed" if self.after is None else "changed"

    @property
    def difference(self) -> int | None:
        """How many tokens more there are after; None for texts."""
        old, new = (0 if number is None else number for number in (self.before, self.after))
        return new - old if isinstance(old, int) and isinstance(new, int) else None


@dataclass(frozen=True, slots=True)
class StepDiff:
    """One step, found by its name in both runs, or in one of them alone."""

    name: str
    before: StepRun | None
    after: StepRun | None
    parts: tuple[Part, ...]

    @property
    def changed(self) -> list[Part]:
        """Everything in which the step differs."""
        return [part for part in self.parts if part.change != "same"]

    @property
    def alone(self) -> StepRun | None:
        """The step that only one of the runs has; None when both have it."""
        return self.after if self.before is None else self.before if self.after is None else None

    def part(self, name: str) -> Part:
        """The first part of this name."""
        return next(part for part in self.parts if part.name == name)


def run_parts(before: Run, after: Run) -> tuple[Part, ...]:
    """What the runs as a whole differ in: what they started from, how they ended, their tokens."""
    old, new = _tokens(before).values(), _tokens(after).values()
    return (
        Part("pipeline", before.root.name, after.root.name),
        Part("message", message_text(before.message), message_text(after.message)),
        Part("rules", before.rules, after.rules),
        Part("strategy", before.strategy, after.strategy),
        Part("status", before.status, after.status),
        Part("steps", _step_names(before), _step_names(after)),
        *_states("start state", before.start_state, after.start_state),
        *(
            Part(name, sum(step[place] for step in old), sum(step[place] for step in new))
            for place, name in enumerate(TOKENS)
        ),
    )


def step_diffs(before: Run, after: Run) -> tuple[StepDiff, ...]:
    """The steps of both runs, in the order of the first, those of the second alone after the step that they follow."""
    old = {step.name: step for step in before.step_runs}
    new = {step.name: step for step in after.step_runs}
    before_tokens, after_tokens = _tokens(before), _tokens(after)
    diffs = []
    for name in _merged(list(old), list(new)):
        parts = _parts(old.get(name), new.get(name), before_tokens.get(name), after_tokens.get(name))
        known = tuple(part for part in parts if part.before is not None or part.after is not None)
        diffs.append(StepDiff(name, old.get(name), new.get(name), known))
    return tuple(diffs)


def run_diff_rows(before: Run, after: Run) -> list[Row]:
    """One row a part. `step` is empty for what concerns the runs as a whole; `difference` counts tokens."""
    steps = [("", run_parts(before, after)), *((step.name, step.parts) for step in step_diffs(before, after))]
    return [
        {
            "step": name,
            "part": part.name,
            "key": part.key,
            "request": part.request,
            "change": part.change,
            "before": part.before,
            "after": part.after,
            "difference": part.difference,
        }
        for name, parts in steps
        for part in parts
    ]


def _merged(old: Sequence[str], new: Sequence[str]) -> list[str]:
    names = list(old)
    place = 0
    for name in new:
        if name in names:
            place = names.index(name) + 1
        else:
            names.insert(place, name)
            place += 1
    return names


def _tokens(run: Run) -> dict[str, Tokens]:
    """Each step's tokens in and out, as the run's own table has them."""
    ledger = Ledger(run)
    rows = step_rows(ledger, accounts(ledger, default_counter()))
    return {row["step"]: (row["input_tokens"], row["output_tokens"]) for row in rows}


def _parts(before: StepRun | None, after: StepRun | None, old: Tokens | None, new: Tokens | None) -> Iterator[Part]:
    yield Part("status", before.status if before else None, after.status if after else None)
    for number, (was, now) in enumerate(zip_longest(_requests(before), _requests(after)), 1):
        texts = zip(PROMPT, _texts(was), _texts(now), strict=True)
        yield from (Part(name, old_text, new_text, request=number) for name, old_text, new_text in texts)
    yield Part(REPLY, before.output if before else None, after.output if after else None)
    yield Part("error", _error(before), _error(after))
    yield from _states(STATE, before.state_delta if before else {}, after.state_delta if after else {})
    for place, name in enumerate(TOKENS):
        yield Part(name, old[place] if old else None, new[place] if new else None)


def _step_names(run: Run) -> str:
    return ", ".join(step.name for step in run.step_runs)


def _requests(step: StepRun | None) -> list[LlmRequest]:
    return [request.sent for request in step.requests] if step else []


def _error(step: StepRun | None) -> str | None:
    return f"{type(step.error).__name__}: {step.error}" if step and step.error else None


def _states(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Part]:
    for key in dict.fromkeys([*before, *after]):
        yield Part(name, _value(before, key), _value(after, key), key)


def _value(values: Mapping[str, Any], key: str) -> str | None:
    if key not in values:
        return None
    value = values[key]
    return "(key removed)" if value is REMOVED else value_text(value)


def _texts(sent: LlmRequest | None) -> tuple[str | None, ...]:
    """A request's parts as texts, in the order of `PROMPT`."""
    if sent is None:
        return (None,) * len(PROMPT)
    tools = "\n".join(canonical_json(declaration) for declaration in sent.tools.values())
    config = canonical_json(sent.config) if sent.config else None
    return sent.system_instruction, _history(sent), tools or None, config, sent.model


def _history(sent: LlmRequest) -> str | None:
    """The contents one below the other, each under its role and, where an event said it, its author."""
    said = []
    for content, source in zip_longest(sent.contents, sent.sources):
        if content is not None:
            author = f", by {source.author}" if source is not None else ""
            said.append(f"{content.role or 'no role'}{author}:")
            said.extend(part_text(part) for part in content.parts)
    return "\n".join(said) or None
