"""The same pipeline under the rules of several ADKs, with the same replies: where they part, and by which rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from adknb.compare.inputs import Input, as_inputs
from adknb.core.content import Content
from adknb.core.errors import AdknbError, SpecError, near_names
from adknb.core.events import Event
from adknb.core.protocols import Model
from adknb.core.requests import LlmResponse
from adknb.core.run import Run, StepRun
from adknb.core.specs import BaseAgent, LlmAgent
from adknb.core.views import Viewed, table
from adknb.models.scripted import ScriptedModel
from adknb.rules.base import Rules
from adknb.rules.differences import DIFFERENCES, Difference
from adknb.rules.mixed import with_rule
from adknb.rules.resolve import resolve_rules
from adknb.runtime.runner import Runner
from adknb.tokens.channels import canonical_json, part_text, pieces
from adknb.tokens.counter import default_counter

if TYPE_CHECKING:
    import pandas as pd

ADKS: Final = ("java", "go", "js")
ASPECTS: Final = (
    "step", "system instruction", "history", "declarations", "config", "requests", "error", "answer", "state", "events"
)  # fmt: skip
"""What is looked at in each step, in the order in which a difference shows."""
NOT_RUN: Final = "did not run"

Place: TypeAlias = tuple[int, str, int]
"""A step's turn, agent and number."""
Aspects: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Deviation:
    """One step (empty: the whole run) that another ADK does differently from the first.

    `aspect` is the first of `ASPECTS` that differs, `others` names the further ones; `before` and `after` are its texts
    under the first rule set and under `rules`. `tokens` are the step's input tokens, counted, under both. `causes` are the
    rules behind it: each alone makes the difference, or a part of it.
    """

    input: str
    turn: int
    step: str
    rules: str
    aspect: str
    others: tuple[str, ...]
    before: str
    after: str
    tokens: tuple[int, int]
    causes: tuple[Difference, ...]

    @property
    def sentence(self) -> str:
        """`go, DraftAgent: its history differs (contents: …)`."""
        where = self.step or "the whole run"
        why = "; ".join(f"{cause.name}: {cause.sentence}" for cause in self.causes)
        return f"{self.rules}, {where}: its {self.aspect} differs{f' ({why})' if why else ''}"


@dataclass(frozen=True, eq=False)
class Portability(Viewed):
    """What a pipeline does under each rule set, against the first. `steps` counts the steps that were looked at.

    `explained` says whether the rules behind the differences were looked for by running with one of them at a time.
    """

    pipeline: str
    rules: tuple[str, ...]
    inputs: tuple[Input, ...]
    steps: int
    deviations: tuple[Deviation, ...]
    explained: bool
    refused: Mapping[str, str]
    """Rule sets that do not take the pipeline at all, and why."""

    @property
    def headline(self) -> str:
        """The first thing to know, in one sentence."""
        first, *others = self.rules
        same = [
            name for name in others if name not in self.refused and not any(d.rules == name for d in self.deviations)
        ]
        said = [f"the same under {' and '.join(same)} as under {first}"] if same else []
        for name in others:
            own = self.of(name)
            if own:
                where = f"first in {own[0].step or 'the run'}'s {own[0].aspect}"
                said.append(f"{name} differs in {len(own)} of {self.steps} steps, {where}")
            if name in self.refused:
                said.append(f"{name} refuses it: {self.refused[name]}")
        return f"{self.pipeline}: {'; '.join(said) or 'nothing to hold it against'}."

    def of(self, rules: str) -> list[Deviation]:
        """The deviations of one rule set."""
        if rules not in self.rules:
            raise SpecError(f"{rules!r} was not looked at.{near_names(rules, self.rules)}")
        return [deviation for deviation in self.deviations if deviation.rules == rules]

    def to_frame(self) -> pd.DataFrame:
        """One row a deviation: input, step, rules, what differs first and else, both texts, tokens, rule and sentence."""
        return table(self, "portability")


