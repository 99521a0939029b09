"""Which agent a turn starts with: the root, the agent that a conversation was transferred to, or the one that asked.

Source: `Runner.findAgentToRun`; traces `f-transfer-two-turns`, `f-long-running-*`.
"""

from __future__ import annotations

from collections.abc import Sequence

from adknb.core.content import Content
from adknb.core.events import USER, Event
from adknb.runtime.resume_place import entry
from adknb.runtime.tree import LlmNode, Node


def first_node(root: Node, message: Content, history: Sequence[Event], resumable: bool = False) -> Node:
    """The node that the turn starts with. The history ends on the user's message, or on what a run that goes on keeps."""
    asker = _asker(root, message, history) if root.rules.answer_goes_to_asker(root.agent) else None
    if asker is not None:
        return entry(asker) if resumable else asker
    if not isinstance(root, LlmNode):  # below a workflow agent no one keeps the conversation
        return root
    for event in reversed(history):
        if event.author == USER:
            continue
        if event.author == root.name:
            return root
        node = root.find(event.author)
        if node is not None and _may_keep_the_conversation(node):
            return node
    return root


def _asker(root: Node, message: Content, history: Sequence[Event]) -> Node | None:
    """The author of the newest call that the message answers."""
    answered = {response.id for response in message.function_responses}
    if answered:
        for event in reversed(history):
            if any(call.id in answered for call in event.function_calls):
                return root.find(event.author)
    return None


def _may_keep_the_conversation(node: Node) -> bool:
    """Whether the whole chain up to the root is LLM agents that may transfer to their parents."""
    current: Node | None = node
    while current is not None:
        if not isinstance(current, LlmNode) or not current.rules.may_transfer_to_parent(current.agent):
            return False
        current = current.parent
    return True
