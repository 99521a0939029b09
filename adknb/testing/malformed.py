"""What goes wrong with JSON on its way from one step to the next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from adknb.core.errors import SpecError, near_names


def malformed(value: str | Mapping[str, Any], field: str | None = None) -> dict[str, Any]:
    """Malformed variants of a JSON object, by label, to seed a state with or to script as replies.

    The labels are `prose`, `fenced`, `truncated`, `missing_field`, `wrong_type`, `null_field`, `empty` and `null`.
    `field` is the one that is missing, of another type (text becomes a list, anything else text) or null: the first
    unless named. Of a JSON text every variant is a text. Of a dict, `missing_field`, `wrong_type`, `null_field` and
    `empty` are dicts, as a tool would store them; the others are texts, as ADK stores a reply that does not fit its
    output_schema (`null` too: ADK Java's state holds no null).

    Raises `SpecError` when `value` is not a JSON object with at least one field, or `field` is none of its.
    """
    fields = _fields(value)
    if field is None:
        field = next(iter(fields))
    elif field not in fields:
        raise SpecError(f"malformed: the object has no field {field!r}.{near_names(field, fields)}")
    text = value.strip() if isinstance(value, str) else _json(fields)
    objects = {
        "missing_field": {name: item for name, item in fields.items() if name != field},
        "wrong_type": {**fields, field: _of_another_type(fields[field])},
        "null_field": {**fields, field: None},
    }
    as_given = {label: _json(item) if isinstance(value, str) else item for label, item in objects.items()}
    return {
        "prose": "Here is what I found: " + ", ".join(f"{name} is {item}" for name, item in fields.items()),
        "fenced": f"```json\n{text}\n```",
        "truncated": text[: len(text) * 2 // 3],
        **as_given,
        "empty": "" if isinstance(value, str) else {},
        "null": "null",
    }


def _fields(value: str | Mapping[str, Any]) -> dict[str, Any]:
    parsed: Any = value
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except ValueError as error:
            raise SpecError(
                f"malformed takes the value as it should be; this is no JSON ({error}): {value!r}"
            ) from None
    if not isinstance(parsed, Mapping) or not parsed:
        raise SpecError(f"malformed takes a JSON object with at least one field, as text or dict, not {value!r}")
    return dict(parsed)


def _of_another_type(item: Any) -> Any:
    return [item] if isinstance(item, str) else _json(item)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
