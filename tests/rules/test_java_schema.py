"""Gemini schemas as the Java SDK holds and prints them; the texts were printed by google-genai 1.58.0."""

from __future__ import annotations

from adknb.rules.java_schema import as_sent, schema_text

EMPTY = (
    "Schema{anyOf=Optional.empty, default_=Optional.empty, description=Optional.empty, enum_=Optional.empty, "
    "example=Optional.empty, format=Optional.empty, items=Optional.empty, maxItems=Optional.empty, "
    "maxLength=Optional.empty, maxProperties=Optional.empty, maximum=Optional.empty, minItems=Optional.empty, "
    "minLength=Optional.empty, minProperties=Optional.empty, minimum=Optional.empty, nullable=Optional.empty, "
    "pattern=Optional.empty, properties=Optional.empty, propertyOrdering=Optional.empty, required=Optional.empty, "
    "title=Optional.empty, type=Optional.empty}"
)


def filled(**fields: str) -> str:
    text = EMPTY
    for name, value in fields.items():
        assert f"{name}=Optional.empty" in text
        text = text.replace(f"{name}=Optional.empty", f"{name}=Optional[{value}]")
    return text


def test_bounds_are_sent_as_doubles() -> None:
    schema = {
        "type": "OBJECT",
        "properties": {"n": {"type": "INTEGER", "minimum": 0, "maximum": 5}},
        "items": {"type": "NUMBER", "minimum": -1, "minLength": 2},
    }
    sent = as_sent(schema)
    assert repr(sent["properties"]) == "{'n': {'type': 'INTEGER', 'minimum': 0.0, 'maximum': 5.0}}"
    assert repr(sent["items"]) == "{'type': 'NUMBER', 'minimum': -1.0, 'minLength': 2}"
    assert schema["items"]["minimum"] == -1  # type: ignore[index]
    assert (
        repr(as_sent({"anyOf": [{"type": "NUMBER", "minimum": 1}]}))
        == "{'anyOf': [{'type': 'NUMBER', 'minimum': 1.0}]}"
    )


def test_every_field_is_printed() -> None:
    assert schema_text({}) == EMPTY
    assert schema_text({"type": "STRING", "nullable": False, "enum": ["a", "b"], "default": {"x": 1.0}}) == filled(
        default_="{x=1.0}", enum_="[a, b]", nullable="false", type="STRING"
    )
    assert schema_text({"minimum": 1, "maximum": 1e21}) == filled(maximum="1.0E21", minimum="1.0")


def test_inner_schemas_are_printed_in_their_place() -> None:
    inner = filled(type="STRING")
    assert schema_text({"items": {"type": "STRING"}}) == EMPTY.replace(
        "items=Optional.empty", f"items=Optional[{inner}]"
    )
    assert schema_text({"anyOf": [{"type": "STRING"}]}) == EMPTY.replace(
        "anyOf=Optional.empty", f"anyOf=Optional[[{inner}]]", 1
    )
    assert schema_text({"properties": {"a": {"type": "STRING"}, "b": {}}}) == EMPTY.replace(
        "properties=Optional.empty", f"properties=Optional[{{a={inner}, b={EMPTY}}}]"
    )
