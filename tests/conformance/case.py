"""Recorded cases: from a case's JSON to agents, and from a run back to the trace's JSON.

A case is a pipeline (`root`), the model's scripted replies, the starting `state` and the user's `turns`. The fields are those
of the agents, and: `guard` (validates a key's JSON, sets `ok_set` or `fail_set` and returns a text), `before`/`after`
(`set`, `return`), the same for `before_model`/`after_model` (`when`: the n-th call from 0) and `before_tool`/`after_tool`
(`tool`), `generate_config`, `dynamic_instruction` (text through an instruction function).

A turn is a text, or `function_response`/`function_responses`: answers to long-running calls, which count from the case's first.
A case that is `resumable` runs on after a failed turn: its trace has `errors`, one entry a turn, and an event carries
`invocation`, from 0 (a run without events is not counted).
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from dialects import CALL_ID, DIALECTS, JAVA, Dialect, NoArtifacts

from adknb.core.content import Content, FunctionCall, FunctionResponse, Part
from adknb.core.errors import AdknbError, ModelError
from adknb.core.events import Event
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.core.run import Run
from adknb.core.specs import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adknb.core.tools import FunctionTool, LongRunningFunctionTool
from adknb.rules.output_schema import read_json
from adknb.runtime.callbacks import CallbackContext, ToolContext
from adknb.runtime.runner import Runner


def read_state(key: str, tool_context: ToolContext) -> dict[str, Any]:
    """Read a value from session state by key."""
    value = tool_context.state.get(given(key))
    return {"value": "" if value is None else tool_context.text_of(value)}


def write_state(key: str, value: str, tool_context: ToolContext) -> dict[str, Any]:
    """Write a value to session state."""
    tool_context.state[key] = value
    return {"ok": True}


def echo(text: str) -> dict[str, Any]:
    """Echo the text."""
    return {"echo": given(text)}


def given(value: str) -> str:
    """The value; like Java's `Map.of` and `Part.fromText`, where these tools come from, no null."""
    if value is None:
        raise ValueError("null")
    return value


def exit_loop(tool_context: ToolContext) -> None:
    """Leave the loop."""
    tool_context.actions.escalate = True


def finish(text: str, tool_context: ToolContext) -> dict[str, Any]:
    """Finish with a result."""
    tool_context.actions.skip_summarization = True
    return {"result": given(text)}


def ask(question: str) -> dict[str, Any]:
    """Ask a person."""
    return {"status": "pending"}


def ask_none(question: str) -> None:
    """Ask a person later."""


def fail(text: str) -> dict[str, Any]:
    """Fail."""
    raise ValueError(f"tool failed: {text}")


def typed(*, n: int, x: float = 1.5, flag: bool = False, items: list[str], opts: dict[str, Any]) -> dict[str, Any]:
    """Typed arguments."""
    return {
        "n": n,
        "x": 1.5 if x is None else x,
        "flag": bool(flag),
        "items": items,
        "opts": opts,
    }


async def save_note(name: str, text: str, tool_context: ToolContext) -> dict[str, Any]:
    """Save a note."""
    await tool_context.save_artifact(name, Part.from_text(given(text)))
    return {"ok": True}


TOOLS: dict[str, FunctionTool] = {
    **{f.__name__: FunctionTool(f) for f in (read_state, write_state, echo, exit_loop, finish, fail, typed, save_note)},
    **{f.__name__: LongRunningFunctionTool(f) for f in (ask, ask_none)},
}


Log = Callable[[str, LlmRequest], object]
"""Is told of every request, in the order in which the models are asked: the agent's name, and what is sent."""


class Scripted:
    """Answers one agent's calls with the case's replies, and logs every request."""

    def __init__(self, agent: str, name: str, replies: list[Any], log: Log, exhausted: str) -> None:
        self.name = name
        self._exhausted = exhausted
        self._agent = agent
        self._replies = list(replies)
        self._log = log

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        self._log(self._agent, request)
        if not self._replies:
            raise ModelError("script exhausted").as_adk(self._exhausted, "script exhausted")
        yield LlmResponse(Content("model", tuple(to_part(part) for part in self._replies.pop(0))))


def to_part(data: Mapping[str, Any]) -> Part:
    call = data.get("function_call")
    return Part(function_call=FunctionCall(call["name"], call["args"])) if call else Part.from_dict(data)


