import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import psutil  # type: ignore[import-untyped]
import pytest
from pydantic import BaseModel, Field

from adknb.core.content import Content, Part
from adknb.core.errors import ModelError, NotSupported
from adknb.core.protocols import Model
from adknb.core.schema import gemini_schema
from adknb.models.chat import json_schema
from adknb.models.llama import Receive, Settings, engine_for
from adknb.models.local import LocalModel
from tests.models.asking import ask, request, text
from tests.models.small_model import chatml, small_model_or_skip, token_count

small_model_or_skip()

LONG = [Content.user("Tell a long story about a lighthouse keeper. Never stop.")]


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    with LocalModel(n_ctx=2048, progress=False) as loaded:
        yield loaded


async def test_the_answer_is_the_models_with_its_usage_and_finish_reason(model: LocalModel) -> None:
    contents = [Content.user("Why is the sky blue?"), Content.model("Light."), Content.user("Say more.")]
    (response,) = await ask(model, request(contents=contents, system="You are terse.", max_output_tokens=7))
    assert isinstance(model, Model)
    assert response.content is not None
    assert response.content.role == "model"
    assert (response.finish_reason, response.partial, response.note) == ("MAX_TOKENS", False, None)
    prompt = chatml(
        ("system", "You are terse."), ("user", "Why is the sky blue?"), ("assistant", "Light."), ("user", "Say more.")
    )
    assert response.usage is not None
    assert response.usage.to_dict() == {
        "input_tokens": token_count(model, prompt),
        "output_tokens": 7,
        "cached_tokens": 0,
        "reasoning_tokens": 0,
    }
    assert response.usage.input_tokens == 41


async def test_a_seed_gives_the_same_answer_and_another_seed_another(model: LocalModel) -> None:
    answers = []
    for seed in (7, 8, 7, -1, -1):
        (response,) = await ask(model, request(seed=seed, temperature=1.0, max_output_tokens=24))
        answers.append(text(response))
    assert answers[0] == answers[2]
    assert answers[3] == answers[4]
    assert len(set(answers)) == 3


async def test_a_seed_gives_the_same_answer_whatever_was_asked_before(model: LocalModel) -> None:
    sent = request(
        contents=[Content.user("Tell me of the sea and the keeper's cat. " * 8)], seed=7, max_output_tokens=60
    )
    await ask(model, request(max_output_tokens=1))
    (after_another,) = await ask(model, sent)
    (after_itself,) = await ask(model, sent)
    assert after_itself == after_another


async def test_sampling_settings_reach_the_model(model: LocalModel) -> None:
    settings: list[dict[str, Any]] = [
        {"temperature": 0.0},
        {"top_k": 1.0},
        {"top_p": 0.0},
        {"temperature": 0.0, "seed": 3},
    ]
    greedy = [text((await ask(model, request(max_output_tokens=16, **setting)))[0]) for setting in settings]
    assert greedy[1:] == greedy[:1] * 3


async def test_a_stop_sequence_ends_the_answer(model: LocalModel) -> None:
    (whole,) = await ask(model, request(temperature=0.0, max_output_tokens=16))
    stop = text(whole).split()[3]
    (cut,) = await ask(model, request(temperature=0.0, max_output_tokens=16, stop_sequences=[stop]))
    assert text(cut) == text(whole)[: text(whole).index(stop)]
    assert cut.finish_reason == "STOP"


async def test_streamed_pieces_make_the_whole(model: LocalModel) -> None:
    sent = request(seed=1, max_output_tokens=12)
    *pieces, whole = await ask(model, sent, stream=True)
    assert [piece.partial for piece in pieces] == [True] * len(pieces)
    assert len(pieces) > 1
    assert "".join(text(piece) for piece in pieces) == text(whole)
    assert [whole] == await ask(model, sent)


class Triage(BaseModel):
    category: str = Field(json_schema_extra={"enum": ["billing", "outage", "account", "other"]})
    urgency: int = Field(ge=1, le=3)
    refund: bool | None
    tags: list[str] = Field(min_length=1, max_length=2)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_an_output_schema_binds_the_answer(model: LocalModel, seed: int) -> None:
    schema = gemini_schema(Triage)
    sent = request(
        system="Classify.",
        max_output_tokens=400,
        response_schema=schema,
        response_mime_type="application/json",
        seed=seed,
        temperature=1.5,
    )
    (response,) = await ask(model, sent)
    assert response.finish_reason == "STOP"
    answer = json.loads(text(response))
    jsonschema.validate(answer, json_schema(schema))
    Triage.model_validate(answer)


async def test_the_json_mime_type_alone_gives_an_object(model: LocalModel) -> None:
    sent = request(system="Answer as JSON.", response_mime_type="application/json", seed=1, max_output_tokens=300)
    (response,) = await ask(model, sent)
    assert response.finish_reason == "STOP"
    assert isinstance(json.loads(text(response)), dict)


async def test_a_schema_that_llama_cannot_read_is_told(model: LocalModel) -> None:
    with pytest.raises(
        ModelError, match=r"^agent 'DraftAgent': SmolLM2-135M-Instruct\.Q4_1 refused the request: .*wrong"
    ) as caught:
        await ask(model, request(response_schema={"type": "WRONG"}))
    assert caught.value.agent == "DraftAgent"


async def test_a_request_that_is_too_long_says_both_numbers(model: LocalModel) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(model, request(contents=[Content.user("story " * 3000)], system="x"))
    assert str(caught.value) == (
        "agent 'DraftAgent': the request has 3016 tokens, and SmolLM2-135M-Instruct.Q4_1 has room for 2048 (n_ctx). "
        "Shorten the prompt, send less history (include_contents='none'), or make room: LocalModel(n_ctx=…)."
    )
    assert caught.value.agent == "DraftAgent"


