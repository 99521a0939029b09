"""A conversation that was stored elsewhere becomes turns with runs, so that all that looks at runs looks at it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from adknb.core.events import Event
from adknb.core.pending import pending_calls
from adknb.core.protocols import ArtifactService
from adknb.core.requests import LlmRequest, LlmResponse, Request
from adknb.core.run import Run, Session, Turn
from adknb.core.state import Scopes
from adknb.rules.base import Rules
from adknb.runtime import turns
from adknb.runtime.adopting.journal import Walk
from adknb.runtime.adopting.requests import (
    StoredArtifacts,
    StoredModel,
    beside,
    doubts,
    initial_state,
    rebuilt,
    stored_model,
)
from adknb.runtime.adopting.spans import Span, spans
from adknb.runtime.adopting.steps import Found, StepFinder, llm_node
from adknb.runtime.adopting.words import ABORTED, Words, reported
from adknb.runtime.context import InvocationContext
from adknb.runtime.engine import Engine
from adknb.runtime.journal import Journal
from adknb.runtime.routing import first_node
from adknb.runtime.runner import Runner
from adknb.runtime.sync import run_sync
from adknb.runtime.tree import LlmNode


def adopt(
    session: Session,
    root: Any,
    *,
    rules: str | Rules = "java",
    strategy: Any = "as_written",
    artifact_service: ArtifactService | None = None,
    reread: bool | None = None,
) -> Session:
    """The session with a turn and a Run for each invocation of it, as the pipeline `root` would have made them.

    No model, tool or callback is called. Each request is built again by the rules from the events and the state before it;
    replies, reported tokens and deltas are the stored ones. What the events cannot tell stands in `notes` of the run or
    step. `root` may be google-adk's own agent: then google-adk builds the requests. An agent that is not in `root` keeps its
    events, in a step without requests.

    `artifact_service` has the artifacts that instructions insert. `reread` says that each turn saw the earlier ones in the
    order of their times, as google-adk's databases give them back; without it, that is so under the rules `python`.
    A step's `ms` is 0, since no event says how long it took; a run's is the time between its events.
    The session that was given stays as it is. Raises what `Runner` raises for a pipeline that cannot be.
    """
    runner = Runner(
        root, model=StoredModel("a stored model"), rules=rules, strategy=strategy, artifact_service=artifact_service,
        resolve=stored_model,
    )  # fmt: skip
    engine = runner._engine
    own_artifacts = None
    if artifact_service is None:
        own_artifacts = engine.artifacts = StoredArtifacts()
    adoption = _Adoption(session, engine, own_artifacts, engine.rules.name == "python" if reread is None else reread)
    return run_sync(adoption.work)


class _Adoption:
    """One session under one pipeline."""

    def __init__(self, session: Session, engine: Engine, artifacts: StoredArtifacts | None, reread: bool) -> None:
        self._from = session
        self._engine = engine
        self._artifacts = artifacts
        self._reread = reread
        self._has_plugins = bool(getattr(getattr(engine.tree.agent, "app", None), "plugins", None))
        self._words = Words(session.history, self._has_plugins)
        self._place = {event.id: index for index, event in enumerate(session.events)}
        self._state = initial_state(session.state, session.events)
        self._folded = 0
        self._written: dict[str, list[int]] = {}
        for index, event in enumerate(session.events):
            for key in event.actions.state_delta:
                self._written.setdefault(key, []).append(index)
        self._session = Session(
            session.id, session.app_name, session.user_id, dict(session.state), list(session.events),
            list(session.history), scopes=Scopes(dict(session.scopes.app), dict(session.scopes.user)),
            notes=list(session.notes),
        )  # fmt: skip

    async def work(self) -> Session:
        found, _ = spans(self._from.history)
        start = 0
        for span in found:
            start += len(span.lead)
            await self._turn(span, start)
            start += len(span.events)
        return self._session

    async def _turn(self, span: Span, start: int) -> None:
        session, engine = self._session, self._engine
        previous = session.chain[-1] if session.chain else None
        first = span.events[0]
        self._fold_to(self._place[first.id])
        run = engine.new_run(
            session,
            span.message,
            {
                "turn": len(session.chain), "previous": previous, "lead": span.lead, "start": start,
                "start_state": dict(self._state), "invocation_id": first.invocation_id,
                "asked": turns.count_requests(previous.run.asked, previous.run.step_runs) if previous else {},
                "id": hashlib.sha256(f"{session.id}\n{first.id}".encode("utf-8", "replace")).hexdigest()[:8],
                "turn_events": list(span.events), "ms": max(span.events[-1].timestamp - first.timestamp, 0.0) * 1000,
            },
        )  # fmt: skip
        steps = StepFinder(engine.tree, span.events, self._words).found
        run.step_runs = [each.step for each in steps]
        past = sorted(run.past, key=lambda event: event.timestamp) if self._reread else run.past
        self._describe(run, span, steps, past)
        asked = dict(run.asked)
        calls = [(index, seen, each) for each in steps for index, seen in each.calls]
        for index, seen, found in sorted(calls, key=lambda call: call[0]):
            node = llm_node(found)
            assert node is not None, "only an LlmAgent's model replies"
            sent = await self._request(run, node, found, past, seen, index)
            sent.ordinal = asked.get(node.name, 0)
            asked[node.name] = sent.ordinal + 1
            found.step.requests.append(Request(sent, seen, _reply(span.events[index])))
        self._journal(run, steps)
        session.chain.append(Turn(run, run.lead, run.previous))

    def _fold_to(self, place: int) -> None:
        """Let the state be what it was before the event at `place` of the log, what was taken back later included."""
        self._state = turns.fold(self._state, self._from.events[self._folded : place])
        self._folded = place

    async def _request(
        self, run: Run, node: LlmNode, found: Found, past: Sequence[Event], seen: int, index: int
    ) -> LlmRequest:
        engine, events = self._engine, run.turn_events
        if not node.is_complete:
            engine.complete(node)
            if isinstance(node.model, StoredModel) and node.agent.model is None:
                node.model_name = reported(events[index], "model_version") or node.model_name
        session = Session(
            run.session.id, run.session.app_name, run.user_id, turns.fold(run.start_state, events[:seen]),
            list(run.session.events), [*past, *events[:seen]], is_copy=True,
        )  # fmt: skip
        if self._artifacts is not None:
            self._artifacts.names = {name for event in session.history for name in event.actions.artifact_delta}
        invocation = engine.invocation(run, Journal(run))
        invocation.session = session
        context = InvocationContext(invocation, node, found.step.branch, in_step=True)
        place = self._place[events[index].id]
        request, notes = await rebuilt(context, node, engine.build_request, self._artifacts, self._written, place)
        for note in [*notes, *beside(node, events, seen, index)]:
            if note not in found.step.notes:
                found.step.notes.append(note)
        return request

    def _describe(self, run: Run, span: Span, steps: Sequence[Found], past: Sequence[Event]) -> None:
        """What holds for the run and for its steps, whatever their requests are."""
        run.notes.append("adopted: its events were stored elsewhere, its requests are built again from them")
        strangers = dict.fromkeys(each.step.agent.name for each in steps if each.node is None)
        if strangers:
            run.notes.append(
                f"{run.root.name} has no agent {', '.join(map(repr, strangers))}: what it was sent is not known here"
            )
        if span.is_mixed:
            run.notes.append("events of another invocation came in between; they stand in this turn, in their order")
        if past != run.past:
            run.notes.append("ADK read the earlier turns again in the order of their times, and sent them so")
        for each in steps:
            node = llm_node(each)
            each.step.notes.extend(doubts(node, self._has_plugins) if node is not None else ())
            if node is not None and node.agent.before_agent_callback and not each.calls and _says(each.step.events):
                each.step.status = "skipped"
            for event in each.step.events:
                if event.error_code == ABORTED:
                    each.step.status = "interrupted"
                elif event.error_code is not None:
                    each.step.notes.append(f"ended with {event.error_code}: {event.error_message}")

    def _journal(self, run: Run, steps: Sequence[Found]) -> None:
        engine = self._engine
        start = first_node(engine.tree, run.message, [*run.past, run.turn_events[0]])
        walk = Walk(start, steps, run.turn_events, both_callbacks=engine.rules.name == "python")
        run.journal = walk.entries
        for node in walk.silent:
            run.notes.append(f"{node.name} left no event, although agents after it did")
        for each in walk.unplaced:
            run.notes.append(f"{each.step.name} spoke where {run.root.name}, as it is now, has no place for it")
        if any(event.error_code == ABORTED for event in run.turn_events):
            run.status = "interrupted"
        elif walk.stopped_before is None:
            run.status = "completed"
        elif pending_calls(run.turn_events):
            run.status = "waiting"
        else:
            run.status = "interrupted"
            run.notes.append(f"it stops before {walk.stopped_before.name} says what comes next; an error is not stored")


def _says(events: Sequence[Event]) -> bool:
    return any(event.content is not None for event in events)


def _reply(event: Event) -> LlmResponse:
    return LlmResponse(
        event.content, event.usage, finish_reason=reported(event, "finish_reason"), error_code=event.error_code,
        error_message=event.error_message, note="stored",
    )  # fmt: skip
