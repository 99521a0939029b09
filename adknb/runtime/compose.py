"""Agents inside agents: callbacks around each, and how sequential, parallel and loop agents run their children.

Sources: `BaseAgent.java`, `SequentialAgent.java`, `LoopAgent.java`, `ParallelAgent.java`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from adknb.core.errors import AdknbError
from adknb.core.events import Event
from adknb.core.run import StepRun
from adknb.core.specs import LoopAgent, ParallelAgent, SequentialAgent
from adknb.runtime.callbacks import agent_callbacks
from adknb.runtime.context import InvocationContext
from adknb.runtime.flow import run_llm
from adknb.runtime.interrupts import users_items
from adknb.runtime.tree import LlmNode, Node


def run_node(context: InvocationContext) -> AsyncGenerator[Event]:
    """Run the context's agent with its callbacks. Places where a run can pause go through the journal."""
    node = context.node
    if isinstance(node.agent, (SequentialAgent, LoopAgent)):
        return _run_workflow(context, node)
    return _run_here(context, node) if context.in_step else _run_journaled(context, node)


def _run_here(context: InvocationContext, node: Node) -> AsyncGenerator[Event]:
    if isinstance(node.agent, ParallelAgent):
        return _with_callbacks(context, node, None, _run_at_once(context, node))
    return _run_step(context, node)


async def _run_journaled(context: InvocationContext, node: Node) -> AsyncGenerator[Event]:
    """An agent that is a step of the pipeline: replayed when it was done already, else run and noted."""
    run = context.invocation.run
    entry, done = context.invocation.journal.next(node.path, "step")
    if done:
        for event in entry.events:
            yield event
        return
    context = InvocationContext(context.invocation, node, context.branch, in_step=True)
    first = len(run.step_runs)
    try:
        async with aclosing(_run_here(context, node)) as events:
            async for event in events:
                if not event.partial:
                    entry.events.append(event)
                yield event
    finally:
        entry.steps = run.step_runs[first:]


async def _run_step(context: InvocationContext, node: Node) -> AsyncGenerator[Event]:
    """One execution of an LlmAgent or custom agent, recorded as a StepRun."""
    step = context.invocation.begin_step(node, context.branch)
    claimed = context.invocation.claimed  # the innermost step owns an event
    started = time.perf_counter()
    body = run_llm(context, node, step) if isinstance(node, LlmNode) else users_items(node.agent._run_async_impl(context))
    status = "interrupted"
    try:
        async with aclosing(_with_callbacks(context, node, step, body)) as events:
            async for event in events:
                if not event.partial and event.id not in claimed:
                    claimed.add(event.id)
                    step.events.append(event)
                yield event
        status = "completed" if step.status == "running" else step.status
    except GeneratorExit:  # an escalation upstream ended the loop that this step was in
        status = "completed"
        raise
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise
    except Exception as error:
        status = "failed"
        step.error = error
        if isinstance(error, AdknbError) and error.agent is None:
            error.agent = node.name
        raise
    finally:
        step.status = status  # type: ignore[assignment]
        step.stop = len(context.invocation.run.turn_events)
        step.ms = (time.perf_counter() - started) * 1000


async def _with_callbacks(
    context: InvocationContext, node: Node, step: StepRun | None, body: AsyncIterator[Event]
) -> AsyncGenerator[Event]:
    agent = node.agent
    if agent.before_agent_callback:
        event = await agent_callbacks(context, "before_agent_callback", agent.before_agent_callback)
        if event is not None:
            yield event
            if event.content is not None:
                if step is not None:
                    step.status = "skipped"
                return
    async with aclosing(body):  # type: ignore[type-var]
        async for event in body:
            yield event
    if agent.after_agent_callback:
        event = await agent_callbacks(context, "after_agent_callback", agent.after_agent_callback)
        if event is not None:
            yield event


async def _run_workflow(context: InvocationContext, node: Node) -> AsyncGenerator[Event]:
    """A sequential or loop agent. Its callbacks are journaled where the run can pause between its children."""
    agent = node.agent
    if agent.before_agent_callback:
        event = await _journaled_callback(context, node, "before")
        if event is not None:
            yield event
            if event.content is not None:
                return
    body = _run_loop(context, node, agent) if isinstance(agent, LoopAgent) else _run_children(context, node)
    async with aclosing(body):
        async for event in body:
            yield event
    if agent.after_agent_callback:
        event = await _journaled_callback(context, node, "after")
        if event is not None:
            yield event


async def _journaled_callback(context: InvocationContext, node: Node, moment: str) -> Event | None:
    functions = node.agent.before_agent_callback if moment == "before" else node.agent.after_agent_callback
    if context.in_step:
        return await agent_callbacks(context, f"{moment}_agent_callback", functions)
    entry, done = context.invocation.journal.next(node.path, "before" if moment == "before" else "after")
    if done:
        return entry.events[0] if entry.events else None
    event = await agent_callbacks(context, f"{moment}_agent_callback", functions)
    if event is not None:
        entry.events.append(event)
    return event


async def _run_children(context: InvocationContext, node: Node) -> AsyncGenerator[Event]:
    for child in node.children:
        async with aclosing(run_node(context.child(child))) as events:
            async for event in events:
                yield event


async def _run_loop(context: InvocationContext, node: Node, agent: LoopAgent) -> AsyncGenerator[Event]:
    """All children again and again. An event that escalates is the loop's last, at any depth below it."""
    iteration = 0
    while node.children and (agent.max_iterations is None or iteration < agent.max_iterations):
        iteration += 1
        async with aclosing(_run_children(context, node)) as events:
            async for event in events:
                yield event
                if event.actions.escalate:
                    return
        await asyncio.sleep(0)  # a loop whose agents do nothing must still be stoppable


async def _run_at_once(context: InvocationContext, node: Node) -> AsyncGenerator[Event]:
    """The children as tasks. Each goes on only when its last event is in the session, so that none reads an old state."""
    branch = f"{context.branch}.{node.name}" if context.branch else node.name
    arrived: asyncio.Queue[tuple[Event, asyncio.Event] | BaseException | None] = asyncio.Queue()

    async def run_child(child: Node) -> None:
        own = InvocationContext(context.invocation, node, branch, in_step=True).child(child)
        try:
            async with aclosing(run_node(own)) as events:
                async for event in events:
                    stored = asyncio.Event()
                    arrived.put_nowait((event, stored))
                    await stored.wait()
        except BaseException as error:
            arrived.put_nowait(error)
            raise
        arrived.put_nowait(None)

    tasks = [asyncio.ensure_future(run_child(child)) for child in node.children]
    running = len(tasks)
    try:
        while running:
            item = await arrived.get()
            if item is None:
                running -= 1
            elif isinstance(item, BaseException):
                raise item
            else:
                event, stored = item
                yield event
                if event.actions.escalate:
                    return
                stored.set()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
