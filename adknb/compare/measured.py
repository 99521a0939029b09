"""A comparison's rows: what each step of each trial cost and answered, and how that differs from the first variant."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from adknb.compare.categories import Categories
from adknb.compare.inputs import Input
from adknb.compare.measures import as_expected, fields_equal, flip, leaked, schema_valid, similarity
from adknb.compare.plain import plain
from adknb.compare.records import COUNTED_CHANNELS, StepRecord, TrialRecord
from adknb.compare.variants import Variant
from adknb.core.errors import SpecError, near_names
from adknb.core.escape import visible
from adknb.core.specs import BaseAgent, LlmAgent

Measure: TypeAlias = Callable[..., Any]
"""A function of the answer, or of the answer and its `Input`; returns a number, a bool, a text or None."""

Row: TypeAlias = dict[str, Any]

INTERRUPTED: Final = "interrupted"

COLUMNS: Final = (
    "variant", "input", "repeat", "step", "turn", "status", "error", "requests", "input_tokens", "output_tokens",
    "counted_by", "cost", "ms", "answer", "equal", "similarity", "fields_equal", "category", "flip", "as_expected",
    "schema_valid", "guarded", "tools_called", "leaked", "sent_twice", *COUNTED_CHANNELS, "model", "temperature", "seed",
    "note",
)  # fmt: skip
"""The columns of every comparison's rows; a user's own measures follow."""


@dataclass(frozen=True, slots=True)
class Measuring:
    """How answers are measured: the pipeline that they come from, categories, and the user's own functions.

    Raises `SpecError` for a measure that is no function of the answer (and its `Input`) or has a column's name, and for
    categories that cannot be read or are of an agent that there is not.
    """

    root: BaseAgent
    variants: tuple[Variant, ...]
    categories: Any
    own: Mapping[str, Measure]

    def __post_init__(self) -> None:
        if not isinstance(self.own, Mapping):
            raise SpecError(
                f"measures maps names to functions of the answer, such as {{'length': len}}; not {self.own!r}"
            )
        for name, measure in self.own.items():
            if not isinstance(name, str):
                raise SpecError(f"the measure {name!r} names a column, so its name is text.")
            if name in COLUMNS:
                raise SpecError(f"the measure {name!r} has the name of a column. Name it otherwise.")
            if name != visible(name):
                raise SpecError(f"the measure {name!r} names a column, so its name has no invisible characters.")
            if not callable(measure):
                raise SpecError(f"the measure {name!r} is no function, but {measure!r}")
            _of_two(name, measure)
        for given in self.categories.values() if isinstance(self.categories, Mapping) else [self.categories]:
            Categories.of(None, (), given)
        if isinstance(self.categories, Mapping):
            known = [agent.name for agent in self.root.walk()]
            for agent in self.categories:
                if agent not in known:
                    raise SpecError(
                        f"categories name the agent {agent!r}, which is not there.{near_names(agent, known)}"
                    )

    def agent(self, name: str) -> LlmAgent | None:
        found = self.root.find_agent(name)
        return found if isinstance(found, LlmAgent) else None

    def categories_of(self, agent: str, answers: Sequence[str]) -> Categories:
        given = self.categories.get(agent) if isinstance(self.categories, Mapping) else self.categories
        return Categories.of(self.agent(agent), answers, given)


class Measured:
    """The rows of a comparison. `rules` says for each agent how its answers' category was found; `failed` which of the
    user's measures raised, how often and what."""

    def __init__(
        self, records: Sequence[TrialRecord], inputs: Sequence[Input], measuring: Measuring, compares_answers: bool
    ) -> None:
        self._measuring = measuring
        self._inputs = {each.name: each for each in inputs}
        self._agents = [agent.name for agent in measuring.root.walk()]
        self._own = {name: _of_two(name, measure) for name, measure in measuring.own.items()}
        self._compares_answers = compares_answers
        self.failed: dict[str, list[str]] = {}
        answers: dict[str, list[str]] = {}
        for record in records:
            for step in record.steps:
                answers.setdefault(step.agent, []).append(step.answer)
        self._categories = {agent: measuring.categories_of(agent, said) for agent, said in answers.items()}
        self.rules = {agent: categories.rule for agent, categories in self._categories.items() if categories.rule}
        self._found = {id(step): self._category(step, record) for record in records for step in record.steps}
        first = measuring.variants[0].name
        self._base = {(record.input, record.repeat): record for record in records if record.variant == first}
        self.rows = [row for record in records for row in self._rows_of(record)]

    def _rows_of(self, record: TrialRecord) -> list[Row]:
        base = self._base.get((record.input, record.repeat))
        compared = {(step.turn, step.step): step for step in base.steps} if base is not None else {}
        if not record.steps:
            return [self._row(record, StepRecord("", "", error=record.error, status="failed"), None, False)]
        *before, last = record.steps
        if record.error and not any(step.error for step in record.steps):
            last = replace(last, error=record.error)
        return [self._row(record, step, compared.get((step.turn, step.step)), step is last) for step in (*before, last)]

    def _row(self, record: TrialRecord, step: StepRecord, base: StepRecord | None, is_last: bool) -> Row:
        asked, error = self._inputs[record.input], step.error
        answered = self._compares_answers and is_answered(step)
        comparable = answered and base is not None and is_answered(base)
        before = base.answer if base is not None else ""
        category = self._found[id(step)] if answered else ""
        earlier = self._found[id(base)] if comparable else ""
        agent = self._measuring.agent(step.agent)
        expected = _expected(asked, step, is_last)
        return {
            "variant": record.variant,
            "input": record.input,
            "repeat": record.repeat,
            "step": step.step,
            "turn": step.turn,
            "status": step.status,
            "error": error,
            "requests": step.requests,
            "input_tokens": step.input_tokens,
            "output_tokens": step.output_tokens,
            "counted_by": step.counted_by,
            "cost": step.cost,
            "ms": step.ms,
            "answer": step.answer,
            "equal": step.answer == before if comparable else None,
            "similarity": similarity(before, step.answer) if comparable else None,
            "fields_equal": fields_equal(before, step.answer) if comparable else None,
            "category": category,
            "flip": flip(earlier, category) if comparable else "",
            "as_expected": as_expected(step.answer, category, expected) if answered and expected is not None else None,
            "schema_valid": schema_valid(step.answer, agent.output_schema)
            if answered and agent is not None and agent.output_schema is not None
            else None,
            "guarded": step.guarded,
            "tools_called": ", ".join(step.tools),
            "leaked": answered and leaked(step.answer, self._agents),
            "sent_twice": sum(step.twice.values()),
            **{channel: step.channels.get(channel, 0) for channel in COUNTED_CHANNELS},
            "model": step.model,
            "temperature": step.temperature,
            "seed": step.seed,
            "note": step.note,
            **{name: self._measured(name, step.answer, asked) if answered else None for name in self._own},
        }

    def _category(self, step: StepRecord, record: TrialRecord) -> str:
        """Worked out once: the first variant's answers stand beside those of every other."""
        if not self._compares_answers or not is_answered(step):
            return ""
        try:
            return self._categories[step.agent].category(step.answer)
        except SpecError as error:  # a user's function failed: the answers that were paid for are shown all the same
            self.failed.setdefault("categories", []).append(f"input {record.input}: {error}")
            return ""

    def _measured(self, name: str, answer: str, asked: Input) -> Any:
        try:
            return plain(self._own[name](answer, asked))
        except Exception as error:
            self.failed.setdefault(name, []).append(f"input {asked.name}: {type(error).__name__}: {error}")
            return None


