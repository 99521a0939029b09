"""Output schemas: a pydantic model or JSON schema as the Gemini `Schema` that the ADKs send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from adknb.core.errors import NotSupported, SpecError

_TYPES: Final = {"string", "integer", "number", "boolean", "array", "object"}
_KEPT: Final = {
    "description", "format", "default", "example", "minimum", "maximum", "minLength", "maxLength", "pattern",
    "minItems", "maxItems", "minProperties", "maxProperties",
}  # fmt: skip
_DROPPED: Final = {"title", "$defs", "$schema", "$id"}


def gemini_schema(source: type[BaseModel] | Mapping[str, Any]) -> dict[str, Any]:
    """`source` as a Gemini `Schema`: types in capitals, `$ref` inlined, `Optional` as `nullable`, titles left out.

    A dict whose types are in capitals already is a Gemini schema and goes through as it is. Raises `NotSupported`
    for what such a schema cannot say (unions, recursion, tuples, maps of a value type).
    """
    if isinstance(source, Mapping):
        if _is_gemini(source):
            return dict(source)
        return _convert(source, source.get("$defs", {}), "schema", ())
    if isinstance(source, type) and issubclass(source, BaseModel):
        described = source.model_json_schema()
        return _convert(described, described.get("$defs", {}), source.__name__, ())
    raise SpecError(f"output_schema must be a pydantic model or a JSON schema (a dict), not {source!r}")


def _is_gemini(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    return isinstance(kind, str) and kind.isupper()


def _convert(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], place: str, seen: tuple[str, ...]
) -> dict[str, Any]:
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        if name in seen:
            raise NotSupported(f"{place}: {name} refers to itself; a Gemini schema cannot say that. Limit the depth.")
        if name not in definitions:
            raise SpecError(f"{place}: $ref to {schema['$ref']!r}, which $defs does not hold")
        inner = {**definitions[name], **{key: value for key, value in schema.items() if key != "$ref"}}
        return _convert(inner, definitions, place, (*seen, name))
    for joined in ("anyOf", "oneOf", "allOf"):
        if joined in schema:
            return _convert_choice(schema, joined, definitions, place, seen)
    result: dict[str, Any] = {}
    kind = schema.get("type")
    if isinstance(kind, list):  # JSON schema's ["string", "null"]
        named = [item for item in kind if item != "null"]
        if len(named) != 1:
            raise NotSupported(f"{place}: a value of several types {kind}; a Gemini schema takes one. Choose one type.")
        result["nullable"] = len(named) != len(kind) or None
        kind = named[0]
    if "const" in schema:
        schema = {**schema, "enum": [schema["const"]]}
        kind = kind or "string"
    if kind not in _TYPES:
        raise NotSupported(f"{place}: type {kind!r}; a Gemini schema knows {', '.join(sorted(_TYPES))}")
    result["type"] = str(kind).upper()
    for key, value in schema.items():
        if key in _KEPT:
            result[key] = value
        elif key == "enum":
            if not all(isinstance(item, str) for item in value):
                raise NotSupported(f"{place}: an enum of {value}; a Gemini enum holds text only")
            result["enum"] = list(value)
        elif key == "properties":
            result["properties"] = {
                name: _convert(item, definitions, f"{place}.{name}", seen) for name, item in value.items()
            }
        elif key == "items":
            result["items"] = _convert(value, definitions, f"{place}[]", seen)
        elif key == "required":
            result["required"] = list(value)
        elif key == "nullable":
            result["nullable"] = value
        elif key == "additionalProperties" and value is False:
            continue  # unknown fields never fit a Gemini schema anyway
        elif key not in _DROPPED and key not in ("type", "const"):
            raise NotSupported(
                f"{place}: {key!r} cannot be said in a Gemini schema. Remove it or restructure the model."
            )
    return {key: value for key, value in result.items() if value is not None}


def _convert_choice(
    schema: Mapping[str, Any], joined: str, definitions: Mapping[str, Any], place: str, seen: tuple[str, ...]
) -> dict[str, Any]:
    choices = [choice for choice in schema[joined] if choice.get("type") != "null"]
    if len(choices) != 1:
        raise NotSupported(f"{place}: a union ({joined}); a Gemini schema takes one type. Choose one, or use text.")
    rest = {key: value for key, value in schema.items() if key != joined}
    result = _convert({**choices[0], **rest}, definitions, place, seen)
    return {**result, "nullable": True} if len(choices) != len(schema[joined]) else result
