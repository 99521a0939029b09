import json
from typing import Any, Literal

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel, Field

from adknb.core.content import CodeExecutionResult, Content, ExecutableCode, FunctionResponse, Part
from adknb.core.errors import NotSupported
from adknb.core.schema import gemini_schema
from adknb.models.chat import chat_messages, encodable, json_schema, response_format
from tests.models.asking import request


def said(**parts: Any) -> list[dict[str, Any]]:
    """The messages for an API that takes tools and several texts in one message."""
    return chat_messages(request(**parts), plain=False, tools=True)


def told(**parts: Any) -> list[dict[str, Any]]:
    """The messages for a strict chat template that has no place for tools."""
    return chat_messages(request(**parts), plain=True, tools=False)


def test_roles_and_the_system_message() -> None:
    contents = [Content.user("Hi"), Content.model("Hello"), Content.user("Bye")]
    assert told(contents=contents, system="Be brief.") == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "Bye"},
    ]


def test_parts_are_joined_by_lines_and_neighbours_of_one_role_by_a_blank_line() -> None:
    narrated = Content("user", (Part(text="For context:"), Part(text="[TriageAgent] said: billing")))
    assert told(contents=[Content.user("Charged twice."), narrated]) == [
        {"role": "user", "content": "Charged twice.\n\nFor context:\n[TriageAgent] said: billing"}
    ]


def test_thoughts_and_empty_contents_are_left_out() -> None:
    contents = [
        Content("model", (Part(text="hm", thought=True),)),
        Content("user", ()),
        Content("user", (Part(text=""),)),
        Content("model", (Part(text="hm", thought=True), Part(text="said"))),
    ]
    assert told(contents=contents, system="") == [{"role": "assistant", "content": "said"}]


def test_calls_responses_and_code_are_told_as_text() -> None:
    contents = [
        Content("model", (Part.from_function_call("find", {"name": "Zoë"}),)),
        Content("user", (Part(function_response=FunctionResponse("find", {"result": 1})),)),
        Content("model", (Part(executable_code=ExecutableCode("print(1)")),)),
        Content("user", (Part(code_execution_result=CodeExecutionResult("1\n")),)),
    ]
    assert [message["content"] for message in told(contents=contents)] == [
        '{"function_call": {"name": "find", "args": {"name": "Zoë"}}}',
        '{"function_response": {"name": "find", "response": {"result": 1}}}',
        "print(1)",
        "1\n",
    ]


def test_an_image_is_not_supported() -> None:
    with pytest.raises(NotSupported) as caught:
        told(contents=[Content("user", (Part.from_bytes(b"\x89PNG", "image/png"),))])
    assert str(caught.value).startswith("agent 'DraftAgent': the request holds a part of type 'image/png'")


class Line(BaseModel):
    amount: float = Field(ge=0)
    note: str | None = None


class Bill(BaseModel):
    kind: str = Field(pattern="^[a-z]+$")
    lines: list[Line]


def test_a_gemini_schema_as_json_schema() -> None:
    assert json_schema(gemini_schema(Bill)) == {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "pattern": "^[a-z]+$"},
            "lines": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "amount": {"type": "number", "minimum": 0},
                        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    },
                    "required": ["amount"],
                },
            },
        },
        "required": ["kind", "lines"],
    }


def test_what_only_gemini_says_is_translated_or_dropped() -> None:
    written = {"anyOf": [{"type": "STRING", "nullable": True}, {"type": "INTEGER"}], "example": 3, "description": "d"}
    assert json_schema(written) == {
        "anyOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": "integer"}],
        "description": "d",
    }


@given(st.builds(Bill, kind=st.from_regex("^[a-z]+$", fullmatch=True), lines=st.lists(
    st.builds(Line, amount=st.floats(0, 1e9), note=st.none() | st.text()))))  # fmt: skip
def test_what_the_pydantic_model_writes_fits_the_json_schema(bill: Bill) -> None:
    jsonschema.validate(bill.model_dump(mode="json"), json_schema(gemini_schema(Bill)))


def test_each_content_is_one_message_where_roles_need_not_alternate() -> None:
    contents = [
        Content.user("Hi"),
        Content("user", (Part(text="For context:"), Part(text=""), Part(text="[A] said: x"))),
    ]
    assert said(contents=contents) == [
        {"role": "user", "content": "Hi"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "For context:"}, {"type": "text", "text": "[A] said: x"}],
        },
    ]


def test_calls_and_responses_are_paired_by_their_ids_or_else_by_name() -> None:
    contents = [
        Content("model", (Part.from_function_call("now", {}), Part(text="Wait."))),
        Content("user", (Part(function_response=FunctionResponse("now", {"at": "noon"})), Part(text="Well?"))),
    ]
    assert said(contents=contents) == [
        {
            "role": "assistant",
            "content": "Wait.",
            "tool_calls": [{"id": "call_now", "type": "function", "function": {"name": "now", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_now", "content": '{"at":"noon"}'},
        {"role": "user", "content": "Well?"},
    ]


def test_plain_messages_do_not_join_calls_and_responses() -> None:
    call, answer = Part.from_function_call("now", {}), Part(function_response=FunctionResponse("now", {}))
    contents = [Content.model("Hm."), Content("model", (call,)), Content("user", (answer,)), Content("user", (answer,))]
    roles = [message["role"] for message in chat_messages(request(contents=contents), plain=True, tools=True)]
    assert roles == ["assistant", "assistant", "tool", "tool"]


class Sparse(BaseModel):
    note: str | None = None
    amount: float


class Deep(BaseModel):
    lines: list[Sparse]


class Known(BaseModel):
    name: str
    tags: list[str]
    kind: Literal["a", "b"] | None


@pytest.mark.parametrize(
    "schema",
    [
        gemini_schema(Sparse),
        gemini_schema(Deep),
        gemini_schema(Bill),
        {"type": "OBJECT"},
        {"type": "STRING"},
        {"type": "OBJECT", "properties": {"a": {"type": "OBJECT"}}, "required": ["a"]},
        {"type": "OBJECT", "properties": {"a": {"anyOf": [{"type": "OBJECT"}]}}, "required": ["a"]},
        {"type": "OBJECT", "properties": {"a": {"type": "STRING", "minLength": 1}}, "required": ["a"]},
    ],
)
def test_a_schema_that_openai_cannot_hold_an_answer_to_goes_as_it_is(schema: dict[str, Any]) -> None:
    assert response_format({"response_schema": schema}) == {
        "type": "json_schema",
        "json_schema": {"name": "response_schema", "schema": json_schema(schema), "strict": False},
    }


def test_a_strict_schema_is_closed() -> None:
    bound = response_format({"response_schema": gemini_schema(Known)})
    assert bound is not None
    assert bound["json_schema"]["schema"] == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "kind": {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]},
        },
        "required": ["name", "tags", "kind"],
        "additionalProperties": False,
    }


@given(
    st.recursive(
        st.text() | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_what_is_encodable_can_be_sent_and_is_otherwise_the_same(value: Any) -> None:
    sent = encodable(value)
    json.dumps(sent, ensure_ascii=False).encode()
    assert encodable(sent) == sent
    assert encodable(json.loads(json.dumps(sent))) == sent


def test_only_lone_surrogates_are_replaced() -> None:
    assert encodable({"a\ud800": ["\U0001f600", "\udfffb", 1.5, None]}) == {
        "a\ufffd": ["\U0001f600", "\ufffdb", 1.5, None]
    }