def guard(spec: Mapping[str, Any]) -> Callable[[CallbackContext], Content | None]:
    def require(context: CallbackContext) -> Content | None:
        try:
            value = read_json(context.text_of(context.state.get(spec["key"])))
            fields = value if isinstance(value, dict) else {}
            fits = all(fields.get(field) is not None for field in spec["require"])
        except ValueError:
            fits = False
        if fits:
            context.state.update(spec.get("ok_set", {}))
            return None
        context.state.update(spec.get("fail_set", {}))
        return Content.model(spec["return"])

    return require


def setter(spec: Mapping[str, Any]) -> Callable[[CallbackContext], Content | None]:
    def set_state(context: CallbackContext) -> Content | None:
        context.state.update(spec.get("set", {}))
        return Content.model(spec["return"]) if spec.get("return") is not None else None

    return set_state


def model_setter(spec: Mapping[str, Any]) -> Callable[[CallbackContext, object], Content | None]:
    calls = iter(range(10**6))

    def set_state(context: CallbackContext, subject: object) -> Content | None:
        call = next(calls)
        return setter(spec)(context) if spec.get("when") in (None, call) else None

    return set_state


def tool_setter(spec: Mapping[str, Any]) -> Callable[..., dict[str, Any] | None]:
    def set_state(
        tool: FunctionTool, args: dict[str, Any], context: ToolContext, result: object = None
    ) -> dict[str, Any] | None:
        if spec.get("tool", tool.name) != tool.name:
            return None
        context.state.update(spec.get("set", {}))
        return spec.get("return")

    return set_state


def build(node: Mapping[str, Any], log: Log, dialect: Dialect = JAVA) -> BaseAgent:
    """The agents of a case, each LlmAgent with a model of its own that logs its requests."""
    fields: dict[str, Any] = {"name": node["name"], "description": node.get("description")}
    fields["sub_agents"] = [build(child, log, dialect) for child in node.get("sub_agents", ())]
    for field, callback in (("guard", guard), ("before", setter)):
        if node.get(field) is not None:
            fields["before_agent_callback"] = callback(node[field])
    if node.get("after") is not None:
        fields["after_agent_callback"] = setter(node["after"])
    kind = node["type"]
    if kind == "sequential":
        return SequentialAgent(**fields)
    if kind == "parallel":
        return ParallelAgent(**fields)
    if kind == "loop":
        return LoopAgent(
            **fields,
            max_iterations=dialect.loop_limit if node["max_iterations"] is None else int(node["max_iterations"]),
        )
    for field in (
        "global_instruction", "output_key", "output_schema", "include_contents", "disallow_transfer_to_parent",
        "disallow_transfer_to_peers",
    ):  # fmt: skip
        if node.get(field):
            fields[field] = node[field]
    for field, make in (
        ("before_model", model_setter), ("after_model", model_setter), ("before_tool", tool_setter),
        ("after_tool", tool_setter),
    ):  # fmt: skip
        if node.get(field) is not None:
            fields[f"{field}_callback"] = make(node[field])
    dynamic = node.get("dynamic_instruction")
    return LlmAgent(
        **fields,
        instruction=node["instruction"] if dynamic is None else lambda context: dynamic,
        tools=[dialect.tools.get(name) or TOOLS[name] for name in node.get("tools", ())],
        generate_content_config=node.get("generate_config"),
        model=Scripted(node["name"], node.get("model", "scripted"), node["replies"], log, dialect.exhausted),
    )


async def trace(case: Mapping[str, Any], rules: str) -> dict[str, Any]:
    """Run a case under a rule set and say what it did, in a trace's JSON."""
    requests: list[Any] = []
    events: list[Event] = []
    result: dict[str, Any] = {"id": case["id"], "requests": requests, "events": events, "state": {}, "error": None}
    session = None
    resumable = bool(case.get("resumable"))
    errors: list[Any] = []
    dialect = DIALECTS[rules]

    def log(agent: str, request: LlmRequest) -> None:
        requests.append(request_json(agent, request, dialect))

    try:
        saves = not dialect.artifacts_only_when_saved or uses(case["root"], "save_note")
        runner = Runner(
            build(case["root"], log, dialect),
            rules=rules,
            temp_keys=dialect.temp_keys,
            artifact_service=None if saves else NoArtifacts(*dialect.no_artifacts),
            resumable=resumable,
        )
        state: Mapping[str, Any] | None = case.get("state") or {}
        for turn in case["turns"]:
            message = turn if isinstance(turn, str) else answers(turn, events)
            failed = None
            try:
                async for event in runner.stream(message, session=session, state=state, user_id="user-42"):
                    events.append(event)
            except AdknbError as error:
                if not resumable or error.run is None:
                    raise
                failed = error_json(error, dialect)
            errors.append(failed)
            assert runner.last_run is not None
            session = runner.last_run.session
            state = None
    except AdknbError as error:
        errors.append(error_json(error, dialect))
        if error.run is not None:
            session = error.run.session
    if session is not None:
        result["state"] = dict(session.state)
    result["error"] = next(filter(None, errors), None)
    result["events"] = [event_json(event, dialect) for event in events]
    if resumable:
        result["errors"] = errors
        invocations = list(dict.fromkeys(event.invocation_id for event in events))
        for event, data in zip(events, result["events"], strict=True):
            data["invocation"] = invocations.index(event.invocation_id)
    recorded: dict[str, Any] = as_recorded(result, dialect)
    return recorded


