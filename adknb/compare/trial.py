"""One trial: an input run under one variant, or a run whose every step is asked once per variant."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from adknb.analysis.accounts import accounts
from adknb.analysis.freshness import Ledger
from adknb.compare.inputs import Input
from adknb.compare.records import StepRecord, TrialRecord, error_text, step_record
from adknb.compare.repeats import Repeated, seed_of
from adknb.core.errors import RunStateError
from adknb.core.protocols import Model
from adknb.core.run import Run, RunConfig, StepRun
from adknb.core.specs import BaseAgent
from adknb.models.resolve import resolve_model
from adknb.runtime.runner import Runner
from adknb.tokens.counter import default_counter

Resolve = Callable[[Any], Model]
Kind = Literal["run", "paired", "dry"]


@dataclass(frozen=True, slots=True)
class Arm:
    """One variant made ready to run: the pipeline as it has it, and what answers."""

    variant: str
    root: BaseAgent
    strategy: Any
    model: Any
    models: Any
    rules: Any


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked in one go: `run` has one arm; `paired` has all of them, the first supplies the history.

    Everything in it is plain or frozen, so an executor can send it to another process. `keys` are the trials', in the
    order of the arms.
    """

    kind: Kind
    input: Input
    repeat: int
    arms: tuple[Arm, ...]
    keys: tuple[str, ...]
    seed: int | None = None
    config: RunConfig = field(default_factory=RunConfig)


@dataclass(slots=True)
class Outcome:
    """What one arm left: its runs by turn, the steps that count of each, and the error that ended it."""

    arm: Arm
    turns: list[tuple[Run, list[StepRun]]] = field(default_factory=list)
    error: BaseException | None = None
    ms: float = 0.0


async def perform(task: Task, resolve: Resolve) -> list[Outcome]:
    """Run the task. What fails is in the outcome; only what ends the whole comparison is raised."""
    if task.kind == "run":
        return [await _run(task, task.arms[0], resolve)]
    return await _paired(task, resolve)


def perform_alone(task: Task) -> list[TrialRecord]:
    """The task in a worker of its own, to its records. Blocks; needs no event loop."""
    import asyncio

    return measured(task, asyncio.run(perform(task, _found)))


def _found(value: Any) -> Model:
    return _named_model(value) if isinstance(value, str) else resolve_model(value)


@cache
def _named_model(name: str) -> Model:
    """A worker finds a model once: it may have a large file to read."""
    return resolve_model(name)


def measured(task: Task, outcomes: Sequence[Outcome]) -> list[TrialRecord]:
    """The records of the outcomes, with their tokens counted."""
    return [_record(task, outcome, key) for outcome, key in zip(outcomes, task.keys, strict=True)]


def last_run(outcomes: Sequence[Outcome]) -> Run | None:
    """The run that the first arm made last."""
    turns = outcomes[0].turns
    return turns[-1][0] if turns else None


async def _run(task: Task, arm: Arm, resolve: Resolve) -> Outcome:
    outcome = Outcome(arm)
    runner = _runner(task, arm, resolve)
    started = time.perf_counter()
    try:
        session = None
        for message in task.input.messages:
            state = None if session is not None else task.input.state
            run = await runner.run_async(message, session=session, state=state, config=task.config)
            session = run.session
            outcome.turns.append((run, run.step_runs))
    except Exception as error:
        _failed(outcome, error, runner)
    outcome.ms = (time.perf_counter() - started) * 1000
    return outcome


async def _paired(task: Task, resolve: Resolve) -> list[Outcome]:
    """The first arm runs; at each of its steps the others are asked from the session as it was before that step.

    When the first arm fails, the trials of the others end there too: they have no final answer.
    """
    first, *others = task.arms
    outcomes = [Outcome(arm) for arm in task.arms]
    supplier = _runner(task, first, resolve)
    runners = [_runner(task, arm, resolve) for arm in others]
    session = None
    for message in task.input.messages:
        started = time.perf_counter()
        run: Run | None = None
        try:
            state = None if session is not None else task.input.state
            run = await supplier.run_async(message, session=session, state=state, config=task.config)
            outcomes[0].turns.append((run, run.step_runs))
        except Exception as error:
            _failed(outcomes[0], error, supplier)
            run = _run_of(error, supplier)
        outcomes[0].ms += (time.perf_counter() - started) * 1000
        if run is None:
            break
        for outcome, runner in zip(outcomes[1:], runners, strict=True):
            started = time.perf_counter()
            for entry in run.journal:
                if entry.steps:
                    await _step_again(outcome, runner, run, entry.steps[0])
            outcome.ms += (time.perf_counter() - started) * 1000
        if outcomes[0].error is not None:
            break
        session = run.session
    if outcomes[0].error is not None:
        for outcome in outcomes[1:]:
            outcome.error = outcome.error or _cut_short(first, outcomes[0].error)
    return outcomes


def _cut_short(first: Arm, error: BaseException) -> RunStateError:
    return RunStateError(f"{first.variant!r} supplies the history, and its run failed: {error_text(error)}")


async def _step_again(outcome: Outcome, runner: Runner, run: Run, step: StepRun) -> None:
    """One step of `run` as this arm does it. A step within a parallel is done with its siblings."""
    try:
        again = await runner.step_async(run, f"{step.agent.name}#{step.number}", trial=True)
    except Exception as error:
        outcome.error = outcome.error or error
        failed = _run_of(error, runner)
        if failed is not None and failed.journal:
            outcome.turns.append((failed, failed.journal[-1].steps))
        return
    outcome.turns.append((again, again.journal[-1].steps if again.journal else []))


def _failed(outcome: Outcome, error: Exception, runner: Runner) -> None:
    outcome.error = error
    failed = _run_of(error, runner)
    if failed is not None:
        outcome.turns.append((failed, failed.step_runs))


def _run_of(error: Exception, runner: Runner) -> Run | None:
    """The run that the error ended; None when none had begun."""
    last = runner.last_run
    return last if last is not None and last.error is error else None


def _runner(task: Task, arm: Arm, resolve: Resolve) -> Runner:
    def repeated(value: Any) -> Model:
        return Repeated.of(resolve(value), task.repeat, task.seed)

    return Runner(
        arm.root, model=arm.model, models=arm.models, rules=arm.rules, strategy=arm.strategy, resolve=repeated
    )


def _record(task: Task, outcome: Outcome, key: str) -> TrialRecord:
    steps = tuple(_step_records(task, outcome))
    answer = ""
    if outcome.error is None and outcome.turns:
        last, counting = outcome.turns[-1]
        answer = last.output if task.kind == "run" else next((s.output for s in reversed(counting)), "")
    return TrialRecord(
        outcome.arm.variant, task.input.name, task.repeat, steps, answer,
        error_text(outcome.error) if outcome.error is not None else "", round(outcome.ms, 3), key,
    )  # fmt: skip


def _step_records(task: Task, outcome: Outcome) -> Iterator[StepRecord]:
    for run, steps in outcome.turns:
        costs = accounts(Ledger(run), default_counter(), steps)
        for step in steps:
            own = [cost for cost in costs if cost.step is step]
            seed = seed_of(step.requests[-1].sent.config, task.repeat, task.seed) if step.requests else None
            yield step_record(step, own, turn=run.turn + 1, seed=seed, error=step.error)
