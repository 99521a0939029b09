"""The dry kind of a comparison: each run's prompts under each variant, worked out without asking a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from adknb.analysis.freshness import Ledger
from adknb.compare.dry import DryPrompt, compare_prompts
from adknb.compare.dry_system import with_prompt
from adknb.compare.inputs import Input
from adknb.compare.records import COUNTED_CHANNELS, StepRecord, TrialRecord, error_text, sent_pieces, step_name
from adknb.compare.trial import Arm
from adknb.compare.variants import Variant
from adknb.core.content import Content
from adknb.core.errors import AdknbError, SpecError
from adknb.core.events import Event
from adknb.core.protocols import ContextStrategy, History
from adknb.core.run import Run, StepRun
from adknb.core.specs import BaseAgent, LlmAgent
from adknb.rules.base import Rules
from adknb.rules.resolve import resolve_rules
from adknb.runtime.turns import fold
from adknb.tokens.channels import channels, pieces, sent_twice
from adknb.tokens.counter import default_counter

COUNTED: Final = "counted, not asked"


def check_dry(variants: Iterable[Variant]) -> None:
    """Raise `SpecError` for what changes answers and so cannot be worked out without asking."""
    for variant in variants:
        changes = [name for name in ("models", "rules", "off") if getattr(variant, name)]
        if changes:
            raise SpecError(
                f"variant {variant.name!r} changes {' and '.join(changes)}, which a dry comparison cannot work out: it "
                "compares strategies and prompts. Choose kind='run' or kind='paired'."
            )


def dry_records(runs: Sequence[Run], inputs: Sequence[Input], arms: Sequence[Arm]) -> Iterator[TrialRecord]:
    """A record for each run and variant. Its steps have prompts and counted tokens, and no answers."""
    for run, asked in zip(runs, inputs, strict=True):
        compared = compare_prompts(run, [_Named(arm.variant, arm.strategy) for arm in arms])
        writing = _Writing(run, resolve_rules(run.rules))
        for place, arm in enumerate(arms):
            own = groupby((writing.under(arm, prompts[place]) for prompts in compared.rows()), lambda each: each.step)
            steps = [_step_record(step, list(prompts), compared.counted_by, run.turn + 1) for step, prompts in own]
            error = next((step.error for step in steps if step.error), "")
            yield TrialRecord(arm.variant, asked.name, 0, tuple(steps), "", error, 0.0, f"{place} {asked.name}")


@dataclass(frozen=True, slots=True)
class _Named:
    """A strategy under its variant's name."""

    name: str
    strategy: ContextStrategy

    def contents(self, history: History) -> list[tuple[Content, Event | None]]:
        return self.strategy.contents(history)


class _Writing:
    """Puts a variant's prompts into the requests of one run."""

    def __init__(self, run: Run, rules: Rules) -> None:
        self._run = run
        self._rules = rules
        self._counter = default_counter()
        self._ledger = Ledger(run)

    def under(self, arm: Arm, prompt: DryPrompt) -> DryPrompt:
        """The prompt with the instruction that the variant gives its agent."""
        agent = prompt.step.agent
        changed = _counterpart(agent, self._run.root, arm.root)
        if prompt.request is None or not isinstance(agent, LlmAgent) or not isinstance(changed, LlmAgent):
            return prompt
        if changed.instruction == agent.instruction or not isinstance(changed.instruction, str):
            return prompt
        seen = prompt.step.requests[prompt.number - 1].seen
        state = fold(self._run.start_state, self._run.turn_events[:seen])
        request = prompt.request.copy()
        try:
            request.system = with_prompt(prompt.request, agent, self._run.root, changed.instruction, state, self._rules)
        except AdknbError as error:
            return replace(prompt, request=None, pieces=(), channels=channels((), self._counter.name), twice={},
                           is_as_sent=False, note=error_text(error))  # fmt: skip
        made_of = tuple(pieces(request, self._counter, self._ledger.earlier))
        return replace(
            prompt, request=request, pieces=made_of, channels=channels(made_of, self._counter.name),
            twice=sent_twice(made_of, self._ledger.writer(seen)), is_as_sent=False,
        )  # fmt: skip


def _counterpart(agent: BaseAgent, root: BaseAgent, other: BaseAgent) -> BaseAgent | None:
    """The agent of `other` that stands where `agent` does in `root`: cousins may share a name."""
    alike = [each for each in root.walk() if each.name == agent.name]
    there = [each for each in other.walk() if each.name == agent.name]
    return next((new for old, new in zip(alike, there, strict=False) if old is agent), None)


def _step_record(step: StepRun, prompts: Sequence[DryPrompt], counted_by: str, turn: int) -> StepRecord:
    twice: dict[str, int] = {}
    for prompt in prompts:
        for key, tokens in prompt.twice.items():
            twice[key] = twice.get(key, 0) + tokens
    config: dict[str, Any] = step.requests[-1].sent.config
    fails = next((prompt.note for prompt in prompts if prompt.request is None), "")
    tokens = sum(prompt.tokens for prompt in prompts)
    return StepRecord(
        step_name(step),
        step.agent.name,
        turn,
        "failed" if fails else COUNTED,
        requests=len(prompts),
        input_tokens=tokens,
        counted=tokens,
        counted_by=counted_by,
        channels={name: sum(getattr(prompt.channels, name) for prompt in prompts) for name in COUNTED_CHANNELS},
        twice=twice,
        model=step.requests[-1].sent.model,
        temperature=config.get("temperature"),
        seed=config.get("seed"),
        note="; ".join(dict.fromkeys(prompt.note for prompt in prompts if prompt.note)),
        error=fails,
        prompts=tuple(sent_pieces(prompt.pieces) for prompt in prompts),
    )
