"""Where an answer to a long-running call enters the tree, and what a sequential looks at when it starts."""

from __future__ import annotations

from adknb.core.events import Event
from adknb.core.specs import SequentialAgent
from adknb.runtime.context import InvocationContext
from adknb.runtime.tree import Node


def entry(asker: Node) -> Node:
    """Where an answer to the agent's call enters: its topmost ancestor through sequentials alone."""
    node = asker
    while node.parent is not None and isinstance(node.parent.agent, SequentialAgent):
        node = node.parent
    return node


def history_now(context: InvocationContext) -> list[Event]:
    """The session's events up to the newest that this run has reached.

    While a run that goes on replays its steps, the session holds the events of the later ones already.
    """
    run, history = context.invocation.run, context.session.history
    if not context.invocation.journal.remaining():
        return history
    newest = next((entry.events[-1] for entry in reversed(run.journal) if entry.events), run.turn_events[0])
    return history[: history.index(newest) + 1]
