"""`Runner`: runs a pipeline on a message and leaves a `Run`."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping
from contextlib import aclosing, suppress
from typing import Any

from adknb.core.content import Content
from adknb.core.errors import RunStateError, SpecError
from adknb.core.events import USER, Event, EventActions
from adknb.core.protocols import ArtifactService, Model, SessionService
from adknb.core.run import Run, RunConfig, Session, Status
from adknb.core.specs import BaseAgent
from adknb.core.state import REMOVED
from adknb.rules.base import Rules
from adknb.runtime import branch, turns
from adknb.runtime.artifacts import InMemoryArtifactService
from adknb.runtime.compose import run_node
from adknb.runtime.context import Invocation, InvocationContext
from adknb.runtime.journal import Journal, Paused
from adknb.runtime.routing import first_node
from adknb.runtime.start import Message, as_message, check_start_state, let_abandoned_streams_close
from adknb.runtime.strategies import PerAgent, as_strategy
from adknb.runtime.sync import run_sync
from adknb.runtime.tree import LlmNode, check_agents, make_node


class Runner:
    """Runs one pipeline under the rules of one ADK.

    `model` (a name or object) answers for agents that name none. `models` answers instead of the agents' own: one for all
    of them, or a map of agent names; the prompts stay those of the model that the agent names. `rules` is `java`.
    `strategy` is a context strategy (see `strategies.as_strategy`). Without a `session_service` each run without a session
    gets a fresh one in memory, with fresh `app:` and `user:` values. `temp_keys` is `discard` (the SDK's contract) or
    `keep` (what ADK Java's in-memory service really does). `observer` is called with the Run whenever a step starts and an
    event comes.

    Raises `AgentNameError` for names that the rules do not allow, `SpecError` for agents that `models` or `strategy` name
    and that there are not.
    """

    def __init__(
        self,
        root: BaseAgent,
        *,
        model: Model | str | None = None,
        models: Mapping[str, Model | str] | Model | str | None = None,
        rules: str | Rules = "java",
        strategy: Any = "as_written",
        session_service: SessionService | None = None,
        artifact_service: ArtifactService | None = None,
        app_name: str = "adknb",
        temp_keys: str | None = None,
        observer: Callable[[Run], object] | None = None,
    ) -> None:
        from adknb import defaults  # the one wiring place; imported here so that nothing above it needs to know it

        if not isinstance(root, BaseAgent):
            raise SpecError(f"a Runner takes an agent, not {root!r}")
        self.root = root
        self.rules = defaults.rules(rules)
        self.strategy = as_strategy(strategy)
        self.app_name = app_name
        self.temp_keys = temp_keys if temp_keys is not None else self.rules.temp_keys
        if self.temp_keys not in ("discard", "keep"):
            raise SpecError(f"temp_keys is 'discard' or 'keep', not {temp_keys!r}")
        self.rules.check_names(root)
        self._tree = make_node(root, None, self.rules)
        self._model = model
        self._models = models
        if isinstance(models, Mapping):
            check_agents(self._tree, models, "models")
        if isinstance(self.strategy, PerAgent):
            check_agents(self._tree, self.strategy.strategies, "the strategy")
        self._resolve = defaults.resolve_model
        self._sessions = session_service if session_service is not None else defaults.session_service()
        self._fresh_sessions: Callable[[], SessionService] = (
            defaults.session_service if session_service is None else lambda: self._sessions
        )
        self._artifacts = artifact_service if artifact_service is not None else InMemoryArtifactService()
        self._observer = observer
        self.last_run: Run | None = None

    def check_models(self) -> None:
        """Find every agent's model now. Raises `ModelError` for the first that cannot answer here."""
        for node in self._tree.walk():
            if isinstance(node, LlmNode) and not node.is_complete:
                self._complete(node)

    def __repr__(self) -> str:
        return f"Runner({self.root.name!r}, rules={self.rules.name!r}, strategy={self.strategy.name!r})"

    # a whole turn

    def run(
        self,
        message: Message,
        *,
        session: Session | str | None = None,
        user_id: str = "user",
        state: Mapping[str, Any] | None = None,
        clear: Iterable[str] = (),
        config: RunConfig | None = None,
        pause: bool = False,
    ) -> Run:
        """Run one turn and return its Run; in a script and in a notebook cell alike.

        `session` is a Session or the id of one (made when it is new); without it the run starts a fresh one. `state`
        holds values to start with, `clear` keys to delete first. With `pause` nothing runs: `step` or `continue_run` goes on.
        An error that ends the run carries it as `error.run`; after Ctrl-C it is `last_run`.
        """
        return self._run_sync(
            lambda: self.run_async(
                message, session=session, user_id=user_id, state=state, clear=clear, config=config, pause=pause
            )
        )

    async def run_async(
        self,
        message: Message,
        *,
        session: Session | str | None = None,
        user_id: str = "user",
        state: Mapping[str, Any] | None = None,
        clear: Iterable[str] = (),
        config: RunConfig | None = None,
        pause: bool = False,
    ) -> Run:
        """`run`, awaited."""
        run = await self._begin(message, session, user_id, state, clear, config)
        return await self._finish(self._invocation(run, Journal(run, steps=0 if pause else None)))

    async def stream(
        self,
        message: Message,
        *,
        session: Session | str | None = None,
        user_id: str = "user",
        state: Mapping[str, Any] | None = None,
        clear: Iterable[str] = (),
        config: RunConfig | None = None,
    ) -> AsyncGenerator[Event]:
        """`run`, event by event as they come; each is in the session before the next step starts. The Run is `last_run`."""
        run = await self._begin(message, session, user_id, state, clear, config)
        async with aclosing(self._drive(self._invocation(run, Journal(run)))) as events:
            async for event in events:
                yield event

    # parts of a turn (see branch.py)

    def step(self, run: Run, name: str | None = None, *, trial: bool = False) -> Run:
        """One step more of a paused run; with `name`, on to that step and through it, or that step again."""
        return self._run_sync(lambda: self._go_on(branch.step, run, name, trial))

    def continue_run(self, run: Run) -> Run:
        """A paused, failed or interrupted run, on to its end."""
        return self._run_sync(lambda: self._go_on(branch.continue_run, run))

    def rewind(self, run: Run, name: str) -> Run:
        """A new paused run that holds the steps before `name`."""
        return branch.rewind(self, run, name).run

    def run_from(self, run: Run, name: str, *, trial: bool = False) -> Run:
        """The run again from step `name` on; the steps before it are copied and not asked again."""
        return self._run_sync(lambda: self._go_on(branch.run_from, run, name, trial))

    def rerun(
        self,
        run: Run,
        message: Message | None = None,
        *,
        state: Mapping[str, Any] | None = None,
        clear: Iterable[str] = (),
        config: RunConfig | None = None,
        pause: bool = False,
    ) -> Run:
        """The run's turn again from its start, in its place; later turns become stale."""
        content = run.message if message is None else as_message(message)

        async def work() -> Run:
            return await self._finish(await branch.rerun(self, run, content, state or {}, clear, pause, config))

        return self._run_sync(work)

    # how it works

    async def _begin(
        self,
        message: Message,
        session: Session | str | None,
        user_id: str,
        state: Mapping[str, Any] | None,
        clear: Iterable[str],
        config: RunConfig | None,
    ) -> Run:
        content = as_message(message)
        check_start_state(state, self.rules)
        if session is None:
            service = self._fresh_sessions()
            session = await service.create_session(app_name=self.app_name, user_id=user_id, state=state)
            state = None
        else:
            session = await self._find_session(session, user_id)
        if session.under_way is not None:
            await let_abandoned_streams_close()
        run = self._new_run(session, content, {**turns.new_turn(session), "config": config or RunConfig()})
        turns.claim(run)
        try:
            await self._store_message(run, state or {}, clear)
        except BaseException:
            turns.release(run)
            raise
        turns.add(run)  # last: a turn whose message could not be stored is none
        return run

    async def _find_session(self, session: Session | str, user_id: str) -> Session:
        if isinstance(session, Session):
            session.scopes.merge_into(session.state)
            return session
        if not isinstance(session, str):
            raise RunStateError(f"session is a Session or its id, not {session!r}")
        found = await self._sessions.get_session(app_name=self.app_name, user_id=user_id, session_id=session)
        if found is not None:
            return found
        return await self._sessions.create_session(app_name=self.app_name, user_id=user_id, session_id=session)

    def _new_run(self, session: Session, message: Content, place: Mapping[str, Any]) -> Run:
        return Run(
            root=self.root, session=session, message=message, rules=self.rules.name, strategy=self.strategy.name,
            temp_keys=self.temp_keys, user_id=session.user_id, **place,
        )  # fmt: skip

    def _invocation(self, run: Run, journal: Journal) -> Invocation:
        return Invocation(
            run, run.session, self._tree, self.rules, self.strategy, self._artifacts, run.config, journal,
            self._complete, run_node, dict(run.asked), self._observer,
        )  # fmt: skip

    def _complete(self, node: LlmNode) -> None:
        node.complete(self._resolve, self._model, self._models)

    def _run_sync(self, work: Callable[[], Coroutine[Any, Any, Run]]) -> Run:
        try:
            return run_sync(work)
        except KeyboardInterrupt:
            if self.last_run is not None:
                self._close(self.last_run, "interrupted")  # when the user's code did not end in time
            raise

    async def _go_on(self, operation: Callable[..., Invocation], run: Run, *arguments: Any) -> Run:
        return await self._finish(operation(self, run, *arguments))

    async def _finish(self, invocation: Invocation) -> Run:
        async with aclosing(self._drive(invocation)) as events:
            async for _ in events:
                continue
        return invocation.run

    async def _drive(self, invocation: Invocation) -> AsyncGenerator[Event]:
        """Run to the end, the limit, or the first error, storing each event before the next step starts."""
        run = invocation.run
        self.last_run = run
        run.status = "running"
        replayed = invocation.journal.replayed_ids
        started = time.perf_counter()
        try:
            node = first_node(self._tree, run.message, run.session.history)
            async with aclosing(run_node(InvocationContext(invocation, node))) as events:
                async for event in events:
                    if event.id in replayed:
                        continue
                    if not event.partial:
                        await self._store(run, event)
                    invocation.observe()
                    yield event
            self._close(run, "completed")
        except Paused:
            self._close(run, "paused")
        except Exception as error:
            run.error = error
            with suppress(AttributeError):  # an exception with slots has no room for it
                error.run = run  # type: ignore[attr-defined]
            self._close(run, "failed")
            raise
        except BaseException:  # cancelled, or the stream was not read to its end
            self._close(run, "interrupted")
            raise
        finally:
            run.ms += (time.perf_counter() - started) * 1000

    def _close(self, run: Run, status: Status) -> None:
        """End the run, once: its session is left as its events say, with the turns that come after it."""
        if run.status != "running":
            return
        run.status = status
        turns.release(run)
        session = run.session
        if status == "failed":
            session.scopes.merge_into(session.state)  # what no event says is not shared
        if status == "interrupted":
            turns.restore_state(session, turns.fold(run.start_state, run.turn_events))
            for step in run.step_runs:
                step.status = "interrupted" if step.status == "running" else step.status
        if status != "paused" and self.temp_keys == "discard":
            turns.discard_temp(session)
        turns.bring_back_later_turns(run)

    async def _store_message(self, run: Run, state: Mapping[str, Any], clear: Iterable[str]) -> None:
        """The user's event, with the values to start with and the keys to clear in its delta (ADK's `stateDelta`)."""
        keys = [clear] if isinstance(clear, str) else clear
        delta = {**state, **{key: REMOVED for key in keys if key in run.session.state}}
        await self._store(run, Event(USER, run.message, EventActions(delta), run.invocation_id))

    async def _store(self, run: Run, event: Event) -> None:
        if run.status != "running":  # closed after Ctrl-C without waiting for the user's code, which goes on
            from asyncio import CancelledError

            raise CancelledError
        await self._sessions.append_event(run.session, event)
        run.turn_events.append(event)
        if run.journal:
            run.journal[-1].events.append(event)
