"""Resumable mode: sequentials and loops that stop at a long-running call, and a sequential that goes on behind it.

What is read off which events stands in `rules.resumable`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from adknb.core.events import Event
from adknb.core.specs import LoopAgent
from adknb.rules.resumable import first_child, pauses
from adknb.runtime.context import InvocationContext
from adknb.runtime.resume_notes import on_start, ran_once
from adknb.runtime.resume_place import history_now
from adknb.runtime.tree import Node


async def run_children(context: InvocationContext) -> AsyncGenerator[Event]:
    """A sequential's children from the one that an answer goes to, up to the one that asks."""
    children = context.node.children
    history = history_now(context)
    place = first_child([child.agent for child in children], history)
    note = on_start(context, history, place)
    if note is not None:
        context.invocation.run.notes.append(note)
    async with aclosing(_run_until_asked(context, children[place:])) as events:
        async for event in events:
            yield event


async def run_loop(context: InvocationContext, agent: LoopAgent) -> AsyncGenerator[Event]:
    """A loop's children again and again: until an event below escalates or a call waits, and once at least."""
    import asyncio

    iteration = 0
    waits = False
    while context.node.children and not waits:
        iteration += 1
        async with aclosing(_run_until_asked(context, context.node.children)) as events:
            async for event in events:
                waits = waits or pauses(event)
                yield event
                if event.actions.escalate:
                    return
        if agent.max_iterations is not None and iteration >= agent.max_iterations:
            if iteration > agent.max_iterations:
                context.invocation.run.notes.append(ran_once(context.node))
            return
        await asyncio.sleep(0)  # a loop whose agents do nothing must still be stoppable


async def _run_until_asked(context: InvocationContext, children: Sequence[Node]) -> AsyncGenerator[Event]:
    """The children in order; the one below which a call waits finishes, and no other starts."""
    waits = False
    for child in children:
        async with aclosing(context.invocation.run_node(context.child(child))) as events:
            async for event in events:
                waits = waits or pauses(event)
                yield event
        if waits:
            return
