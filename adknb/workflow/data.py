"""What travels from step to step: the payload, where it comes from, the context, and what went wrong on the way."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from adknb.core.errors import SpecError
from adknb.core.json_values import copied, fault
from adknb.workflow.errors import PayloadError, SchemaVersionError
from adknb.workflow.frozen import FrozenDict, FrozenList, frozen

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA_VERSION: Final = "1.0"
"""The version that this release writes."""

Migration: TypeAlias = Callable[[dict[str, Any]], Mapping[str, Any]]
"""Takes the data of one version as a dict, gives that of the next."""


@dataclass(frozen=True, slots=True)
class PipelineError:
    """An error of a step, as plain values that travel with the data.

    `code` is the exception's class name. `retriable` says that the same call may succeed later. `category` and `severity`
    are the classifier's words, empty where nobody classified it.
    """

    code: str
    message: str
    step: str
    retriable: bool = False
    category: str = ""
    severity: str = ""

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


@dataclass(frozen=True, slots=True)
class PipelineMetadata:
    """Which step made the data, when, and at what cost.

    `step_id` is new with each execution, `previous_steps` are those of the steps before. `latency_ms` is the wall time of the
    attempt that succeeded, in milliseconds; `token_used` are its tokens in and out; `retry_count` the attempts before it.
    """

    step_id: str = ""
    step_name: str = ""
    timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))
    latency_ms: float = 0.0
    token_used: int = 0
    retry_count: int = 0
    previous_steps: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "step_id": self.step_id, "step_name": self.step_name, "timestamp": self.timestamp.isoformat(),
            "latency_ms": self.latency_ms, "token_used": self.token_used, "retry_count": self.retry_count,
            "previous_steps": list(self.previous_steps),
        }  # fmt: skip


_NONE: Final = PipelineMetadata()


@dataclass(frozen=True, slots=True)
class PipelineData:
    """The immutable data between two steps.

    `payload` is any JSON value: text, or what an adapter made of it. `context` is what steps left for later ones, by name
    (`research_output`). `error` is the last error that the workflow went on with, `warnings` are all of them. Payload and
    context are frozen throughout: a change is a `TypeError`, `with_` gives changed data.

    >>> data = PipelineData("a topic", context={"tone": "neutral"})
    >>> data.with_(payload={"facts": [1, 2]}).payload["facts"]
    [1, 2]
    >>> data.payload
    'a topic'

    Raises `PayloadError` for a payload or context that is no JSON.
    """

    payload: Any
    metadata: PipelineMetadata = field(default_factory=PipelineMetadata)
    context: Mapping[str, Any] = field(default_factory=FrozenDict)
    error: PipelineError | None = None
    warnings: tuple[PipelineError, ...] = ()
    schema_version: str = SCHEMA_VERSION

    def __post_init__(self) -> None:
        for place, value in (("payload", self.payload), ("context", self.context)):
            if isinstance(value, (FrozenDict, FrozenList)):
                continue  # was looked at when it was frozen
            if found := fault(place, value):
                raise PayloadError(
                    f"{found}. Pass on text, numbers, true, false, null, lists and dicts of these; "
                    "an output adapter makes them of other things."
                )
            object.__setattr__(self, place, frozen(value))
        if not isinstance(self.context, FrozenDict):
            raise PayloadError(f"context: a dict of JSON values by name, not a {type(self.context).__name__}")

    @property
    def text(self) -> str:
        """The payload as a model reads it: text as it is, all else as JSON."""
        return self.payload if isinstance(self.payload, str) else json.dumps(self.payload, ensure_ascii=False)

    def with_(self, **changes: Any) -> PipelineData:
        """This data with these fields changed; the rest is shared."""
        return replace(self, **changes)

    def with_context(self, /, **values: Any) -> PipelineData:
        """This data with these values added to its context."""
        gained = PipelineData(None, _NONE, values).context  # alone looked at and frozen: the rest is so already
        return replace(self, context=FrozenDict({**self.context, **gained}))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON, which `from_dict` reads."""
        return {
            "schema_version": self.schema_version,
            "payload": copied(self.payload),
            "metadata": self.metadata.to_dict(),
            "context": copied(self.context),
            "error": None if self.error is None else asdict(self.error),
            "warnings": [asdict(warning) for warning in self.warnings],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], schema_version: str = SCHEMA_VERSION) -> PipelineData:
        """The data of `to_dict`, migrated to `schema_version` where it is of another one.

        Raises `SchemaVersionError` where no migration leads there and for what is no pipeline data, `PayloadError` for NaN.
        """
        from pydantic import ValidationError

        migrated = migrate(data, schema_version)
        try:
            return _reader().validate_python(migrated)
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, wrong["loc"])) or "the whole"
            raise SchemaVersionError(
                f"this is no pipeline data of version {schema_version}: {place}: {wrong['msg']}", schema_version
            ) from error

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str, schema_version: str = SCHEMA_VERSION) -> PipelineData:
        """The data of `to_json`. Raises `SchemaVersionError` for text that is none."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise SchemaVersionError(f"this is no pipeline data: it is not JSON ({error})") from error
        return cls.from_dict(data, schema_version)


_migrations: Final[dict[str, tuple[str, Migration]]] = {}


def register_migration(from_version: str, to_version: str, function: Migration) -> None:
    """Read data of `from_version` by `function`, which gives that of `to_version`; migrations are chained.

    The function gets a copy of its own. Registered again for the same `from_version`, the new one counts.

    >>> register_migration("0.9", "1.0", lambda data: {"payload": data["body"]})
    >>> PipelineData.from_dict({"schema_version": "0.9", "body": "hello"}).payload
    'hello'
    """
    if from_version == to_version:
        raise SpecError(f"a migration leads from one version to another, not from {from_version!r} to itself")
    _migrations[from_version] = (to_version, function)


def migrate(data: Mapping[str, Any], schema_version: str = SCHEMA_VERSION) -> dict[str, Any]:
    """The data as a dict of `schema_version`. Raises `SchemaVersionError` where no chain of migrations leads there."""
    if not isinstance(data, Mapping) or not isinstance(data.get("schema_version"), str):
        raise SchemaVersionError("this is no pipeline data: an object with a schema_version (text) is expected")
    migrated = dict(data)
    passed: list[str] = []
    while (version := migrated["schema_version"]) != schema_version:
        passed.append(version)
        to_version, function = _migrations.get(version, (None, None))
        if to_version is None or function is None or to_version in passed:
            raise SchemaVersionError(
                f"pipeline data of schema version {passed[0]!r} cannot be read as {schema_version!r}: no migration leads on "
                f"from {version!r}. Register one: register_migration({version!r}, {schema_version!r}, function)",
                passed[0],
            )
        try:
            migrated = {**function(copied(migrated)), "schema_version": to_version}
        except Exception as error:
            raise SchemaVersionError(
                f"the migration from {version!r} to {to_version!r} failed: {type(error).__name__}: {error}", passed[0]
            ) from error
    return migrated


@cache
def _reader() -> TypeAdapter[PipelineData]:
    from pydantic import ConfigDict, TypeAdapter, with_config

    return TypeAdapter(with_config(ConfigDict(extra="forbid"))(PipelineData))
