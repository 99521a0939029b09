"""What the explorer works out of one run, once for all of its panes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from adknb.analysis.accounts import Account, accounts
from adknb.analysis.freshness import Ledger
from adknb.compare.dry import PromptComparison, compare_prompts
from adknb.core.run import Run, StepRun
from adknb.core.state import apply_delta
from adknb.runtime.strategies import NAMES
from adknb.tables.events import event_rows, stale_text
from adknb.tables.frame import Row
from adknb.tokens.counter import default_counter

AS_SENT: Final = "as sent"
"""The strategy switch's first place: the prompts as the run sent them."""
STRATEGIES: Final = (AS_SENT, *NAMES)


class Reading:
    """A run as it stands. One that goes on is read anew for each look."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._costs: dict[int, list[Account]] = {}
        self._dry: dict[tuple[int, str], PromptComparison] = {}

    @cached_property
    def ledger(self) -> Ledger:
        return Ledger(self.run)

    def costs(self, step: StepRun) -> list[Account]:
        """What each request of the step cost. Worked out step by step: of a long run only a part is ever looked at."""
        if id(step) not in self._costs:
            self._costs[id(step)] = accounts(self.ledger, default_counter(), [step])
        return self._costs[id(step)]

    def stale(self, step: StepRun) -> str:
        """What the step read from earlier turns: `triage: turn 1`."""
        return stale_text(self.ledger.stale_reads(step))

    @cached_property
    def events(self) -> list[Row]:
        """One row an event (see `Run.events`)."""
        return event_rows(self.ledger)

    def step(self, name: str) -> StepRun | None:
        """The step of this name, or the last execution of the agent of this name; None when it has not run."""
        found = [step for step in self.run.step_runs if name in (step.name, step.agent.name)]
        return found[-1] if found else None

    def state_around(self, step: StepRun) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The state before the step's first event and after its last one. What steps beside it in a parallel wrote
        meanwhile is in the second."""
        before = dict(self.run.start_state)
        for event in self.run.turn_events[: step.start]:
            apply_delta(before, event.actions.state_delta)
        after = dict(before)
        stop = step.stop if step.status != "running" else len(self.run.turn_events)
        for event in self.run.turn_events[step.start : stop]:
            apply_delta(after, event.actions.state_delta)
        return before, after

    def dry(self, step: StepRun, strategy: str) -> PromptComparison:
        """The step's prompts under the run's own strategy and under another, no model asked."""
        if (id(step), strategy) not in self._dry:
            own = self.run.strategy if self.run.strategy in NAMES else NAMES[0]
            wanted: Sequence[str] = tuple(dict.fromkeys((own, strategy)))
            alone = replace(self.run, step_runs=[step])  # of a long run all prompts together take seconds
            self._dry[id(step), strategy] = compare_prompts(alone, wanted)
        return self._dry[id(step), strategy]
