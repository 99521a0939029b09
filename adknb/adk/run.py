"""A run by the real google-adk, whole or in parts, that leaves what every run of adknb leaves."""

from __future__ import annotations

import logging
import warnings
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final

from google.adk.agents import BaseAgent as GoogleAgent
from google.adk.agents.invocation_context import LlmCallsLimitExceededError as GoogleLimitError
from google.adk.agents.run_config import RunConfig as GoogleRunConfig, StreamingMode
from google.adk.apps import App
from google.adk.runners import Runner as GoogleRunner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.session import Session as GoogleSession
from pydantic import PrivateAttr

from adknb.adk import missing
from adknb.adk.artifacts import SharedArtifacts
from adknb.adk.build import Builder
from adknb.adk.mirror import Mirrored
from adknb.adk.record import Recorder, goes_through
from adknb.adk.wire import from_content, from_event
from adknb.core.errors import AdknbError, LlmCallsLimitExceededError
from adknb.core.events import Event
from adknb.core.json_values import copied
from adknb.core.specs import LoopAgent
from adknb.runtime.context import Invocation, InvocationContext
from adknb.runtime.tree import Node

_ALONE: Final = "adknb_part"
_TELEMETRY: Final = "google_adk.google.adk.telemetry._metrics"


def _is_worth_saying(record: logging.LogRecord) -> bool:
    """That a model reports no tokens stands in adknb's tables; google-adk would log it at every call."""
    return not str(record.msg).startswith("Skipping missing token usage")


logging.getLogger(_TELEMETRY).addFilter(_is_worth_saying)


class Part(GoogleAgent):
    """Runs one agent of the tree below it, which keeps its place in it: whom it knows and may transfer to."""

    _agent: GoogleAgent = PrivateAttr()

    async def _run_async_impl(self, ctx: Any) -> AsyncGenerator[Any]:
        async with aclosing(self._agent.run_async(ctx)) as events:
            async for event in events:
                yield event


def run_node(context: InvocationContext) -> AsyncGenerator[Event]:
    """Run the pipeline; where steps are replayed, or not all are to run, each step alone on a copy of the session."""
    run = GoogleRun(context.invocation)
    return run.whole() if context.invocation.journal.is_whole else run.in_parts(context.node)


