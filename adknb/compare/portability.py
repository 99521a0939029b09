"""The same pipeline under the rules of several ADKs, with the same replies: where they part, and by which rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from adknb.compare.inputs import Input, as_inputs
from adknb.compare.rule_causes import Causes
from adknb.compare.rule_trials import ASPECTS, Place, Replies, Trial
from adknb.core.errors import AdknbError, NotSupported, SpecError, near_names
from adknb.core.protocols import Model
from adknb.core.run import Run
from adknb.core.specs import BaseAgent, LlmAgent
from adknb.core.views import Viewed, table
from adknb.rules.base import Rules
from adknb.rules.differences import Difference
from adknb.rules.resolve import resolve_rules
from adknb.runtime.runner import Runner

if TYPE_CHECKING:
    import pandas as pd

ADKS: Final = ("java", "go", "js")
_OUTCOMES: Final = frozenset({"step", "requests", "error", "answer", "state", "events"})
_PLURAL: Final = frozenset({"declarations", "requests", "events"})


class Looked(NamedTuple):
    """A step that ran under some rule set: the input's name, the turn from 1, the step's name."""

    input: str
    turn: int
    step: str


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that differs in a step: its `aspect` (one of `ASPECTS`) and the texts of it under both rule sets.

    `causes` are the rules behind it: each alone makes the difference, or a part of it; empty when they were not looked
    for, or when no single rule has a part in it.
    """

    aspect: str
    before: str
    after: str
    causes: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Deviation:
    """One step that another ADK does differently from the first; without a `step`, a turn as a whole.

    `changes` says what differs, in the order of `ASPECTS`. `tokens` are the step's input tokens, counted, under both.
    """

    input: str
    turn: int
    step: str
    rules: str
    changes: tuple[Change, ...]
    tokens: tuple[int, int]

    @property
    def aspect(self) -> str:
        """What differs first."""
        return self.changes[0].aspect

    @property
    def others(self) -> tuple[str, ...]:
        """What differs too."""
        return tuple(change.aspect for change in self.changes[1:])

    @property
    def causes(self) -> tuple[Difference, ...]:
        """The rules behind all of it, each once."""
        return tuple(dict.fromkeys(cause for change in self.changes for cause in change.causes))

    @property
    def sentence(self) -> str:
        """`go, DraftAgent: its history differs (contents: …)`."""
        first = self.changes[0]
        why = "; ".join(f"{cause.name}: {cause.sentence}" for cause in first.causes)
        what = f"its {first.aspect} {'differ' if first.aspect in _PLURAL else 'differs'}"
        if first.aspect == "step":
            what = f"it {first.after}"
        return f"{self.rules}, {self.step or 'the turn as a whole'}: {what}{f' ({why})' if why else ''}"


@dataclass(frozen=True, eq=False)
class Portability(Viewed):
    """What a pipeline does under each rule set, against the first. `steps` are those that ran under any.

    `explained` says whether the rules behind the differences were looked for by running with one of them at a time.
    `refused` holds the rule sets that do not take the pipeline at all, and why. `unsteady` are steps that differ from run to
    run under the first rule set alone, because a tool, callback or custom agent remembers something; what differs so is
    no deviation. They are looked for where the rules are.
    """

    pipeline: str
    rules: tuple[str, ...]
    inputs: tuple[Input, ...]
    steps: tuple[Looked, ...]
    deviations: tuple[Deviation, ...]
    explained: bool
    refused: Mapping[str, str]
    unsteady: tuple[Looked, ...] = ()

    @property
    def headline(self) -> str:
        """The first thing to know, in one sentence."""
        first, *others = self.rules
        same = [name for name in others if name not in self.refused and not self.of(name)]
        said = [f"the same under {' and '.join(same)} as under {first}"] if same else []
        for name in others:
            own = self.of(name)
            if own:
                where = f"first in the {own[0].aspect} of {own[0].step or 'a turn as a whole'}"
                steps = len({(each.input, each.turn, each.step) for each in own if each.step})
                count = f"in {steps} of {len(self.steps)} steps" if steps else "outside of the steps"
                said.append(f"{name} differs {count}, {where}")
            if name in self.refused:
                said.append(f"{name} refuses it: {self.refused[name]}")
        if self.unsteady:
            unsteady = dict.fromkeys(looked.step for looked in self.unsteady)
            said.append(f"under {first} alone {', '.join(unsteady)} differs from run to run")
        return f"{self.pipeline}: {'; '.join(said)}"

    def of(self, rules: str) -> list[Deviation]:
        """The deviations of one rule set. Raises `SpecError` for one that was not looked at."""
        if rules not in self.rules:
            raise SpecError(f"{rules!r} was not looked at.{near_names(rules, self.rules)}")
        return [deviation for deviation in self.deviations if deviation.rules == rules]

    def to_frame(self) -> pd.DataFrame:
        """One row a difference: `rules`, `input`, `turn`, `step`, `aspect`, `before`, `after`, `tokens_before`,
        `tokens_after`, `rule` and `sentence` (of several causes, one a line)."""
        return table(self, "portability")


