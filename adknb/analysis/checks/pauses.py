"""Long-running calls: that nothing pauses at one in ordinary mode, and what resumable mode does badly after its answer."""

from __future__ import annotations

from collections.abc import Iterator

from adknb.analysis.findings import Finding, Subject
from adknb.analysis.order import order
from adknb.core.specs import LoopAgent, SequentialAgent
from adknb.core.state import TEMP_PREFIX
from adknb.runtime.resume_notes import kind, left_out
from adknb.runtime.resume_place import entry
from adknb.runtime.tree import LlmNode, Node


def findings(subject: Subject) -> Iterator[Finding]:
    askers = {node: tool for node in subject.uses.llm_nodes if (tool := long_running_tool(node)) is not None}
    if not subject.resumable:
        for asker, tool in askers.items():
            yield from _nothing_pauses(subject, asker, tool)
        return
    for asker, tool in askers.items():
        yield from _not_entered_again(asker, tool)
        yield from _place_lost(subject, asker, tool)
        yield from _same_name(subject, asker, tool)
    yield from _temp_key_gone(subject, askers)
    yield from _runs_once(subject)


def long_running_tool(node: LlmNode) -> str | None:
    """The name of the agent's first long-running tool."""
    return next((tool.name for tool in node.agent.function_tools if tool.long_running), None)


def _nothing_pauses(subject: Subject, asker: LlmNode, tool: str) -> Iterator[Finding]:
    after, root = left_out(asker), subject.uses.root.agent
    if after:
        whom = (
            f"runs {asker.name} alone" if subject.rules.answer_goes_to_asker(root) else f"starts a turn at {root.name}"
        )
        resumable = " Runner(resumable=True) pauses at the call." if subject.rules.name == "java" else ""
        yield Finding(
            "nothing-pauses", "info", asker.name, None,
            f"When {asker.name} calls {tool}, nothing waits for the answer: what follows ({', '.join(after)}) runs without, "
            f"and the answer {whom}.",
            f"Let {asker.name} come last, if that is not meant.{resumable}",
        )  # fmt: skip


def _not_entered_again(asker: LlmNode, tool: str) -> Iterator[Finding]:
    begun = entry(asker)
    if begun.parent is None:
        return
    left = ", ".join(left_out(begun))
    yield Finding(
        "not-entered-again", "warning", asker.name, None,
        f"{asker.name} may call {tool} below {kind(begun.parent)} {begun.parent.name}, which ADK does not enter again: the "
        f"answer runs {begun.name} alone{f', not {left}' if left else ''}.",
        f"Put {asker.name} where only SequentialAgents are around it.",
    )  # fmt: skip


def _place_lost(subject: Subject, asker: LlmNode, tool: str) -> Iterator[Finding]:
    """Callbacks that set state on the sequentials that an answer goes through."""
    child: Node = asker
    while child.parent is not None and isinstance(child.parent.agent, SequentialAgent):
        parent = child.parent
        setting = [
            function
            for function in subject.uses.functions
            if function.node is parent and function.kind == "before_agent_callback" and function.stored
        ]
        if setting and child is not parent.children[0]:
            yield Finding(
                "place-lost", "warning", parent.name, None,
                f"{setting[0].name} sets state before {parent.name}, and then ADK no longer finds an answer to {tool} of "
                f"{asker.name}: {parent.name} starts over with {parent.children[0].name}, and an agent that is sent its history "
                "fails there.",
                f"Set the state before {parent.children[0].name}, as a callback of that agent.",
            )  # fmt: skip
        child = parent


def _same_name(subject: Subject, asker: LlmNode, tool: str) -> Iterator[Finding]:
    first = next(node for node in subject.uses.nodes if node.name == asker.name)
    if first is not asker:
        yield Finding(
            "answer-elsewhere", "warning", asker.name, None,
            f"Two agents are named {asker.name}. ADK looks up by name who called {tool}, so the answer goes to {first.path}, not "
            f"to {asker.path}.",
            "Give each its own name.",
        )  # fmt: skip


def _temp_key_gone(subject: Subject, askers: dict[LlmNode, str]) -> Iterator[Finding]:
    """A `temp:` key that is written before a call and read after its answer: the turn in between ended."""
    for read in subject.uses.reads:
        if not read.key.startswith(TEMP_PREFIX):
            continue
        for asker, tool in askers.items():
            is_after = read.node is asker or order(asker, read.node) == "before"
            writers: list[Node] = [write.node for write in subject.uses.writers(read.key)]
            writers += [function.node for function in subject.uses.may_write(read.key)]
            written = [writer.name for writer in writers if order(writer, asker) == "before"]
            if is_after and written:
                error = "" if read.optional else ", which ends the run"
                yield Finding(
                    "temp-key-gone", "warning", read.node.name, read.place,
                    f"{written[-1]} writes {read.key!r}, and {asker.name} may call {tool} before {read.node.name} reads it: "
                    f"the turn ends there, and its temp: keys with it. After the answer the key is absent{error}.",
                    f"Write {read.key.removeprefix(TEMP_PREFIX)!r} instead.",
                )  # fmt: skip
                break


def _runs_once(subject: Subject) -> Iterator[Finding]:
    for node in subject.uses.nodes:
        if isinstance(node.agent, LoopAgent) and node.agent.max_iterations == 0:
            yield Finding(
                "loop-runs-once", "warning", node.name, None,
                f"{node.name} has max_iterations 0 and runs once: in resumable mode ADK looks at the limit after a round.",
                "Leave the loop out.",
            )  # fmt: skip
