"""One LlmAgent at work: ask the model, carry out its calls, ask again, until its answer is final.

Source: `flows/llmflows/BaseLlmFlow.java`; every trace.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from adknb.core.content import Content, FunctionCall
from adknb.core.errors import ModelError, SpecError, TransferError, near_names
from adknb.core.events import Event, EventActions
from adknb.core.requests import LlmRequest, LlmResponse, Request
from adknb.core.run import StepRun
from adknb.rules.resumable import step_pauses
from adknb.runtime.callbacks import model_callbacks
from adknb.runtime.context import InvocationContext, NeverStored
from adknb.runtime.instructions import system_segments
from adknb.runtime.interrupts import users_items
from adknb.runtime.strategies import AgentHistory, is_built_in
from adknb.runtime.tools import answer_calls, long_running_ids, with_call_ids
from adknb.runtime.tree import SET_MODEL_RESPONSE, LlmNode


async def run_llm(context: InvocationContext, node: LlmNode, step: StepRun) -> AsyncGenerator[Event]:
    """The agent's events, those of agents that it transfers to included."""
    if not node.is_complete:
        context.invocation.complete(node)
    while True:
        before_last: Event | None = None
        last: Event | None = None
        acted = False
        seen = len(context.invocation.run.turn_events)
        request = await build_request(context, node)
        try:
            async with aclosing(_replies(context, node, step, request, seen)) as replies:
                async for event in replies:
                    before_last, last = last, event
                    _save_output(node, last, step)
                    yield last
                    if last.partial or not last.function_calls:
                        continue
                    acted = True
                    async with aclosing(_carry_out(context, node, step, last.function_calls)) as answers:
                        async for event in answers:
                            before_last, last = last, event
                            _save_output(node, last, step)
                            try:
                                yield last
                            except GeneratorExit:
                                if last.actions.escalate and node.rules.left_step_runs_on:
                                    await _run_on_unheard(context, step, answers)
                                raise
        except Exception as error:
            said = node.rules.error_event(error)
            if said is None:
                raise
            step.notes.append(f"became an event: {type(error).__name__}: {error}")
            last = Event(node.name, invocation_id=context.invocation_id, error_code=said[0], error_message=said[1])
            yield last
        if last is None or node.rules.step_ends(node.agent, last, acted):
            return
        if context.invocation.resumable and step_pauses(before_last):
            return
        if context.invocation.unheard and last not in context.invocation.run.turn_events:
            raise NeverStored


async def _run_on_unheard(context: InvocationContext, step: StepRun, events: AsyncGenerator[Event]) -> None:
    """The rest of a step in whose middle an event ended the loop around it: nothing that it says is stored.

    Source: `BaseLlmFlow.run` caches a step, so that cancelling does not stop an agent that it transferred to; only a
    further request never comes, because `PersistBarrier` waits for events that nobody stores.
    """
    invocation = context.invocation
    unheard = set()
    end = ""
    invocation.unheard += 1
    try:
        async for event in events:
            unheard.add(event.id)
    except NeverStored:
        end = "; it stopped before it would ask again"
    except Exception as error:
        end = f"; it ended with {type(error).__name__}: {error}"
    finally:
        invocation.unheard -= 1
    if unheard or end:
        step.notes.append(f"ran on after its loop was left; what it said ({len(unheard)} events) is discarded{end}")
    for step_run in invocation.run.step_runs:
        step_run.events = [event for event in step_run.events if event.id not in unheard]


async def build_request(context: InvocationContext, node: LlmNode) -> LlmRequest:
    """What the agent would send now."""
    system = await system_segments(context, node)
    events = context.session.history
    strategy = context.invocation.strategy
    pairs = strategy.contents(AgentHistory(node.rules, node.agent, node.model_name, context.branch, events))
    if not is_built_in(strategy) and not (isinstance(pairs, list) and all(map(_is_pair, pairs))):
        raise SpecError(
            f"agent {node.name!r}: the context strategy {strategy.name!r} returned {pairs!r}; "
            "return a list of (content, event) pairs, such as history.included(IncludeContents.NONE)"
        )
    contents, sources = map(list, zip(*pairs, strict=True)) if pairs else ([], [])
    return LlmRequest(node.name, node.model_name, system, contents, sources, node.declarations, node.config)


def _is_pair(value: Any) -> bool:
    """Whether a user's strategy gave a content, and the event that it came from or None."""
    match value:
        case (Content(), Event() | None):
            return True
    return False


