"""An OpenAI-compatible API that is busy, refuses, breaks off or talks nonsense."""

from typing import Any

import pytest

from adknb.core.errors import ContextLengthError, ModelError
from tests.models.asking import ask, request, text
from tests.models.openai_api import OK, completion, delta, failure, model_of
from tests.models.servers import Reply, serving

pytest.importorskip("openai", reason="the extra `openai` is not installed")

pytestmark = pytest.mark.usefixtures("no_openai_variables")


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
