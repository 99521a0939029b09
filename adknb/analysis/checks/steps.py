"""Steps: boundaries that nothing guards, maps in prompts, answers by tool, neighbours that could run at once."""

from __future__ import annotations

import json
from collections.abc import Iterator

from adknb.analysis.findings import Finding, Subject
from adknb.analysis.order import may_be_skipped, order
from adknb.analysis.shapes import asks_for_json
from adknb.analysis.uses import Read, Write
from adknb.core.specs import SequentialAgent
from adknb.runtime.tree import LlmNode, Node


def findings(subject: Subject) -> Iterator[Finding]:
    for write in subject.uses.writes:
        yield from _fragile_boundary(subject, write)
        yield from _map_in_prompt(subject, write)
    for node in subject.uses.llm_nodes:
        yield from _answer_by_tool(subject, node)
    for parent in subject.uses.nodes:
        if isinstance(parent.agent, SequentialAgent):
            yield from _independent(subject, parent)


def _fragile_boundary(subject: Subject, write: Write) -> Iterator[Finding]:
    """JSON is expected, and neither its writer nor its first reader checks it."""
    writer = write.node.agent
    if not asks_for_json(writer) or writer.after_agent_callback or writer.after_model_callback:
        return
    read = next((read for read in subject.uses.readers(write.key) if order(write.node, read.node) == "before"), None)
    if read is None or may_be_skipped(read.node, write.node):
        return
    fallback = "prose or half a JSON is stored all the same"
    if writer.output_schema is not None:
        fallback = "a reply that does not fit its output_schema is stored as raw text"
    key = read.node.agent.output_key
    also = f", and write {key!r} there too, since the agent is then skipped" if key is not None else ""
    yield Finding(
        "fragile-boundary", "warning", read.node.name, read.place,
        f"{write.node.name} is to write JSON under {write.key!r}, and nothing checks that it did: {fallback}, and "
        f"{read.node.name} works with it.",
        f"Give {read.node.name} a before_agent_callback that parses {write.key!r}. When it is malformed, return a "
        f"text{also}.",
    )  # fmt: skip


def _map_in_prompt(subject: Subject, write: Write) -> Iterator[Finding]:
    schema = write.node.agent.output_schema
    if schema is None:
        return
    shown = subject.rules.text_of({next(iter(schema.get("properties") or ("field",))): "…"})
    if _is_json(shown):
        return
    first: dict[LlmNode, Read] = {}
    for read in subject.uses.readers(write.key):
        if order(write.node, read.node) not in ("later", "at once"):
            first.setdefault(read.node, read)
    for read in first.values():
        yield Finding(
            "map-in-prompt", "warning", read.node.name, read.place,
            f"{write.node.name} has an output_schema, so {write.key!r} holds a map, which arrives as {shown}, not as "
            "JSON.",
            f"If the model needs JSON, leave out the output_schema of {write.node.name} and check its text in a "
            "callback.",
        )  # fmt: skip


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _answer_by_tool(subject: Subject, node: LlmNode) -> Iterator[Finding]:
    model = model_name(node)
    if model and subject.rules.schema_by_tool(node.agent, model):
        yield Finding(
            "schema-by-tool", "info", node.name, None,
            f"With {model}, tools and an output_schema together, ADK sends no response schema: it declares the tool "
            "set_model_response and says so in the system instruction. Arguments that do not fit end the run.",
            "Put the tools and the output_schema into two steps, if that is not meant.",
        )  # fmt: skip


def model_name(node: LlmNode) -> str:
    """The name of the model that the agent or its nearest LLM ancestor names; empty when the Runner decides."""
    above: Node | None = node
    while above is not None:
        model = above.agent.model if isinstance(above, LlmNode) else None
        if model is not None:
            return model if isinstance(model, str) else str(getattr(model, "name", ""))
        above = above.parent
    return ""


def _independent(subject: Subject, parent: Node) -> Iterator[Finding]:
    """Neighbours of which none reads what another writes, while a later step reads all by key."""
    group: list[LlmNode] = []
    for child in [*parent.children, None]:
        if child is not None and _is_plain(subject, child) and all(_apart(subject, each, child) for each in group):
            assert isinstance(child, LlmNode)
            group.append(child)
            continue
        if len(group) > 1 and child is not None and all(_read_after(subject, node, group[-1]) for node in group):
            names = [node.name for node in group]
            yield Finding(
                "independent-steps", "info", names[0], None,
                f"{', '.join(names[:-1])} and {names[-1]} do not read each other's keys, yet run one after another.",
                "Put them into a ParallelAgent: they take as long as the slowest, and do not see each other's replies.",
            )  # fmt: skip
        group = [child] if isinstance(child, LlmNode) and _is_plain(subject, child) else []


def _is_plain(subject: Subject, node: Node) -> bool:
    """Whether everything that the node reads and writes is known: an LLM agent with a key, without code and "
    "sub-agents."""
    if not isinstance(node, LlmNode) or node.children or node.agent.output_key is None:
        return False
    return not any(function.node is node for function in subject.uses.functions)


def _apart(subject: Subject, earlier: LlmNode, later: Node) -> bool:
    assert isinstance(later, LlmNode)
    reads = {read.key for read in subject.uses.reads if read.node is later}
    return earlier.agent.output_key not in (*reads, later.agent.output_key)


def _read_after(subject: Subject, node: LlmNode, last: LlmNode) -> bool:
    key = node.agent.output_key
    return any(read.key == key and order(last, read.node) == "before" for read in subject.uses.reads)
