"""Pipeline data: immutable, JSON both ways, migrated or refused."""

import copy
import json
import operator
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adknb.workflow import data as module
from adknb.workflow.data import (
    SCHEMA_VERSION,
    PipelineData,
    PipelineError,
    PipelineMetadata,
    register_migration,
)
from adknb.workflow.errors import PayloadError, SchemaVersionError

AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
ERROR = PipelineError("ModelError", "answered 503", "research", True, "model", "high")
DATA = PipelineData(
    {"facts": ["a", {"sure": True}], "sources": 5},
    PipelineMetadata("id-2", "research", AT, 12.5, 340, 1, ("id-0", "id-1")),
    {"tone": "neutral", "seen": [1, 2]},
    ERROR,
    (ERROR,),
)
AS_DICT = {
    "schema_version": "1.0",
    "payload": {"facts": ["a", {"sure": True}], "sources": 5},
    "metadata": {
        "step_id": "id-2",
        "step_name": "research",
        "timestamp": "2026-03-01T12:30:00+00:00",
        "latency_ms": 12.5,
        "token_used": 340,
        "retry_count": 1,
        "previous_steps": ["id-0", "id-1"],
    },
    "context": {"tone": "neutral", "seen": [1, 2]},
    "error": {
        "code": "ModelError",
        "message": "answered 503",
        "step": "research",
        "retriable": True,
        "category": "model",
        "severity": "high",
    },
    "warnings": [
        {
            "code": "ModelError",
            "message": "answered 503",
            "step": "research",
            "retriable": True,
            "category": "model",
            "severity": "high",
        }
    ],
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.fixture
def no_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_migrations", {})


def test_as_plain_json_and_back() -> None:
    assert DATA.to_dict() == AS_DICT
    assert PipelineData.from_dict(AS_DICT) == DATA
    assert json.loads(DATA.to_json()) == AS_DICT
    assert PipelineData.from_json(DATA.to_json()) == DATA


@given(payload=JSON, context=st.dictionaries(st.text(), JSON, max_size=3))
def test_every_json_value_comes_back(payload: Any, context: dict[str, Any]) -> None:
    data = PipelineData(payload, PipelineMetadata(timestamp=AT), context)
    again = PipelineData.from_json(data.to_json())
    assert again == data
    assert again.payload == payload
    assert again.context == context


CHANGES: list[Callable[[PipelineData], object]] = [
    lambda data: data.payload.update(sources=6),
    lambda data: data.payload.__setitem__("sources", 6),
    lambda data: data.payload.__delitem__("sources"),
    lambda data: data.payload.__ior__({"sources": 6}),
    lambda data: data.payload.pop("sources"),
    lambda data: data.payload.popitem(),
    lambda data: data.payload.clear(),
    lambda data: data.payload.setdefault("new", 1),
    lambda data: data.payload["facts"].append("b"),
    lambda data: data.payload["facts"].extend(["b"]),
    lambda data: data.payload["facts"].insert(0, "b"),
    lambda data: data.payload["facts"].remove("a"),
    lambda data: data.payload["facts"].pop(),
    lambda data: data.payload["facts"].clear(),
    lambda data: data.payload["facts"].sort(),
    lambda data: data.payload["facts"].reverse(),
    lambda data: data.payload["facts"].__setitem__(0, "b"),
    lambda data: data.payload["facts"].__delitem__(0),
    lambda data: data.payload["facts"].__iadd__(["b"]),
    lambda data: data.payload["facts"].__imul__(2),
    lambda data: data.payload["facts"][1].update(sure=False),
    lambda data: operator.setitem(data.context, "tone", "loud"),  # type: ignore[call-overload]
    lambda data: data.context["seen"].append(3),
]


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_in_it_can_be_changed(change: Callable[[PipelineData], object]) -> None:
    with pytest.raises(TypeError, match=r"pipeline data is immutable.*data\.with_\(payload=…\)"):
        change(DATA)
    assert DATA.to_dict() == AS_DICT


def test_its_fields_cannot_be_set() -> None:
    with pytest.raises(FrozenInstanceError):
        DATA.payload = "other"  # type: ignore[misc]


def test_what_it_was_made_of_may_change_later() -> None:
    given = {"facts": ["a"]}
    data = PipelineData(given, context=given)
    given["facts"].append("b")
    assert (data.payload, data.context) == ({"facts": ["a"]}, {"facts": ["a"]})


def test_its_values_are_lists_and_dicts_to_everybody_else() -> None:
    payload = DATA.payload
    assert isinstance(payload, dict)
    assert isinstance(payload["facts"], list)
    assert json.dumps(payload) == '{"facts": ["a", {"sure": true}], "sources": 5}'
    for mine in (copy.copy(payload), copy.deepcopy(payload), payload | {}, payload.copy()):
        mine["sources"] = 6
        assert mine["sources"] == 6
    for facts in (
        copy.copy(payload["facts"]),
        copy.deepcopy(payload["facts"]),
        payload["facts"] + [],
        payload["facts"][:],
    ):
        facts.append("b")
        assert facts[-1] == "b"
    deep = copy.deepcopy(payload)
    deep["facts"][1]["sure"] = False
    again = pickle.loads(pickle.dumps(payload))  # to another process of an executor
    assert again == payload
    with pytest.raises(TypeError, match="immutable"):
        again["facts"].append("b")
    assert DATA.to_dict() == AS_DICT


def test_changed_data_shares_the_rest() -> None:
    changed = DATA.with_(payload="new", error=None)
    assert (changed.payload, changed.error, changed.warnings) == ("new", None, (ERROR,))
    assert changed.context is DATA.context
    added = DATA.with_context(tone="loud", more=1)
    assert added.context == {"tone": "loud", "seen": [1, 2], "more": 1}
    assert added.payload is DATA.payload
    assert DATA.to_dict() == AS_DICT


@pytest.mark.parametrize(
    ("payload", "text"), [("plain “text”", "plain “text”"), ({"a": "ü"}, '{"a": "ü"}'), (3, "3"), (None, "null")]
)
def test_as_a_model_reads_it(payload: Any, text: str) -> None:
    assert PipelineData(payload).text == text


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"payload": {1, 2}}, "'payload': a set cannot be stored"),
        ({"payload": {"a": [float("nan")]}}, "'payload.a[0]': nan is not a JSON number"),
        ({"payload": {1: "a"}}, "'payload': the object's key 1 must be text"),
        ({"payload": "a", "context": {"when": AT}}, "'context.when': a datetime cannot be stored"),
        ({"payload": "a", "context": ["b"]}, "context: a dict of JSON values by name, not a FrozenList"),
    ],
)
def test_what_is_no_json_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(PayloadError) as caught:
        PipelineData(**fields)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"payload": ...}, "this is no pipeline data of version 1.0: payload: Field required"),
        ({"colour": 1}, "this is no pipeline data of version 1.0: colour: Unexpected keyword argument"),
        ({"metadata": {"latency_ms": "long"}}, "this is no pipeline data of version 1.0: metadata.latency_ms: "),
        ({"metadata": {"colour": 1}}, "this is no pipeline data of version 1.0: metadata.colour: "),
        ({"error": {"code": 5}}, "this is no pipeline data of version 1.0: error.code: "),
        ({"warnings": "many"}, "this is no pipeline data of version 1.0: warnings: "),
        ({"schema_version": ...}, "this is no pipeline data: an object with a schema_version (text) is expected"),
        ({"schema_version": 1.0}, "this is no pipeline data: an object with a schema_version (text) is expected"),
    ],
)
def test_what_is_no_pipeline_data_is_refused(change: dict[str, Any], message: str) -> None:
    wrong = {name: value for name, value in {**AS_DICT, **change}.items() if value is not ...}
    with pytest.raises(SchemaVersionError) as caught:
        PipelineData.from_dict(wrong)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("text", ["", "{", "[1]", '"text"', "null", "[" * 100_000])
