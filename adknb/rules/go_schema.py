"""What Go makes of a tool's signature, and of a model's arguments for it.

Sources: `tool/functiontool/function.go`, which infers a JSON Schema from the type of the arguments and validates every call by
it (`github.com/google/jsonschema-go` v0.4.3); `internal/utils/schema_utils.go` for an output_schema.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Final

from adknb.core.tools import FunctionTool, Parameter, ValueType
from adknb.rules.go_values import go_order, go_quote, go_text, go_whole

_TYPES: Final = {
    "STRING": "string", "INTEGER": "integer", "NUMBER": "number", "BOOLEAN": "boolean", "OBJECT": "object",
}  # fmt: skip
_ZEROS: Final = {"STRING": "", "INTEGER": 0, "NUMBER": 0.0, "BOOLEAN": False, "OBJECT": None}


_EXACT: Final = 2**53
_EMPTY: Final[tuple[object, ...]] = ("", [], {}, (), None)


def as_sent(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A Gemini schema as `genai.Schema` writes it: what is empty is left out."""
    sent = {name: value for name, value in schema.items() if name in ("default", "example") or value not in _EMPTY}
    if "items" in sent:
        sent["items"] = as_sent(sent["items"])
    if "anyOf" in sent:
        sent["anyOf"] = [as_sent(choice) for choice in sent["anyOf"]]
    if "properties" in sent:
        sent["properties"] = {name: as_sent(item) for name, item in sent["properties"].items()}
    return sent


def parameters_schema(tool: FunctionTool) -> dict[str, Any]:
    """The schema of the arguments' struct: no further fields, and only what has no default is required."""
    schema: dict[str, Any] = {"type": "object", "additionalProperties": False}
    if tool.parameters:
        schema["properties"] = {parameter.name: _parameter_schema(tool, parameter) for parameter in tool.parameters}
    required = [parameter.name for parameter in tool.parameters if parameter.required]
    return {**schema, "required": required} if required else schema


def value_schema(value_type: ValueType) -> dict[str, Any]:
    """A type's schema. A slice may be nil, which JSON writes null; a map takes any fields."""
    if value_type.items is not None:
        return {"type": ["null", "array"], "items": value_schema(value_type.items)}
    schema: dict[str, Any] = {"type": _TYPES[value_type.kind]}
    if value_type.choices:
        schema["enum"] = list(value_type.choices)
    if value_type.kind == "OBJECT":
        schema["additionalProperties"] = True
    return schema


def _parameter_schema(tool: FunctionTool, parameter: Parameter) -> dict[str, Any]:
    """A default that is not the type's zero value needs a pointer to tell the two apart, and a pointer may be null."""
    schema = value_schema(parameter.type)
    if parameter.required or isinstance(schema["type"], list):
        return schema
    default = inspect.signature(tool.func).parameters[parameter.name].default
    if default == _ZEROS[parameter.type.kind] and parameter.type.kind != "OBJECT":
        return schema
    return schema if parameter.type.kind == "OBJECT" else {**schema, "type": ["null", schema["type"]]}


def checked_arguments(tool: FunctionTool, args: Mapping[str, Any]) -> dict[str, object]:
    """The arguments as the tool receives them; one that was left out keeps its default.

    Raises `ValueError` with Go's words for the first that does not fit, for unknown and for missing ones.
    """
    _validate(args, parameters_schema(tool), "root", "")
    types = {parameter.name: parameter for parameter in tool.parameters}
    return {
        name: _received(value, types[name].type)
        for name, value in args.items()
        if not (value is None and not types[name].required)
    }


def _received(value: Any, value_type: ValueType) -> object:
    """The value after its way through JSON into the field's type. A slice may be nil."""
    if value_type.items is not None:
        return None if value is None else [_received(item, value_type.items) for item in value]
    if value_type.kind == "INTEGER":
        return int(value)
    return float(value) if value_type.kind == "NUMBER" else as_decoded(value)