def portability(
    root: BaseAgent,
    inputs: Any,
    *,
    rules: Sequence[str | Rules] = ADKS,
    model: Model | str | None = None,
    models: Mapping[str, Model | str] | Model | str | None = None,
    state: Mapping[str, Any] | None = None,
    strategy: Any = None,
    explain: bool | None = None,
    resolve: Callable[[Any], Model] | None = None,
) -> Portability:
    """Run `root` under each rule set and say where the others part from the first one.

    `inputs` are messages or conversations (see `as_inputs`), or a Run or list of Runs, whose replies are then used.
    Otherwise the models are asked once, under the first rule set; the others get the same replies, agent by agent and in
    order. Tools and callbacks run under each. `strategy` is the context strategy, that of the Runs when left out;
    `resolve` is as in `Runner`. With `explain` the rules behind each difference are found by running the pipeline once
    more for each rule; None does so where there are no tools, which would run again.

    Raises what the first rule set raises when it refuses the pipeline, or when no model can be asked, and `SpecError` for
    fewer than two rule sets.
    """
    sets = [resolve_rules(each) for each in ([rules] if isinstance(rules, (str, Rules)) else rules)]
    names = tuple(each.name for each in sets)
    if len(set(names)) < max(2, len(sets)):
        raise SpecError(f"rules takes two or more different rule sets, such as {list(ADKS)}; not {list(names)}")
    has_tools = any(isinstance(agent, LlmAgent) and agent.tools for agent in root.walk())
    explains = explain if explain is not None else not has_tools
    asked, recorded = _recorded(inputs, state)
    first, *others = sets
    looked: dict[Looked, None] = {}
    deviations: list[Deviation] = []
    refused: dict[str, str] = {}
    unsteady: dict[Looked, None] = {}
    for each, runs in zip(asked, recorded, strict=True):
        chosen = strategy if strategy is not None else runs[0].strategy if runs else "as_written"
        if runs:
            base = Replies(root, runs, chosen).trial(each, first)
        else:
            runner = Runner(root, rules=first, model=model, models=models, strategy=chosen, resolve=resolve)
            base = _asked(runner, each)
        replies = Replies(root, runs or base.runs, chosen)
        again = replies.trial(each, first) if explains else base
        for place in base.steps:
            if _differing(base, again, place):
                unsteady[Looked(each.name, place[0] + 1, _name(place, base))] = None
        for other in others:
            try:
                there = replies.trial(each, other)
            except AdknbError as error:
                refused[other.name] = str(error)
                continue
            looked.update(
                dict.fromkeys(
                    Looked(each.name, place[0] + 1, _name(place, base, there)) for place in _places(base, there)
                )
            )
            causes = Causes(root, each, replies, first, other) if explains else None
            deviations += _deviations(each, (base, again), there, other.name, causes)
        looked.update(dict.fromkeys(Looked(each.name, place[0] + 1, _name(place, base)) for place in base.steps))
    return Portability(root.name, names, asked, tuple(looked), tuple(deviations), explains, refused, tuple(unsteady))


def _asked(runner: Runner, asked: Input) -> Trial:
    """The input with real models. Raises what no ADK has part in: that there is no model, or that a state is no JSON."""
    trial = Trial(runner, asked)
    if (
        trial.error is not None
        and trial.error.adk_type is None
        and not Replies(runner.root, trial.runs, runner.strategy)
    ):
        raise trial.error
    return trial


