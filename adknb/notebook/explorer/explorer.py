"""`Explorer`: what one open explorer looks at, and what it does with it. The bench does the work and holds the truth."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from adknb.core.errors import AdknbError, RunStateError, SpecError, near_names
from adknb.core.run import Run, StepRun
from adknb.core.specs import BaseAgent
from adknb.core.views import Viewed
from adknb.notebook.bench import Bench
from adknb.notebook.cards.waiting import waiting_lines
from adknb.notebook.explorer.drafts import DraftLint, cell_text, instruction_of, read_draft
from adknb.notebook.explorer.reading import AS_SENT, STRATEGIES, Reading
from adknb.notebook.explorer.strip import Strip, strip
from adknb.notebook.outline import given_keys
from adknb.notebook.records import Record, TurnRequest
from adknb.notebook.results import RunDiff

TABS: Final = ("Prompt", "Reply", "State", "Events", "Tokens", "Raw", "Runs")
EVENTS_ON_A_PAGE: Final = 25
CALLS: Final = 5
"""Waiting calls that are told above the steps."""
UNFINISHED: Final = ("paused", "failed", "interrupted")


class Explorer(Viewed):
    """One open explorer.

    `pipeline` names what it looks at, `run` is the run shown (None before the first), `selected` a step's name or that of an
    agent that has not run. `drafts` are edited prompts by agent, `strategy` the switch (`as sent`, or a strategy whose prompts
    are worked out dry), `request` numbers the step's requests from 1, `page` those of a long list from 0. `compared` holds
    two runs, `cell` the text of the `%%agent` cell of the edit accepted last, `notice` what was done last.

    Operations raise `AdknbError`, like the bench's own.
    """

    def __init__(self, bench: Bench, pipeline: str, run: Run | None = None) -> None:
        self.bench = bench
        self.pipeline = pipeline
        self.run = run
        self.selected = ""
        self.tab = TABS[0]
        self.request = 1
        self.page = 0
        self.drafts: dict[str, str] = {}
        self.strategy = AS_SENT
        self.compared: tuple[Run, Run] | None = None
        self.cell = ""
        self.notice = ""
        self.cancel_run: Callable[[], object] | None = None
        """Ends the run under way, from any thread; None when there is none that can be ended."""
        self._seen = bench.last
        self._followed = ""
        self._outside = run if run is not None and self.record is None else None
        self._reading: Reading | None = None
        self._read_at: tuple[Any, ...] = ()
        self._choose_step()

    def __repr__(self) -> str:
        return f"Explorer({self.pipeline!r}, run={self.run.id if self.run is not None else None!r})"

    # what there is

    @property
    def reading(self) -> Reading | None:
        """What is known of the run, worked out once as long as the run stays as it is."""
        run = self.run
        if run is None:
            return None
        at = (run, run.status, len(run.turn_events), len(run.step_runs))
        if self._reading is None or at != self._read_at or run.status == "running":
            self._reading, self._read_at = Reading(run), at
        return self._reading

    @property
    def record(self) -> Record | None:
        """The run as the bench notes it; None for a run that is not the bench's, or was undone."""
        return next((record for record in self.bench.records if record.run is self.run), None)

    @property
    def written(self) -> BaseAgent | None:
        """The pipeline as it is written now; None when it cannot be built."""
        try:
            return self.bench.root(self.pipeline)
        except AdknbError:
            return None

    @property
    def root(self) -> BaseAgent | None:
        """The tree that the strip shows: the run's own, else the pipeline as it is written."""
        return self.run.root if self.run is not None else self.written

    @property
    def strip(self) -> Strip | None:
        root = self.root
        return strip(root, self.reading, self.selected, self.written) if root is not None else None

    @property
    def step(self) -> StepRun | None:
        """The selected step; None when it has not run."""
        return self.reading.step(self.selected) if self.reading is not None else None

    @property
    def agent(self) -> str:
        """The name of the selected step's agent."""
        return self.selected.partition("#")[0]

    @property
    def prompt(self) -> str | None:
        """The selected agent's instruction as it is written now; None for one that is a function or has none."""
        root = self.written or self.root
        return instruction_of(root, self.agent) if root is not None else None

    @property
    def draft(self) -> str | None:
        """The edited prompt of the selected agent; None when it is as written."""
        return self.drafts.get(self.agent)

    @property
    def runs(self) -> list[Run]:
        """The pipeline's runs on the bench, oldest first, and the one shown."""
        found = [record.run for record in self.bench.records if record.pipeline == self.pipeline]
        return found if self.run is None or any(self.run is run for run in found) else [*found, self.run]

    @property
    def is_running(self) -> bool:
        return self.run is not None and self.run.status == "running"

    @property
    def waits_for(self) -> list[str]:
        """What the run waits for and how it is answered, a sentence each; one more for what is left out."""
        lines = list(waiting_lines(self.run)) if self.run is not None else []
        more = len(lines) - CALLS
        return lines[:CALLS] + ([f"{more:,} more: %adk pending"] if more > 0 else [])

    @property
    def diff(self) -> RunDiff | None:
        return RunDiff(*self.compared) if self.compared is not None else None

    def may(self) -> dict[str, bool]:
        """Which operations make sense now, by their names."""
        run, going = self.run, self.is_running
        known = self.record is not None and not going
        ran = known and self.step is not None
        unfinished = known and run is not None and run.status in UNFINISHED
        return {
            "step": unfinished,
            "run_from_here": ran,
            "try_edit": ran and self.draft is not None,
            "rewind": ran,
            "run_to_end": unfinished,
            "undo": bool(self.bench.last_change) and not going,
            "cancel": going,
            "accept_edit": self.draft is not None and not going,
            "start": not going,
        }

    # looking

    def show(self, run: Run) -> None:
        """Look at another run. The step stays selected where the run has it."""
        self.run, self._seen = run, self.bench.last
        self._choose_step()

    def select(self, name: str) -> None:
        """Select a step, or an agent that has not run."""
        shown = self.strip
        known = shown.names if shown is not None else []
        step = self.reading.step(name) if self.reading is not None else None
        if name not in known and step is None:
            raise RunStateError(f"there is no step {name!r} to select.{near_names(name, known)}")
        self.selected = step.name if step is not None else name
        self.request, self.page = 1, 0

    def show_tab(self, tab: str) -> None:
        if tab not in TABS:
            raise SpecError(f"the explorer has no tab {tab!r}.{near_names(tab, TABS)}")
        self.tab, self.page = tab, 0
        if tab == "Events" and self.step is not None:
            self.page = self.step.start // EVENTS_ON_A_PAGE

    def turn_to(self, page: int) -> None:
        """Turn a long list to this page, from 0; panes show their last one for a page beyond it."""
        self.page = max(page, 0)

    def choose_request(self, number: int) -> None:
        """Look at the step's `number`-th request, from 1."""
        step = self.step
        if step is None or not 1 <= number <= len(step.requests):
            raise RunStateError(f"step {self.selected!r} has no request {number}")
        self.request, self.page = number, 0

    def switch_strategy(self, strategy: str) -> None:
        """Show the prompts as they would be under a strategy, no model asked. What is run from here takes it, too."""
        if strategy not in STRATEGIES:
            raise SpecError(f"there is no strategy {strategy!r}.{near_names(strategy, STRATEGIES)}")
        self.strategy, self.page = strategy, 0

    def compare(self, before: str, after: str) -> RunDiff:
        """Put two runs beside each other, by their ids."""
        runs = {run.id: run for run in self.runs}
        for name in (before, after):
            if name not in runs:
                raise RunStateError(f"there is no run {name!r} of {self.pipeline!r}.{near_names(name, runs)}")
        self.compared = runs[before], runs[after]
        return RunDiff(*self.compared)

    def refresh(self) -> None:
        """Take in what was done elsewhere: in a cell, or in another explorer."""
        last, run = self.bench.last, self.run
        if not self.is_running:
            self.cancel_run = None
        own = [record for record in self.bench.records if record.pipeline == self.pipeline]
        mine = [record.run for record in own if record.variant is None]  # a comparison's runs come when they are chosen
        is_gone = run is not None and run is not self._outside and self.record is None and not self.is_running
        is_newer = last is not self._seen and bool(mine) and last is mine[-1]
        self._seen = last
        if is_gone or is_newer:
            self.run = mine[-1] if mine else None
        if self.compared is not None and not {*self.compared} <= {*self.runs}:
            self.compared = None
        self._choose_step()

    def watch(self, run: Run, cancel: Callable[[], object] | None) -> None:
        """A run is under way: show it, if it is of this pipeline, and go with it from step to step, unless the user has
        selected another one meanwhile."""
        if run.root.name != self.pipeline:
            return
        self.cancel_run = cancel
        is_new = self.run is not run
        self.run = run
        under_way = next((step for step in reversed(run.step_runs) if step.status == "running"), None)
        if under_way is not None and under_way.name != self._followed:
            if is_new or self.selected == self._followed:
                self.selected, self.request, self.page = under_way.name, 1, 0
            self._followed = under_way.name
        elif is_new:
            self._choose_step()

    def at(self, name: str) -> Explorer:
        """The same run with another step selected, as it was sent and without edits: for drawing, this one stays as it is."""
        other = copy.copy(self)
        other.selected, other.request, other.page = name, 1, 0
        other.drafts, other.strategy = {}, AS_SENT
        return other

    # editing

    def edit(self, text: str) -> DraftLint:
        """Change the selected agent's prompt here, and nowhere else yet; what lint says of it."""
        if self.prompt is None:
            raise SpecError(f"{self.selected!r} has no prompt that is text, so there is nothing to edit.")
        if text == self.prompt:
            self.drafts.pop(self.agent, None)
        else:
            self.drafts[self.agent] = text
        return self.lint(text)

    def discard_edit(self) -> None:
        self.drafts.pop(self.agent, None)

    def lint(self, text: str | None = None) -> DraftLint:
        """What lint says of a text as the selected agent's prompt; without one, of the draft or prompt as it is."""
        said = text if text is not None else self.draft if self.draft is not None else self.prompt or ""
        root = self.written or self.root
        if root is None:
            return read_draft(self.bench.root(self.pipeline), self.agent, said, self.bench.settings.rules, ())
        given = given_keys(self.bench.records, self.pipeline)
        return read_draft(root, self.agent, said, self.bench.settings.rules, given)

    def accept_edit(self) -> str:
        """Write the draft on the bench; returns the `%%agent` cell that says the same, to be pasted."""
        draft = self._draft()
        if self.pipeline not in self.bench.pipelines:
            raise SpecError(
                f"{self.pipeline!r} is a variable, and its agents are written in Python: put the text into "
                f"{self.agent}'s instruction there."
            )
        known = self.bench.pipeline(self.pipeline)[self.agent]
        options = replace(known.options, prompt_file=None)
        agent = self.bench.put_agent(self.pipeline, known.name, draft, options, cell=known.cell)
        self.drafts.pop(agent.name, None)
        self.cell = cell_text(self.pipeline, agent)
        self.notice = f"{agent.name} is written. Its cell still has the old prompt: paste the text below into it."
        return self.cell

    # running

    def start(self, message: str) -> Run:
        """Run the pipeline on a message, in a fresh session."""
        return self._go(lambda: self.bench.run(self.pipeline, TurnRequest(message)), "Run")

    def advance(self) -> Run:
        """One step more of a run that is not at its end."""
        run = self._known_run()
        return self._go(lambda: self.bench.step(None, run.id), "Step")

    def run_from_here(self) -> Run:
        """The run again from the selected step on: with its draft, if it has one, and under the strategy of the switch."""
        run, step = self._known_run(), self._known_step()
        record = self.record
        assert record is not None
        return self._go(
            lambda: self.bench.run_from(step.name, run.id, record.pipeline, prompt=self.draft, **self._options()),
            f"Run from {step.name}", run,
        )  # fmt: skip

    def try_edit(self) -> Run:
        """The selected step alone with its draft, on a copy of the session."""
        run, step, draft = self._known_run(), self._known_step(), self._draft()
        return self._go(
            lambda: self.bench.try_step(step.name, draft, run.id, **self._options()), f"Try of {step.name}", run
        )

    def rewind(self) -> Run:
        """A paused run that holds the steps before the selected one."""
        run, step = self._known_run(), self._known_step()
        return self._go(lambda: self.bench.rewind(step.name, run.id), f"Rewound to before {step.name}")

    def run_to_end(self) -> Run:
        run = self._known_run()
        return self._go(lambda: self.bench.continue_run(run.id), "Run to its end")

    def undo(self) -> str:
        """Take the bench's last change back."""
        label = self.bench.undo()
        self.refresh()
        self.cell = ""
        self.notice = f"Undone: {label}."
        return label

    def cancel(self) -> None:
        """End the run under way, as an interrupt of the kernel does."""
        if self.cancel_run is None:
            raise RunStateError("nothing that can be cancelled is running here")
        self.cancel_run()

    # how it works

    def _go(self, work: Callable[[], Run], what: str, compared: Run | None = None) -> Run:
        """Do it, and show the run that it left, also when that failed half-way. `compared` is put beside it."""
        before, selected = self.bench.last, self.selected
        try:
            made = work()
            if compared is not None:
                self.selected = selected  # while it went on, the step under way was
            return made
        finally:
            self.cancel_run = None
            last = self.bench.last
            if last is not None and last is not before:
                self.show(last)
                if compared is not None:
                    self.compared = (compared, last)
                self.notice = f"{what}: run {last.id}, {last.status}."
            elif self.is_running:  # it did not begin: the bench took it back
                self.refresh()

    def _options(self) -> dict[str, Any]:
        return {} if self.strategy == AS_SENT else {"strategy": self.strategy}

    def _known_run(self) -> Run:
        if self.run is None:
            raise RunStateError(f"{self.pipeline!r} has not run yet. Start it with a message.")
        if self.record is None:
            raise RunStateError(
                f"run {self.run.id} is not one of the bench's, so nothing goes on from it. Run {self.pipeline!r} anew."
            )
        return self.run

    def _known_step(self) -> StepRun:
        step = self.step
        if step is None:
            raise RunStateError(f"{self.selected!r} has not run yet. Step goes on to it.")
        return step

    def _draft(self) -> str:
        if self.draft is None:
            raise SpecError(f"the prompt of {self.agent!r} was not edited")
        return self.draft

    def _choose_step(self) -> None:
        """Keep the selected step, else take the last that ran, else the first agent."""
        before, step = self.selected, self.step
        if step is not None:
            self.selected = step.name
        else:
            ran = self.run.step_runs if self.run is not None else []
            names = self.strip.names if self.strip is not None else []
            if before not in names:
                self.selected = ran[-1].name if ran else names[0] if names else ""
        if self.selected != before or step is None or self.request > len(step.requests):
            self.request, self.page = 1, 0