def as_decoded(value: Any) -> Any:
    """What `json.Unmarshal` makes of a value: numbers are float64. Integers that one holds exactly stay integers here."""
    if isinstance(value, Mapping):
        return {key: as_decoded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_decoded(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT:
        return float(value)
    return value


def _validate(value: Any, schema: Mapping[str, Any], name: str, path: str) -> None:
    """`state.validate`: type, enum, items, properties, further ones, missing ones, in this order."""
    kind = _json_type(value)
    wanted = schema["type"]
    one_of = [wanted] if isinstance(wanted, str) else wanted
    if kind not in one_of and not (kind == "integer" and "number" in one_of):
        want = go_quote(wanted) if isinstance(wanted, str) else f"one of {go_quote(', '.join(wanted))}"
        raise _invalid(name, f"type: {_shown(value)} has type {go_quote(kind)}, want {want}")
    if "enum" in schema and value not in schema["enum"]:
        raise _invalid(name, f"enum: {_shown(value)} does not equal any of: {go_text(schema['enum'])}")
    try:
        if isinstance(value, (list, tuple)):
            for item in value:
                _validate(item, schema["items"], f"{path}/items", f"{path}/items")
        if isinstance(value, Mapping) and schema["additionalProperties"] is False:
            _validate_fields(value, schema, path)
    except ValueError as error:
        raise _invalid(name, str(error)) from None


def _validate_fields(value: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> None:
    properties = schema.get("properties", {})
    for key in properties:
        if key in value:
            _validate(value[key], properties[key], f"{path}/properties/{key}", f"{path}/properties/{key}")
    further = [key for key in value if key not in properties]
    if further:
        raise ValueError(f"unexpected additional properties {_quoted_list(further)}")
    missing = [key for key in schema.get("required", ()) if key not in value]
    if missing:
        raise ValueError(f"required: missing properties: {_quoted_list(missing)}")


def _invalid(name: str, reason: str) -> ValueError:
    return ValueError(f"validating {name}: {reason}")


def _shown(value: Any) -> str:
    """`%v` of a `reflect.Value`, which for a null is its invalid one."""
    return "<invalid reflect.Value>" if value is None else go_text(_as_floats(value))


def _as_floats(value: Any) -> Any:
    """The value with every number a float64, for `%v`, which tells 1e+06 from 1000000."""
    if isinstance(value, Mapping):
        return {key: _as_floats(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_floats(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, (list, tuple)):
        return "array"
    return "integer" if go_whole(value) else "number"


def _quoted_list(names: Iterable[str]) -> str:
    return "[" + " ".join(map(go_quote, names)) + "]"


# an output_schema


def validate_map(args: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """`utils.ValidateMapOnSchema`. Raises `ValueError` with its words; of several faults Go names any one, this the first."""
    properties = schema.get("properties") or {}
    for key in sorted(args, key=go_order):
        quoted, value = go_quote(key), args[key]
        if key not in properties:
            raise ValueError(f"output arg: '{quoted}' does not exist in schema properties")
        try:
            fits = _matches(value, properties[key])
        except ValueError as error:
            raise ValueError(f"output arg: '{quoted}' validation failed: {error}") from None
        if not fits:
            raise ValueError(
                f"output arg: '{quoted}' type mismatch, expected schema type {properties[key].get('type', '')}, got value "
                f"{go_text(_as_floats(value))} of type {_go_type(value)}"
            )
    for key in schema.get("required") or ():
        if key not in args:
            raise ValueError(f"\"output\" args does not contain required key: '{go_quote(key)}'")


def _matches(value: Any, schema: Mapping[str, Any]) -> bool:
    if value is None:
        return False
    kind = str(schema.get("type", ""))
    match kind.upper():
        case "STRING":
            return isinstance(value, str)
        case "INTEGER":
            return go_whole(value)
        case "BOOLEAN":
            return isinstance(value, bool)
        case "NUMBER":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "ARRAY":
            return isinstance(value, (list, tuple)) and _items_match(value, schema)
        case "OBJECT":
            if not isinstance(value, Mapping):
                return False
            validate_map(value, schema)
            return True
    raise ValueError(f"unsupported type: {kind}")


def _items_match(items: Iterable[Any], schema: Mapping[str, Any]) -> bool:
    if schema.get("items") is None:
        raise ValueError("array schema missing items definition")
    for index, item in enumerate(items):
        try:
            if not _matches(item, schema["items"]):
                return False
        except ValueError as error:
            raise ValueError(f"array item {index}: {error}") from None
    return True


def _go_type(value: Any) -> str:
    names = {bool: "bool", str: "string", dict: "map[string]interface {}", list: "[]interface {}", type(None): "<nil>"}
    return names.get(type(value), "float64")