def portability(
    root: BaseAgent,
    inputs: Any,
    *,
    rules: Sequence[str | Rules] = ADKS,
    model: Model | str | None = None,
    models: Mapping[str, Model | str] | Model | str | None = None,
    state: Mapping[str, Any] | None = None,
    explain: bool | None = None,
) -> Portability:
    """Run `root` under each rule set and say where the others part from the first one.

    `inputs` are messages or conversations (see `as_inputs`), or a Run, whose replies are then used. Otherwise the model
    is asked once, under the first rule set; the others get the same replies, agent by agent and in order. Tools and
    callbacks run under each. With `explain` the rules behind each difference are found by running the pipeline once more
    for each rule; None does so where there are no tools to run again. Raises what the first rule set raises.
    """
    sets = [resolve_rules(each) for each in rules]
    if len({each.name for each in sets}) < max(2, len(sets)):
        raise SpecError(f"rules takes two or more different rule sets, such as {list(ADKS)}; not {list(rules)}")
    has_tools = any(isinstance(agent, LlmAgent) and agent.tools for agent in root.walk())
    explains = explain if explain is not None else not has_tools
    asked, recorded = _recorded(inputs, state)
    first, *others = sets
    deviations: list[Deviation] = []
    refused: dict[str, str] = {}
    steps = 0
    for each, run in zip(asked, recorded, strict=True):
        if run is not None:
            base = _again(root, each, first, _Trial([run], None).replies)
        else:
            base = _Trial.of(Runner(root, rules=first, model=model, models=models), each)
        if base.error is not None and not base.replies:
            raise base.error
        steps += len(base.steps)
        for other in others:
            try:
                there = _again(root, each, other, base.replies)
            except AdknbError as error:
                refused[other.name] = str(error)
                continue
            deviations += _deviations(root, each, base, there, _Sets(first, other, explains))
    return Portability(root.name, tuple(each.name for each in sets), asked, steps, tuple(deviations), explains, refused)


class _Trial:
    """One input under one rule set: its runs by turn, and the error that ended it."""

    def __init__(self, runs: list[Run], error: AdknbError | None) -> None:
        self.runs = runs
        self.error = error
        self.steps: dict[Place, StepRun] = {
            (run.turn, step.agent.name, step.number): step for run in runs for step in run.step_runs
        }

    @classmethod
    def of(cls, runner: Runner, asked: Input) -> _Trial:
        runs: list[Run] = []
        for message in asked.messages:
            session, state = (runs[-1].session, None) if runs else (None, asked.state)
            try:
                runs.append(runner.run(message, session=session, state=state))
            except AdknbError as error:
                return cls([*runs, error.run] if error.run is not None else runs, error)
        return cls(runs, None)

    @property
    def replies(self) -> dict[str, list[LlmResponse]]:
        """What the models answered, by agent, in order."""
        found: dict[str, list[LlmResponse]] = {}
        for run in self.runs:
            for step in run.step_runs:
                for request in step.requests:
                    if request.reply is not None:
                        found.setdefault(step.agent.name, []).append(request.reply)
        return found


def _again(root: BaseAgent, asked: Input, rules: Rules, replies: Mapping[str, list[LlmResponse]]) -> _Trial:
    """The input with these replies. Raises `AdknbError` when the rules refuse the pipeline."""
    models: dict[str, Model] = {}
    for agent in root.walk():
        if isinstance(agent, LlmAgent):
            name = agent.model if isinstance(agent.model, str) else getattr(agent.model, "name", "scripted")
            models[agent.name] = ScriptedModel({agent.name: replies.get(agent.name, [])}, name)
    return _Trial.of(Runner(root, rules=rules, models=models), asked)


def _deviations(root: BaseAgent, asked: Input, base: _Trial, there: _Trial, sets: _Sets) -> list[Deviation]:
    found = []
    for place in dict.fromkeys([*base.steps, *there.steps]):
        one, other = _aspects(base.steps.get(place)), _aspects(there.steps.get(place))
        differing = [aspect for aspect in ASPECTS if one.get(aspect) != other.get(aspect)]
        if not differing:
            continue
        first, *others = differing
        tokens = tuple(_tokens(trial.steps.get(place)) for trial in (base, there))
        turn, name, number = place
        step = f"{name}#{number}" if number > 1 or (turn, name, 2) in base.steps else name
        causes = sets.causes(root, asked, base, place, first, one, other)
        found.append(
            Deviation(
                asked.name, turn + 1, step, sets.other.name, first, tuple(others), one.get(first, NOT_RUN),
                other.get(first, NOT_RUN), (tokens[0], tokens[1]), causes,
            )
        )  # fmt: skip
    before, after = _ending(base), _ending(there)
    if before != after and not found:
        found.append(Deviation(asked.name, len(base.runs), "", sets.other.name, "error", (), before, after, (0, 0), ()))
    return found


