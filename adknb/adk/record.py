"""What google-adk does, written down as it happens: steps, their requests and events, and where the run could pause."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext
from typing import Any

from google.adk.agents import BaseAgent as GoogleAgent
from google.adk.events import Event as GoogleEvent
from google.adk.models import BaseLlm, LlmRequest as GoogleRequest, LlmResponse as GoogleResponse
from google.adk.plugins import BasePlugin

from adknb.adk.answering import Ask, GoogleOwn
from adknb.adk.sent import Seen, sent_request, system_text
from adknb.adk.wire import from_response, to_content, to_event, to_response
from adknb.core.errors import ModelError
from adknb.core.events import USER, Event
from adknb.core.requests import LlmResponse, Request
from adknb.core.run import StepRun
from adknb.core.specs import LoopAgent, ParallelAgent, SequentialAgent
from adknb.core.state import TEMP_PREFIX
from adknb.runtime.context import Invocation
from adknb.runtime.interrupts import users_items
from adknb.runtime.tree import LlmNode, Node
from adknb.workflow.metering import MeteredCall, meter


def goes_through(node: Node) -> bool:
    """Whether a run can pause between this agent's children."""
    return isinstance(node.agent, (SequentialAgent, LoopAgent))


def is_pausable(node: Node) -> bool:
    """Whether a run can pause before this agent."""
    parent = node.parent
    return parent is None or (goes_through(parent) and is_pausable(parent))


