"""Agents inside agents: callbacks around each, and how sequential, parallel and loop agents run their children.

Sources: `BaseAgent.java`, `SequentialAgent.java`, `LoopAgent.java`, `ParallelAgent.java`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal

from adknb.core.errors import AdknbError, AgentError, SpecError
from adknb.core.events import Event
from adknb.core.pending import pending_calls
from adknb.core.run import JournalEntry, Status, StepRun
from adknb.core.specs import Callbacks, LoopAgent, ParallelAgent, SequentialAgent
from adknb.runtime import resumable
from adknb.runtime.callbacks import agent_callbacks
from adknb.runtime.context import InvocationContext
from adknb.runtime.flow import run_llm
from adknb.runtime.interrupts import users_items
from adknb.runtime.tree import LlmNode, Node


def run_node(context: InvocationContext) -> AsyncGenerator[Event]:
    """Run the context's agent with its callbacks. Where the run can pause, the journal says whether it was done already.

    Raises `Paused` at the step that is not to start.
    """
    node = context.node
    if isinstance(node.agent, LoopAgent):
        run_loop = resumable.run_loop if context.invocation.resumable else _run_loop
        return _with_callbacks(context, run_loop(context, node.agent))
    if isinstance(node.agent, SequentialAgent):
        run_children = resumable.run_children if context.invocation.resumable else _run_children
        return _with_callbacks(context, run_children(context))
    if not context.in_step:
        entry, done = context.invocation.journal.next(node.path, "step")
        if done:
            return _replay(entry)
        inside = InvocationContext(context.invocation, node, context.branch, in_step=True)
        return _run_entry(inside) if context.invocation.save is None else _run_saved_entry(inside)
    return _run_entry(context)


def _run_entry(context: InvocationContext) -> AsyncGenerator[Event]:
    if isinstance(context.node.agent, ParallelAgent):
        return _with_callbacks(context, _run_at_once(context))
    return _run_step(context)


async def _run_saved_entry(context: InvocationContext) -> AsyncGenerator[Event]:
    """First what the steps before came to is made durable: this one may ask its model for long, and its process die."""
    invocation = context.invocation
    if invocation.save is not None and invocation.run.step_runs:
        await invocation.save(invocation.run)
    async with aclosing(_run_entry(context)) as events:
        async for event in events:
            yield event


async def _replay(entry: JournalEntry) -> AsyncGenerator[Event]:
    for event in entry.events:
        yield event


async def _run_step(context: InvocationContext) -> AsyncGenerator[Event]:
    """One execution of an LlmAgent or custom agent, recorded as a StepRun."""
    node = context.node
    step = context.invocation.begin_step(node, context.branch)
    claimed = context.invocation.claimed  # the innermost step owns an event
    started = context.invocation.clock()
    body = run_llm(context, node, step) if isinstance(node, LlmNode) else _run_custom(context)
    status: Status = "interrupted"
    try:
        async with aclosing(_with_callbacks(context, body, step)) as events:
            async for event in events:
                if not event.partial and event.id not in claimed:
                    claimed.add(event.id)
                    step.events.append(event)
                yield event
        status = _ended(context, step) if step.status == "running" else step.status
    except GeneratorExit:  # left at its last event: that ended the loop around the step, or nobody reads on
        if event.actions.escalate:
            status = "completed"
        raise
    except Exception as error:
        status = "failed"
        step.error = error
        if not isinstance(error, AdknbError):
            error.add_note(f"agent {node.name!r}, step {step.name}")
        elif error.agent is None:
            error.agent = node.name
        raise
    finally:
        step.status = status
        step.partial = ""
        step.stop = len(context.invocation.run.turn_events)
        step.ms = (context.invocation.clock() - started) * 1000


def _ended(context: InvocationContext, step: StepRun) -> Status:
    return "waiting" if context.invocation.resumable and pending_calls(step.events) else "completed"


async def _run_custom(context: InvocationContext) -> AsyncGenerator[Event]:
    """What the user's own agent yields. What it raises becomes an `AgentError` that names it."""
    name = context.node.name
    items = context.agent._run_async_impl(context)
    if not isinstance(items, AsyncGenerator):
        raise SpecError(f"agent {name!r}: its _run_async_impl must be an async generator: `async def` with a `yield`.")
    async with aclosing(users_items(items)) as events:
        while True:
            try:
                event = await anext(events)
            except StopAsyncIteration:
                return
            except AdknbError:
                raise
            except Exception as error:
                raise AgentError(f"agent {name!r} raised {type(error).__name__}: {error}") from error
            if not isinstance(event, Event):
                raise SpecError(
                    f"agent {name!r} yielded {event!r}, which is no Event. Yield ctx.event(Content.model(…))."
                )
            yield event


