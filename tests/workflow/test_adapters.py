"""Payloads between steps that do not speak alike."""

from typing import Any

import pytest
from pydantic import BaseModel, Field, computed_field

from adknb.core.errors import SpecError
from adknb.workflow.adapters import JsonAdapter, adapt, transform
from adknb.workflow.data import PipelineData
from adknb.workflow.errors import AdapterError


class Celsius:
    """Converts Fahrenheit; refuses what is colder than can be."""

    def convert(self, data: Any) -> Any:
        return {"celsius": (data["fahrenheit"] - 32) / 1.8}

    def validate(self, data: Any) -> None:
        if data["celsius"] < -273.15:
            raise ValueError("that cold it cannot be")


class Ticket(BaseModel):
    category: str
    urgency: int = Field(ge=1, le=3)


def test_what_is_converted_is_validated() -> None:
    assert adapt(Celsius(), {"fahrenheit": 50}, "step 'weather', input adapter") == {"celsius": 10.0}


@pytest.mark.parametrize(
    ("payload", "message", "cause"),
    [
        (
            {"fahrenheit": -1000},
            "step 'weather', input adapter: Celsius does not take the payload: ValueError: that cold it cannot be. "
            'The payload was: {"fahrenheit": -1000}',
            ValueError,
        ),
        (
            "cold",
            "step 'weather', input adapter: Celsius does not take the payload: TypeError: string indices must be integers, "
            "not 'str'. The payload was: cold",
            TypeError,
        ),
    ],
)
def test_what_an_adapter_raises_says_where_and_over_what(payload: Any, message: str, cause: type[Exception]) -> None:
    with pytest.raises(AdapterError) as caught:
        adapt(Celsius(), payload, "step 'weather', input adapter")
    assert str(caught.value) == message
    assert type(caught.value.__cause__) is cause


def test_the_payload_in_the_message_is_cut_and_made_safe() -> None:
    with pytest.raises(AdapterError) as caught:
        adapt(JsonAdapter(), "\x1b[2J" + "x" * 5000, "step 'a'")
    assert r"The payload was: \x1b[2Jxxxx" in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        (' [1, 2]\n', [1, 2]),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('\n```\n{"a": "```"}\n```\n', {"a": "```"}),
        ("```json\r\n3\r\n```", 3),
        ({"a": 1}, {"a": 1}),
        (7, 7),
    ],
)  # fmt: skip
def test_json_is_read_out_of_what_a_model_says(text: Any, expected: Any) -> None:
    assert adapt(JsonAdapter(), text, "step 'a'") == expected


@pytest.mark.parametrize("text", ["Here you are: {}", "", "```json\n{}", "{'a': 1}", "[" * 100_000])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(AdapterError, match="step 'a': JsonAdapter does not take the payload"):
        adapt(JsonAdapter(), text, "step 'a'")


def test_json_of_a_shape() -> None:
    adapter = JsonAdapter(Ticket)
    assert adapt(adapter, '{"category": "billing", "urgency": "2", "more": 1}', "a") == {
        "category": "billing",
        "urgency": 2,
    }
    assert PipelineData(adapt(adapter, {"category": "x", "urgency": 1}, "a")).payload == {"category": "x", "urgency": 1}
    with pytest.raises(AdapterError, match="urgency\n  Input should be less than or equal to 3"):
        adapt(adapter, '{"category": "billing", "urgency": 5}', "a")
    with pytest.raises(AdapterError, match="Input should be a valid integer"):
        adapt(JsonAdapter(list[int]), '[1, "two"]', "a")


def test_a_shape_need_not_read_what_it_writes() -> None:
    class Report(BaseModel, extra="forbid"):
        headline: str = Field(alias="Headline")

        @computed_field
        def length(self) -> int:
            return len(self.headline)

    assert adapt(JsonAdapter(Report), '{"Headline": "Bees"}', "a") == {"headline": "Bees", "length": 4}


def test_a_shape_that_is_none_is_refused() -> None:
    with pytest.raises(SpecError, match="is no shape that pydantic knows"):
        JsonAdapter(object())


class Prompt:
    def transform(self, data: Any) -> str:
        return f"Write about {data['topic']}."


def test_transformers_are_objects_or_functions() -> None:
    assert transform(Prompt(), {"topic": "bees"}, "a") == "Write about bees."
    assert transform(str.upper, "bees", "a") == "BEES"


def test_what_a_transformer_raises_says_where_and_over_what() -> None:
    with pytest.raises(AdapterError) as caught:
        transform(Prompt(), {"subject": "bees"}, "step 'writing', transformer")
    assert str(caught.value) == (
        "step 'writing', transformer: Prompt could not transform the payload: KeyError: 'topic'. "
        'The payload was: {"subject": "bees"}'
    )
    assert type(caught.value.__cause__) is KeyError
    with pytest.raises(SpecError, match="5 is no transformer"):
        transform(5, "bees", "step 'a'")  # type: ignore[arg-type]
