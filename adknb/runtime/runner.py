"""`Runner`: runs a pipeline on a message and leaves a `Run`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from adknb.core.content import Content
from adknb.core.errors import RunStateError, SpecError, StaleSessionError
from adknb.core.events import Event
from adknb.core.protocols import ArtifactService, Model, SessionService
from adknb.core.run import Run, RunConfig, Session
from adknb.core.specs import BaseAgent
from adknb.rules.base import Rules
from adknb.rules.resumable import check_resumable
from adknb.runtime import branch, turns
from adknb.runtime.answers import answer_of, find_call
from adknb.runtime.artifacts import InMemoryArtifactService
from adknb.runtime.context import Invocation
from adknb.runtime.engine import Engine
from adknb.runtime.finding import find_session, known_session
from adknb.runtime.journal import Journal
from adknb.runtime.start import Message, as_message, check_start_state, let_abandoned_streams_close, why_it_cannot_run
from adknb.runtime.strategies import PerAgent, as_strategy
from adknb.runtime.sync import run_sync
from adknb.runtime.tree import LlmNode, check_agents, make_node


def as_root(value: Any) -> Any:
    """An agent or app of google-adk as its description; anything else as it is."""
    from adknb import defaults  # the one wiring place; imported here so that nothing above it needs to know it

    return defaults.agent(value)


class Runner:
    """Runs one pipeline under the rules of one ADK.

    `model` (a name or object) answers for agents that name none. `models` answers instead of the agents' own: one for all
    of them, or a map of agent names; the prompts stay those of the model that the agent names. `rules` is `java`, `go`,
    `go_fixed`, `js`, or `python`: the real google-adk runs it (extra `adk`), as it does its own agents, which `root` may
    be, too. `strategy` is a context strategy (see `strategies.as_strategy`). `session_service` keeps the sessions; the URL
    of a database will do (`sqlite:///tickets.db`). Without one, each run without a session gets a fresh one in memory, with
    fresh `app:` and `user:` values. `temp_keys` is `discard` (the SDK's contract), `keep` (what ADK Java's in-memory
    service really does) or `restore` (back to those that the session was made with, as in ADK Go); without it, what the
    rules say. With `resumable` a run ends, `waiting`, at a long-running call, and `answer` goes on at that agent (ADK
    Java's resumable mode). `observer` is called with the Run whenever a step starts and an event comes. `resolve` makes a
    model of what `model` and `models` say, where that is not to be as usual.

    Raises `AgentNameError` for names that the rules do not allow, `SpecError` for agents that `models` or `strategy` name
    and that there are not, `NotSupported` for `resumable` under other rules than Java's.
    """

    def __init__(
        self,
        root: Any,
        *,
        model: Model | str | None = None,
        models: Mapping[str, Model | str] | Model | str | None = None,
        rules: str | Rules = "java",
        strategy: Any = "as_written",
        session_service: SessionService | str | None = None,
        artifact_service: ArtifactService | None = None,
        app_name: str = "adknb",
        temp_keys: str | None = None,
        resumable: bool = False,
        observer: Callable[[Run], object] | None = None,
        resolve: Callable[[Any], Model] | None = None,
    ) -> None:
        from adknb import defaults

        root = as_root(root)
        if not isinstance(root, BaseAgent):
            raise SpecError(f"a Runner takes an agent, not {root!r}")
        self.root = root
        self.rules = defaults.rules(rules, root)
        self.strategy = as_strategy(strategy)
        self.app_name = app_name
        self.temp_keys = temp_keys if temp_keys is not None else self.rules.temp_keys
        if self.temp_keys not in ("discard", "keep", "restore"):
            raise SpecError(f"temp_keys is 'discard', 'keep' or 'restore', not {temp_keys!r}")
        if resumable:
            check_resumable(self.rules)
        self.resumable = resumable
        self.rules.check_names(root)
        tree = make_node(root, None, self.rules)
        if isinstance(models, Mapping):
            check_agents(tree, models, "models")
        if isinstance(self.strategy, PerAgent):
            check_agents(tree, self.strategy.strategies, "the strategy")
        self._models = (resolve or defaults.resolve_model, model, models)
        self._cannot_run = why_it_cannot_run(root, models)
        sessions = defaults.session_service(session_service)
        self._fresh_sessions: Callable[[], SessionService] = (
            defaults.session_service if session_service is None else lambda: sessions
        )
        self._engine = Engine(
            tree,
            self.rules,
            self.strategy,
            self.temp_keys,
            sessions,
            artifact_service if artifact_service is not None else InMemoryArtifactService(),
            lambda node: node.complete(*self._models),
            observer,
            resumable,
        )
        defaults.choose_runtime(self._engine, *self._models)

    @property
    def last_run(self) -> Run | None:
        """The newest run that this Runner began, finished or not."""
        return self._engine.last_run

    def check_models(self) -> None:
        """Find every agent's model now. Raises `ModelError` for the first that cannot answer here."""
        for node in self._engine.tree.walk():
            if isinstance(node, LlmNode) and not node.is_complete:
                self._engine.complete(node)

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
        return await self._engine.finish(self._engine.invocation(run, Journal(run, steps=0 if pause else None)))

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
        async with aclosing(self._engine.drive(self._engine.invocation(run, Journal(run)))) as events:
            async for event in events:
                yield event

    # answers to long-running calls (see answers.py)

    def answer(
        self,
        call_id: str | None,
        response: Any,
        *,
        session: Session | str | None = None,
        user_id: str = "user",
        config: RunConfig | None = None,
        pause: bool = False,
    ) -> Run:
        """Answer a long-running call, as a new turn, and return its Run.

        `call_id` is the call's id or its beginning, or the tool's name where one call of it waits; None for the only one that
        waits. `response` is JSON; what is no object becomes `{"result": …}`. `session` is that of the last run unless it is
        given. With `resumable` the steps after the one that asked run too, else that agent alone.

        Raises `UnknownCallError`, `RunStateError` when nothing waits, `StateValueError` when the response is no JSON.
        """
        return self._run_sync(
            lambda: self.answer_async(call_id, response, session=session, user_id=user_id, config=config, pause=pause)
        )

    async def answer_async(
        self,
        call_id: str | None,
        response: Any,
        *,
        session: Session | str | None = None,
        user_id: str = "user",
        config: RunConfig | None = None,
        pause: bool = False,
    ) -> Run:
        """`answer`, awaited."""
        return await self._answer([(call_id, response)], session, user_id, config, pause)

    def answer_all(
        self,
        responses: Mapping[str, Any],
        *,
        session: Session | str | None = None,
        user_id: str = "user",
        config: RunConfig | None = None,
        pause: bool = False,
    ) -> Run:
        """`answer` for several calls, in one message and so in one turn: `responses` has the answer to each call."""
        return self._run_sync(lambda: self._answer(list(responses.items()), session, user_id, config, pause))

    # parts of a turn (see branch.py)

    def step(self, run: Run, name: str | None = None, *, trial: bool = False) -> Run:
        """One step more of a paused run; with `name`, on to that step and through it, or that step again."""
        return self._run_sync(lambda: self.step_async(run, name, trial=trial))

    async def step_async(self, run: Run, name: str | None = None, *, trial: bool = False) -> Run:
        """`step`, awaited. With `trial` the new run lives on a copy of the session, which stays as it is."""
        return await self._go_on(branch.step, run, name, trial)

    def continue_run(self, run: Run) -> Run:
        """A paused, failed or interrupted run, on to its end."""
        return self._run_sync(lambda: self._go_on(branch.continue_run, run))

    def rewind(self, run: Run, name: str) -> Run:
        """A new paused run that holds the steps before `name`."""
        rewound = branch.rewind(self._engine, run, name).run
        self._save(rewound)
        return rewound

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
        self._check_root()
        content = run.message if message is None else as_message(message)

        async def work() -> Run:
            return await self._engine.finish(
                await branch.rerun(self._engine, run, content, state or {}, clear, pause, config)
            )

        return self._run_sync(work)

    # how it works

    def _check_root(self) -> None:
        if self._cannot_run:
            raise RunStateError(self._cannot_run)

    async def _begin(
        self,
        message: Message,
        session: Session | str | None,
        user_id: str,
        state: Mapping[str, Any] | None,
        clear: Iterable[str],
        config: RunConfig | None,
    ) -> Run:
        self._check_root()
        content = as_message(message)
        check_start_state(state, self.rules)
        state = self.rules.start_state(state) if state else state
        attempts = 3
        while True:
            try:
                return await self._begin_in(content, session, user_id, state, clear, config)
            except StaleSessionError:  # nothing was stored yet: safe to read again what the other writer left
                attempts -= 1
                if not isinstance(session, str) or not attempts:
                    raise

    async def _begin_in(
        self,
        content: Content,
        session: Session | str | None,
        user_id: str,
        state: Mapping[str, Any] | None,
        clear: Iterable[str],
        config: RunConfig | None,
    ) -> Run:
        if session is None:
            service = self._fresh_sessions()
            session = await service.create_session(app_name=self.app_name, user_id=user_id, state=state)
            state = None
        else:
            session = await self._find_session(session, user_id)
        if session.under_way is not None:
            await let_abandoned_streams_close()
        run = self._engine.new_run(session, content, {**turns.new_turn(session), "config": config or RunConfig()})
        turns.claim(run)
        try:
            await self._engine.store_message(run, state or {}, clear)
        except BaseException:
            turns.release(run)
            if run.turn_events:
                turns.add(run)
                self._engine.cut_off(run)
            raise
        turns.add(run)  # last: a turn whose message could not be stored is none
        return run

    async def _find_session(self, session: Session | str, user_id: str) -> Session:
        engine = self._engine
        return await find_session(
            engine.sessions, session, self.app_name, user_id, is_kept=engine.keeps_turns is not None
        )

    async def _answer(
        self,
        responses: Sequence[tuple[str | None, Any]],
        session: Session | str | None,
        user_id: str,
        config: RunConfig | None,
        pause: bool,
    ) -> Run:
        found = await self._session_to_answer(session, user_id)
        answers = [answer_of(find_call(found.history, call), said, self.rules) for call, said in responses]
        # in the session as it was read, so that `_begin` does not try again what somebody else has answered meanwhile
        return await self.run_async(answers, session=found, user_id=user_id, config=config, pause=pause)

    async def _session_to_answer(self, session: Session | str | None, user_id: str) -> Session:
        if session is None:
            if self.last_run is None:
                raise RunStateError("this Runner ran nothing yet: say whose call is answered, answer(…, session=…).")
            if self.last_run.session.is_copy:
                raise RunStateError("the last run was a trial on a copy: say in which session, answer(…, session=…).")
            return self.last_run.session
        if isinstance(session, str):
            return await known_session(self._engine.sessions, session, self.app_name, user_id)
        return await self._find_session(session, user_id)

    def _run_sync(self, work: Callable[[], Coroutine[Any, Any, Run]]) -> Run:
        try:
            return run_sync(work)
        except KeyboardInterrupt:
            if self.last_run is not None:
                self._engine.close(self.last_run, "interrupted")  # when the user's code did not end in time
                ended = self.last_run
                run_sync(lambda: self._engine.save_end(ended))
            raise

    def _save(self, run: Run) -> None:
        if self._engine.keeps_turns is not None:
            run_sync(lambda: self._engine.save(run))

    async def _go_on(self, operation: Callable[..., Invocation], run: Run, *arguments: Any) -> Run:
        self._check_root()
        return await self._engine.finish(operation(self._engine, run, *arguments))