def _with_callbacks(
    context: InvocationContext, body: AsyncGenerator[Event], step: StepRun | None = None
) -> AsyncGenerator[Event]:
    agent = context.agent
    return (
        _between_callbacks(context, body, step) if agent.before_agent_callback or agent.after_agent_callback else body
    )


async def _between_callbacks(
    context: InvocationContext, body: AsyncGenerator[Event], step: StepRun | None
) -> AsyncGenerator[Event]:
    event = await _callback(context, "before", context.agent.before_agent_callback)
    if event is not None:
        yield event
        if event.content is not None:
            if step is not None:
                step.status = "skipped"
            return
    async with aclosing(body):
        async for event in body:
            yield event
    event = await _callback(context, "after", context.agent.after_agent_callback)
    if event is not None:
        yield event


async def _callback(
    context: InvocationContext, moment: Literal["before", "after"], functions: Callbacks
) -> Event | None:
    """The callbacks' event. Those of a workflow agent between whose children the run can pause are journaled."""
    if not functions:
        return None
    if not context.in_step:
        entry, done = context.invocation.journal.next(context.node.path, moment)
        if done:
            return entry.events[0] if entry.events else None
    return await agent_callbacks(context, f"{moment}_agent_callback", functions)


async def _run_children(context: InvocationContext) -> AsyncGenerator[Event]:
    for child in context.node.children:
        async with aclosing(run_node(context.child(child))) as events:
            async for event in events:
                yield event


async def _run_loop(context: InvocationContext, agent: LoopAgent) -> AsyncGenerator[Event]:
    """All children again and again, until an event at any depth below escalates."""
    import asyncio

    iteration = 0
    limit = context.node.rules.loop_limit(agent.max_iterations)
    while context.node.children and (limit is None or iteration < limit):
        iteration += 1
        for child in context.node.children:
            escalated = False
            async with aclosing(run_node(context.child(child))) as events:
                async for event in events:
                    yield event
                    if event.actions.escalate:
                        if context.node.rules.escalate_ends_at_once:
                            return
                        escalated = True
            if escalated:
                return
        await asyncio.sleep(0)  # a loop whose agents do nothing must still be stoppable


async def _run_at_once(context: InvocationContext) -> AsyncGenerator[Event]:
    """The children as tasks. Each goes on only when its last event is in the session, so that none reads an old state."""
    import asyncio  # half of what `import adknb` would take, and only parallels and loops need it here

    node = context.node
    branch = ".".join(name for name in (context.branch, node.name) if name)
    arrived: asyncio.Queue[tuple[Event, asyncio.Event] | BaseException | None] = asyncio.Queue()

    async def run_child(child: Node) -> None:
        own = InvocationContext(context.invocation, child, f"{branch}.{child.name}", in_step=True)
        try:
            async with aclosing(run_node(own)) as events:
                async for event in events:
                    stored = asyncio.Event()
                    arrived.put_nowait((event, stored))
                    await stored.wait()
        except BaseException as error:
            arrived.put_nowait(
                node.rules.failed_in_parallel(child.name, error) if isinstance(error, AdknbError) else error
            )
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
                if event.actions.escalate and node.rules.escalate_ends_parallel:
                    return
                stored.set()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