def test_text_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SchemaVersionError, match="this is no pipeline data"):
        PipelineData.from_json(text)


@pytest.mark.usefixtures("no_migrations")
def test_older_data_is_migrated_step_by_step() -> None:
    seen: list[dict[str, Any]] = []

    def from_08(data: dict[str, Any]) -> dict[str, Any]:
        seen.append(copy.deepcopy(data))
        data["tags"].append("migrated")
        data["text"] = data.pop("body")
        return data

    register_migration("0.8", "0.9", from_08)
    register_migration(
        "0.9", "1.0", lambda data: {"payload": data["text"], "context": {"from": data["schema_version"]}}
    )
    old: dict[str, Any] = {"schema_version": "0.8", "body": "hello", "tags": ["a"]}
    data = PipelineData.from_dict(old)
    assert (data.payload, data.context, data.schema_version) == ("hello", {"from": "0.9"}, "1.0")
    assert seen == [old]
    assert old == {"schema_version": "0.8", "body": "hello", "tags": ["a"]}
    half = PipelineData.from_dict({"schema_version": "0.9", "text": "hello"})
    assert half.payload == "hello"


@pytest.mark.usefixtures("no_migrations")
def test_a_reader_may_ask_for_a_version_of_its_own() -> None:
    register_migration("1.0", "2.0", lambda data: {**data, "payload": [data["payload"]]})
    data = PipelineData.from_dict({"schema_version": "1.0", "payload": "a"}, schema_version="2.0")
    assert (data.payload, data.schema_version) == (["a"], "2.0")
    assert PipelineData.from_json(data.to_json(), "2.0") == data
    with pytest.raises(SchemaVersionError, match=r"schema version '2\.0' cannot be read as '1\.0'"):
        PipelineData.from_json(data.to_json())


