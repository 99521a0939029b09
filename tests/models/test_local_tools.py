"""Tools on a local model, under a chat template that has a place for them."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from adknb.core.content import Content, FunctionCall, FunctionResponse, Part
from adknb.models.llama import Receive
from adknb.models.local import LocalModel
from tests.models.asking import ask, request
from tests.models.small_model import small_model_or_skip, token_count

xllamacpp = small_model_or_skip()

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