async def _replies(
    context: InvocationContext, node: LlmNode, step: StepRun, request: LlmRequest, seen: int
) -> AsyncGenerator[Event]:
    """One request's replies as events: several when they are streamed in pieces. `seen` counts the run's events."""
    agent = node.agent
    if node.rules.counts_early_replies:
        context.invocation.count_llm_call()
    actions = EventActions()
    early: LlmResponse | None = None
    if agent.before_model_callback:
        request = request.copy()
        early = await model_callbacks(context, "before_model_callback", agent.before_model_callback, actions, request)
    if early is not None:
        event = _as_event(context, node, early, actions)
        if event is not None:
            yield event
        return
    if not node.rules.counts_early_replies:
        context.invocation.count_llm_call()
    request.ordinal = context.invocation.next_ordinal(node.name)
    record = Request(request, seen)
    if node.model.name != node.model_name and not step.requests:
        step.notes.append(f"{node.model.name} answered in place of {node.model_name}")
    step.requests.append(record)
    context.invocation.observe()
    started = time.perf_counter()
    async with aclosing(
        users_items(node.model.generate_content_async(request, stream=context.invocation.config.streaming))
    ) as replies:
        async for reply in replies:
            if not isinstance(reply, LlmResponse):
                raise ModelError(
                    f"agent {node.name!r}: its model {node.model.name!r} yielded {reply!r}, no LlmResponse"
                )
            if reply.partial:
                step.partial += reply.content.text if reply.content is not None else ""
            else:
                step.partial = ""
            record.reply = reply
            record.ms = (time.perf_counter() - started) * 1000
            if agent.after_model_callback:
                edited = await model_callbacks(
                    context, "after_model_callback", agent.after_model_callback, actions, reply
                )
                reply = edited if edited is not None else reply
            event = _as_event(context, node, reply, actions)
            if event is not None:
                yield event


def _as_event(context: InvocationContext, node: LlmNode, reply: LlmResponse, actions: EventActions) -> Event | None:
    """A reply as the agent's event; None for one that says nothing."""
    if node.rules.says_nothing(reply):
        return None
    content = reply.content
    calls = content.function_calls if content is not None else []
    if calls and content is not None:
        text = node.rules.reply_as_text(content)
        if text is not None:
            content, calls = text, []
            actions = replace(actions, skip_summarization=True)
    if content is not None and calls and not reply.partial:
        content = with_call_ids(content)
        calls = content.function_calls
    return Event(
        node.name, content, actions, context.invocation_id, context.branch,
        long_running_ids(node, calls) if calls else frozenset(), reply.partial, reply.usage,
        reply.error_code, reply.error_message,
    )  # fmt: skip


async def _carry_out(
    context: InvocationContext, node: LlmNode, step: StepRun, calls: list[FunctionCall]
) -> AsyncGenerator[Event]:
    """The tools' answer, the events of an agent that one of them transfers to, and an answer by `set_model_response`."""
    answer = await answer_calls(context, node, step, calls)
    if answer is None:
        return
    yield answer
    final = [response for response in answer.function_responses if response.name == SET_MODEL_RESPONSE.name][:1]
    said = [context.event(Content.model(node.rules.model_response_text(response.response))) for response in final]
    if node.rules.model_response_before_transfer:
        for event in said:
            yield event
    if answer.actions.transfer_to_agent is not None:
        async with aclosing(_transfer(context, node, answer.actions.transfer_to_agent)) as events:
            async for event in events:
                yield event
    if not node.rules.model_response_before_transfer:
        for event in said:
            yield event


async def _transfer(context: InvocationContext, node: LlmNode, name: str) -> AsyncGenerator[Event]:
    target = node.root.find(name)
    if target is None:
        known = [agent.name for agent in node.root.agent.walk()]
        error = TransferError(
            f"agent {node.name!r} asked to transfer to {name!r}, which is not in the pipeline.{near_names(name, known)}"
        )
        raise node.rules.no_target(error, name)
    known = [agent.name for agent in node.targets()]
    parent = target.parent.agent if target.parent is not None else None
    if not node.rules.carries_out_transfer(target.agent, parent, name in known):
        error = TransferError(
            f"agent {node.name!r} asked to transfer to {name!r}, which is not among its targets.{near_names(name, known)}"
        )
        raise node.rules.no_target(error, name)
    async with aclosing(context.invocation.run_node(context.child(target))) as events:
        async for event in events:
            yield event


def _save_output(node: LlmNode, event: Event, step: StepRun) -> None:
    if node.agent.output_key is None or event.partial:
        return
    output = node.rules.output(event, node.agent)
    if output is not None:
        event.actions.state_delta[node.agent.output_key] = output.value
        if output.note is not None:
            step.notes.append(output.note)
