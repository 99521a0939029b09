import asyncio
import base64
from typing import Any

import pytest
from pydantic import BaseModel

from adknb.core.content import (
    Blob,
    CodeExecutionResult,
    Content,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    Part,
)
from adknb.core.errors import ModelError, NotSupported
from adknb.core.protocols import Model
from adknb.core.requests import LlmResponse
from adknb.core.schema import gemini_schema
from adknb.core.usage import Usage
from adknb.models.gemini import CONTINUED, GeminiModel
from tests.models.asking import ask, request, text
from tests.models.gemini_api import OK, USAGE, answer, model_of
from tests.models.servers import Reply, serving

pytest.importorskip("google.genai", reason="the extra `gemini` is not installed")

pytestmark = pytest.mark.usefixtures("no_gemini_variables")


# what is sent


class Line(BaseModel):
    note: str | None = None
    amount: float


class Bill(BaseModel):
    zeal: int
    lines: list[Line]


TOOL = {
    "name": "find_order",
    "description": "Find an order.",
    "parameters": {
        "type": "OBJECT",
        "properties": {"z": {"type": "INTEGER"}, "a": {"type": "ARRAY", "items": {"type": "STRING"}}},
        "required": ["z"],
    },
    "response": {"type": "OBJECT"},
}
GO_TOOL = {"name": "now", "description": "", "parametersJsonSchema": {"type": "object", "additionalProperties": False}}


async def test_the_server_receives_the_request_and_nothing_else() -> None:
    call = FunctionCall("find_order", {"order_id": 7, "note": "Zoë", "none": None, "list": [{"a_b": 1}]}, "adk-1")
    sent = request(
        contents=[
            Content.user("Where is my order? \U0001f600 \ud800"),
            Content("user", (Part(text="For context:"), Part(text="[TriageAgent] said: \n  billing"))),
            Content(
                "model",
                (
                    Part(text="hm", thought=True),
                    Part(text="I look."),
                    Part(function_call=call, thought_signature=b"\xff\xfesigned"),
                    Part(function_call=FunctionCall("now", {}, "its-own")),
                    Part(executable_code=ExecutableCode("print(1)")),
                    Part(code_execution_result=CodeExecutionResult("1\n")),
                ),
            ),
            Content(
                "user",
                (
                    Part(function_response=FunctionResponse("find_order", {"order_state": None}, "adk-1")),
                    Part(function_response=FunctionResponse("now", {"at_time": 1.5}, "its-own")),
                    Part(inline_data=Blob("image/png", b"\xfb\xff")),
                ),
            ),
        ],
        system="Be brief.\n\n {x}",
        temperature=0.20000000298023224,
        top_p=0.5,
        top_k=40.0,
        seed=7,
        max_output_tokens=64,
        stop_sequences=["END"],
        presence_penalty=0.25,
        frequency_penalty=0.5,
        response_schema=gemini_schema(Bill),
        response_mime_type="application/json",
        thinking_config={"include_thoughts": True},
        safety_settings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        candidate_count=None,
    )
    sent.tools = {"find_order": TOOL, "now": GO_TOOL}
    with serving(OK) as api:
        (response,) = await ask(model_of(api, api_key="k", headers={"x-team": "support"}), sent)
    assert response.note is None
    (received,) = api.received
    assert received.path == "/v1beta/models/gemini-2.5-flash:generateContent"
    assert (received.headers["x-goog-api-key"], received.headers["x-team"]) == ("k", "support")
    assert received.body == {
        "systemInstruction": {"role": "user", "parts": [{"text": "Be brief.\n\n {x}"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Where is my order? \U0001f600 \ufffd"}]},
            {"role": "user", "parts": [{"text": "For context:"}, {"text": "[TriageAgent] said: \n  billing"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "hm", "thought": True},
                    {"text": "I look."},
                    {
                        "functionCall": {
                            "name": "find_order",
                            "args": {"order_id": 7, "note": "Zoë", "none": None, "list": [{"a_b": 1}]},
                        },
                        "thoughtSignature": base64.b64encode(b"\xff\xfesigned").decode(),
                    },
                    {"functionCall": {"id": "its-own", "name": "now", "args": {}}},
                    {"executableCode": {"code": "print(1)", "language": "PYTHON"}},
                    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "find_order", "response": {"order_state": None}}},
                    {"functionResponse": {"id": "its-own", "name": "now", "response": {"at_time": 1.5}}},
                    {"inlineData": {"mimeType": "image/png", "data": "+/8="}},
                ],
            },
        ],
        "tools": [{"functionDeclarations": [TOOL, GO_TOOL]}],
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        "generationConfig": {
            "temperature": 0.20000000298023224,
            "topP": 0.5,
            "topK": 40.0,
            "seed": 7,
            "maxOutputTokens": 64,
            "stopSequences": ["END"],
            "presencePenalty": 0.25,
            "frequencyPenalty": 0.5,
            "responseMimeType": "application/json",
            "responseSchema": {
                "type": "OBJECT",
                "properties": {
                    "zeal": {"type": "INTEGER"},
                    "lines": {
                        "type": "ARRAY",
                        "items": {
                            "type": "OBJECT",
                            "properties": {"note": {"type": "STRING", "nullable": True}, "amount": {"type": "NUMBER"}},
                            "required": ["amount"],
                        },
                    },
                },
                "required": ["zeal", "lines"],
            },
            "thinkingConfig": {"includeThoughts": True},
        },
    }


