import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from adknb.core.content import Content, FunctionCall, FunctionResponse, Part
from adknb.core.errors import ModelError
from adknb.core.requests import LlmRequest, Segment
from adknb.models.echo import EchoModel
from adknb.models.local import LocalModel
from adknb.models.request_key import model_identity, request_data, request_key
from tests.models.asking import request

CALL = FunctionCall("lookup", {"order": 7, "city": "Köln"}, "adk-1")
ANSWER = FunctionResponse("lookup", {"total": 19.99}, "adk-1")


def full(call_id: str | None = "adk-1", **changes: Any) -> LlmRequest:
    contents = [
        Content.user("Where is it?"),
        Content("model", (Part(text="hm", thought=True), Part(function_call=replace(CALL, id=call_id)))),
        Content(
            "user", (Part(function_response=replace(ANSWER, id=call_id)), Part.from_bytes(b"\x00\xff", "image/png"))
        ),
    ]
    sent = LlmRequest(
        "DraftAgent",
        "gemini-2.5-flash",
        [Segment("You help.", "instruction")],
        contents,
        [None] * 3,
        {"lookup": {"name": "lookup", "parameters": {"type": "OBJECT"}}, "cancel": {"name": "cancel"}},
        {"temperature": 0.5, "seed": 3, "response_schema": {"type": "OBJECT", "properties": {"b": {}, "a": {}}}},
    )
    return replace(sent, **changes)


def test_the_data_is_the_request_with_sorted_names_and_without_ids() -> None:
    assert request_data(full()) == {
        "agent": "DraftAgent",
        "config": {
            "response_schema": {"type": "OBJECT", "properties": {"b": {}, "a": {}}},
            "seed": 3,
            "temperature": 0.5,
        },
        "contents": [
            {"parts": [{"text": "Where is it?"}], "role": "user"},
            {
                "parts": [
                    {"text": "hm", "thought": True},
                    {"function_call": {"args": {"order": 7, "city": "Köln"}, "name": "lookup"}},
                ],
                "role": "model",
            },
            {
                "parts": [
                    {"function_response": {"name": "lookup", "response": {"total": 19.99}}},
                    {"inline_data": {"data": "AP8=", "mime_type": "image/png"}},
                ],
                "role": "user",
            },
        ],
        "system_instruction": "You help.",
        "tools": [{"name": "lookup", "parameters": {"type": "OBJECT"}}, {"name": "cancel"}],
    }
    data = request_data(full())
    assert list(data) == sorted(data)
    assert list(data["config"]) == ["response_schema", "seed", "temperature"]
    assert list(data["contents"][1]["parts"][1]["function_call"]) == ["args", "name"]
    assert list(data["contents"][1]["parts"][1]["function_call"]["args"]) == ["order", "city"]


def test_the_key_is_fixed_for_good() -> None:
    text = (
        '{"model":"gemini-2.5-flash","config":{"response_schema":{"type":"OBJECT","properties":{"b":{},"a":{}}},"seed":3,'
        '"temperature":0.5},"contents":[{"parts":[{"text":"Where is it?"}],"role":"user"},{"parts":[{"text":"hm","thought":true},'
        '{"function_call":{"args":{"order":7,"city":"K\\u00f6ln"},"name":"lookup"}}],"role":"model"},{"parts":'
        '[{"function_response":{"name":"lookup","response":{"total":19.99}}},{"inline_data":{"data":"AP8=","mime_type":"image/png"}}],'
        '"role":"user"}],"system_instruction":"You help.","tools":[{"name":"lookup","parameters":{"type":"OBJECT"}},{"name":"cancel"}]}'
    )
    assert request_key(full()) == hashlib.sha256(text.encode()).hexdigest()
    assert request_key(full()) == "443fece065aef19de53b6221f917038e66b16224d91f3fb12206f052488f3d9e"


def test_every_process_gives_the_same_key() -> None:
    script = "from tests.models.test_request_key import full, request_key; print(request_key(full()))"
    root = Path(__file__).parents[2]
    for seed in ("0", "1"):
        printed = subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}, cwd=root,
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert printed.strip() == request_key(full())


@pytest.mark.parametrize(
    "same",
    [
        full(call_id="adk-2"),
        full(call_id=None),
        full(agent="Other"),
        full(ordinal=3),
        full(repeat=2),
        full(system=[Segment("You ", "instruction"), Segment("help.", "state", "x")]),
        full(config=dict(reversed(full().config.items()))),
        full(config={**full().config, "http_options": {"headers": {"Authorization": "Bearer s3cret"}}}),
        full(config=MappingProxyType(full().config)),
    ],
)
def test_what_no_model_is_asked_does_not_change_the_key(same: LlmRequest) -> None:
    assert request_key(same) == request_key(full())


def test_everything_that_a_model_is_asked_changes_the_key() -> None:
    base = full()
    contents = base.contents
    different = [
        full(model="gemini-2.5-pro"),
        full(system=[]),
        full(system=[Segment("", "instruction")]),
        full(system=[Segment("You help. ", "instruction")]),
        full(contents=contents[:2]),
        full(contents=[contents[0].with_parts([Part(text="Where is it")]), *contents[1:]]),
        full(contents=[replace(contents[0], role="model"), *contents[1:]]),
        full(contents=[contents[0], Content("model", contents[1].parts[1:]), contents[2]]),
        full(
            contents=[
                contents[0],
                contents[1].with_parts([Part(function_call=replace(CALL, args={"city": "Köln", "order": 7}))]),
                contents[2],
            ]
        ),
        full(tools={}),
        full(tools=dict(reversed(base.tools.items()))),
        full(config={**base.config, "temperature": 0.6}),
        full(config={**base.config, "response_schema": {"type": "OBJECT", "properties": {"a": {}, "b": {}}}}),
    ]
    keys = [request_key(sent) for sent in [base, *different]]
    assert len(set(keys)) == 14
    assert request_key(base, "gguf:0") != request_key(base)
    assert request_key(base, "gguf:0") == request_key(full(model="renamed"), "gguf:0")


def test_what_is_not_json_is_an_error_that_names_the_agent() -> None:
    with pytest.raises(ModelError) as caught:
        request_key(request("DraftAgent", thing=object()))
    assert str(caught.value) == (
        "DraftAgent: its request or reply holds what is not JSON (a value of type object), so it cannot be recorded. "
        "Look at what its callbacks and tools put there."
    )


def test_a_model_is_its_name_unless_it_says_more() -> None:
    assert model_identity(EchoModel("x")) == "x"


def test_a_local_model_is_its_files_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adknb.models.local.require_xllamacpp", lambda: None)
    models = []
    for name in ("one.gguf", "two.gguf"):
        (tmp_path / name).write_bytes(b"GGUF" + bytes(8))
        models.append(LocalModel(tmp_path / name))
    assert {model_identity(model) for model in models} == {f"gguf:{hashlib.sha256(b'GGUF' + bytes(8)).hexdigest()}"}
