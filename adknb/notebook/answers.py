"""The bench answers long-running calls: which sessions have one that waits, and the turn that goes on from the answer."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from adknb.core.errors import RunStateError, UnknownCallError, near_names
from adknb.core.pending import PendingCall, asked_calls, listed, pending_calls
from adknb.core.run import Run
from adknb.notebook.bench_runs import RunningBench
from adknb.notebook.records import Record
from adknb.runtime.answers import find_call
from adknb.tables.frame import Kind, Row
from adknb.tables.pending import PENDING, pending_rows

WAITING: Final[dict[str, Kind]] = {**PENDING, "session": "text", "run": "text"}
"""What waits on a bench: the columns of `run.pending`, the session's name, if it has one, and the run that asked."""


class AnsweringBench(RunningBench):
    """A bench on which the calls that runs made are answered."""

    def waiting_rows(self) -> list[Row]:
        """One row a call that waits in the bench's sessions, under the columns `WAITING`; the newest session's last."""
        rows: list[Row] = []
        for records in self._conversations():
            for call in pending_calls(records[-1].run.session.history):
                record = _asking(records, call)
                rows += [{**row, "session": record.session or "", "run": record.run.id} for row in pending_rows([call])]
        return rows

    def answer(
        self, answers: Sequence[tuple[str | None, Any]], session: str | None = None, *, pause: bool = False
    ) -> Run:
        """Answer calls of one session, in one turn. Each is named by its id, the beginning of it, or its tool; None means the
        only one that waits in the `session` of this name, or in that of the last run.

        A run that ended waiting goes on in resumable mode, whatever the settings say by now.
        """
        records = self._conversation(answers[0][0], session)
        place = records[-1].run.session
        found = [(find_call(place.history, call), response) for call, response in answers]
        responses = {call.id: response for call, response in found}
        if len(responses) < len(found):
            raise UnknownCallError(
                f"two of these answers are for one call: {listed({call.id: call for call, _ in found}.values())}. Nothing was "
                "answered: name each call once, by its id. See them: %adk pending"
            )
        record = _asking(records, found[-1][0])
        options = {"resumable": True} if record.run.status == "waiting" else {}
        return self._go_on(
            replace(record, cell=None),
            lambda runner: runner.answer_all(responses, session=place, config=record.run.config, pause=pause),
            options,
            asks=not pause,
        )

    def _conversations(self) -> list[list[Record]]:
        """The bench's records by their sessions, the newest session last; no trials, no comparison's."""
        found: dict[int, list[Record]] = {}
        for record in self.records:
            if not record.is_aside:
                identity = id(record.run.session)
                found[identity] = [*found.pop(identity, []), record]
        return list(found.values())

    def _conversation(self, call: str | None, name: str | None) -> list[Record]:
        """The records of the session in which the call is answered."""
        conversations = self._conversations()
        if name is not None:
            named = next((records for records in conversations if records[-1].session == name), None)
            if named is None:
                known = [records[-1].session for records in conversations]
                near = near_names(name, filter(None, known))
                raise RunStateError(
                    f"no run went into a session {name!r}.{near} One that others began is picked up first: %adk sessions "
                    f"{shlex.quote(name)}"
                )
            return named
        if not conversations and self.records:
            raise RunStateError(
                "no call waits: calls of trials and of comparisons are not answered, and there is no other run yet. Make one: "
                f"%%pipeline {self.current or 'NAME'} --resumable, with the message below it."
            )
        self.record(trials=False)  # says how to make a run, when there is none
        last = conversations[-1]
        if call is not None:
            for records in reversed(conversations):
                if any(asked.id.startswith(call) for asked in asked_calls(records[-1].run.session.history)):
                    return records
        elif not pending_calls(last[-1].run.session.history):
            others = [call for records in conversations for call in pending_calls(records[-1].run.session.history)]
            if others:
                raise RunStateError(
                    f"no call waits in the session of the last run. In others: {listed(others)}. Name one: %adk answer CALL "
                    "VALUE. See them: %adk pending"
                )
        return last


def _asking(records: Sequence[Record], call: PendingCall) -> Record:
    """The newest of the session's records whose run made the call; the newest of all when none did."""
    return next((record for record in reversed(records) if call.event in record.run.turn_events), records[-1])
