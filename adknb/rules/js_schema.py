"""What ADK JavaScript makes of a reply that an output_schema asks for.

Sources: `LlmAgent.maybeSaveOutputToState`, `utils/genai_schema_to_json.js`, and zod 4's `fromJSONSchema`, whose `parse` gives the
object back with the schema's fields first. What does not fit is stored as it was parsed; traces `schema-*`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from adknb.core.errors import NotSupported
from adknb.rules.js_values import js_json

_SAFE: Final = 2**53 - 1
_FREE_FORMATS: Final = frozenset({"enum", "int32", "int64", "float", "double"})
"""Formats that zod does not look at."""


class Misfit(Exception):
    """The value does not satisfy the schema; the text says why."""


def satisfied(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value as zod gives it back. Raises `Misfit`, and `NotSupported` for a check whose outcome is not known here."""
    if "anyOf" in schema:
        return _first(value, schema)
    kind = schema.get("type")
    if value is None and kind is not None and schema.get("nullable") and "enum" not in schema:
        return None
    if "enum" in schema:
        return _member(value, schema["enum"], kind)
    match kind:
        case "STRING":
            return _text(value, schema)
        case "INTEGER" | "NUMBER":
            return _number(value, schema, kind)
        case "BOOLEAN":
            _need(isinstance(value, bool), value, kind)
        case "NULL":
            _need(value is None, value, kind)
        case "ARRAY":
            return _list(value, schema)
        case "OBJECT":
            return _object(value, schema)
    return value


def _first(value: Any, schema: Mapping[str, Any]) -> Any:
    if "type" in schema or "enum" in schema:
        raise NotSupported("an output_schema with anyOf beside a type has no recorded rule under ADK JavaScript")
    for choice in schema["anyOf"]:
        try:
            return satisfied(value, choice)
        except Misfit:
            continue
    raise Misfit(f"{_shown(value)} is none of the choices")


def _member(value: Any, members: list[Any], kind: str | None) -> Any:
    if kind in ("INTEGER", "NUMBER"):
        members = [_as_number(member) for member in members]
    same = [member for member in members if value == member and isinstance(value, bool) == isinstance(member, bool)]
    _need(bool(same), value, "one of the enum")
    return value


def _as_number(member: Any) -> Any:
    try:
        return float(member) if isinstance(member, str) and member.strip() else member
    except ValueError:
        return member


def _text(value: Any, schema: Mapping[str, Any]) -> Any:
    _need(isinstance(value, str), value, "STRING")
    if schema.get("format") not in (None, *_FREE_FORMATS):
        raise NotSupported(
            f"the format {schema['format']!r} of an output_schema has no recorded rule under ADK JavaScript"
        )
    length = len(value.encode("utf-16-le", "surrogatepass")) // 2
    _within(length, schema, "minLength", "maxLength", value)
    if schema.get("pattern") and not re.search(schema["pattern"], value):
        raise Misfit(f"{_shown(value)} does not match {schema['pattern']!r}")
    return value


def _number(value: Any, schema: Mapping[str, Any], kind: str) -> Any:
    _need(isinstance(value, (int, float)) and not isinstance(value, bool), value, kind)
    if kind == "INTEGER":
        _need(float(value).is_integer() and abs(value) <= _SAFE, value, kind)
    _within(value, schema, "minimum", "maximum", value)
    return value


def _list(value: Any, schema: Mapping[str, Any]) -> Any:
    _need(isinstance(value, list), value, "ARRAY")
    items = schema.get("items")
    result = value if items is None else [satisfied(item, items) for item in value]
    if items is not None:
        _within(len(value), schema, "minItems", "maxItems", value)
    return result


def _object(value: Any, schema: Mapping[str, Any]) -> Any:
    _need(isinstance(value, dict), value, "OBJECT")
    _within(len(value), schema, "minProperties", "maxProperties", value)
    result: dict[str, Any] = {}
    for name, field in (schema.get("properties") or {}).items():
        if name in value:
            result[name] = satisfied(value[name], field)
        elif "default" in field:
            result[name] = field["default"]
        elif name in (schema.get("required") or ()):
            raise Misfit(f"the field {name!r} is missing")
    return {**result, **{name: item for name, item in value.items() if name not in result}}


def _within(size: float, schema: Mapping[str, Any], lowest: str, highest: str, value: Any) -> None:
    if schema.get(lowest) is not None and size < float(schema[lowest]):
        raise Misfit(f"{_shown(value)} is below {lowest} {schema[lowest]}")
    if schema.get(highest) is not None and size > float(schema[highest]):
        raise Misfit(f"{_shown(value)} is above {highest} {schema[highest]}")


def _need(holds: bool, value: Any, wanted: str) -> None:
    if not holds:
        raise Misfit(f"{_shown(value)} is not {wanted}")


def _shown(value: Any) -> str:
    text = js_json(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