@dataclass(frozen=True, slots=True)
class _Sets:
    """The first rule set and another, and whether the rules between them are to be tried one by one."""

    first: Rules
    other: Rules
    explains: bool

    def causes(
        self, root: BaseAgent, asked: Input, base: _Trial, place: Place, aspect: str, one: Aspects, other: Aspects
    ) -> tuple[Difference, ...]:
        """The rules of which each alone brings `aspect` from `one` to `other`; else those that change it at all."""
        if not self.explains:
            return ()
        whole: list[Difference] = []
        parts: list[Difference] = []
        for difference, trial in self._tried(root, asked, base):
            changed = _aspects(trial.steps.get(place)).get(aspect)
            if changed == other.get(aspect):
                whole.append(difference)
            elif changed != one.get(aspect):
                parts.append(difference)
        return tuple(whole or parts)

    def _tried(self, root: BaseAgent, asked: Input, base: _Trial) -> Iterator[tuple[Difference, _Trial]]:
        """The pipeline with one rule of the other set at a time."""
        tried: dict[str, _Trial | None] = {}
        for difference in DIFFERENCES:
            name = difference.name
            if getattr(type(self.first), name) is getattr(type(self.other), name):
                continue
            if name not in tried:
                try:
                    tried[name] = _again(root, asked, with_rule(self.first, self.other, name), base.replies)
                except AdknbError:  # with this one rule the pipeline is refused before it begins
                    tried[name] = None
            trial = tried[name]
            if trial is not None:
                yield difference, trial


def _aspects(step: StepRun | None) -> Aspects:
    """A step as texts, by what is looked at; empty when it did not run."""
    if step is None:
        return {}
    sent = [request.sent for request in step.requests]
    return {
        "step": "ran",
        "system instruction": _joined(request.system_instruction or "" for request in sent),
        "history": _joined(_contents(request.contents) for request in sent),
        "declarations": _joined(canonical_json(list(request.tools.values())) for request in sent),
        "config": _joined(canonical_json(request.config) for request in sent),
        "requests": f"{len(sent)} requests",
        "error": _error(step.error),
        "answer": step.output,
        "state": "\n".join(f"{key} = {value!r}" for key, value in step.state_delta.items()),
        "events": "\n".join(_event(event) for event in step.events),
    }


def _contents(contents: Iterable[Content]) -> str:
    return "\n".join(f"{content.role}: {_texts(content)}" for content in contents)


def _texts(content: Content | None) -> str:
    return " | ".join(part_text(part) for part in content.parts) if content is not None else "no content"


def _event(event: Event) -> str:
    return f"{_texts(event.content)}{' (final)' if event.is_final_response() else ''}"


def _joined(texts: Iterable[str]) -> str:
    """Texts of several requests, one after another."""
    return "\n---\n".join(texts)


def _ending(trial: _Trial) -> str:
    return _error(trial.error) or "no error"


def _error(error: BaseException | None) -> str:
    """An error as the ADK says it, else as we do; the same error of another ADK has other words."""
    if error is None:
        return ""
    if isinstance(error, AdknbError) and error.adk_type is not None:
        return f"{error.adk_type}: {error.adk_message}"
    return f"{type(error).__name__}: {error}"


def _tokens(step: StepRun | None) -> int:
    counter = default_counter()
    requests = step.requests if step is not None else []
    return sum(piece.tokens for request in requests for piece in pieces(request.sent, counter))


def _recorded(inputs: Any, state: Mapping[str, Any] | None) -> tuple[tuple[Input, ...], list[Run | None]]:
    """The inputs, and for each the Run whose replies it has, if it is one."""
    listed = [inputs] if isinstance(inputs, Run) else inputs
    if isinstance(listed, (list, tuple)) and listed and all(isinstance(each, Run) for each in listed):
        asked = [
            Input((run.message.text,), {**run.start_state, **(state or {})}, None, str(place))
            for place, run in enumerate(listed, 1)
        ]
        return tuple(asked), list(listed)
    found = as_inputs(inputs, state=state)
    return found, [None] * len(found)