@pytest.mark.parametrize(
    "contents", [LONG, [Content.user("A lighthouse. " * 600)]], ids=["while it writes", "while it reads the prompt"]
)
async def test_a_cancelled_call_stops_and_the_next_is_answered(
    model: LocalModel, contents: list[Content], monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks: list[dict[str, Any]] = []
    stops: list[bool] = []
    begun = threading.Event()
    engine_ask = model._engine.ask

    def watched(body: dict[str, Any], receive: Receive, progress: bool) -> None:
        def watching(chunk: dict[str, Any]) -> bool:
            chunks.append(chunk)
            stops.append(receive(chunk))
            begun.set()
            return stops[-1]

        engine_ask(body, watching, progress)

    with monkeypatch.context() as patch:
        patch.setattr(model._engine, "ask", watched)
        call = asyncio.create_task(ask(model, request(contents=contents, max_output_tokens=100_000)))
        await asyncio.to_thread(begun.wait)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    (response,) = await ask(model, request(max_output_tokens=2))
    assert response.usage is not None
    assert response.usage.output_tokens == 2
    assert stops == [False] * (len(stops) - 1) + [True]
    assert [chunk for chunk in chunks if "usage" in chunk] == []  # it did not run to its end


async def test_a_stream_that_nobody_reads_on_stops(model: LocalModel) -> None:
    stream = model.generate_content_async(request(contents=LONG, max_output_tokens=100_000), stream=True)
    first = await anext(stream)
    assert first.partial
    await stream.aclose()
    (response,) = await ask(model, request(max_output_tokens=2))
    assert response.finish_reason == "MAX_TOKENS"


async def test_calls_take_turns_and_the_loop_stays_free(model: LocalModel) -> None:
    sent = request(seed=5, max_output_tokens=12)
    (alone,) = await ask(model, sent)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    answers = await asyncio.gather(*(ask(model, sent) for _ in range(3)))
    ticking.cancel()
    assert answers == [[alone]] * 3
    assert ticks > 100


async def test_a_conversation_that_ends_on_the_model_gets_a_new_answer(model: LocalModel) -> None:
    contents = [Content.user("Name a colour."), Content.model("Blue is a colour that")]
    (response,) = await ask(model, request(contents=contents, max_output_tokens=3))
    assert response.usage is not None
    prompt = chatml(
        ("system", "You are a helpful AI assistant named SmolLM, trained by Hugging Face"),
        ("user", "Name a colour."),
        ("assistant", "Blue is a colour that"),
    )
    assert response.usage.input_tokens == token_count(model, prompt)


async def test_hostile_text_is_answered(model: LocalModel) -> None:
    contents = [Content.user("a\ud800b\x00 \U0001f600 \u202e \x1b[31m")]
    (response,) = await ask(model, request(contents=contents, max_output_tokens=2))
    assert response.finish_reason == "MAX_TOKENS"


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"tools": {"lookup": {}}},
            NotSupported,
            "agent 'DraftAgent': the chat template of SmolLM2-135M-Instruct.Q4_1 has no place for tools (lookup).",
        ),
        ({"config": {"candidate_count": 2}}, NotSupported, "agent 'DraftAgent': a local model gives one candidate"),
        ({"contents": []}, ModelError, "agent 'DraftAgent': the request to SmolLM2-135M-Instruct.Q4_1 has no text"),
    ],
)
async def test_what_it_cannot_do_is_told(
    model: LocalModel, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    sent = request()
    for field, value in change.items():
        setattr(sent, field, value)
    with pytest.raises(error) as caught:
        await ask(model, sent)
    assert str(caught.value).startswith(message)


async def test_a_thinking_models_reasoning_is_a_thought(model: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks: list[dict[str, Any]] = [
        {"choices": [{"delta": {"role": "assistant", "content": None}, "finish_reason": None}]},
        {"choices": [{"delta": {"reasoning_content": "hm"}, "finish_reason": None}]},
        {"choices": [{"delta": {"content": "yes"}, "finish_reason": None}]},
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
    ]
    monkeypatch.setattr(model._engine, "ask", lambda body, receive, progress: [receive(chunk) for chunk in chunks])
    *pieces, whole = await ask(model, request(), stream=True)
    assert [piece.content for piece in pieces] == [
        Content("model", (Part(text="hm", thought=True),)),
        Content.model("yes"),
    ]
    assert whole.content == Content("model", (Part(text="hm", thought=True), Part(text="yes")))
    assert whole.finish_reason == "STOP"


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows a key that nobody knows closes the port")
def test_no_port_is_opened_and_no_socket_file_stays() -> None:
    def ports() -> set[int]:
        connections = psutil.Process().net_connections("inet")
        return {connection.laddr.port for connection in connections if connection.status == psutil.CONN_LISTEN}

    before = ports()
    with LocalModel(n_ctx=256, progress=False) as model:
        assert ports() == before
        address = model._engine._server.listening_address
        assert address.startswith("unix:")
        assert not Path(address.removeprefix("unix://")).parent.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT that a process can send to itself")
def test_an_interrupt_is_still_pythons(model: LocalModel) -> None:
    model.load()
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 (the signal may arrive a moment later)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)


def test_equal_settings_share_one_loaded_engine(model: LocalModel) -> None:
    model.load()
    twin, other = LocalModel(n_ctx=2048), LocalModel(n_ctx=512)
    assert twin.loaded
    assert not other.loaded
    assert engine_for(Settings(model.path, 2048, twin._settings.n_threads, 64, -1)) is model._engine
