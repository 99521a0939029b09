"""`SequentialWorkflow`: steps one after another, each with its policies, on one session."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import cached_property
from typing import TYPE_CHECKING, Any

from adknb.analysis.findings import Lint
from adknb.core.errors import SpecError
from adknb.core.events import new_id
from adknb.core.protocols import ArtifactService, KeepsNotes, Model, SessionService
from adknb.models.resolve import resolve_model
from adknb.rules.base import Rules
from adknb.rules.resolve import resolve_rules
from adknb.runtime.artifacts import InMemoryArtifactService
from adknb.runtime.sync import run_sync
from adknb.sessions.memory import InMemorySessionService
from adknb.workflow.agents import Asking
from adknb.workflow.backpressure import BackpressureController
from adknb.workflow.budget import TokenBudget
from adknb.workflow.changes import aspects, check_unchanged
from adknb.workflow.checkpoints import (
    Aspects,
    Checkpoint,
    Checkpoints,
    clear_checkpoint,
    now,
    read_checkpoint,
    read_checkpoints,
)
from adknb.workflow.classifier import DEFAULT_CLASSIFIER, ErrorClassifier
from adknb.workflow.data import PipelineData, PipelineMetadata
from adknb.workflow.errors import CheckpointError
from adknb.workflow.execution import Execution
from adknb.workflow.handler import ErrorHandler
from adknb.workflow.keeping import Keeper, mirrored
from adknb.workflow.limits import is_count, is_seconds
from adknb.workflow.middleware import Middleware
from adknb.workflow.observers import Observers
from adknb.workflow.outcome import StepOutcome
from adknb.workflow.performing import Performer
from adknb.workflow.plan import Plan, plan
from adknb.workflow.result import WorkflowResult
from adknb.workflow.retry import Clock, RetryPolicy, Sleep
from adknb.workflow.step import Step
from adknb.workflow.under_way import Policies, UnderWay

if TYPE_CHECKING:
    import asyncio


class SequentialWorkflow:
    """Runs steps one after another on one session; those that need nothing of one another together (see `plan`).

    Each step is sent the payload of the one before; its output goes into the context as `{step}_output`, and the context
    into the session's state, so that a placeholder (`{research_output}`) can read it. An agent's history starts fresh at
    each step, unless `share_history`.

    `model`, `rules`, `strategy`, `artifact_service`, `app_name` and `resolve` are as for a `Runner`. `retry_policy` counts for
    steps without one, `error_handler` and `classifier` for all. `token_budget` is the limit of each run, or a `TokenBudget`
    that all runs share. `timeout` is that of a whole run, in seconds. `session_service` is an object or the URL of a
    database; without it each run has a store of its own in memory. With `checkpoint` each step is kept there as it ends, and
    `resume` goes on from there. `clock` (seconds) and `sleep` are for tests.

    Raises `SpecError`.
    """

    def __init__(
        self,
        steps: Iterable[Step],
        name: str = "workflow",
        *,
        model: Model | str | None = None,
        rules: str | Rules = "java",
        strategy: Any = "as_written",
        retry_policy: RetryPolicy | None = None,
        error_handler: ErrorHandler | None = None,
        classifier: ErrorClassifier | None = None,
        middleware: Sequence[Middleware] = (),
        observers: Iterable[object] = (),
        token_budget: int | TokenBudget | None = None,
        timeout: float | None = None,
        session_service: SessionService | str | None = None,
        artifact_service: ArtifactService | None = None,
        app_name: str = "adknb",
        checkpoint: bool = False,
        share_history: bool = False,
        max_parallel: int = 1,
        resolve: Callable[[Any], Model] | None = None,
        clock: Clock = time.monotonic,
        sleep: Sleep | None = None,
    ) -> None:
        self.steps = tuple(steps)
        self.name = name
        self.model = model
        self.rules = resolve_rules(rules)
        self.token_budget = token_budget
        self.app_name = app_name
        self.checkpoint = checkpoint
        self.observers = Observers(observers)
        self.policies = Policies(
            classifier or DEFAULT_CLASSIFIER, retry_policy, error_handler, tuple(middleware), timeout, max_parallel,
            share_history, sleep, clock,
        )  # fmt: skip
        self._asking = Asking(
            model,
            self.rules,
            strategy,
            app_name,
            artifact_service or InMemoryArtifactService(),
            resolve or resolve_model,
        )
        self._store = _service(session_service)
        self._own_stores: dict[str, SessionService] = {}
        self._last: Execution | None = None
        _check(self)

    @property
    def last(self) -> WorkflowResult | None:
        """The newest run as far as it is: also one that failed, was interrupted, or is under way."""
        return self._last.result() if self._last is not None else None

    # a run

    def run(
        self, input: Any, context: Mapping[str, Any] | None = None, *, user_id: str = "user", run_id: str | None = None
    ) -> WorkflowResult:
        """Run the steps on `input`, a payload; in a script and in a notebook cell alike.

        `context` holds values to start with. Raises `StepFailedError` when a step fails and its action is no other, and
        `WorkflowTimeoutError`, both with the `result` so far; after Ctrl-C that is `last`. Before anything is asked it
        raises `WriteConflictError` for steps that cannot run together, and `ModelError` for a model that is not there.
        """
        return run_sync(lambda: self.execute(input, context, user_id=user_id, run_id=run_id))

    async def execute(
        self, input: Any, context: Mapping[str, Any] | None = None, *, user_id: str = "user", run_id: str | None = None
    ) -> WorkflowResult:
        """`run`, awaited."""
        groups = self._groups  # a write conflict ends it here
        data = PipelineData(input, PipelineMetadata(new_id()[:12]), context or {})
        run_id = run_id or new_id()[:12]
        service = self._service_of(run_id)
        session = await service.create_session(
            app_name=self.app_name, user_id=user_id, state=mirrored(data.context, {}), session_id=run_id
        )
        keeper = Keeper(service, session, self._notes(service), self._temp_keys)
        if keeper.notes is not None:
            names = tuple(step.name for step in self.steps)
            begun = Checkpoint(self.name, run_id, self.app_name, user_id, now(), data, names, self._aspects)
            await keeper.notes.put_notes([begun.begin_note()])
        return await self._run(self._begin(run_id, keeper, groups, data, {}))

    def resume(self, run_id: str, *, despite_changes: bool = False) -> WorkflowResult:
        """Go on with a run where it stopped. Steps that have a checkpoint are not called again.

        Raises `CheckpointError` when there is none, and `WorkflowChangedError`, which says how, when steps that are done are
        others now; with `despite_changes` what they said counts although they were changed.
        """
        return run_sync(lambda: self.resume_async(run_id, despite_changes=despite_changes))

    async def resume_async(self, run_id: str, *, despite_changes: bool = False) -> WorkflowResult:
        """`resume`, awaited."""
        groups = self._groups
        service = self._service_of(run_id)
        notes = self._notes(service)
        found = await read_checkpoint(notes, run_id) if notes is not None else None
        if found is None or notes is None or found.workflow != self.name:
            raise CheckpointError(
                f"workflow {self.name!r} has no checkpoint of a run {run_id!r}: it was never begun with checkpoint=True in "
                "this store, has completed, or was forgotten. workflow.checkpoints() lists what can be resumed."
            )
        check_unchanged(found, self.steps, self._aspects, despite_changes=despite_changes)
        session = await service.get_session(app_name=found.app_name, user_id=found.user_id, session_id=run_id)
        if session is None:
            raise CheckpointError(
                f"the session of workflow run {run_id!r} was deleted, so the run cannot go on. Forget its checkpoint: "
                f"workflow.prune_checkpoints([{run_id!r}])"
            )
        names = tuple(step.name for step in self.steps)
        if (found.steps, found.aspects) != (names, self._aspects):
            await notes.put_notes([found.with_steps(names, self._aspects).begin_note()])
        done = {outcome.index: outcome for outcome in found.outcomes}
        keeper = Keeper(service, session, notes, self._temp_keys)
        return await self._run(self._begin(run_id, keeper, groups, found.data, done))

    # many runs

    async def map(
        self, inputs: Iterable[Any] | AsyncIterable[Any], *, max_inflight: int = 4, queue_size: int = 0
    ) -> AsyncGenerator[WorkflowResult]:
        """The results of a run for each input, in order, as they come; `async for result in workflow.map(inputs): …`.

        At most `max_inflight` runs are under way and `queue_size` inputs wait: a slow step slows whoever makes the inputs. The
        first error ends it.
        """
        controller = BackpressureController(max_inflight, queue_size)
        async with aclosing(controller.map(self.execute, inputs)) as results:
            async for result in results:
                yield result

    async def submit(
        self,
        controller: BackpressureController,
        input: Any,
        context: Mapping[str, Any] | None = None,
        *,
        wait: bool = True,
    ) -> asyncio.Task[WorkflowResult]:
        """Run `input` as soon as the controller has room; awaiting what is returned gives the result, or the error.

        For inputs that come one by one: `async with BackpressureController(4, queue_size=8) as controller: …`. On a full queue
        it waits, or with `wait` false raises `QueueFullError` at once.
        """
        return await controller.submit(lambda: self.execute(input, context), wait)

    # what is known before a run, and what is left of one

    def plan(self) -> Plan:
        """Which steps run together, what each reads and writes, and what it waits for.

        Raises `WriteConflictError` when steps that would run together write the same key.
        """
        return plan(self.name, self.steps, self.rules, self.policies.max_parallel)

    def lint(self, context: Iterable[str] = ()) -> Lint:
        """What will go wrong, or only looks right, in the steps and their agents; `context` names what a run is given."""
        from adknb.workflow.lint import lint

        return lint(self.name, self.steps, self.rules, context)

    def checkpoints(self) -> Checkpoints:
        """The runs that can be resumed, the oldest first."""
        return run_sync(self.checkpoints_async)

    async def checkpoints_async(self) -> Checkpoints:
        """`checkpoints`, awaited."""
        found: list[Checkpoint] = []
        for service in [self._store] if self._store is not None else list(self._own_stores.values()):
            if isinstance(service, KeepsNotes):
                found += await read_checkpoints(service, self.name)
        return Checkpoints(self.name, found)

    def prune_checkpoints(self, run_ids: Iterable[str]) -> None:
        """Forget the checkpoints of these runs, which then cannot be resumed; their sessions stay."""
        wanted = [run_ids] if isinstance(run_ids, str) else list(run_ids)

        async def prune() -> None:
            for run_id in wanted:
                notes: object = self._store or self._own_stores.pop(run_id, None)
                if isinstance(notes, KeepsNotes):
                    await clear_checkpoint(notes, run_id)

        run_sync(prune)

    def __repr__(self) -> str:
        return f"SequentialWorkflow({self.name!r}, {' → '.join(step.name for step in self.steps)})"

    # how it works

    def _begin(
        self,
        run_id: str,
        keeper: Keeper,
        groups: Sequence[Sequence[Performer]],
        data: PipelineData,
        done: Mapping[int, StepOutcome],
    ) -> Execution:
        budget = self.token_budget
        if not isinstance(budget, TokenBudget):
            budget = TokenBudget(budget, sum(outcome.tokens for outcome in done.values()))
        run = UnderWay(self.name, run_id, self.policies, data.payload, budget, self.observers)
        return Execution(run, keeper, groups, data, done)

    async def _run(self, execution: Execution) -> WorkflowResult:
        self._last = execution
        result = await execution.to_end()
        self._own_stores.pop(result.run_id, None)
        return result

    @cached_property
    def _groups(self) -> Sequence[Sequence[Performer]]:
        """The steps made ready, by the groups of the plan."""
        return [[self._performer(planned.index) for planned in group] for group in self.plan().groups]

    def _performer(self, index: int) -> Performer:
        step = self.steps[index]
        agent = self._asking.agent(step.agent, step.name, step.model)
        fallback = None if step.fallback is None else self._asking.agent(step.fallback, step.name, None)
        for each in (agent, fallback):
            if each is not None:
                each.runner.check_models()  # a model that is missing is said before the steps before it cost anything
        return Performer(index, step, agent, fallback)

    @cached_property
    def _aspects(self) -> tuple[Aspects, ...]:
        """What the steps are made of, before they have run: an object that is a step's function may change as it works."""
        shared = (self.rules.name, self._asking.strategy, self.policies.share_history)
        return tuple(aspects(step, self.model, shared) for step in self.steps)

    @property
    def _temp_keys(self) -> str:
        return self.rules.temp_keys

    def _service_of(self, run_id: str) -> SessionService:
        if self._store is not None:
            return self._store
        if run_id in self._own_stores:
            return self._own_stores[run_id]
        service = InMemorySessionService()
        if self.checkpoint:
            self._own_stores[run_id] = service
        return service

    def _notes(self, service: SessionService) -> KeepsNotes | None:
        return service if self.checkpoint and isinstance(service, KeepsNotes) else None


