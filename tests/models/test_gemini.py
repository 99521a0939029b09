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
from adknb.core.errors import ContextLengthError, ModelError, NotSupported
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.schema import gemini_schema
from adknb.core.usage import Usage
from adknb.models.gemini import CONTINUED, GeminiModel
from tests.models.asking import ask, request, text
from tests.models.servers import FakeApi, Reply, serving

pytest.importorskip("google.genai", reason="the extra `gemini` is not installed")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
    ):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


def answer(*parts: dict[str, Any], finish: str | None = "STOP", usage: Any = None, **more: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts)}
    return {"candidates": [{"content": content, "finishReason": finish, **more}], "usageMetadata": usage}


OK = Reply(answer({"text": "Because."}))
USAGE = {"promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": 4, "cachedContentTokenCount": 2}


def model_of(api: FakeApi, **options: Any) -> GeminiModel:
    return GeminiModel("gemini-2.5-flash", base_url=api.url, **options)


async def failure(
    sent: LlmRequest, *replies: Reply, stream: bool = False, **options: Any
) -> tuple[ModelError, FakeApi]:
    with serving(*replies) as api:
        with pytest.raises(ModelError) as caught:
            await ask(model_of(api, **options), sent, stream)
        assert caught.value.agent == "DraftAgent"
        assert (caught.value.__cause__, caught.value.__context__) == (None, None)
        return caught.value, api


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


# what goes wrong


def error(status: int, message: str, name: str = "FAILED", **more: Any) -> Any:
    return {"error": {"code": status, "message": message, "status": name, **more}}


DELAY = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.1s"}]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "busy",
    [
        Reply(error(429, "slow down"), 429, {"retry-after": "1.1"}),
        Reply(error(429, "slow down", details=DELAY), 429),
        Reply(error(503, "overloaded"), 503, {"retry-after": "1.1"}),
    ],
    ids=["429", "429 with the wait in its body", "503"],
)
async def test_the_wait_that_the_server_asks_for(busy: Reply, stream: bool) -> None:
    with serving(busy, Reply(events=[OK.body]) if stream else OK) as api:
        *_, response = await ask(model_of(api), request(), stream)
    assert text(response) == "Because."
    assert len(api.received) == 2
    assert api.pauses[0] >= 1.1
    assert api.received[0].body == api.received[1].body


async def test_retries_end() -> None:
    busy = Reply(error(429, "slow down"), 429, {"retry-after": "0.01"})
    told, api = await failure(request(), busy, max_retries=2)
    assert len(api.received) == 3
    assert str(told) == (
        f"agent 'DraftAgent': gemini-2.5-flash at {api.url} answered 429 Too Many Requests after 3 tries: slow down. "
        "It asks to wait 0.01 s. Wait, ask for less at once, or look at the quota."
    )


async def test_an_error_that_is_not_written_as_googles_are() -> None:
    told, api = await failure(request(), Reply({"error": "busy"}, 503, {"retry-after": "0"}), max_retries=1)
    assert len(api.received) == 2
    assert "answered 503 Service Unavailable after 2 tries: {'error': 'busy'}. It asks to wait 0 s. " in str(told)


async def test_a_wait_that_is_too_long_is_told_and_not_waited_for() -> None:
    told, api = await failure(request(), Reply(error(429, "no"), 429, {"retry-after": "3600"}))
    assert len(api.received) == 1
    assert str(told).endswith("It asks to wait 3600 s. Wait, ask for less at once, or look at the quota.")


async def test_a_server_error() -> None:
    told, api = await failure(request(), Reply("<html>oops</html>", 500, kind="text/html"), max_retries=1)
    assert len(api.received) == 2
    assert f"gemini-2.5-flash at {api.url} answered 500 Internal Server Error after 2 tries: " in str(told)
    assert str(told).endswith("<html>oops</html>. The server failed; try again later.")


@pytest.mark.parametrize(
    ("status", "way"),
    [(400, ""), (403, " Check that the key in GOOGLE_API_KEY or GEMINI_API_KEY may use this model.")],
)
async def test_a_refused_request_is_not_sent_again(status: int, way: str) -> None:
    told, api = await failure(request(), Reply(error(status, "No."), status))
    assert len(api.received) == 1
    assert str(told).endswith(f": No.{way}")


@pytest.mark.parametrize("stream", [False, True])
async def test_a_silent_server(stream: bool) -> None:
    told, api = await failure(request(), Reply(hang=True), stream=stream, timeout=0.2, max_retries=1)
    assert len(api.received) == 2
    assert str(told) == (
        f"agent 'DraftAgent': gemini-2.5-flash at {api.url} was silent for 0.2 s after 2 tries. "
        "Give it longer (timeout=…), or try again later."
    )


async def test_no_server() -> None:
    with serving() as api:
        pass
    with pytest.raises(ModelError) as caught:
        await ask(model_of(api, max_retries=0), request())
    assert f"gemini-2.5-flash at {api.url} cannot be reached (ConnectError: " in str(caught.value)


BEGUN = [answer({"text": "Be"}, finish=None)]


@pytest.mark.parametrize("reply", [Reply(events=BEGUN, cut=True), Reply(events=BEGUN)], ids=["broken", "ended"])
async def test_a_stream_that_breaks_off(reply: Reply) -> None:
    with serving(reply) as api:
        stream = model_of(api).generate_content_async(request(), stream=True)
        assert text(await anext(stream)) == "Be"
        with pytest.raises(ModelError) as caught:
            await anext(stream)
    assert len(api.received) == 1
    assert str(caught.value) == (
        f"agent 'DraftAgent': gemini-2.5-flash at {api.url} broke off after 2 characters of its answer. "
        "Run the step again; nothing was stored."
    )


@pytest.mark.parametrize(
    ("reply", "stream"),
    [
        (Reply("{'candidates': ["), False),
        (Reply('{"candidates": 7}'), False),
        (Reply(events=["{oops"]), True),
    ],
)
async def test_what_cannot_be_read(reply: Reply, stream: bool) -> None:
    told, api = await failure(request(), reply, stream=stream)
    assert len(api.received) == 1
    assert f"gemini-2.5-flash at {api.url} answered what cannot be read: " in str(told)


async def test_an_error_in_the_midst_of_a_stream() -> None:
    told, api = await failure(request(), Reply(events=[*BEGUN, error(503, "overloaded")]), stream=True)
    assert len(api.received) == 1
    assert str(told) == f"agent 'DraftAgent': gemini-2.5-flash at {api.url} stopped with an error: overloaded."


@pytest.mark.parametrize(
    ("message", "tokens", "limit"),
    [
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1200000, 1048576),
        ("The input token count is 1200000 but model only supports up to 1048576.", 1200000, 1048576),
    ],
)
async def test_a_request_that_is_too_long(message: str, tokens: int, limit: int) -> None:
    told, api = await failure(request(), Reply(error(400, message, "INVALID_ARGUMENT"), 400))
    assert isinstance(told, ContextLengthError)
    assert (told.tokens, told.limit) == (tokens, limit)
    assert str(told) == (
        f"agent 'DraftAgent': the request has {tokens} tokens, and gemini-2.5-flash at {api.url} takes {limit}. "
        "Shorten the prompt, or send less history (include_contents='none')."
    )


async def test_a_stream_that_nobody_reads_on_is_closed() -> None:
    with serving(Reply(events=[*BEGUN, OK.body]), OK) as api:
        model = model_of(api)
        stream = model.generate_content_async(request(), stream=True)
        assert text(await anext(stream)) == "Be"
        await stream.aclose()
        (response,) = await ask(model, request())
    assert text(response) == "Because."


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
