"""Where a run is kept: its session, and with checkpoints what each step left, both in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adknb.core.content import Content
from adknb.core.events import Event, EventActions
from adknb.core.protocols import KeepsNotes, Note, SessionService
from adknb.core.run import Session
from adknb.core.state import REMOVED
from adknb.workflow.checkpoints import step_note
from adknb.workflow.data import PipelineData
from adknb.workflow.performing import Ended
from adknb.workflow.takeover import give_back, let_go, take_over


@dataclass(slots=True, eq=False)
class Keeper:
    """Keeps one run in `service`. Without `notes`, a store of checkpoints, only the session's events are kept."""

    service: SessionService
    session: Session
    notes: KeepsNotes | None
    temp_keys: str
    _busy: Any = field(default=None, repr=False)

    async def keep(self, run_id: str, ended: Ended, author: str) -> None:
        """Make durable what a step left, before the next begins. `author` says who wrote what the context gained."""
        import anyio

        if self._busy is None:
            self._busy = anyio.Lock(fast_acquire=True)
        async with self._busy:  # steps that ran together end in any order, but one at a time
            await self._keep(ended, author, [step_note(run_id, ended.outcome)] if self.notes is not None else [])

    async def _keep(self, ended: Ended, author: str, notes: Sequence[Note]) -> None:
        run, session = ended.run, self.session
        delta = mirrored({**ended.state, **ended.outcome.context}, session.state)
        if run is None:
            said = PipelineData(ended.outcome.payload).text if ended.outcome.has_output else ""
            content = Content.model(said) if said else None
            events = [Event(author, content, EventActions(delta))] if delta or content is not None else []
            await self._append(events, notes)
            return
        take_over(session, run, ended.failed)
        if delta:
            gained = Event(author, actions=EventActions(delta), invocation_id=run.invocation_id)
            run.turn_events.append(gained)
            if run.step_runs:
                run.step_runs[-1].events.append(gained)
                run.step_runs[-1].stop = len(run.turn_events)
        try:
            await self._append(run.turn_events, notes)
        except BaseException:
            if not self._has(run.turn_events):
                give_back(session, run)
                raise
            let_go(session, run, self.temp_keys)  # cancelled when it was stored already
            raise
        let_go(session, run, self.temp_keys)

    async def _append(self, events: Sequence[Event], notes: Sequence[Note]) -> None:
        if self.notes is not None:
            await self.notes.append_events(self.session, events, notes)
        elif isinstance(self.service, KeepsNotes):
            if events:
                await self.service.append_events(self.session, events)
        else:
            for event in events:
                await self.service.append_event(self.session, event)

    def _has(self, events: Sequence[Event]) -> bool:
        return bool(self.session.events) and self.session.events[-1] is events[-1]


def mirrored(context: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """What the state gains of values of the context, so that placeholders can read them. A null is no value there."""
    return {
        key: REMOVED if value is None else value for key, value in context.items() if value is not None or key in state
    }
