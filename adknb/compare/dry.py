"""Every prompt of a run under other context strategies, worked out from the run's events: no model is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from adknb.analysis.freshness import Ledger
from adknb.core.errors import AdknbError, RunStateError, SpecError, near_names
from adknb.core.events import USER, Event
from adknb.core.protocols import ContextStrategy, TokenCounter
from adknb.core.requests import LlmRequest, Request
from adknb.core.run import Run, StepRun
from adknb.core.specs import LlmAgent
from adknb.core.views import Viewed, table
from adknb.rules.base import Rules
from adknb.rules.resolve import resolve_rules
from adknb.runtime.strategies import AgentHistory, as_strategy
from adknb.tokens.channels import Channels, Cutter, Piece, channels, sent_twice
from adknb.tokens.counter import default_counter

if TYPE_CHECKING:
    import pandas as pd

DRY: Final = ("default", "none")
USER_MESSAGE: Final = "the user's message"
EDITED: Final = "a before_model_callback changed the contents that were sent; it is not called here"
SHOWN: Final = 5
"""Names in a sentence, before the rest is counted."""


@dataclass(frozen=True, slots=True, eq=False)
class DryPrompt:
    """One request of a step as it would be sent under one strategy.

    `request` is the exact prompt, None when the real ADK fails to build it (`note` says how). `number` counts the
    step's requests from 1. `twice` holds the tokens of each inserted value that the contents carry again, by key.
    `left_out` says in words which events the first strategy includes and this one does not. `is_as_sent` tells whether
    the run sent exactly this.
    """

    step: StepRun
    number: int
    strategy: str
    request: LlmRequest | None
    pieces: tuple[Piece, ...]
    channels: Channels
    twice: Mapping[str, int]
    left_out: tuple[str, ...]
    is_as_sent: bool
    note: str = ""

    @property
    def tokens(self) -> int:
        """The prompt's tokens as counted, whatever a model reported: all strategies are measured alike."""
        return self.channels.counted

    def saves(self, other: DryPrompt) -> int:
        """How many tokens fewer than `other` it has. Nothing where one of both cannot be built."""
        return other.tokens - self.tokens if self.request is not None and other.request is not None else 0

    @property
    def title(self) -> str:
        """`DraftAgent`, or `DraftAgent, request 2`."""
        return self.step.name if len(self.step.requests) == 1 else f"{self.step.name}, request {self.number}"