def _places(*trials: Trial) -> list[Place]:
    return list(dict.fromkeys(place for trial in trials for place in trial.steps))


def _name(place: Place, *trials: Trial) -> str:
    """`DraftAgent`, or `DraftAgent#1` where it ran more than once under either rule set."""
    turn, agent, number = place
    return f"{agent}#{number}" if any((turn, agent, 2) in trial.steps for trial in trials) else agent


def _deviations(
    asked: Input, bases: tuple[Trial, Trial], there: Trial, rules: str, causes: Causes | None
) -> list[Deviation]:
    """`bases` are the first rule set's trial, and the same once more."""
    base, _ = bases
    found = []
    for place in _places(base, there):
        changes = _changes(place, bases, there, causes)
        if changes:
            tokens = (base.tokens(place), there.tokens(place))
            found.append(Deviation(asked.name, place[0] + 1, _name(place, base, there), rules, changes, tokens))
    if any(change.aspect in _OUTCOMES for deviation in found for change in deviation.changes):
        return found  # what a turn leaves differs by what its steps do
    for turn in range(max(len(base.runs), len(there.runs), 1)):
        changes = _changes((turn, "", 0), bases, there, causes)
        if changes:
            found.append(Deviation(asked.name, turn + 1, "", rules, changes, (0, 0)))
    return found


def _changes(place: Place, bases: tuple[Trial, Trial], there: Trial, causes: Causes | None) -> tuple[Change, ...]:
    base, again = bases
    unsteady = _differing(base, again, place)
    if "step" in unsteady:
        return ()
    requests = min(base.requests(place), there.requests(place))
    one, other = base.aspects(place, requests), there.aspects(place, requests)
    return tuple(
        Change(
            aspect, one.get(aspect, ""), other.get(aspect, ""),
            tuple(causes.of(place, aspect, one.get(aspect), other.get(aspect), requests)) if causes is not None else (),
        )
        for aspect in _differing(base, there, place)
        if aspect not in unsteady
    )  # fmt: skip


def _differing(base: Trial, there: Trial, place: Place) -> list[str]:
    """The aspects of a step in which two trials differ; that it ran at all stands for all others."""
    if base is there:
        return []
    requests = min(base.requests(place), there.requests(place))
    one, other = base.aspects(place, requests), there.aspects(place, requests)
    if one.get("step") != other.get("step"):
        return ["step"]
    return [aspect for aspect in ASPECTS if one.get(aspect) != other.get(aspect)]


def _recorded(inputs: Any, state: Mapping[str, Any] | None) -> tuple[tuple[Input, ...], list[list[Run]]]:
    """The inputs, and for each the runs whose replies it has, one a turn; none for an input that is to be run."""
    listed = [inputs] if isinstance(inputs, Run) else inputs
    if not (isinstance(listed, (list, tuple)) and listed and all(isinstance(each, Run) for each in listed)):
        found = as_inputs(inputs, state=state)
        return found, [[] for _ in found]
    conversations = [_turns(run) for run in listed]
    asked = [
        Input(tuple(map(_message, runs)), {**runs[0].start_state, **(state or {})}, None, str(place))
        for place, runs in enumerate(conversations, 1)
    ]
    return tuple(asked), conversations


def _turns(run: Run) -> list[Run]:
    """The run after those of the turns before it."""
    runs, turn = [run], run.previous
    while turn is not None:
        runs.append(turn.run)
        turn = turn.previous
    return runs[::-1]


def _message(run: Run) -> str:
    """Raises `NotSupported` for a turn that is no text, such as one that answers a long-running call, and for one that waits."""
    if run.status == "waiting":
        raise NotSupported(
            f"turn {run.turn + 1} of run {run.id} waits at a long-running call, as ADK Java's resumable mode alone does by what "
            "is recorded; portability repeats turns in ordinary mode. Run the pipeline without resumable first."
        )
    if any(part.text is None for part in run.message.parts):
        raise NotSupported(
            f"turn {run.turn + 1} of run {run.id} answers a tool's call; portability repeats turns of text alone. Take a "
            "run before it."
        )
    return run.message.text
