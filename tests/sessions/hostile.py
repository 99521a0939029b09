"""Documents of sessions, and what may have been done to one before it is imported."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

from adknb.core.content import Content, FunctionCall, Part
from adknb.core.run import Session
from adknb.core.specs import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adknb.models.scripted import ScriptedModel
from adknb.runtime.callbacks import ToolContext
from adknb.runtime.runner import Runner
from adknb.sessions.documents import export_session
from adknb.sessions.json_text import digest

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**70, 10**4000, 1.5, -0.0, 1e308, float("inf"), float("nan"), "", "x", "../../etc/passwd",
    "..\\..", "/etc/passwd", "replay:/etc/passwd", "a\x00b", "\ud800", "\u2028<script>alert(1)</script>", "x" * 3000, [], {},
    [[[[1]]]], {"": 0}, {"a": {"b": [None]}}, ["x", 1], [None], "user", "running", "__ADK_SENTINEL_REMOVED__",
)  # fmt: skip


def note(text: str, tool_context: ToolContext) -> dict[str, str]:
    """Note the text."""
    tool_context.state["note"] = text
    return {"noted": text}


def pipeline() -> SequentialAgent:
    """A parallel, a loop, a tool, state of every scope."""
    left = LlmAgent(name="Left", instruction="Left of {topic}", output_key="left")
    right = LlmAgent(name="Right", instruction="Right of {user:tier?}", output_key="app:right")
    writer = LlmAgent(name="Writer", instruction="{left} and {note?}", tools=[note], output_key="text")
    return SequentialAgent(
        name="root",
        sub_agents=[
            ParallelAgent(name="both", sub_agents=[left, right]),
            LoopAgent(name="twice", max_iterations=2, sub_agents=[writer]),
        ],
    )


def session() -> Session:
    """Two turns of it, the first run again from a step."""
    call = Part(function_call=FunctionCall("note", {"text": "n"}))
    replies: dict[str, list[Any]] = {
        "Left": ["l"] * 4,
        "Right": ["r"] * 4,
        "Writer": [[call, Part(text="so")], "w1", "w2", "w3", "w4", "w5", "w6"],
    }
    runner = Runner(pipeline(), model=ScriptedModel(replies))
    first = runner.run("one", state={"topic": "x", "user:tier": "gold"})
    first = runner.run_from(first, "Writer")
    return runner.run(Content("user", (Part(text="two"), Part(text="more"))), session=first.session).session


def own_document() -> dict[str, Any]:
    """adknb's own, as a file holds it."""
    document = export_session(session())
    data: dict[str, Any] = json.loads(json.dumps(document))
    return data


def adk_document() -> dict[str, Any]:
    """What ADK's web page saves: a conversation with every kind of part and action."""
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 3, "thoughtsTokenCount": 1, "totalTokenCount": 11}
    return {
        "id": "s-1",
        "appName": "app",
        "userId": "u",
        "state": {"topic": "x", "user:tier": "gold", "text": "w1"},
        "lastUpdateTime": 1760000009.5,
        "events": [
            event(0, "user", [{"text": "one"}]),
            event(1, "Left", [{"text": "thinking", "thought": True}, {"text": "l"}], branch="both.Left", usageMetadata=usage),
            event(2, "Right", [{"text": "r", "thoughtSignature": "_-8="}], branch="both.Right", modelVersion="gemini-2.5-flash"),
            event(
                3,
                "Writer",
                [{"functionCall": {"id": "c1", "name": "note", "args": {"text": "n"}}}],
                longRunningToolIds=["c1"],
                finishReason="STOP",
            ),
            event(
                4,
                "Writer",
                [{"functionResponse": {"id": "c1", "name": "note", "response": {"noted": "n"}}}],
                actions={"stateDelta": {"note": "n"}, "artifactDelta": {"a.txt": 0}, "escalate": True},
            ),
            event(5, "Writer", [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}, {"fileData": {"fileUri": "gs://b/o"}}]),
            event(
                6,
                "Writer",
                [
                    {"executableCode": {"code": "1+1", "language": "PYTHON"}},
                    {"codeExecutionResult": {"output": "2", "outcome": "OUTCOME_OK"}},
                    {"text": "w1"},
                ],
                actions={"stateDelta": {"text": "w1"}},
            ),
            event(7, "Writer", None, errorCode="SAFETY", errorMessage="no"),
        ],
    }  # fmt: skip