def is_done(step: StepRecord) -> bool:
    """Whether the step counts in means: it did not fail, and no sibling in a parallel ended it by failing."""
    return not step.error and step.status != INTERRUPTED


def is_done_row(row: Mapping[str, Any]) -> bool:
    """`is_done` of the step that a row is about. The last row of a failed trial has the trial's error."""
    return not row["error"] and row["status"] != INTERRUPTED


def is_answered(step: StepRecord) -> bool:
    """A step whose parallel sibling failed has no error of its own, and no answer."""
    return not step.error and step.status in ("completed", "skipped")


def _expected(asked: Input, step: StepRecord, is_last: bool) -> str | None:
    """What was expected of this step, by its name or its agent's; of the final answer, at the last step."""
    expected = asked.expected_of(step.step)
    if expected is None and isinstance(asked.expected, Mapping):
        expected = asked.expected.get(step.agent)
    return expected if expected is not None or not is_last else asked.expected_of()


def _of_two(name: str, measure: Measure) -> Measure:
    """The measure as a function of the answer and the input."""
    try:
        parameters = inspect.signature(measure).parameters.values()
    except (TypeError, ValueError):  # a builtin that does not tell
        return lambda answer, asked: measure(answer)
    places = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    required = [each for each in places if each.default is each.empty]
    if len(required) > 2 or not places:
        raise SpecError(
            f"the measure {name!r} takes the answer, or the answer and its Input; not {len(required)} arguments"
        )
    return measure if len(required) == 2 else lambda answer, asked: measure(answer)
