"""A pipeline on a served model: what the server received is what the run's requests say, byte for byte."""

from typing import Any

import pytest
from pydantic import BaseModel

from adknb import GenerateContentConfig, LlmAgent, Runner, SequentialAgent
from adknb.core.requests import LlmRequest
from adknb.models.chat import json_schema
from adknb.models.gemini import GeminiModel
from adknb.models.openai import OpenAIModel
from tests.models.servers import Reply, serving

SIGNATURE = "c2lnbmVk"


class Triage(BaseModel):
    category: str
    urgency: int


def find_order(number: int, notes: list[str]) -> dict[str, Any]:
    """Find an order by its number."""
    return {"state": "sent", "number": number, "missing": None}


def pipeline() -> SequentialAgent:
    triage = LlmAgent(
        name="TriageAgent",
        instruction="Classify: {tone}\n  “ok” \U0001f600",
        output_schema=Triage,
        output_key="triage",
        generate_content_config=GenerateContentConfig(temperature=0.2, max_output_tokens=64, stop_sequences=("END",)),
    )
    draft = LlmAgent(name="DraftAgent", instruction="Reply to {triage}.", tools=[find_order], output_key="draft")
    return SequentialAgent(name="ticket", sub_agents=[triage, draft])


def requests_of(model: Any) -> list[LlmRequest]:
    run = Runner(pipeline(), model=model).run("Where is\norder 7?", state={"tone": "kind"})
    assert run.output == "It is on its way."
    return [request.sent for step in run.step_runs for request in step.requests]


TRIAGE = '{"category": "orders", "urgency": 2}'
ARGS = {"number": 7, "notes": ["zoë"]}
ANSWER = {"state": "sent", "number": 7, "missing": None}


def test_an_openai_compatible_server_receives_what_the_run_shows() -> None:
    pytest.importorskip("openai", reason="the extra `openai` is not installed")

    def completion(**message: Any) -> Reply:
        return Reply({"choices": [{"message": {"role": "assistant", **message}, "finish_reason": "stop"}]})

    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "find_order", "arguments": '{"number":7,"notes":["zoë"]}'},
    }
    replies = [
        completion(content=TRIAGE),
        completion(content=None, tool_calls=[call]),
        completion(content="It is on its way."),
    ]
    with serving(*replies) as api:
        first, second, third = requests_of(OpenAIModel("small", base_url=api.url))
    bodies = [received.body for received in api.received]
    for request, body in zip((first, second, third), bodies, strict=True):
        assert body["messages"][0] == {"role": "system", "content": request.system_instruction}
        assert texts_of_messages(body["messages"][1:]) == texts_of(request)
    assert bodies[0]["response_format"]["json_schema"]["schema"] == {
        **json_schema(first.config["response_schema"]), "additionalProperties": False,
    }  # fmt: skip
    assert (bodies[0]["temperature"], bodies[0]["max_tokens"], bodies[0]["stop"]) == (
        first.config["temperature"], first.config["max_output_tokens"], first.config["stop_sequences"],
    )  # fmt: skip
    assert bodies[1]["tools"] == bodies[2]["tools"]
    assert bodies[1]["tools"][0]["function"] == {
        "name": "find_order",
        "description": "Find an order by its number.",
        "parameters": json_schema(second.tools["find_order"]["parameters"]),
    }
    assert bodies[2]["messages"][-2:] == [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": '{"state":"sent","number":7,"missing":null}'},
    ]


def test_gemini_receives_what_the_run_shows() -> None:
    pytest.importorskip("google.genai", reason="the extra `gemini` is not installed")

    def reply(part: dict[str, Any]) -> Reply:
        return Reply({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]})

    call = {"functionCall": {"name": "find_order", "args": ARGS}, "thoughtSignature": SIGNATURE}
    with serving(reply({"text": TRIAGE}), reply(call), reply({"text": "It is on its way."})) as api:
        first, second, third = requests_of(GeminiModel("gemini-1.5-flash", base_url=api.url))
    bodies = [received.body for received in api.received]
    for request, body in zip((first, second, third), bodies, strict=True):
        assert body["systemInstruction"]["parts"] == [{"text": request.system_instruction}]
        assert [
            part["text"] for content in body["contents"] for part in content["parts"] if "text" in part
        ] == texts_of(request)
    config = bodies[0]["generationConfig"]
    assert config == {
        "temperature": first.config["temperature"],
        "maxOutputTokens": 64,
        "stopSequences": ["END"],
        "responseSchema": first.config["response_schema"],
        "responseMimeType": "application/json",
    }
    assert bodies[1]["tools"] == bodies[2]["tools"] == [{"functionDeclarations": list(second.tools.values())}]
    assert bodies[2]["contents"][-2:] == [
        {"role": "model", "parts": [call]},  # the signature comes back, ADK's own id does not
        {"role": "user", "parts": [{"functionResponse": {"name": "find_order", "response": ANSWER}}]},
    ]


def texts_of(request: LlmRequest) -> list[str]:
    return [part.text for content in request.contents for part in content.parts if part.text is not None]


def texts_of_messages(messages: list[dict[str, Any]]) -> list[str]:
    texts: list[str] = []
    for message in messages:
        content = message["content"] if message["role"] != "tool" else None
        if isinstance(content, str):
            texts.append(content)
        texts += [piece["text"] for piece in content] if isinstance(content, list) else []
    return texts