def event(number: int, author: str, parts: list[dict[str, Any]] | None, **fields: Any) -> dict[str, Any]:
    """An event as google-adk's server sends it."""
    content = {} if parts is None else {"content": {"role": "user" if author == "user" else "model", "parts": parts}}
    return {
        "id": f"e{number}",
        "invocationId": "i1",
        "author": author,
        "timestamp": 1760000000.0 + number,
        "actions": {
            "stateDelta": {},
            "artifactDelta": {},
            "requestedAuthConfigs": {},
            "requestedToolConfirmations": {},
        },
        "nodeInfo": {"path": ""},
        **content,
        **fields,
    }


def eval_document() -> dict[str, Any]:
    """An eval set of one case, as ADK's web page sends it."""
    return {
        "evalSetId": "set",
        "evalCases": [
            {
                "evalId": "case-1",
                "sessionInput": {"appName": "app", "userId": "u", "state": {"topic": "x"}},
                "conversation": [
                    {
                        "invocationId": "i1",
                        "userContent": {"role": "user", "parts": [{"text": "one"}]},
                        "finalResponse": {"role": "model", "parts": [{"text": "w1"}]},
                        "intermediateData": {
                            "invocationEvents": [
                                {"author": "Left", "content": {"role": "model", "parts": [{"text": "l"}]}},
                                {"author": "Writer", "content": None, "usageMetadata": {"promptTokenCount": 5}},
                            ]
                        },
                        "creationTimestamp": 1760000000.0,
                    }
                ],
            }
        ],
    }


DOCUMENTS = (own_document, adk_document, eval_document)


def mutated(document: dict[str, Any], random: Random) -> Any:
    """The document with up to three changes: a value replaced, left out, doubled or swapped for another of the document."""
    data = copy.deepcopy(document)
    for _ in range(random.randint(1, 3)):
        inside = random.random() < 0.6 and isinstance(data.get("parts"), list) and data.get("blobs")
        if inside and isinstance(data["blobs"], dict):
            _change_inside(data, random)
        else:
            _change(data, random)
    return renamed(data)


def _change(data: Any, random: Random) -> None:
    places: list[tuple[Any, Any]] = []
    _collect(data, places)
    if not places:
        return
    holder, key = random.choice(places)
    kind = random.randrange(4)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        other, name = random.choice(places)
        holder[key] = copy.deepcopy(other[name]) if _has(other, name) else None
    elif kind == 2 and isinstance(holder, list):
        holder.insert(random.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    else:
        holder[key] = copy.deepcopy(random.choice(VALUES))


def _change_inside(data: dict[str, Any], random: Random) -> None:
    """Change the JSON that a blob or a part of a run holds as text."""
    if random.random() < 0.5 and data["parts"]:
        part = random.choice(data["parts"])
        if isinstance(part, list) and len(part) == 4 and isinstance(part[3], str):
            part[3] = _changed_text(part[3], random)
    else:
        name = random.choice(list(data["blobs"]))
        if isinstance(data["blobs"][name], str):
            data["blobs"][name] = _changed_text(data["blobs"][name], random)


def _changed_text(text: str, random: Random) -> str:
    try:
        value = {"value": json.loads(text)}
        _change(value, random)
        return json.dumps(value.get("value"))
    except (ValueError, RecursionError):
        return text


def renamed(data: Any) -> Any:
    """Give every changed blob the name that goes with it, wherever it is named: the rest of the checks are to be met."""
    blobs = data.get("blobs") if isinstance(data, dict) else None
    if not isinstance(blobs, dict):
        return data
    for _ in range(50):
        wrong = [name for name, text in blobs.items() if isinstance(text, str) and digest(_safe(text)) != name]
        if not wrong:
            break
        old = wrong[0]
        new = digest(_safe(blobs[old]))
        blobs[new] = _safe(blobs.pop(old))
        for name, text in blobs.items():
            if isinstance(text, str):
                blobs[name] = text.replace(old, new)
        for part in data["parts"] if isinstance(data.get("parts"), list) else ():
            if isinstance(part, list) and len(part) == 4 and isinstance(part[3], str):
                part[3] = part[3].replace(old, new)
    return data


def _safe(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _has(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


def _collect(value: Any, places: list[tuple[Any, Any]]) -> None:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        places.append((value, key))
        _collect(item, places)