@dataclass(frozen=True, slots=True, eq=False)
class PromptComparison(Viewed):
    """The prompts of a run, one `DryPrompt` for each request and strategy. The first strategy is what the others are
    measured against."""

    run: Run
    strategies: tuple[str, ...]
    prompts: tuple[DryPrompt, ...]
    counted_by: str

    def prompt(self, step: str, strategy: str, request: int = 1) -> DryPrompt:
        """The step's `request`-th prompt (from 1) under a strategy. Raises `RunStateError` when there is none."""
        found = self.run.step(step)
        for prompt in self.prompts:
            if prompt.step is found and prompt.number == request and prompt.strategy == strategy.lower():
                return prompt
        if strategy.lower() not in self.strategies:
            raise RunStateError(f"{strategy!r} was not compared.{near_names(strategy.lower(), self.strategies)}")
        raise RunStateError(f"step {found.name} has no request {request}; it made {len(found.requests)}.")

    def rows(self) -> list[tuple[DryPrompt, ...]]:
        """The prompts of each request side by side, in the order of `strategies`."""
        width = len(self.strategies)
        return [self.prompts[start : start + width] for start in range(0, len(self.prompts), width)]

    def tokens(self, strategy: str, step: StepRun | None = None) -> int:
        """All tokens of the run's prompts, or of one step's, under a strategy."""
        return sum(
            prompt.tokens for prompt in self.prompts if prompt.strategy == strategy and step in (None, prompt.step)
        )

    def saved(self, strategy: str, step: StepRun | None = None) -> int:
        """How many tokens fewer the prompts are than under the first strategy."""
        place = self.strategies.index(strategy)
        return sum(prompts[place].saves(prompts[0]) for prompts in self.rows() if step in (None, prompts[0].step))

    def twice(self, strategy: str, step: StepRun) -> dict[str, int]:
        """The tokens that a step is sent twice under a strategy, by key, over all its requests."""
        sums: dict[str, int] = {}
        for prompt in self.prompts:
            if prompt.step is step and prompt.strategy == strategy:
                for key, tokens in prompt.twice.items():
                    sums[key] = sums.get(key, 0) + tokens
        return sums

    @property
    def headline(self) -> str:
        """The first thing to know, in one sentence: where most is sent twice, and what another strategy saves there."""
        steps = list(dict.fromkeys(prompt.step for prompt in self.prompts))
        if not steps:
            return "No step of this run asked a model, so there is no prompt to compare."
        first = self.strategies[0]
        most = max(steps, key=lambda step: sum(self.twice(first, step).values()))
        twice = self.twice(first, most)
        if not twice:
            return f"No step {self._is_sent()} a state value twice; {self._savings(None)}."
        values = "the value of" if len(twice) == 1 else "the values of"
        cost = _tokens(sum(twice.values()))
        return f"{most.name} {self._is_sent()} {values} {_listed(list(twice))} twice ({cost}); {self._savings(most)}."

    @property
    def remarks(self) -> list[str]:
        """What else to know: the whole run's saving, what other strategies lose and still send twice, what fails."""
        said = []
        if len(self.strategies) > 1 and len({prompt.step for prompt in self.prompts}) > 1:
            said.append(f"Over all steps {self._savings(None)}.")
        for strategy in self.strategies[1:]:
            own = [prompt for prompt in self.prompts if prompt.strategy == strategy]
            losers = [prompt.title for prompt in own if USER_MESSAGE in prompt.left_out]
            if losers:
                said.append(f"Under {shown(strategy)} {USER_MESSAGE} does not reach {_listed(losers)}.")
            twice = [f"{_listed(list(prompt.twice))} to {prompt.title}" for prompt in own if prompt.twice]
            if twice:
                said.append(f"{shown(strategy)} still sends twice: {_listed(twice)}.")
        notes = [f"{prompt.title}, {shown(prompt.strategy)}: {prompt.note}." for prompt in self.prompts if prompt.note]
        return said + notes

    def to_frame(self) -> pd.DataFrame:
        """One row a request and strategy: tokens by channel, sent twice, saved, and what is left out."""
        return table(self, "prompts")

    def _is_sent(self) -> str:
        first = self.strategies[0]
        sent = all(prompt.is_as_sent for prompt in self.prompts if prompt.strategy == first)
        return "is sent" if sent else f"would be sent, under {shown(first)},"

    def _savings(self, step: StepRun | None) -> str:
        """`NONE would save 61 of 240 tokens (25 %)`."""
        whole = self.tokens(self.strategies[0], step)
        said = []
        for strategy in self.strategies[1:]:
            saved = self.saved(strategy, step)
            change = f"save {saved:,} of" if saved >= 0 else f"add {-saved:,} to"
            said.append(f"{shown(strategy)} would {change} {_tokens(whole)} ({percent(abs(saved), whole):.0f} %)")
        return ", ".join(said) or f"the prompts are {_tokens(whole)} in all"


def compare_prompts(
    run: Run,
    strategies: Sequence[Any] = DRY,
    *,
    rules: str | Rules | None = None,
    counter: TokenCounter | None = None,
) -> PromptComparison:
    """What each step of `run` would be sent under each strategy, from the events that it had when it was asked.

    No model is asked, so every reply is the run's own: what a model would have said to another prompt is not known.
    The system instruction, tools and config are the sent request's own. A before_model_callback is not called: its
    edits stand in the prompts that equal what was sent, and a note says so at the others. `strategies` are names,
    `IncludeContents`, maps per agent or `ContextStrategy` objects; `rules` is needed only for a rule set of your own.
    """
    chosen = [as_strategy(strategy) for strategy in strategies]
    names = [strategy.name for strategy in chosen]
    if not names or len(set(names)) < len(names):
        raise SpecError(f"strategies to compare need different names, at least one; there are {names}")
    counter = counter or default_counter()
    work = _Work(run, resolve_rules(rules if rules is not None else run.rules), counter)
    prompts: list[DryPrompt] = []
    for step in run.step_runs:
        for number, request in enumerate(step.requests, 1):
            base: LlmRequest | None = None
            for position, strategy in enumerate(chosen):
                prompts.append(work.prompt(step, number, request, strategy, base))
                if position == 0:
                    base = prompts[-1].request
    return PromptComparison(run, tuple(names), tuple(prompts), counter.name)


