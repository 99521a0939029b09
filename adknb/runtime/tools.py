"""A model's function calls carried out: all calls of one reply, answered in one event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adknb.core.content import Content, FunctionCall, FunctionResponse, Part
from adknb.core.errors import AgentError
from adknb.core.events import Event, EventActions, new_id
from adknb.core.json_values import copied, fault
from adknb.core.run import StepRun
from adknb.core.tools import FunctionTool
from adknb.runtime import threads
from adknb.runtime.callbacks import ToolContext, tool_callbacks
from adknb.runtime.context import InvocationContext
from adknb.runtime.interrupts import UsersCode
from adknb.runtime.tree import SET_MODEL_RESPONSE, TRANSFER, LlmNode


def with_call_ids(content: Content) -> Content:
    """The content with an id on every call that has none (ADK Java `Functions.populateClientFunctionCallId`)."""
    parts = []
    for part in content.parts:
        call = part.function_call
        if call is not None and not call.id:
            part = replace(part, function_call=FunctionCall(call.name, call.args, f"adk-{new_id()}"))
        parts.append(part)
    return content.with_parts(parts)


def long_running_ids(node: LlmNode, calls: list[FunctionCall]) -> frozenset[str]:
    tools = node.tools
    return frozenset(call.id for call in calls if call.id and call.name in tools and tools[call.name].long_running)


async def answer_calls(
    context: InvocationContext, node: LlmNode, step: StepRun, calls: list[FunctionCall]
) -> Event | None:
    """Run the called tools in order and answer them in one event; None when nothing is to be answered.

    Each tool sees the state that the earlier ones wrote; their deltas and actions are merged, the last one wins
    (but see `Rules.join_values`).
    """
    parts: list[Part] = []
    done: list[EventActions] = []
    for call in calls:
        own = EventActions()
        response = await _answer(context, node, step, call, own)
        if response is not None:
            parts.append(Part(function_response=FunctionResponse(call.name, response, call.id)))
            done.append(own)
    actions = EventActions()
    for own in done:
        actions.merge(own, node.rules.join_values)
    return context.event(Content("user", tuple(parts)), actions=actions) if parts else None


async def _answer(
    context: InvocationContext, node: LlmNode, step: StepRun, call: FunctionCall, actions: EventActions
) -> dict[str, Any] | None:
    rules = node.rules
    tool = node.tools.get(call.name)
    if tool is None:
        step.notes.append(f"the model called {call.name!r}, a tool that {node.name!r} does not have")
        return rules.unknown_tool(call.name, node.tools)
    tool_context = ToolContext(context, actions, call.id)
    args = dict(call.args)
    result = await tool_callbacks(
        tool_context, "before_tool_callback", node.agent.before_tool_callback, tool, args, tool_context
    )
    failed: dict[str, Any] | None = None
    if result is None:
        result, failed = await _run(node, step, tool, args, tool_context)
        if tool is TRANSFER and actions.transfer_to_agent is not None and rules.transfer_ends_delta:
            tool_context.state.delta = {}
    answer = failed if failed is not None else rules.tool_result(result)
    changed = await tool_callbacks(
        tool_context, "after_tool_callback", node.agent.after_tool_callback, tool, args, tool_context, answer
    )
    if rules.leaves_unanswered(tool, result if changed is None else changed, failed is not None and changed is None):
        return None
    return answer if changed is None or (failed is not None and rules.error_beats_after_tool) else changed


async def _run(
    node: LlmNode, step: StepRun, tool: FunctionTool, args: Mapping[str, Any], tool_context: ToolContext
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The tool's own result as an object, None when there is none; and the rules' error answer for what it raises, and
    for arguments that do not fit.

    Only arguments of `set_model_response` that do not fit end the run.
    """
    if tool is SET_MODEL_RESPONSE:
        return node.rules.check_model_response(args, node.agent.output_schema), None
    try:
        if tool is TRANSFER:
            args = node.rules.transfer_arguments(args)
        arguments = node.rules.arguments(tool, args)
        if tool.context_parameter is not None:
            arguments[tool.context_parameter] = tool_context
        if tool.is_async:
            with UsersCode():
                value = await tool.func(**arguments)
        else:
            value = await threads.run_abandonable(
                lambda: tool.func(**arguments), lambda: _abandon(step, tool, tool_context)
            )
    except (Exception, GeneratorExit) as raised:
        error = raised if isinstance(raised, Exception) else RuntimeError(repr(raised))
        step.notes.append(f"tool {tool.name!r} failed: {type(error).__name__}: {error}")
        return None, node.rules.tool_error(tool, error)
    if tool is TRANSFER:
        value = node.rules.transfer_answer
    if value is None:
        return None, None
    found = fault("result", value)
    if found is not None:
        raise AgentError(
            f"agent {node.name!r}: tool {tool.name!r} returned what a model cannot be sent, {found}. Return text, a number, "
            "a list or a dict of these."
        )
    return node.rules.tool_result(copied(value)), None


def _abandon(step: StepRun, tool: FunctionTool, tool_context: ToolContext) -> None:
    """The run was interrupted while the tool's thread goes on: what it still writes goes nowhere."""
    tool_context.state.detach()
    step.notes.append(f"tool {tool.name!r} was still running when the run was interrupted; its result is discarded")
