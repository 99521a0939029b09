"""A Gemini API that is busy, refuses, breaks off or talks nonsense."""

from typing import Any

import pytest

from adknb.core.errors import ContextLengthError, ModelError
from tests.models.asking import ask, request, text
from tests.models.gemini_api import OK, answer, failure, model_of
from tests.models.servers import Reply, serving

pytest.importorskip("google.genai", reason="the extra `gemini` is not installed")

pytestmark = pytest.mark.usefixtures("no_gemini_variables")


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
