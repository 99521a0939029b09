import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel, Field

from adknb.core.content import CodeExecutionResult, Content, ExecutableCode, FunctionResponse, Part
from adknb.core.errors import NotSupported
from adknb.core.schema import gemini_schema
from adknb.models.chat import chat_messages, json_schema
from tests.models.asking import request


def test_roles_and_the_system_message() -> None:
    contents = [Content.user("Hi"), Content.model("Hello"), Content.user("Bye")]
    assert chat_messages(request(contents=contents, system="Be brief.")) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "Bye"},
    ]


def test_parts_are_joined_by_lines_and_neighbours_of_one_role_by_a_blank_line() -> None:
    narrated = Content("user", (Part(text="For context:"), Part(text="[TriageAgent] said: billing")))
    assert chat_messages(request(contents=[Content.user("Charged twice."), narrated])) == [
        {"role": "user", "content": "Charged twice.\n\nFor context:\n[TriageAgent] said: billing"}
    ]


def test_thoughts_and_empty_contents_are_left_out() -> None:
    contents = [
        Content("model", (Part(text="hm", thought=True),)),
        Content("user", ()),
        Content("user", (Part(text=""),)),
        Content("model", (Part(text="hm", thought=True), Part(text="said"))),
    ]
    assert chat_messages(request(contents=contents, system="")) == [{"role": "assistant", "content": "said"}]


def test_calls_responses_and_code_are_told_as_text() -> None:
    contents = [
        Content("model", (Part.from_function_call("find", {"name": "Zoë"}),)),
        Content("user", (Part(function_response=FunctionResponse("find", {"result": 1})),)),
        Content("model", (Part(executable_code=ExecutableCode("print(1)")),)),
        Content("user", (Part(code_execution_result=CodeExecutionResult("1\n")),)),
    ]
    assert [message["content"] for message in chat_messages(request(contents=contents))] == [
        '{"function_call": {"name": "find", "args": {"name": "Zoë"}}}',
        '{"function_response": {"name": "find", "response": {"result": 1}}}',
        "print(1)",
        "1\n",
    ]


def test_an_image_is_not_supported() -> None:
    with pytest.raises(NotSupported) as caught:
        chat_messages(request(contents=[Content("user", (Part.from_bytes(b"\x89PNG", "image/png"),))]))
    assert str(caught.value).startswith("DraftAgent: the request holds a part of type 'image/png'")


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
