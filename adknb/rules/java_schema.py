"""A Gemini schema as the Java SDK's `Schema` object holds it, sends it and prints it.

Source: `com.google.genai.types.Schema` 1.58.0, the version that ADK Java 1.8.0 brings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from adknb.rules.values import java_text

_BOUNDS: Final = ("minimum", "maximum")

_FIELDS: Final = {
    name.removesuffix("_"): name
    for name in (
        "anyOf", "default_", "description", "enum_", "example", "format", "items", "maxItems", "maxLength",
        "maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum", "nullable", "pattern",
        "properties", "propertyOrdering", "required", "title", "type",
    )
}  # fmt: skip
"""The fields in the order in which the object prints them, by the names of a Gemini schema."""


def as_sent(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with the bounds of its numbers as doubles: a minimum of 0 is sent as 0.0."""
    result = dict(schema)
    for name in _BOUNDS:
        if name in schema:
            result[name] = float(schema[name])
    if "items" in schema:
        result["items"] = as_sent(schema["items"])
    if "anyOf" in schema:
        result["anyOf"] = [as_sent(choice) for choice in schema["anyOf"]]
    if "properties" in schema:
        result["properties"] = {name: as_sent(item) for name, item in schema["properties"].items()}
    return result


def schema_text(schema: Mapping[str, Any]) -> str:
    """`Schema.toString()`: `Schema{anyOf=Optional.empty, …, type=Optional[STRING]}`."""
    fields = [
        f"{shown}=Optional[{_field_text(name, schema[name])}]" if name in schema else f"{shown}=Optional.empty"
        for name, shown in _FIELDS.items()
    ]
    return "Schema{" + ", ".join(fields) + "}"


def _field_text(name: str, value: Any) -> str:
    if name in _BOUNDS:
        return java_text(float(value))
    if name == "items":
        return schema_text(value)
    if name == "anyOf":
        return "[" + ", ".join(map(schema_text, value)) + "]"
    if name == "properties":
        return "{" + ", ".join(f"{key}={schema_text(item)}" for key, item in value.items()) + "}"
    return java_text(value)
