"""The engine: one turn of a pipeline, from its message to its end, each event stored before the next step starts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any

from adknb.core.content import Content
from adknb.core.errors import AdknbError
from adknb.core.events import USER, Event, EventActions
from adknb.core.pending import pending_calls
from adknb.core.protocols import ArtifactService, ContextStrategy, KeepsTurns, SessionService
from adknb.core.requests import LlmRequest
from adknb.core.run import Run, Session, Status
from adknb.core.state import REMOVED
from adknb.rules.base import Rules
from adknb.runtime import turns
from adknb.runtime.compose import run_node
from adknb.runtime.context import Invocation, InvocationContext, RunNode
from adknb.runtime.flow import build_request
from adknb.runtime.journal import Journal, Paused
from adknb.runtime.resume_notes import on_message
from adknb.runtime.routing import first_node
from adknb.runtime.tree import LlmNode, Node

BuildRequest = Callable[[InvocationContext, LlmNode], Awaitable[LlmRequest]]


@dataclass(slots=True, eq=False)
class Engine:
    """A pipeline made ready to run, and the services that its runs use. `last_run` is the newest run that was driven,
    `resumable` says that a long-running call pauses a run."""

    tree: Node
    rules: Rules
    strategy: ContextStrategy
    temp_keys: str
    sessions: SessionService
    artifacts: ArtifactService
    complete: Callable[[LlmNode], None]
    observer: Callable[[Run], object] | None = None
    resumable: bool = False
    last_run: Run | None = None
    run_node: RunNode = run_node
    build_request: BuildRequest = build_request
    keeps_turns: KeepsTurns | None = field(init=False)

    def __post_init__(self) -> None:
        self.keeps_turns = self.sessions if isinstance(self.sessions, KeepsTurns) else None  # too slow for each run

    def new_run(self, session: Session, message: Content, place: Mapping[str, Any]) -> Run:
        return Run(
            root=self.tree.agent, session=session, message=message, rules=self.rules.name, strategy=self.strategy.name,
            temp_keys=self.temp_keys, user_id=session.user_id, **place,
        )  # fmt: skip

    def invocation(self, run: Run, journal: Journal) -> Invocation:
        return Invocation(
            run, run.session, self.tree, self.rules, self.strategy, self.artifacts, run.config, journal,
            self.complete, self.run_node, dict(run.asked), self.observer, resumable=self.resumable,
            save=self.save if self.keeps_turns is not None else None,
        )  # fmt: skip

    async def finish(self, invocation: Invocation) -> Run:
        async with aclosing(self.drive(invocation)) as events:
            async for _ in events:
                continue
        return invocation.run

    async def drive(self, invocation: Invocation) -> AsyncGenerator[Event]:
        """Run to the end, the limit, or the first error, storing each event before the next step starts."""
        run = invocation.run
        self.last_run = run
        run.status = "running"
        replayed = invocation.journal.replayed_ids
        started = invocation.clock()
        if self.resumable and run.past:
            run.notes += on_message(self.tree, run)
        try:
            node = first_node(self.tree, run.message, run.session.history, self.resumable)
            async with aclosing(self.run_node(InvocationContext(invocation, node))) as events:
                async for event in events:
                    if event.id in replayed:
                        continue
                    if not event.partial:
                        await self.store(run, event)
                    invocation.observe()
                    yield event
            self.close(run, "waiting" if self.resumable and pending_calls(run.turn_events) else "completed")
        except Paused:
            self.close(run, "paused")
        except Exception as error:
            run.error = error
            with suppress(AttributeError):  # an exception with slots has no room for it
                error.run = run  # type: ignore[attr-defined]
            self.close(run, "failed")
            raise
        except BaseException:  # cancelled, or the stream was not read to its end
            self.close(run, "interrupted")
            raise
        finally:
            run.ms += (invocation.clock() - started) * 1000
            await self.save_end(run)

    async def save(self, run: Run) -> None:
        """Let a store that keeps turns take in how the run ended."""
        if self.keeps_turns is not None:
            await self.keeps_turns.save(run.session)

    async def save_end(self, run: Run) -> None:
        """`save`, whose failure does not hide the error that ended the run."""
        try:
            await self.save(run)
        except AdknbError as error:
            error.run = run
            if run.status not in ("failed", "interrupted"):
                raise
            run.notes.append(f"how it ended could not be stored: {error}")

    def cut_off(self, run: Run) -> None:
        """End a run whose message was being stored when it was cancelled: nobody drives it."""
        self.last_run = run
        self.close(run, "interrupted")

    def close(self, run: Run, status: Status) -> None:
        """End the run, once: its session is left as its events say, with the turns that come after it."""
        if run.status != "running":
            return
        run.status = status
        turns.release(run)
        session = run.session
        if status == "failed":
            session.scopes.merge_into(session.state)  # what no event says is not shared
        if status == "interrupted" or (status != "paused" and not self.rules.keeps_unsaid_state):
            turns.restore_state(session, turns.fold(run.start_state, run.turn_events))
            for step in run.step_runs:
                step.status = "interrupted" if step.status == "running" else step.status
        if status != "paused" and self.temp_keys != "keep":
            turns.discard_temp(session, run.start_state if self.temp_keys == "restore" else {})
        turns.bring_back_later_turns(run)

    async def store_message(self, run: Run, state: Mapping[str, Any], clear: Iterable[str]) -> None:
        """The user's event, with the values to start with and the keys to clear in its delta (ADK's `stateDelta`)."""
        keys = [clear] if isinstance(clear, str) else clear
        delta = {**state, **{key: REMOVED for key in keys if key in run.session.state}}
        await self.store(run, Event(USER, run.message, EventActions(delta), run.invocation_id))

    async def store(self, run: Run, event: Event) -> None:
        if run.status != "running":  # closed after Ctrl-C without waiting for the user's code, which goes on
            from asyncio import CancelledError

            raise CancelledError
        if self.rules.strips_temp_keys:
            turns.strip_temp(event, run.session.state)
        is_stored = False
        try:
            await self.sessions.append_event(run.session, event)
            is_stored = True
        finally:  # a store ends what it began before it lets itself be cancelled
            if is_stored or run.session.holds(event):
                run.turn_events.append(event)
                if run.journal:
                    run.journal[-1].events.append(event)