class Recorder(BasePlugin):
    """The first plugin of a run of google-adk; it changes nothing.

    With `journals` it opens the journal's entries itself: the whole pipeline runs, from its first step to its last.
    """

    def __init__(self, invocation: Invocation) -> None:
        super().__init__(name="adknb")
        self._invocation = invocation
        self._run = invocation.run
        self._seen: dict[str, Seen] = {}
        self._started: dict[int, float] = {}
        self.known: dict[str, Event] = {event.id: event for event in invocation.session.history}
        self.nodes: dict[str, Node] = {}
        self.temp: dict[str, Any] = {}
        self.journals = False
        self.has_plugins = False

    # google-adk's hooks

    async def before_agent_callback(self, *, agent: GoogleAgent, callback_context: Any) -> None:
        node = self._node_of(agent)
        if node is None:
            return
        if self.journals:
            self._open_entry(node)
        if not isinstance(node.agent, (SequentialAgent, LoopAgent, ParallelAgent)):
            step = self._invocation.begin_step(node, callback_context.branch)
            self._started[id(step)] = self._invocation.clock()

    async def after_agent_callback(self, *, agent: GoogleAgent, callback_context: Any) -> None:
        node = self._node_of(agent)
        step = self._running(agent.name)
        if step is not None:
            self._close(step, "completed")
        elif node is not None and self.journals and is_pausable(node) and goes_through(node) and self._answers(node):
            self._invocation.journal.next(node.path, "after")

    async def on_agent_error_callback(self, *, agent: GoogleAgent, callback_context: Any, error: Exception) -> None:
        step = self._running(agent.name)
        if step is not None:
            step.error = error
            self._close(step, "failed")

    async def before_model_callback(self, *, callback_context: Any, llm_request: GoogleRequest) -> None:
        session = callback_context.session
        message = self._run.turn_events[0]
        for event in session.events:
            if event.author == USER and event.id not in self.known and event.invocation_id == message.invocation_id:
                self.known[event.id] = message
                if event.content is not None and to_content(event.content) != message.content:
                    self.note("a plugin changed the message: see the request")
        self._seen[callback_context.agent_name] = Seen(
            system_text(llm_request), dict(session.state), list(session.events)
        )

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        state = invocation_context.session.state
        self.temp = {key: value for key, value in state.items() if key.startswith(TEMP_PREFIX)}

    # what the model is asked, and by whom it is answered

    def ask_of(self, node: LlmNode, own: BaseLlm | None) -> Ask:
        async def ask(request: GoogleRequest, stream: bool) -> AsyncGenerator[GoogleResponse]:
            invocation = self._invocation
            name = own.model if own is not None else node.model_name
            asker = _asker(request)
            seen = self._seen.pop(asker, None)
            sent = sent_request(node, request.model or name, request, seen, self.known)
            sent.agent = asker
            sent.ordinal = invocation.next_ordinal(asker)
            record = Request(sent, len(self._run.turn_events))
            step = self._running(node.name) or self._latest(node.name)
            if asker != node.name or seen is None:
                self.note(f"google-adk asked the model of {node.name} for {asker}, too: no step shows that")
            elif step is not None:
                if own is None and node.model.name != node.model_name and not step.requests:
                    step.notes.append(f"{node.model.name} answered in place of {node.model_name}")
                step.requests.append(record)
            invocation.observe()
            started = invocation.clock()
            answers = (
                own.generate_content_async(request, stream=stream)
                if own is not None
                else self._answered(node, record, stream)
            )
            attempt = meter.get(None) if own is not None else None  # adknb's models are metered already
            with MeteredCall(attempt, sent) if attempt is not None else nullcontext() as call:
                async with aclosing(answers) as replies:
                    async for reply in replies:
                        if own is not None:  # some models complete the contents themselves
                            again = sent_request(node, request.model or name, request, seen, self.known)
                            sent.contents, sent.sources = again.contents, again.sources
                            record.reply = to_response(reply)
                            if call is not None:
                                call.heard(record.reply)
                        record.ms = (invocation.clock() - started) * 1000
                        yield reply

        return ask

    async def _answered(self, node: LlmNode, record: Request, stream: bool) -> AsyncGenerator[GoogleResponse]:
        """The answer of a model of adknb's."""
        assert not isinstance(node.model, GoogleOwn)
        async with aclosing(users_items(node.model.generate_content_async(record.sent, stream=stream))) as replies:
            async for reply in replies:
                if not isinstance(reply, LlmResponse):
                    raise ModelError(
                        f"agent {node.name!r}: its model {node.model.name!r} yielded {reply!r}, no LlmResponse"
                    )
                record.reply = reply
                yield from_response(reply)

    # events and steps

    def take(self, event: GoogleEvent) -> Event:
        """An event as adknb's, put to the step that it belongs to: its author's, else the one that runs.

        A summary of earlier events belongs to none.
        """
        taken = to_event(event)
        self.known[taken.id] = taken
        if event.actions.compaction:
            self.note(
                "google-adk summed the conversation up; a session in a database keeps its events and not the summary"
            )
            return taken
        running = [step for step in self._run.step_runs if step.status == "running"]
        step = self._latest(taken.author) or (running[-1] if running else None)
        if step is None:
            return taken
        if taken.partial:
            step.partial += taken.text
            return taken
        step.partial = ""
        step.events.append(taken)
        step.stop = len(self._run.turn_events) + 1
        return taken

    def close_all(self, error: BaseException | None = None) -> None:
        """Close the steps of which google-adk said no end: those that a callback answered for, or that an error ended."""
        for step in self._run.step_runs:
            if step.status != "running":
                continue
            if error is None:
                self._close(step, "skipped" if step.events and not step.requests else "completed")
            else:
                self._close(step, "interrupted")

    def _close(self, step: StepRun, status: Any) -> None:
        step.status = status
        step.partial = ""
        step.stop = max(step.stop, len(self._run.turn_events) if status != "skipped" else step.stop)
        step.ms = (self._invocation.clock() - self._started.pop(id(step), self._invocation.clock())) * 1000

    def _open_entry(self, node: Node) -> None:
        if is_pausable(node):
            self.close_all()
            if not goes_through(node):
                self._invocation.journal.next(node.path, "step")
            elif self._answers(node):
                self._invocation.journal.next(node.path, "before")
        elif not self._run.journal:  # the turn starts with an agent that the conversation was transferred to
            self._invocation.journal.next(node.path, "step")

    def _answers(self, node: Node) -> bool:
        """Whether callbacks or a user's plugins may say something before or after a workflow agent's children."""
        return bool(node.agent.before_agent_callback or node.agent.after_agent_callback or self.has_plugins)

    def note(self, text: str) -> None:
        if text not in self._run.notes:
            self._run.notes.append(text)

    def _node_of(self, agent: GoogleAgent) -> Node | None:
        """The node of an agent; google-adk runs some as copies, so it is found by its place, else by its name."""
        names = [agent.name]
        parent = agent.parent_agent
        while parent is not None:
            names.insert(0, parent.name)
            parent = parent.parent_agent
        for start in range(len(names)):
            if found := self.nodes.get("/".join(names[start:])):
                return found
        return next((node for node in self.nodes.values() if node.name == agent.name), None)

    def _latest(self, name: str) -> StepRun | None:
        return next((step for step in reversed(self._run.step_runs) if step.agent.name == name), None)

    def _running(self, name: str) -> StepRun | None:
        step = self._latest(name)
        return step if step is not None and step.status == "running" else None


def _asker(request: GoogleRequest) -> str:
    """For whom a model is asked: google-adk writes the agent's name on what agents ask, and none on a summary of events."""
    labels = request.config.labels if request.config is not None else None
    return str((labels or {}).get("adk_agent_name", "a summary"))