@pytest.mark.usefixtures("no_migrations")
def test_data_that_nobody_migrates_says_what_is_missing() -> None:
    register_migration("0.7", "0.8", lambda data: data)
    with pytest.raises(SchemaVersionError) as caught:
        PipelineData.from_dict({"schema_version": "0.7", "payload": 1})
    assert str(caught.value) == (
        "pipeline data of schema version '0.7' cannot be read as '1.0': no migration leads on from '0.8'. Register one: "
        "register_migration('0.8', '1.0', function)"
    )
    assert caught.value.version == "0.7"


@pytest.mark.usefixtures("no_migrations")
def test_migrations_in_a_circle_end() -> None:
    register_migration("0.7", "0.8", lambda data: data)
    register_migration("0.8", "0.7", lambda data: data)
    with pytest.raises(SchemaVersionError, match=r"no migration leads on from '0\.8'"):
        PipelineData.from_dict({"schema_version": "0.7", "payload": 1})


@pytest.mark.usefixtures("no_migrations")
def test_a_migration_that_fails_is_named() -> None:
    register_migration("0.9", SCHEMA_VERSION, lambda data: {"payload": data["body"]})
    with pytest.raises(SchemaVersionError, match=r"the migration from '0\.9' to '1\.0' failed: KeyError: 'body'"):
        PipelineData.from_dict({"schema_version": "0.9"})


@pytest.mark.usefixtures("no_migrations")
def test_registered_again_the_new_migration_counts() -> None:
    register_migration("0.9", "1.0", lambda data: {"payload": "old"})
    register_migration("0.9", "1.0", lambda data: {"payload": "new"})
    assert PipelineData.from_dict({"schema_version": "0.9"}).payload == "new"
    with pytest.raises(ValueError, match="not from '1' to itself"):
        register_migration("1", "1", lambda data: data)


def test_any_name_is_a_name_of_the_context() -> None:
    names = {"self": 1, "values": 2, "a b": 3}
    assert dict(PipelineData("x").with_context(**names).context) == names
