"""What ADK's resumable mode does that its user would hardly expect, said on the run in which it happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from adknb.core.events import Event
from adknb.core.pending import PendingCall, asked_calls
from adknb.core.run import Run
from adknb.core.specs import LoopAgent, ParallelAgent, SequentialAgent
from adknb.rules.resumable import answered_call
from adknb.runtime.context import InvocationContext
from adknb.runtime.resume_place import entry
from adknb.runtime.tree import Node

FAILS: Final = "an agent that is sent its history (DEFAULT) then fails, as it made no such call"
"""What comes of an answer that reaches another agent than the one that asked."""


def on_message(root: Node, run: Run) -> list[str]:
    """What is to be said of a turn before it runs, in whose session calls wait or were answered."""
    past = run.past
    asked = asked_calls(past)
    ids = {response.id for response in run.message.function_responses}
    if ids:
        return list(_on_answer(root, past, asked, ids))
    return [
        f"{call.call.name} of {call.event.author} waits for an answer (call {call.id}), and this message is none: ADK starts the "
        "turn as usual, and the call stays open"
        for call in asked
        if call.answered is None
    ]


def _on_answer(root: Node, past: Sequence[Event], asked: Sequence[PendingCall], ids: set[str | None]) -> Iterator[str]:
    for call in asked:
        if call.id in ids and call.answered is not None:
            yield (
                f"the call {call.id} of {call.event.author} was answered before: ADK goes on behind it once more and runs "
                "every later step again"
            )
    waiting = [call for call in asked if call.answered is None and call.id not in ids]
    if waiting:
        yield (
            f"{len(waiting)} more {'call waits' if len(waiting) == 1 else 'calls wait'} "
            f"({', '.join(f'{call.call.name} of {call.event.author}' for call in waiting)}): ADK goes on without; answered "
            "later, that agent and what follows it run once more"
        )
    newest = next((event for event in reversed(past) if any(call.id in ids for call in event.function_calls)), None)
    if newest is not None:
        yield from _where(root, newest.author)


def _where(root: Node, name: str) -> Iterator[str]:
    asker = root.find(name)
    if asker is None:
        yield f"{name}, which asked, is not in the pipeline any more: ADK starts over at the root; {FAILS}"
        return
    if sum(node.name == name for node in root.walk()) > 1:
        yield f"several agents are named {name}: ADK goes on at the first in the tree, {asker.path}"
    begun = entry(asker)
    if begun.parent is not None:
        yield never_entered_again(asker, begun)


def never_entered_again(asker: Node, begun: Node) -> str:
    """That only `begun` runs after an answer to `asker`, and what of the pipeline does not."""
    above = begun.parent
    assert above is not None, "the root has nothing around it"
    left = ", ".join(left_out(begun))
    return (
        f"{asker.name} asks below {kind(above)} {above.name!r}, which ADK does not enter again: its answer runs "
        f"{begun.name} alone{f', not {left}' if left else ''}"
    )


def left_out(begun: Node) -> list[str]:
    """What would have come after `begun`, had it not been entered from outside."""
    left: list[str] = []
    node = begun
    while node.parent is not None:
        parent = node.parent
        if isinstance(parent.agent, (SequentialAgent, LoopAgent)):
            left += [child.name for child in parent.children[parent.children.index(node) + 1 :]]
        if isinstance(parent.agent, LoopAgent):
            left.append(f"more rounds of {parent.name}")
        node = parent
    return left


def kind(node: Node) -> str:
    """What is around the agent that asks, in words."""
    if isinstance(node.agent, LoopAgent):
        return "the loop"
    return "the parallel" if isinstance(node.agent, ParallelAgent) else "the agent"


def on_start(context: InvocationContext, history: Sequence[Event], place: int) -> str | None:
    """What is to be said of a sequential that begins with its child number `place`: the place lost, or found by accident."""
    node, run = context.node, context.invocation.run
    newest = history[-1]
    if place and newest is not run.turn_events[0]:
        return (
            f"{node.name} began with {node.children[place].name}, not with {node.children[0].name}: the session's newest "
            f"event is a tool's response, which ADK takes for the answer to {newest.author}"
        )
    lost = _lost_place(node, run, newest, history)
    if lost:
        return (
            f"{node.name} started over with {node.children[0].name} instead of going on with {node.children[lost].name}: its "
            f"before_agent_callback set state, and ADK then no longer finds the answer; {FAILS}"
        )
    return None


def ran_once(loop: Node) -> str:
    """Of a loop that ordinary mode would not have run at all."""
    return (
        f"the loop {loop.name} has max_iterations 0 and ran once: in resumable mode ADK looks at the limit after a round, "
        "in ordinary mode before"
    )


def _lost_place(node: Node, run: Run, newest: Event, history: Sequence[Event]) -> int:
    """Where the sequential would have begun, had its own callback left no event behind the person's answer."""
    message = run.turn_events[0]
    if newest.author != node.name or len(history) < 2 or history[-2] is not message:
        return 0
    call = answered_call(history[:-1])
    if call is None:
        return 0
    return next((place for place, child in enumerate(node.children) if child.find(call.author) is not None), 0)
