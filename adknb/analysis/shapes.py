"""What a state value looks like, in a few words: as documented by its producer, and as seen."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from adknb.core.escape import one_line
from adknb.core.specs import LlmAgent

_FIELDS: Final = 12
_ASKS_FOR_JSON: Final = re.compile(
    r"\b(?:reply|respond|answer|return|output|produce|emit|write|print)\b[^.\n]{0,60}\bJSON\b"
    r"|\bJSON only\b|\bonly JSON\b",
    re.IGNORECASE,
)
_OBJECT: Final = re.compile(r'\{\s*"')
_FIELD: Final = re.compile(r'("(?:[^"\\]|\\.)*")\s*(:?)|([{}\[\]])')


def asks_for_json(agent: LlmAgent) -> bool:
    """Whether the agent's answer is meant to be JSON: it has an output_schema, or its instruction says so."""
    if agent.output_schema is not None:
        return True
    return isinstance(agent.instruction, str) and _ASKS_FOR_JSON.search(agent.instruction) is not None


def documented_shape(agent: LlmAgent) -> str:
    """What the agent is to write: `object {category: string, note?: string}` by its schema; by its instruction
    `JSON object {category}` when that shows an example, `JSON`, or `text`."""
    if agent.output_schema is not None:
        return schema_shape(agent.output_schema)
    if not asks_for_json(agent):
        return "text"
    fields = example_fields(agent.instruction) if isinstance(agent.instruction, str) else []
    return f"JSON object {_listed(fields)}" if fields else "JSON"


def schema_shape(schema: Mapping[str, Any]) -> str:
    """A Gemini schema in one line; `?` marks what may be absent or null."""
    kind = str(schema.get("type", "any")).lower()
    if kind == "array":
        return f"list of {schema_shape(schema['items'])}" if schema.get("items") else "list"
    properties: Mapping[str, Any] = schema.get("properties") or {}
    if kind != "object" or not properties:
        return kind
    required = schema.get("required", ())
    return "object " + _listed(
        f"{name}{'' if name in required and not inner.get('nullable') else '?'}: {schema_shape(inner)}"
        for name, inner in properties.items()
    )


def seen_shape(value: Any) -> str:
    """The shape of a value that was written: `JSON object {category, urgency}` and `JSON list` are texts that parse."""
    if isinstance(value, str):
        return _text_shape(value)
    if isinstance(value, Mapping):
        return f"map {_listed(value)}"
    if isinstance(value, (list, tuple)):
        return "list"
    if value is None:
        return "null"
    return {bool: "boolean", int: "integer", float: "number"}.get(type(value), type(value).__name__)


def example_fields(instruction: str) -> list[str]:
    """The outer field names of the first JSON object that the instruction shows."""
    start = _OBJECT.search(instruction)
    fields: list[str] = []
    depth = 0
    for match in _FIELD.finditer(instruction, start.start()) if start else ():
        quoted, colon, bracket = match.groups()
        if quoted and colon and depth == 1:
            fields.append(quoted[1:-1])
        elif bracket:
            depth += 1 if bracket in "{[" else -1
            if depth == 0:
                break
    return list(dict.fromkeys(fields))


def _text_shape(text: str) -> str:
    if text.lstrip()[:1] not in ("{", "["):
        return "text"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "text"
    return f"JSON object {_listed(value)}" if isinstance(value, dict) else "JSON list"


def _listed(names: Iterable[str]) -> str:
    listed = [one_line(name, 60) for name in names]
    return "{" + ", ".join(listed[:_FIELDS]) + (", …" if len(listed) > _FIELDS else "") + "}"
