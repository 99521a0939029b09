"""Which of two agents of a tree comes first in a turn, as far as the tree alone says it."""

from __future__ import annotations

from typing import Literal

from adknb.core.specs import LoopAgent, ParallelAgent, SequentialAgent
from adknb.runtime.tree import Node

Order = Literal["before", "later", "next iteration", "at once", "unknown"]
"""When a writer is done, seen from a reader. `unknown`: a transfer or a custom agent decides, or it may not run."""


def order(writer: Node, reader: Node) -> Order:
    """Whether `writer` has written when `reader` builds its first request of a turn."""
    upward, downward = _chain(writer), _chain(reader)
    depth = next(
        (place for place, pair in enumerate(zip(upward, downward, strict=False)) if pair[0] is not pair[1]),
        min(len(upward), len(downward)),
    )
    common = upward[depth - 1]
    if writer is reader:
        return _again(common)
    if common is writer:
        return "later"  # it hands over first; its own key is written from what its target says
    if common is reader:
        return "unknown"
    if isinstance(common.agent, ParallelAgent):
        return "at once"
    if not isinstance(common.agent, (SequentialAgent, LoopAgent)):
        return "unknown"
    if common.children.index(upward[depth]) > common.children.index(downward[depth]):
        return _again(common)
    return "before" if all(_runs_children(node) for node in upward[depth:-1]) else "unknown"


def repeats(node: Node) -> bool:
    """Whether the node is a loop or inside one."""
    return any(isinstance(above.agent, LoopAgent) for above in _chain(node))


def _again(node: Node) -> Order:
    return "next iteration" if repeats(node) else "later"


def _chain(node: Node) -> list[Node]:
    """The nodes from the root to this one."""
    chain = [node]
    while chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    return chain[::-1]


def _runs_children(node: Node) -> bool:
    """Whether the agent runs each of its children, whatever a model says."""
    if isinstance(node.agent, LoopAgent):
        return node.agent.max_iterations != 0
    return isinstance(node.agent, (SequentialAgent, ParallelAgent))


def may_be_skipped(writer: Node, reader: Node) -> bool:
    """Whether a before_agent_callback can answer in place of the writer, or of an agent around it that is not the
    reader's too: its output_key is then not written."""
    shared = _chain(reader)
    return any(node.agent.before_agent_callback for node in _chain(writer) if node not in shared)
