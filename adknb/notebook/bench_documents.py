"""The bench as a JSON document, and back: pipelines, settings, runs by id, sessions by identity.

    {"pipelines": [{"name", "agents": [{"name", "prompt", "options", "cell", "versions": [{"prompt", "options"}]}]}],
     "settings": {…}, "current": name, "sessions": {name: [app, user, id]},
     "records": [{"run", "at": [app, user, id], "pipeline", "cell", "session", "trial", "options"}]}

Runs and events are in the sessions themselves. A value that did not change is the same object in the next document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple, Protocol

from adknb.core.json_values import copied, fault
from adknb.core.run import Run, Session
from adknb.notebook.bench_values import NOT_KEPT, from_json, outside, to_json
from adknb.notebook.chosen_files import chosen_outside, without_outside
from adknb.notebook.chosen_places import SaidHere, not_taken
from adknb.notebook.pipelines import AgentCell, AgentOptions, Pipeline, Version
from adknb.notebook.records import Record, Settings


class Identity(NamedTuple):
    """Which session."""

    app: str
    user: str
    id: str

    @staticmethod
    def of(session: Session) -> Identity:
        return Identity(session.app_name, session.user_id, session.id)


class HasContents(Protocol):
    """The bench, or what it was before a change."""

    @property
    def pipelines(self) -> Mapping[str, Pipeline]: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def records(self) -> tuple[Record, ...]: ...

    @property
    def current(self) -> str | None: ...

    @property
    def sessions(self) -> Mapping[str, Session]: ...


@dataclass(frozen=True, slots=True)
class Contents:
    """What of the bench is kept."""

    pipelines: Mapping[str, Pipeline]
    settings: Settings
    records: tuple[Record, ...]
    current: str | None
    sessions: Mapping[str, Session]

    @staticmethod
    def of(bench: HasContents) -> Contents:
        return Contents(dict(bench.pipelines), bench.settings, bench.records, bench.current, dict(bench.sessions))


class Writer:
    """Makes documents of contents. Remembers what each part came to, so that an unchanged part is the same object."""

    def __init__(self, namespace: Callable[[], Mapping[str, Any]], said: SaidHere) -> None:
        self._namespace = namespace
        self._said = said
        self._known: dict[int, tuple[Any, Any]] = {}

    def document(self, contents: HasContents) -> dict[str, Any]:
        """Runs that live elsewhere are left out: a comparison's, and those that named a database of their own."""
        known, self._known = self._known, {}

        def once(part: Any, make: Callable[[], Any]) -> Any:
            held = known.get(id(part))
            document = held[1] if held is not None and held[0] is part else make()
            self._known[id(part)] = (part, document)
            return document

        def version(one: Version) -> Any:
            return once(one, lambda: {"prompt": one.prompt, "options": _options(one.options)})

        def agent(one: AgentCell) -> Any:
            versions = [version(each) for each in one.versions]
            head = {"name": one.name, "prompt": one.prompt, "options": _options(one.options), "cell": one.cell}
            return once(one, lambda: {**head, "versions": versions})

        def record(one: Record) -> Any:
            return once(one, lambda: _record(one, self._values(one.options)))

        return {
            "pipelines": [
                {"name": pipeline.name, "agents": [agent(one) for one in pipeline.agents]}
                for pipeline in contents.pipelines.values()
            ],
            "settings": self._values({each.name: getattr(contents.settings, each.name) for each in fields(Settings)}),
            "current": contents.current,
            "sessions": {name: list(Identity.of(session)) for name, session in contents.sessions.items()},
            "records": [record(one) for one in contents.records if one.is_at_home],
        }

    def _values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        namespace = self._namespace()
        kept = {name: to_json(value, namespace) for name, value in values.items()}
        for name, value in kept.items():
            self._said.add(name, value)
        return kept