def _service(value: SessionService | str | None) -> SessionService | None:
    if not isinstance(value, str):
        return value
    from adknb.sessions.database import DatabaseSessionService

    return DatabaseSessionService(value)


def _check(workflow: SequentialWorkflow) -> None:
    """Raise `SpecError` for what cannot run."""
    if not workflow.steps:
        raise SpecError(f"workflow {workflow.name!r} has no steps. Give it some: steps=[Step(name=…, agent=…)]")
    taken: dict[str, str] = {}
    for step in workflow.steps:
        if not isinstance(step, Step):
            raise SpecError(f"workflow {workflow.name!r}: steps are Step objects, not {step!r}")
        if step.output_key in taken:
            raise SpecError(
                f"workflow {workflow.name!r}: steps {taken[step.output_key]!r} and {step.name!r} would both write "
                f"{step.output_key!r}. Rename one."
            )
        taken[step.output_key] = step.name
    if not is_count(workflow.policies.max_parallel):
        raise SpecError(f"max_parallel is 1 or more steps at once, not {workflow.policies.max_parallel!r}")
    for link in workflow.policies.middleware:
        if not callable(link):
            raise SpecError(f"{link!r} is no middleware: an async function of (request, call_next) is needed")
    if not isinstance(workflow.token_budget, TokenBudget):
        TokenBudget(workflow.token_budget)
    timeout = workflow.policies.timeout
    if timeout is not None and not is_seconds(timeout):
        raise SpecError(f"timeout is seconds above 0, or None for no limit; not {timeout!r}")
    if workflow.checkpoint and workflow._store is not None and not isinstance(workflow._store, KeepsNotes):
        raise SpecError(
            f"checkpoint=True needs a session service that keeps notes, and a {type(workflow._store).__name__} does not. Take "
            'InMemorySessionService or DatabaseSessionService (a URL such as "sqlite:///runs.db").'
        )
