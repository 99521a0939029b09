import asyncio
import sys
from typing import Any

import pytest

from adknb.core.content import Blob, Content, FunctionCall, FunctionResponse, Part
from adknb.core.errors import ModelError, NotSupported
from adknb.core.protocols import Model
from adknb.core.requests import LlmResponse
from adknb.core.schema import gemini_schema
from adknb.core.usage import Usage
from adknb.models.openai import OpenAIModel
from tests.models.asking import ask, request, text
from tests.models.openai_api import OK, USAGE, Triage, call_delta, completion, delta, model_of
from tests.models.servers import Reply, serving

pytest.importorskip("openai", reason="the extra `openai` is not installed")

pytestmark = pytest.mark.usefixtures("no_openai_variables")


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


def test_the_sdk_is_loaded_by_the_first_call_only() -> None:
    import subprocess

    code = (
        "import sys; from adknb.models.openai import OpenAIModel; from adknb.models.gemini import GeminiModel\n"
        "OpenAIModel('small', base_url='http://localhost/v1'); GeminiModel('gemini-x', api_key='k')\n"
        "print(sorted({'openai', 'google.genai', 'httpx', 'httpx2', 'tenacity'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"