def runs(case: Mapping[str, Any], strategy: str, log: Log, rules: str = "java") -> list[Run]:
    """The runs of a case's turns under a rule set and one context strategy, up to the first that fails."""
    made: list[Run] = []
    dialect = DIALECTS[rules]
    try:
        root = build(case["root"], log, dialect)
        runner = Runner(root, rules=rules, strategy=strategy, temp_keys=dialect.temp_keys)
        for turn in case["turns"]:
            session = made[-1].session if made else None
            message = turn if isinstance(turn, str) else answers(turn, session.events if session is not None else [])
            made.append(runner.run(message, session=session, state=None if made else case.get("state")))
    except AdknbError as error:
        if error.run is not None:
            made.append(error.run)
    return made


def error_json(error: AdknbError, dialect: Dialect) -> dict[str, Any]:
    if error.adk_type is None:
        return {"type": type(error).__name__, "message": str(error)}
    return {"type": error.adk_type, "message": recorded_message(error.adk_message, dialect)}


def uses(node: Mapping[str, Any], tool: str) -> bool:
    return tool in node.get("tools", ()) or any(uses(child, tool) for child in node.get("sub_agents", ()))


def recorded_message(message: str | None, dialect: Dialect) -> str | None:
    """An error's message as the recorder keeps it: call ids, which no two runs share, as ID; the beginning of a long one."""
    return dialect.cut(CALL_ID.sub("ID", message)) if message is not None else None


def as_recorded(value: Any, dialect: Dialect = JAVA) -> Any:
    """Plain JSON as a trace file holds it."""
    if isinstance(value, str):
        return dialect.text(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return dialect.number(value)
    if isinstance(value, Mapping):
        return {as_recorded(key, dialect): as_recorded(item, dialect) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_recorded(item, dialect) for item in value]
    return value


def answers(turn: Mapping[str, Any], events: list[Event]) -> list[FunctionResponse]:
    """The user's answers to long-running calls, which count from the case's first."""
    asked = [call for event in events for call in event.function_calls if call.id in event.long_running_tool_ids]
    messages = []
    for said in [turn["function_response"]] if "function_response" in turn else turn["function_responses"]:
        if said["call"] >= len(asked):
            message = f"Index {said['call']} out of bounds for length {len(asked)}"
            raise AdknbError(message).as_adk("IndexOutOfBoundsException", message)
        call = asked[said["call"]]
        messages.append(FunctionResponse(call.name, said["response"], call.id))
    return messages


def part_json(part: Part, dialect: Dialect) -> dict[str, Any]:
    data = part.to_dict()
    if not data or data == {"thought": True}:
        data = {**dialect.empty_part, **data}
    for field in ("function_call", "function_response"):
        if field in data:
            data[field].pop("id", None)
    return data


def content_json(content: Content, dialect: Dialect = JAVA) -> dict[str, Any]:
    return {"role": content.role, "parts": [part_json(part, dialect) for part in content.parts]}


def request_json(agent: str, request: LlmRequest, dialect: Dialect = JAVA) -> dict[str, Any]:
    return {
        "agent": agent,
        "system_instruction": dialect.system(request),
        "contents": [content_json(content, dialect) for content in request.contents],
        "tools": sorted(request.tools),
        "config": dict(request.config),
        "declarations": dict(request.tools),
    }


def event_json(event: Event, dialect: Dialect = JAVA) -> dict[str, Any]:
    actions = {
        name: value
        for name in ("escalate", "skip_summarization", "transfer_to_agent")
        if (value := getattr(event.actions, name)) not in (None, False)
    }
    data: dict[str, Any] = {
        "author": event.author,
        "content": content_json(event.content, dialect) if event.content is not None else None,
        "state_delta": event.to_dict()["state_delta"],
        "final": event.is_final_response(),
        "actions": actions,
    }
    if event.long_running_tool_ids:
        data["long_running"] = len(event.long_running_tool_ids)
    if event.branch is not None:
        data["branch"] = event.branch
    return data
