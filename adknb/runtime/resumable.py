"""Resumable mode: sequentials and loops that stop at a long-running call, and a sequential that goes on behind it.

What is read off which events stands in `rules.resumable`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from adknb.core.events import Event
from adknb.core.specs import LoopAgent, SequentialAgent
from adknb.rules.resumable import first_child, pauses
from adknb.runtime.context import InvocationContext
from adknb.runtime.tree import Node


def entry(asker: Node) -> Node:
    """Where an answer to the agent's call enters the tree: its topmost ancestor through sequentials alone."""
    node = asker
    while node.parent is not None and isinstance(node.parent.agent, SequentialAgent):
        node = node.parent
    return node


async def run_children(context: InvocationContext) -> AsyncGenerator[Event]:
    """A sequential's children from the one that an answer goes to, up to the one that asks."""
    children = context.node.children
    place = first_child([child.agent for child in children], _history_now(context))
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


def _history_now(context: InvocationContext) -> list[Event]:
    """The session's events up to the newest that this run has reached.

    While a run that goes on replays its steps, the session holds the events of the later ones already.
    """
    run, history = context.invocation.run, context.session.history
    newest = next((entry.events[-1] for entry in reversed(run.journal) if entry.events), run.turn_events[0])
    if history[-1] is newest:
        return history
    return history[: history.index(newest) + 1]