class GoogleRun:
    """One turn by google-adk."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._root = invocation.root
        self._recorder = Recorder(invocation)
        builder = Builder(
            invocation.strategy, invocation.session, invocation.complete, self._recorder.ask_of, self._recorder.nodes
        )
        self._agent = builder.build(self._root)
        self._built = builder.built
        app = self._root.agent.app if isinstance(self._root.agent, Mirrored) else None
        self._app: App | None = app
        self._recorder.has_plugins = app is not None and bool(app.plugins)

    async def whole(self) -> AsyncGenerator[Event]:
        """google-adk's own Runner on the whole pipeline; the user's message is for it to store."""
        self._recorder.journals = True
        async with aclosing(self._run(self._agent, self._invocation.run.past)) as events:
            async for event in events:
                yield event

    async def in_parts(self, start: Node) -> AsyncGenerator[Event]:
        """Sequences and loops are walked here, by the journal; what stands in them is run by google-adk."""
        async with aclosing(self._walk(start)) as events:
            async for event in events:
                yield event

    async def _walk(self, node: Node) -> AsyncGenerator[Event]:
        if not goes_through(node):
            async with aclosing(self._journaled(node, "step", self._built[node.path])) as events:
                async for event in events:
                    yield event
            return
        for moment, other in (("before", "after_agent_callback"), ("children", ""), ("after", "before_agent_callback")):
            if moment == "children":
                async with aclosing(self._children(node)) as events:
                    async for event in events:
                        yield event
            elif node.agent.before_agent_callback or node.agent.after_agent_callback or self._recorder.has_plugins:
                bare = self._built[node.path].clone(update={"sub_agents": [], other: None})
                async with aclosing(self._journaled(node, moment, bare)) as events:
                    async for event in events:
                        yield event
                        if moment == "before" and event.content is not None:
                            return

    async def _children(self, node: Node) -> AsyncGenerator[Event]:
        import asyncio

        agent = node.agent
        limit = 1 if not isinstance(agent, LoopAgent) else agent.max_iterations
        rounds = 0
        while node.children and (limit is None or rounds < limit):
            rounds += 1
            for child in node.children:
                escalated = False
                async with aclosing(self._walk(child)) as events:
                    async for event in events:
                        yield event
                        escalated = escalated or event.actions.escalate
                if escalated and isinstance(agent, LoopAgent):
                    return
            await asyncio.sleep(0)

    async def _journaled(self, node: Node, moment: Any, agent: GoogleAgent) -> AsyncGenerator[Event]:
        entry, done = self._invocation.journal.next(node.path, moment)
        if done:
            for event in entry.events:
                yield event
            return
        part = agent
        if agent is not self._agent:
            inside = [] if agent.parent_agent is None else [self._agent]
            part = Part(name=_ALONE, sub_agents=inside)
            part._agent = agent
        async with aclosing(self._run(part, self._invocation.session.history)) as events:
            async for event in events:
                yield event
        self._recorder.close_all()
        self._agent.parent_agent = None

    async def _run(self, agent: GoogleAgent, history: Sequence[Event]) -> AsyncGenerator[Event]:
        """google-adk's Runner on `agent`, in a session of its own that holds the events of `history`."""
        run = self._invocation.run
        message = run.turn_events[0]
        if history and history[-1] is message:
            history = history[:-1]
        sessions = _MessageOnce(message)
        session = run.session
        state = {**copied(session.state), **self._recorder.temp}
        await sessions.create_session(
            app_name=session.app_name, user_id=session.user_id, session_id=session.id, state=state
        )
        stored = sessions.sessions[session.app_name][session.user_id][session.id]
        stored.events.extend(from_event(event) for event in history)
        stored.state.update(self._recorder.temp)
        try:
            async with aclosing(
                self._runner(agent, sessions).run_async(
                    user_id=session.user_id,
                    session_id=session.id,
                    invocation_id=message.invocation_id,
                    new_message=from_content(run.message),
                    run_config=self._config(),
                )
            ) as events:
                async for event in events:
                    for summary in sessions.summaries():
                        yield self._recorder.take(summary)
                    yield self._recorder.take(event)
            for summary in sessions.summaries():
                yield self._recorder.take(summary)
            self._recorder.close_all()
        except GeneratorExit:
            raise
        except BaseException as error:
            self._recorder.close_all(error)
            said = self._said(error)
            if said is error:
                raise
            raise said from error

    def _runner(self, agent: GoogleAgent, sessions: InMemorySessionService) -> GoogleRunner:
        plugins = [self._recorder, *(self._app.plugins if self._app is not None else ())]
        changes = {"root_agent": agent, "plugins": plugins, "events_compaction_config": self._compaction(agent)}
        app = self._app.model_copy(update=changes) if self._app is not None else App(name="adknb", **changes)
        artifacts = SharedArtifacts(self._invocation.artifacts, self._invocation.session)
        return GoogleRunner(
            app=app,
            app_name=self._invocation.session.app_name,
            session_service=sessions,
            artifact_service=artifacts,
        )

    def _compaction(self, agent: GoogleAgent) -> Any:
        """How the app's events are to be summed up: a copy, in which google-adk writes whom it asks."""
        config = self._app.events_compaction_config if self._app is not None else None
        if config is None:
            return None
        if agent is self._agent:
            return config.model_copy()
        self._recorder.note("run in parts, so google-adk summed no events up (events_compaction_config)")
        return None

    def _config(self) -> GoogleRunConfig:
        config = self._invocation.config
        mode = StreamingMode.SSE if config.streaming else StreamingMode.NONE
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # google-adk advises against no limit, which the user asked for
            return GoogleRunConfig(max_llm_calls=config.max_llm_calls, streaming_mode=mode)

    def _said(self, error: BaseException) -> BaseException:
        """The errors that adknb has words for, in them; any other as it is."""
        failed = next((step for step in reversed(self._invocation.run.step_runs) if step.status == "failed"), None)
        agent = failed.agent.name if failed is not None else self._root.name
        said: AdknbError | None = None
        if isinstance(error, GoogleLimitError):
            said = LlmCallsLimitExceededError(
                f"{error} Raise it with RunConfig(max_llm_calls=…), or give a loop max_iterations."
            ).as_adk("LlmCallsLimitExceededError", str(error))
        else:
            said = missing.said(error, self._root.rules, agent, list(self._invocation.session.state))
        if said is None:
            return error
        if failed is not None:
            failed.error = said
        return said


class _MessageOnce(InMemorySessionService):
    """A copy of a session. A part of a turn finds the turn's message in it, and does not store it again."""

    def __init__(self, message: Event) -> None:
        super().__init__()
        self._message = message
        self._summaries: list[Any] = []

    def summaries(self) -> list[Any]:
        """The summaries of events that came since the last call. google-adk stores them; its Runner does not yield them."""
        new, self._summaries = self._summaries, []
        return new

    async def append_event(self, session: GoogleSession, event: Any) -> Any:
        turn = self._message.invocation_id
        if event.actions.compaction:
            self._summaries.append(event)
        elif event.author == "user" and event.invocation_id == turn:
            if any(known.author == "user" and known.invocation_id == turn for known in session.events):
                return event
            event.timestamp = self._message.timestamp  # a summary says by their times which events it stands for
        return await super().append_event(session, event)
