"""What ADK Java stores when an agent has an output_schema.

Sources: `SchemaUtils.java`, `LlmAgent.maybeSaveOutputToState`; traces `schema-*`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NoReturn

from adknb.core.errors import OutputSchemaError
from adknb.rules.java_schema import schema_text
from adknb.rules.values import java_hash_order, java_is_identifier_part

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_MOST_DIGITS: Final = 1000
"""Jackson's `StreamReadConstraints` allow a number so many."""

_LONG: Final = range(-(2**63), 2**63)


class DoesNotFit(Exception):
    """The reply is not JSON, or not what the schema asks for; ADK Java stores it raw. Its text says why.

    `adk_message` is how `SchemaUtils` says it; None for a text that is no JSON object.
    """

    def __init__(self, reason: str, adk_message: str | None = None) -> None:
        super().__init__(reason)
        self.adk_message = adk_message


def parse_and_validate(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The object that a reply holds, in the order of `java.util.HashMap`.

    Raises `DoesNotFit` where ADK Java falls back to the raw text, `OutputSchemaError` where it stops.
    """
    try:
        value = read_json(text)
    except ValueError as error:
        raise DoesNotFit(f"no JSON ({error})") from None
    if value is None:
        _properties(schema)
        raise OutputSchemaError("the reply is null, on which ADK Java fails. Ask the model for an object.").as_adk(
            "NullPointerException", 'Cannot invoke "java.util.Map.entrySet()" because "args" is null'
        )
    if not isinstance(value, dict):
        raise DoesNotFit(f"a JSON {_kind(value)}, not an object")
    ordered = {key: value[key] for key in java_hash_order(value)}
    validate(ordered, schema, ordered)
    return ordered


def read_json(text: str) -> Any:
    """The first JSON value of a text as Jackson's `readValue` reads it; what follows is not looked at.

    Raises `ValueError` when the text does not begin with one.
    """
    start = _SPACE.match(text).end()  # type: ignore[union-attr]  # the pattern matches the empty text too
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if isinstance(value, (bool, type(None))) and text[end : end + 1] >= "0" and java_is_identifier_part(text[end]):
        raise ValueError(f"{text[start : end + 1]!r} is no token")
    return value


def validate(value: Mapping[str, Any], schema: Mapping[str, Any], keys: Iterable[str]) -> None:
    """Raise `DoesNotFit` unless the object fits; only types, unknown and required fields are looked at."""
    properties = _properties(schema)
    for key in keys:
        if key not in properties:
            raise DoesNotFit(f"an object with the unknown field {key!r}", _does_not_match(key, schema))
        if not _fits(value[key], properties[key]):
            expected = properties[key].get("type")
            raise DoesNotFit(
                f"an object whose field {key!r} is a JSON {_kind(value[key])}, not {expected}",
                _does_not_match(key, schema),
            )
    for key in schema.get("required") or ():
        if key not in value:
            raise DoesNotFit(f"an object without the field {key!r}", f"Output args does not contain required {key}")


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "properties" not in schema:
        _no_value_present("an object without properties")
    properties: Mapping[str, Any] = schema["properties"]
    return properties


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    if value is None:
        return bool(schema.get("nullable", False))
    if "type" not in schema:
        _no_value_present("a property without a type")
    match schema["type"].upper():
        case "STRING":
            return isinstance(value, str)
        case "INTEGER":
            return isinstance(value, int) and not isinstance(value, bool) and value in _LONG
        case "NUMBER":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "BOOLEAN":
            return isinstance(value, bool)
        case "ARRAY":
            if not isinstance(value, list):
                return False
            for item in value:
                if "items" not in schema:
                    _no_value_present("an array without items")
                if not _fits(item, schema["items"]):
                    return False
            return True
        case "OBJECT":
            if not isinstance(value, dict):
                return False
            validate(value, schema, value)
            return True
        case "NULL":
            return False
    raise DoesNotFit(
        f"an object with a field of the unknown type {schema['type']}",
        "Unsupported type: TYPE_UNSPECIFIED is not a Open API data type.",
    )


def _does_not_match(key: str, schema: Mapping[str, Any]) -> str:
    return f"Output arg: {key} does not match agent output schema: {schema_text(schema)}"


def _no_value_present(what: str) -> NoReturn:
    error = OutputSchemaError(
        f"the output_schema has {what}, on which ADK Java fails. Say its type, properties or items."
    )
    raise error.as_adk("NoSuchElementException", "No value present")


def _number(kind: type[int] | type[float]) -> Callable[[str], int | float]:
    def read(text: str) -> int | float:
        if sum(map(str.isdigit, text)) > _MOST_DIGITS:
            raise ValueError(f"a number of more than {_MOST_DIGITS} digits")
        return kind(text)

    return read


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_int=_number(int), parse_float=_number(float), parse_constant=_no_constant)


def _kind(value: Any) -> str:
    kinds = {dict: "object", list: "array", str: "text", bool: "boolean", type(None): "null"}
    return kinds.get(type(value), "number")