LINE = {
    "role": "user",
    "parts": [
        {
            "text": "Continue output. DO NOT look at this line. ONLY look at the content before this line and system "
            "instruction."
        }
    ],
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("contents", [[], [Content.user("Hi"), Content.model("Hello")]], ids=["empty", "the model's"])
async def test_adks_line_follows_contents_that_do_not_end_on_the_user(contents: list[Content], stream: bool) -> None:
    reply = Reply(events=[OK.body]) if stream else OK
    with serving(reply) as api:
        *_, response = await ask(model_of(api), request(contents=contents), stream)
    assert len(api.sent["contents"]) == len(contents) + 1
    assert api.sent["contents"][-1] == LINE
    assert response.note == CONTINUED == "sent with ADK's line “Continue output. …”"


async def test_it_asks_for_one_candidate() -> None:
    with pytest.raises(NotSupported, match=r"^agent 'DraftAgent': one candidate is read; remove candidate_count$"):
        await ask(GeminiModel("gemini-x", api_key="k"), request(candidate_count=2))


# what comes back


async def test_an_answer_with_every_kind_of_part() -> None:
    parts: list[dict[str, Any]] = [
        {"text": "hm", "thought": True},
        {"text": "I look.", "thoughtSignature": "c2lnbmVk"},
        {"functionCall": {"name": "find_order", "args": {"number": 7}}, "thoughtSignature": "/+8="},
        {"functionCall": {"id": "own", "name": "now"}},
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "1"}},
        {"inlineData": {"mimeType": "image/png", "data": "+/8="}},
    ]
    with serving(Reply(answer(*parts, usage={**USAGE, "toolUsePromptTokenCount": 1}))) as api:
        responses = await ask(model_of(api), request())
    assert responses == [
        LlmResponse(
            Content(
                "model",
                (
                    Part(text="hm", thought=True),
                    Part(text="I look.", thought_signature=b"signed"),
                    Part(function_call=FunctionCall("find_order", {"number": 7}), thought_signature=b"\xff\xef"),
                    Part(function_call=FunctionCall("now", {}, "own")),
                    Part(executable_code=ExecutableCode("print(1)")),
                    Part(code_execution_result=CodeExecutionResult("1", "OUTCOME_FAILED")),
                    Part(inline_data=Blob("image/png", b"\xfb\xff")),
                ),
            ),
            Usage(10, 7, cached_tokens=2, reasoning_tokens=4),
            finish_reason="STOP",
        )
    ]


async def test_a_part_that_adknb_has_no_word_for() -> None:
    part = {"fileData": {"mimeType": "image/png", "fileUri": "gs://x"}}
    with serving(Reply(answer(part))) as api, pytest.raises(NotSupported) as caught:
        await ask(model_of(api), request())
    assert str(caught.value) == "agent 'DraftAgent': Gemini answered with a part that adknb has no word for (file_data)"


@pytest.mark.parametrize(
    ("body", "content", "finish", "code", "message"),
    [
        (answer({"text": "Half"}, finish="MAX_TOKENS"), Content.model("Half"), "MAX_TOKENS", None, None),
        ({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}, Content("model", ()), "STOP", None, None),
        ({"candidates": [{"finishReason": "SAFETY"}]}, None, "SAFETY", "SAFETY", None),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, None, None, "PROHIBITED_CONTENT", None),
        ({}, None, None, "Unknown error.", "Unknown error."),
    ],
)  # fmt: skip
async def test_answers_that_are_cut_or_refused(
    body: Any, content: Content | None, finish: str | None, code: str | None, message: str | None
) -> None:
    with serving(Reply(body)) as api:
        responses = await ask(model_of(api), request())
    assert responses == [LlmResponse(content, finish_reason=finish, error_code=code, error_message=message)]


