"""A tree of agents made ready to run: what can be worked out once, is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from adknb.core.errors import ModelError, SpecError, near_names
from adknb.core.protocols import Model
from adknb.core.requests import Segment
from adknb.core.specs import BaseAgent, LlmAgent
from adknb.core.tools import FunctionTool
from adknb.rules.base import Rules, Template

Resolve = Callable[[Any], Model]


def transfer_to_agent(agent_name: str, tool_context: Any) -> None:
    """Transfer the question to another agent."""
    tool_context.actions.transfer_to_agent = agent_name


TRANSFER = FunctionTool(transfer_to_agent)
"""What `transfer_to_agent` does; how it is declared is the rules' matter."""


def set_model_response(answer: dict[str, Any]) -> dict[str, Any]:
    """Set your final response using the required output schema."""
    return answer


SET_MODEL_RESPONSE = FunctionTool(set_model_response)
"""Takes the fields of the output_schema as its arguments; the rules check them."""


class Node:
    """One agent at its place in the tree. `path` is the names from the root, joined by `/`."""

    def __init__(self, agent: BaseAgent, parent: Node | None, rules: Rules) -> None:
        self.agent = agent
        self.parent = parent
        self.rules = rules
        self.name = agent.name
        self.path: str = agent.name if parent is None else f"{parent.path}/{agent.name}"
        self.children = [make_node(child, self, rules) for child in agent.sub_agents]

    @property
    def root(self) -> Node:
        return self if self.parent is None else self.parent.root

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.walk()

    def find(self, name: str) -> Node | None:
        """The first node of this agent name in tree order, this one included."""
        return next((node for node in self.walk() if node.name == name), None)

    def locate(self, agent: BaseAgent) -> Node | None:
        """The node of exactly this agent object."""
        return next((node for node in self.walk() if node.agent is agent), None)


class LlmNode(Node):
    """An LlmAgent, with its instruction parsed and its declarations, config and identity text written once."""

    agent: LlmAgent

    def __init__(self, agent: LlmAgent, parent: Node | None, rules: Rules) -> None:
        super().__init__(agent, parent, rules)
        self.template = _template(agent.instruction, rules)
        self.global_template = _template(agent.global_instruction, rules)
        identity = rules.identity(agent)
        self.identity = [Segment(identity, "identity")] if identity is not None else None
        self.tools: Mapping[str, FunctionTool] = {tool.name: tool for tool in agent.function_tools}
        self.is_complete = False

    def targets(self) -> list[BaseAgent]:
        """Whom this agent may transfer to: sub-agents, then an LLM parent, then peers (ADK's `AgentTransfer`)."""
        agent, parent = self.agent, self.parent
        targets = list(agent.sub_agents)
        if isinstance(parent, LlmNode):
            if self.rules.may_transfer_to_parent(agent):
                targets.append(parent.agent)
            if self.rules.may_transfer_to_peers(agent):
                targets.extend(peer for peer in parent.agent.sub_agents if peer.name != agent.name)
        return targets

    def complete(self, resolve: Resolve, default: Any, overrides: Any) -> None:
        """Find the model and write what depends on its name. Raises `ModelError` when there is none."""
        agent, rules = self.agent, self.rules
        self.model, self.model_name = self._find_model(resolve, default, overrides)
        targets = self.targets()
        self.declarations = {tool.name: rules.declaration(tool) for tool in agent.function_tools}
        self.config = rules.config(agent, self.model_name)
        self.schema_note: list[Segment] | None = None
        if rules.schema_by_tool(agent, self.model_name):
            self.tools = {**self.tools, SET_MODEL_RESPONSE.name: SET_MODEL_RESPONSE}
            self.declarations[SET_MODEL_RESPONSE.name] = rules.set_model_response_declaration(agent.output_schema)
            self.schema_note = [Segment(rules.schema_note, "schema note")]
        self.transfer: list[Segment] | None = None
        if targets:
            self.tools = {**self.tools, TRANSFER.name: TRANSFER}
            self.declarations[TRANSFER.name] = rules.transfer_declaration(targets)
            parent = self.parent.agent if self.parent is not None else None
            self.transfer = [Segment(rules.transfer_text(agent, targets, parent), "transfer")]
        self.is_complete = True

    def _own_model(self) -> Any:
        """The model that the agent names, or its nearest LLM ancestor (ADK `LlmAgent.resolvedModel`)."""
        node: Node | None = self
        while node is not None:
            if isinstance(node, LlmNode) and node.agent.model is not None:
                return node.agent.model
            node = node.parent
        return None

    def _find_model(self, resolve: Resolve, default: Any, overrides: Any) -> tuple[Model, str]:
        """What answers, and the name that the rules go by: the agent's own also when another model answers for it."""
        own = self._own_model()
        instead = overrides.get(self.name) if isinstance(overrides, Mapping) else overrides
        value = next((model for model in (instead, own, default) if model is not None), None)
        if value is None:
            raise ModelError(
                f"agent {self.name!r} has no model. Give it one (`LlmAgent(model=…)`), or all of them: "
                '`Runner(root, model=…)`, in a notebook `%adk use --model …`. "echo" repeats the message, "local" '
                "runs a small model here."
            )
        try:
            model = resolve(value)
        except ModelError as error:
            if value is own:
                error.add_note("Runner(root, models=…) lets another model answer for agents that name this one.")
            raise
        return model, own if instead is not None and isinstance(own, str) else model.name


def make_node(agent: BaseAgent, parent: Node | None, rules: Rules) -> Node:
    return LlmNode(agent, parent, rules) if isinstance(agent, LlmAgent) else Node(agent, parent, rules)


def check_agents(root: Node, named: Iterable[str], what: str) -> None:
    """Raise `SpecError` for an agent that `what` (models, a strategy) names and that there is not."""
    names = [node.name for node in root.walk() if isinstance(node, LlmNode)]
    for name in named:
        if name not in names:
            raise SpecError(f"{what} names the agent {name!r}, which is not in {root.name!r}.{near_names(name, names)}")


def _template(instruction: object, rules: Rules) -> Template | None:
    """The parsed instruction; None for a function, whose text is taken as it is."""
    return rules.parse(instruction) if isinstance(instruction, str) else None
