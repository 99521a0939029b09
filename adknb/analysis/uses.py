"""Who reads and who writes each state key, as far as the agents' descriptions tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from adknb.analysis.functions import mentions, name_of
from adknb.core.escape import one_line
from adknb.core.specs import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adknb.core.state import APP_PREFIX, TEMP_PREFIX, USER_PREFIX
from adknb.rules.base import Placeholder, Rules, Template
from adknb.runtime.tree import LlmNode, Node, make_node

OUTPUT_KEY: Final = "output_key"
CUSTOM: Final = "custom agent"
WORKFLOWS: Final = (SequentialAgent, ParallelAgent, LoopAgent)
_PREFIXES: Final = (APP_PREFIX, USER_PREFIX, TEMP_PREFIX)
_CALLBACKS: Final = (
    "before_agent_callback", "before_model_callback", "before_tool_callback", "after_tool_callback",
    "after_model_callback", "after_agent_callback",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in an agent's instruction: line and column from 1, and the text itself."""

    line: int
    column: int
    text: str

    @staticmethod
    def at(instruction: str, offset: int, text: str) -> Place:
        line = instruction.count("\n", 0, offset) + 1
        return Place(line, offset - instruction.rfind("\n", 0, offset), one_line(text, 80))


@dataclass(frozen=True, slots=True)
class Read:
    """A placeholder: `match` is the whole of it, braces included; `origin` the field that it stands in."""

    node: LlmNode
    key: str
    optional: bool
    match: str
    place: Place
    origin: str = "instruction"


@dataclass(frozen=True, slots=True)
class Write:
    """An agent's output_key."""

    node: LlmNode
    key: str


@dataclass(frozen=True, slots=True)
class Function:
    """Code that may read and write any key: a callback, a tool, an instruction function, or a custom agent (`kind`).

    `stored` and `named` are the keys that its code shows (see `functions.Mentions`).
    """

    node: Node
    kind: str
    name: str
    stored: frozenset[str]
    named: frozenset[str]

    @property
    def how(self) -> str:
        """`callback require_triage`, `tool lookup`, `custom agent` or `instruction function`."""
        if self.kind.endswith("_callback"):
            return f"callback {self.name}"
        if self.kind == "tool":
            return f"tool {self.name}"
        return self.kind if self.kind == CUSTOM else f"{self.kind.replace('_', ' ')} function"

    @property
    def title(self) -> str:
        """`before_agent_callback require_triage of DraftAgent`."""
        if self.kind == CUSTOM:
            return f"custom agent {self.node.name}"
        return f"{self.kind.replace('instruction', 'instruction function')} {self.name} of {self.node.name}"

    @property
    def may_write(self) -> bool:
        return self.kind not in ("instruction", "global_instruction")


class Uses:
    """Every read, write and function of a tree, in tree order. `llm_nodes` are its LLM agents."""

    def __init__(self, root: BaseAgent, rules: Rules) -> None:
        self.root = make_node(root, None, rules)
        self.nodes = list(self.root.walk())
        self.llm_nodes = [node for node in self.nodes if isinstance(node, LlmNode)]
        self.reads = [read for node in self.llm_nodes for read in _reads(node)]
        self.writes = [
            Write(node, node.agent.output_key) for node in self.llm_nodes if node.agent.output_key is not None
        ]
        self.functions = [function for node in self.nodes for function in _functions(node)]

    @property
    def keys(self) -> list[str]:
        """Every key that the tree shows, in the order in which its agents first name it, inputs before outputs."""
        found: dict[str, None] = {}
        for node in self.nodes:
            found.update(dict.fromkeys(read.key for read in self.reads if read.node is node))
            for function in self.functions:
                if function.node is node:
                    found.update(dict.fromkeys(sorted(function.stored)))
                    found.update(dict.fromkeys(sorted(key for key in function.named if key.startswith(_PREFIXES))))
            found.update(dict.fromkeys(write.key for write in self.writes if write.node is node))
        return list(found)

    def writers(self, key: str) -> list[Write]:
        return [write for write in self.writes if write.key == key]

    def readers(self, key: str) -> list[Read]:
        return [read for read in self.reads if read.key == key]

    def may_write(self, key: str) -> list[Function]:
        """The functions whose code stores the key; those that only name it when nobody else is known to write it."""
        storing = [function for function in self.functions if function.may_write and key in function.stored]
        if storing or self.writers(key):
            return storing
        return [function for function in self.functions if function.may_write and key in function.named]

    def may_read(self, key: str) -> list[Function]:
        """The functions whose code names the key and that are not taken for its writers."""
        writers = self.may_write(key)
        return [function for function in self.functions if key in function.named and function not in writers]


def texts(node: LlmNode) -> Iterator[tuple[str, str, Template]]:
    """The instruction texts that count for a node: the field, the text, and the text cut at its placeholders.

    A global instruction counts when it is the root's (ADK: only the root's is sent, to every LLM agent).
    """
    agent = node.agent
    if node.parent is None and isinstance(agent.global_instruction, str) and node.global_template is not None:
        yield "global_instruction", agent.global_instruction, node.global_template
    if isinstance(agent.instruction, str) and node.template is not None:
        yield "instruction", agent.instruction, node.template


def placed(text: str, template: Template) -> Iterator[tuple[str | Placeholder, int]]:
    """Each piece of a template with the offset at which it begins."""
    offset = 0
    for piece in template:
        yield piece, offset
        offset += len(piece if isinstance(piece, str) else piece.match)


def _reads(node: LlmNode) -> Iterator[Read]:
    for origin, text, template in texts(node):
        for piece, offset in placed(text, template):
            if isinstance(piece, Placeholder) and not piece.artifact:
                place = Place.at(text, offset, piece.match)
                yield Read(node, piece.name, piece.optional, piece.match, place, origin)


def _functions(node: Node) -> Iterator[Function]:
    agent = node.agent
    if not isinstance(agent, (LlmAgent, *WORKFLOWS)):
        yield _function(node, CUSTOM, type(agent)._run_async_impl)
    for kind in _CALLBACKS:
        for function in getattr(agent, kind, ()):
            yield _function(node, kind, function)
    if isinstance(agent, LlmAgent):
        for tool in agent.function_tools:
            yield _function(node, "tool", tool.func)
        for kind in ("global_instruction", "instruction"):
            instruction = getattr(agent, kind)
            if not isinstance(instruction, str) and (kind == "instruction" or node.parent is None):
                yield _function(node, kind, instruction)


def _function(node: Node, kind: str, function: Callable[..., Any]) -> Function:
    said = mentions(function)
    return Function(node, kind, name_of(function), said.stored, said.named)
