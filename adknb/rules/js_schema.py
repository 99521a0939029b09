"""What ADK JavaScript makes of a reply that an output_schema asks for.

Sources: `LlmAgent.maybeSaveOutputToState`, `utils/genai_schema_to_json.js`, and zod 4's `fromJSONSchema`, whose `parse` gives the
object back with the schema's fields first and its defaults filled in. What does not fit is stored as it was parsed; traces
`schema-*`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from adknb.core.errors import NotSupported
from adknb.rules.js_values import js_json

_SAFE: Final = 2**53 - 1
"""`Number.MAX_SAFE_INTEGER`: what is beyond it is no INTEGER."""

_NO_CHECK: Final = frozenset({"enum", "int32", "int64", "float", "double"})
"""Formats of a Gemini schema that zod does not look at."""


class Misfit(Exception):
    """The value does not satisfy the schema; the text says why."""


def stored(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value as zod gives it back.

    Raises `Misfit` when it does not fit, `NotSupported` when that hangs on a check whose outcome is not known here and
    would be seen.
    """
    unknown: list[str] = []
    result = _satisfied(value, schema, unknown)
    if unknown and js_json(result) != js_json(value):
        raise NotSupported(
            f"output_schema: whether ADK JavaScript takes a text for {unknown[0]} is not known here, and the order of the "
            "stored fields hangs on it. Leave that out of the schema, or ask for the fields in the schema's order."
        )
    return result


def _satisfied(value: Any, schema: Mapping[str, Any], unknown: list[str]) -> Any:
    kind = schema.get("type")
    if "enum" in schema:
        return _member(value, schema["enum"], kind)
    if value is None and kind is not None and schema.get("nullable"):
        return None
    match kind:
        case "STRING":
            return _text(value, schema, unknown)
        case "INTEGER" | "NUMBER":
            return _number(value, schema, kind)
        case "BOOLEAN":
            _need(isinstance(value, bool), value, kind)
        case "NULL":
            _need(value is None, value, kind)
        case "ARRAY":
            return _list(value, schema, unknown)
        case "OBJECT":
            return _object(value, schema, unknown)
    return value


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


def _text(value: Any, schema: Mapping[str, Any], unknown: list[str]) -> Any:
    _need(isinstance(value, str), value, "STRING")
    _within(len(value.encode("utf-16-le", "surrogatepass")) // 2, schema, "minLength", "maxLength", value)
    if schema.get("format") not in (None, *_NO_CHECK):
        unknown.append(f"the format {schema['format']!r}")
    pattern = schema.get("pattern")
    if pattern:
        if "\\" in pattern or "(?" in pattern or "\n" in value:  # where Python's expressions are not JavaScript's
            unknown.append(f"the pattern {pattern!r}")
        else:
            try:
                found = re.search(pattern, value)
            except re.error:
                unknown.append(f"the pattern {pattern!r}")
            else:
                _need(found is not None, value, f"what {pattern!r} matches")
    return value


def _number(value: Any, schema: Mapping[str, Any], kind: str) -> Any:
    _need(isinstance(value, (int, float)) and not isinstance(value, bool), value, kind)
    if kind == "INTEGER":
        _need(abs(value) <= _SAFE and float(value).is_integer(), value, kind)
    _within(value, schema, "minimum", "maximum", value)
    return value


def _list(value: Any, schema: Mapping[str, Any], unknown: list[str]) -> Any:
    _need(isinstance(value, list), value, "ARRAY")
    if "items" not in schema:
        return value
    result = [_satisfied(item, schema["items"], unknown) for item in value]
    _within(len(value), schema, "minItems", "maxItems", value)
    return result


def _object(value: Any, schema: Mapping[str, Any], unknown: list[str]) -> Any:
    _need(isinstance(value, dict), value, "OBJECT")
    _within(len(value), schema, "minProperties", "maxProperties", value)
    result: dict[str, Any] = {}
    for name, field in (schema.get("properties") or {}).items():
        if name in value:
            result[name] = _satisfied(value[name], field, unknown)
        elif "default" in field:
            result[name] = field["default"]
        elif name in (schema.get("required") or ()):
            raise Misfit(f"the field {name!r} is missing")
    return {**result, **{name: item for name, item in value.items() if name not in (*result, "__proto__")}}


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
