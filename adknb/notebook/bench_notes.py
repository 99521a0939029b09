"""What the bench notes of itself beside its sessions, and the bench that comes back from that in another kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from adknb.core.json_values import copied, fault
from adknb.core.run import Run, Session, Turn
from adknb.notebook.bench_documents import Contents, HasContents, Identity, Reader, Writer
from adknb.notebook.bench_log import BenchLog, Change, Document
from adknb.notebook.chosen_places import SaidHere
from adknb.notebook.records import Settings
from adknb.notebook.undo import SessionMark, Snapshot

if TYPE_CHECKING:
    from adknb.sessions.database import DatabaseSessionService

SHOWN_RUNS: Final = 200
"""So many of the newest runs come back; the others are in the database still."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What was noted: the bench's contents, its changes with the newest last, and what there is to say about it."""

    contents: Contents
    undo: list[Snapshot]
    remarks: tuple[str, ...] = ()


class BenchNotes:
    """The notes of one notebook in one database."""

    def __init__(
        self, store: DatabaseSessionService, notebook: str, namespace: Callable[[], Mapping[str, Any]]
    ) -> None:
        self.notebook = notebook
        self.log = BenchLog(store, notebook, store.writer)
        self._store = store
        self._namespace = namespace
        self._said = SaidHere()
        self._writer = Writer(namespace, self._said)

    def change(self, before: Snapshot, after: HasContents) -> Change:
        """A change as it is to be noted."""
        marks, mark = dict(self.log.newest.get("marks", {})), before.mark
        if mark is not None:
            marks[_key(mark.session)] = _mark_document(mark)
        return Change(
            before.label,
            {**self._writer.document(before), "marks": marks},
            {**self._writer.document(after), "marks": marks},
            Identity.of(mark.session) if mark is not None else None,
            Identity.of(before.began) if before.began is not None else None,
            before.imported,
            before.deleted,
        )

    async def read(self) -> Kept:
        """The bench as the last change left it, with its sessions as they are now."""
        changes = await self.log.read()
        if not changes:
            return Kept(Contents({}, Settings(), (), None, {}), [])
        newest = _newest_runs(changes[-1].after)
        stored = _Stored()
        identities = [Identity(*record["at"]) for record in newest["records"]]
        for identity in dict.fromkeys([*identities, *(Identity(*each) for each in newest["sessions"].values())]):
            await stored.load(self._store, identity)
        reader = Reader(self._namespace(), stored.run, self._said)
        contents = reader.contents(newest, stored.session)
        remarks = [*reader.remarks, *_left_out(changes[-1].after, reader.missing)]
        undo = [_snapshot(change, reader, stored) for change in changes]
        return Kept(contents, undo, tuple(remarks))


class _Stored:
    """Sessions of the database with all their runs, each read once."""

    def __init__(self) -> None:
        self._sessions: dict[Identity, Session] = {}
        self._runs: dict[Identity, Mapping[str, Run]] = {}

    async def load(self, store: DatabaseSessionService, identity: Identity) -> None:
        session = await store.get_session(app_name=identity.app, user_id=identity.user, session_id=identity.id)
        if session is not None:
            self._sessions[identity] = session
            self._runs[identity] = {run.id: run for run in store.runs(session)}

    def session(self, identity: Identity) -> Session | None:
        return self._sessions.get(identity)

    def run(self, identity: Identity, run: str) -> Run | None:
        return self._runs.get(identity, {}).get(run)


def _snapshot(change: Change, reader: Reader, stored: _Stored) -> Snapshot:
    contents = reader.contents(_newest_runs(change.before), stored.session)
    session = stored.session(change.on) if change.on is not None else None
    began = stored.session(change.began) if change.began is not None else None
    return Snapshot(
        change.label, contents.pipelines, contents.settings, contents.records, contents.current, contents.sessions, None,
        _mark(session, change.before["marks"][_key(session)], stored) if session is not None else None,
        contents.records[-1].run if contents.records else None, None, began, change.imported, tuple(change.deleted),
    )  # fmt: skip


def _mark(session: Session, document: Any, stored: _Stored) -> SessionMark | None:
    """None when a run of that time is not there any more."""
    chain: list[Turn] = []
    for name, _ in document["chain"]:
        run = stored.run(Identity.of(session), name)
        if run is None:
            return None
        chain.append(Turn(run, run.lead, chain[-1] if chain else None))
    return SessionMark(session, tuple(chain), tuple(stale for _, stale in document["chain"]), copied(document["state"]))


def _mark_document(mark: SessionMark) -> Document:
    state = {key: copied(value) for key, value in mark.state.items() if fault(key, value) is None}
    return {
        "chain": [[turn.run.id, stale] for turn, stale in zip(mark.chain, mark.stale, strict=True)],
        "state": state,
    }


def _key(session: Session) -> str:
    """A session's identity as a key of JSON."""
    return "/".join(part.replace("~", "~0").replace("/", "~1") for part in Identity.of(session))


def _newest_runs(document: Document) -> Document:
    return {**document, "records": document["records"][-SHOWN_RUNS:]}


def _left_out(document: Document, missing: Sequence[str]) -> list[str]:
    remarks = []
    older = len(document["records"]) - SHOWN_RUNS
    if older > 0:
        remarks.append(
            f"{older} older run{'s are' if older > 1 else ' is'} not on the bench, but in the database: %adk sessions"
        )
    if missing:
        named = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
        are = "s are" if len(missing) > 1 else " is"
        remarks.append(f"{len(missing)} run{are} gone with a deleted session: {named}")
    return remarks