class Reader:
    """Makes contents of documents. `remarks` says what could not be kept, `missing` which runs are not there."""

    def __init__(
        self, namespace: Mapping[str, Any], run_of: Callable[[Identity, str], Run | None], said: SaidHere
    ) -> None:
        self._namespace = namespace
        self._said = said
        self._run_of = run_of
        self._known: dict[int, tuple[Any, Any]] = {}
        self.remarks: list[str] = []
        self.missing: list[str] = []

    def contents(self, document: dict[str, Any], session_of: Callable[[Identity], Session | None]) -> Contents:
        pipelines = [Pipeline(each["name"], tuple(map(self._agent, each["agents"]))) for each in document["pipelines"]]
        sessions = {name: session_of(Identity(*identity)) for name, identity in document["sessions"].items()}
        settings = self._once(document["settings"], self._settings)
        records = [self._once(each, self._record) for each in document["records"]]
        return Contents(
            {pipeline.name: pipeline for pipeline in pipelines},
            settings,
            tuple(record for record in records if record is not None),
            document["current"],
            {name: session for name, session in sessions.items() if session is not None},
        )

    def _once(self, document: Any, make: Callable[[Any], Any]) -> Any:
        """A document is read once, however many of the bench's states it stands in."""
        held = self._known.get(id(document))
        if held is None:
            held = self._known[id(document)] = (document, make(document))
        return held[1]

    def _agent(self, document: dict[str, Any]) -> AgentCell:
        def version(each: dict[str, Any]) -> Version:
            return Version(each["prompt"], self._options(each["options"]))

        def agent(each: dict[str, Any]) -> AgentCell:
            versions = tuple(self._once(one, version) for one in each["versions"])
            return AgentCell(each["name"], each["prompt"], self._options(each["options"]), each["cell"], versions)

        made: AgentCell = self._once(document, agent)
        return made

    def _options(self, document: dict[str, Any]) -> AgentOptions:
        callbacks = {kind: tuple(names) for kind, names in document.get("callbacks", {}).items()}
        if document.get("config") is None and "config" in document:
            self._remark("an agent's generate_content_config is not set: it was no JSON")
        known = {**document, "tools": tuple(document.get("tools", ())), "callbacks": callbacks}
        options = AgentOptions(**{**known, "config": document.get("config") or {}})
        for option, value in chosen_outside(options):
            self._remark(outside(f"an agent's {option}", value))
        return without_outside(options)

    def _settings(self, document: dict[str, Any]) -> Settings:
        return Settings(**self._values(document, "the setting "))

    def _record(self, document: dict[str, Any]) -> Record | None:
        run = self._run_of(Identity(*document["at"]), document["run"])
        if run is None:
            self.missing.append(document["run"])
            return None
        options = self._values(document["options"], f"run {run.id}: the option ", "an earlier run's option ")
        session, trial = document["session"], document["trial"]
        return Record(run, document["pipeline"], document["cell"], session, trial, options)

    def _values(self, document: dict[str, Any], whose: str, kind: str | None = None) -> dict[str, Any]:
        """The values that are there again. Of many with the same place, which was not taken, the remark names the `kind`."""
        remarks: list[str] = []
        found: dict[str, Any] = {}
        for name, kept in document.items():
            value = from_json(f"{whose}{name}", kept, self._namespace, remarks)
            if value is NOT_KEPT:
                continue
            if self._said.forbids(name, kept):
                remarks.append(not_taken(kind or whose, name, value))
                continue
            found[name] = value
        for remark in remarks:
            self._remark(remark)
        return found

    def _remark(self, text: str) -> None:
        if text not in self.remarks:
            self.remarks.append(text)


def _options(options: AgentOptions) -> dict[str, Any]:
    """The options that are not as they are without a word; a config that is no JSON is None."""
    plain = AgentOptions()
    kept = {name: value for name, value in asdict(options).items() if value != getattr(plain, name)}
    return {name: copied(value) if fault(name, value) is None else None for name, value in kept.items()}


def _record(record: Record, options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "run": record.run.id,
        "at": list(Identity.of(record.run.session)),
        "pipeline": record.pipeline,
        "cell": record.cell,
        "session": record.session,
        "trial": record.trial,
        "options": options,
    }