class _Work:
    """What one comparison needs again and again."""

    def __init__(self, run: Run, rules: Rules, counter: TokenCounter) -> None:
        self._run = run
        self._rules = rules
        self._counted_by = counter.name
        self._past = run.past
        self._ledger = Ledger(run)
        self._cutter = Cutter(counter, self._ledger.earlier)
        self._descriptions: dict[str, str] = {}

    def prompt(
        self, step: StepRun, number: int, request: Request, strategy: ContextStrategy, base: LlmRequest | None
    ) -> DryPrompt:
        try:
            dry, note = self._request(step, request, strategy)
        except AdknbError as error:
            note = f"ADK fails to build this request: {error.adk_message or error}"
            return DryPrompt(step, number, strategy.name, None, (), channels((), self._counted_by), {}, (), False, note)
        made_of = self._cutter.pieces(dry)
        return DryPrompt(
            step, number, strategy.name, dry, tuple(made_of), channels(made_of, self._counted_by),
            sent_twice(made_of, self._ledger.writer(request.seen)),
            self._left_out(request, base, dry) if base is not None else (), dry is request.sent, note,
        )  # fmt: skip

    def _request(self, step: StepRun, request: Request, strategy: ContextStrategy) -> tuple[LlmRequest, str]:
        """The request under a strategy, the sent one itself where it is equal, and what must be said of it."""
        agent, sent = step.agent, request.sent
        assert isinstance(agent, LlmAgent)
        dry = self._built(step, agent, request, strategy)
        if dry.contents == sent.contents:
            return sent, ""
        sent_by = self._strategy_of(request) if agent.before_model_callback else None
        if sent_by is None:
            return dry, ""
        before_callback = self._built(step, agent, request, sent_by)
        if dry.contents == before_callback.contents:
            return sent, ""
        return dry, EDITED if before_callback.contents != sent.contents else ""

    def _built(self, step: StepRun, agent: LlmAgent, request: Request, strategy: ContextStrategy) -> LlmRequest:
        sent = request.sent
        events = [*self._past, *self._run.turn_events[: request.seen]]
        pairs = strategy.contents(AgentHistory(self._rules, agent, sent.model, step.branch, events))
        dry = sent.copy()
        dry.contents = [content for content, _ in pairs]
        dry.sources = [event for _, event in pairs]
        return dry

    def _strategy_of(self, request: Request) -> ContextStrategy | None:
        """The strategy of the first run that has the request; None when it is known by its name alone."""
        run = self._run
        while run.parent is not None and any(request in step.requests for step in run.parent.step_runs):
            run = run.parent
        try:
            return as_strategy(run.strategy)
        except SpecError:
            return None

    def _left_out(self, request: Request, base: LlmRequest, dry: LlmRequest) -> tuple[str, ...]:
        kept = {event.id for event in dry.sources if event is not None}
        lost = {
            event.id: self._described(event) for event in base.sources if event is not None and event.id not in kept
        }
        writer = self._ledger.writer(request.seen)
        for segment in dry.system:
            event = writer(segment.key) if segment.origin == "state" and segment.key is not None else None
            if event is not None and event.id in lost and event.author != USER:
                lost[event.id] = f"{self._described(event)} (inserted as {segment.key})"
        return tuple(lost.values())

    def _described(self, event: Event) -> str:
        """Who said what: a thousand events are left out again and again, so each is described once."""
        if event.id not in self._descriptions:
            self._descriptions[event.id] = _description(event, event.id in self._ledger.earlier)
        return self._descriptions[event.id]


def _description(event: Event, is_past: bool) -> str:
    if event.author == USER:
        return "an earlier message" if is_past else USER_MESSAGE
    what = "tool call" if event.function_calls else "tool response" if event.function_responses else "reply"
    return f"{event.author}'s {'earlier ' if is_past else ''}{what}"


def shown(strategy: str) -> str:
    """A strategy's name as ADK writes it: DEFAULT, NONE; another's own."""
    return strategy.upper() if strategy in DRY else strategy


def percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _tokens(number: int) -> str:
    return f"{number:,} token{'' if number == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > SHOWN + 1:
        names = [*names[:SHOWN], f"{len(names) - SHOWN} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
