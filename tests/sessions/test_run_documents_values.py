"""Hostile values in runs: whatever a state, a message, a reply or a tool's arguments can hold comes back as it was."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given, settings, strategies

from adknb import Content, Event, FunctionCall, FunctionResponse, LlmAgent, LlmRequest, LlmResponse, Part, Run, Session
from adknb.core.content import Blob, CodeExecutionResult, ExecutableCode
from adknb.core.events import EventActions
from adknb.core.requests import Request, Segment
from adknb.core.run import StepRun
from adknb.sessions.json_text import digest, to_text
from adknb.sessions.packed import pack, unpack
from adknb.sessions.run_documents import RunDocuments

TEXTS = strategies.text() | strategies.sampled_from(
    [
        "\u2028",
        "\0",
        "\ud800",
        "\udfff\ud800",
        "</script>",
        "\x1b[31m",
        "\ufeff",
        "__ADK",
        '"\\',
        "e\u0301",
        "\U0010ffff",
    ]
)
VALUES = strategies.recursive(
    strategies.none()
    | strategies.booleans()
    | strategies.integers()
    | strategies.integers(10**3900, 10**3999)
    | strategies.floats(allow_nan=False)
    | strategies.sampled_from([-0.0, 1e400, -1e400, 5e-324, 1.7976931348623157e308])
    | TEXTS,
    lambda inner: strategies.lists(inner, max_size=4) | strategies.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
OBJECTS = strategies.dictionaries(TEXTS, VALUES, max_size=4)
BYTES = strategies.binary(max_size=20)
PARTS = strategies.one_of(
    strategies.builds(Part, text=TEXTS, thought=strategies.booleans(), thought_signature=strategies.none() | BYTES),
    strategies.builds(
        Part,
        function_call=strategies.builds(FunctionCall, TEXTS, OBJECTS, strategies.none() | TEXTS),
        thought_signature=strategies.none() | BYTES,
    ),
    strategies.builds(
        Part, function_response=strategies.builds(FunctionResponse, TEXTS, OBJECTS, strategies.none() | TEXTS)
    ),
    strategies.builds(Part, executable_code=strategies.builds(ExecutableCode, TEXTS, TEXTS)),
    strategies.builds(Part, code_execution_result=strategies.builds(CodeExecutionResult, TEXTS, TEXTS)),
    strategies.builds(Part, inline_data=strategies.builds(Blob, TEXTS, BYTES)),
)
CONTENTS = strategies.builds(Content, strategies.none() | TEXTS, strategies.lists(PARTS, max_size=3).map(tuple))


def written(value: Any) -> str:
    """A value with every difference between equal ones: `-0.0`, `1.0` beside `1`, `True` beside `1`."""
    return repr(value)


@given(OBJECTS, CONTENTS, CONTENTS, OBJECTS, OBJECTS, TEXTS, strategies.lists(TEXTS, max_size=3))
@settings(max_examples=60)
def test_a_run_of_hostile_values_comes_back_as_it_was(
    state: dict[str, Any], message: Content, reply: Content, tools: dict[str, Any], config: dict[str, Any], text: str,
    notes: list[str],
) -> None:  # fmt: skip
    state = {key: value for key, value in state.items() if not key.startswith("temp:")}
    session = Session("s")
    agent = LlmAgent(name=text or "A", instruction=text, description=text, output_schema={"type": "OBJECT", "x": text})
    run = Run(agent, session, message, state, notes=notes, label=text)
    first = Event("user", message, EventActions(dict(state)), run.invocation_id)
    said = Event(agent.name, reply, EventActions(dict(state)), run.invocation_id, branch=text)
    sent = LlmRequest(
        agent.name, text, [Segment(text, "state", text)], [message, reply], [first, None], tools, config
    )  # fmt: skip
    step = StepRun(
        agent, 1, text, 1, 2, "completed", [Request(sent, 1, LlmResponse(reply, note=text or None), 1.5)], [said]
    )
    run.turn_events, run.step_runs, session.events = [first, said], [step], [first, said]
    run.error = ValueError(text)
    changes = RunDocuments().changes(run)
    for data in [*changes.blobs.values(), *(part.data for part in changes.parts)]:
        assert data == data.encode().decode()  # what a database stores
        assert "\0" not in data  # which PostgreSQL refuses
    again = RunDocuments().read_runs(changes.parts, changes.blobs, session, {each.id: each for each in session.events})[
        run.id
    ]
    [read] = again.step_runs
    [request] = read.requests
    assert written(dict(again.start_state)) == written(state)
    assert written(again.message) == written(message)
    assert written([request.sent.contents, request.sent.system]) == written([[message, reply], sent.system])
    assert written([request.sent.tools, request.sent.config]) == written([tools, config])
    assert request.reply is not None
    assert written([request.reply.content, request.reply.note]) == written([reply, text or None])
    assert (again.notes, again.label, str(again.error), read.branch) == (notes, text, text, text)
    assert dict(again.root) == dict(agent)


@given(strategies.lists(strategies.integers(0, 40), max_size=120), strategies.integers(0, 3))
def test_packed_lists_come_back(numbers: list[int], times: int) -> None:
    entries = [str(number) for number in numbers] * 10**times
    blobs: dict[str, str] = {}

    def put(group: Any) -> str:
        text = to_text(group)
        blobs[digest(text)] = text
        return digest(text)

    levels = pack(entries, put)
    assert max(map(len, levels)) < 32
    assert unpack(levels, lambda name: json.loads(blobs[name])) == entries


def test_text_is_what_a_database_stores() -> None:
    assert to_text(["\u2028", "é", "\0"]) == '["\u2028","é","\\u0000"]'
    assert to_text(["\ud800", "é"]) == '["\\ud800","\\u00e9"]'
    assert to_text([math.inf, -0.0]) == "[Infinity,-0.0]"