async def test_a_streamed_answer() -> None:
    events = [
        answer({"text": "h", "thought": True}, finish=None),
        answer({"text": "m", "thought": True}, {"text": "Be"}, finish=None),
        answer({"text": "cause.", "thoughtSignature": "c2lnbmVk"}, finish=None),
        answer({"functionCall": {"name": "now", "args": {}}, "thoughtSignature": "/+8="}, finish=None),
        answer({"text": ""}, usage=USAGE),
    ]
    with serving(Reply(events=events)) as api:
        *pieces, whole = await ask(model_of(api), request(), stream=True)
    assert api.received[0].path == "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    assert [(piece.content, piece.partial) for piece in pieces] == [
        (Content("model", (Part(text="h", thought=True),)), True),
        (Content("model", (Part(text="m", thought=True), Part(text="Be"))), True),
        (Content("model", (Part(text="cause.", thought_signature=b"signed"),)), True),
    ]
    assert whole == LlmResponse(
        Content(
            "model",
            (
                Part(text="hm", thought=True),
                Part(text="Because.", thought_signature=b"signed"),
                Part(function_call=FunctionCall("now", {}), thought_signature=b"\xff\xef"),
            ),
        ),
        Usage(9, 7, cached_tokens=2, reasoning_tokens=4),
        finish_reason="STOP",
    )


async def test_a_streamed_answer_that_ends_otherwise_than_by_stop_is_an_error_as_in_adk_java(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")  # elsewhere the SDK leaves the message out
    events = [answer({"text": "Half"}, finish=None), answer(finish="MAX_TOKENS", finishMessage="Full.")]
    with serving(Reply(events=events)) as api:
        *_, whole = await ask(model_of(api, api_key="k"), request(), stream=True)
    assert (text(whole), whole.finish_reason) == ("Half", "MAX_TOKENS")
    assert (whole.error_code, whole.error_message) == ("MAX_TOKENS", "Full.")


async def test_a_blocked_request_when_streamed() -> None:
    with serving(Reply(events=[{"promptFeedback": {"blockReason": "SAFETY"}}])) as api:
        responses = await ask(model_of(api), request(), stream=True)
    assert responses == [LlmResponse(error_code="SAFETY")]


def test_each_loop_has_its_own_connection_and_closes_it() -> None:
    with serving(OK) as api:
        model = model_of(api)
        for _ in range(3):
            (response,) = asyncio.run(ask(model, request()))
            assert text(response) == "Because."
    assert len(api.received) == 3  # and no ResourceWarning, which would fail the test


# how it is entered


def test_it_is_a_model_that_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError) as caught:
        GeminiModel("gemini-2.5-flash")
    assert str(caught.value) == (
        "gemini-2.5-flash needs a key. Set the variable GEMINI_API_KEY (or GOOGLE_API_KEY) to it, or choose a model that "
        "needs none, such as 'local'."
    )
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    model = GeminiModel("gemini-2.5-flash")
    assert isinstance(model, Model)
    assert model.name == "gemini-2.5-flash"
    assert repr(model) == "GeminiModel('gemini-2.5-flash', base_url='https://generativelanguage.googleapis.com')"


@pytest.mark.parametrize("name", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
async def test_the_key_of_the_environment_is_sent(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "from-the-environment")
    with serving(OK) as api:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", api.url)
        await ask(GeminiModel("gemini-2.5-flash"), request())
    assert api.received[0].headers["x-goog-api-key"] == "from-the-environment"


async def test_vertex_ai_is_asked_where_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    with serving(OK) as api:
        (response,) = await ask(GeminiModel("gemini-2.5-flash", base_url=api.url, api_key="k"), request())
    assert text(response) == "Because."
    assert api.received[0].path == "/v1beta1/publishers/google/models/gemini-2.5-flash:generateContent"
    assert api.sent["contents"] == [{"role": "user", "parts": [{"text": "Why is the sky blue?"}]}]


@pytest.mark.parametrize("found", [None, ModuleNotFoundError])
def test_a_missing_extra_says_what_to_install(found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_spec(name: str) -> None:
        if found is not None:
            raise found(name)

    monkeypatch.setattr("adknb.models.gemini.find_spec", find_spec)
    with pytest.raises(ModelError) as caught:
        GeminiModel("gemini-2.5-flash")
    assert str(caught.value) == "a Gemini model needs the extra `gemini`: pip install 'adknb[gemini]'"
