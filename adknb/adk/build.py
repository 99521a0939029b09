"""A tree of descriptions as agents of google-adk, made anew for each run: users' own agents are copied, never changed."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final

from google.adk.agents import (
    BaseAgent as GoogleAgent,
    LlmAgent as GoogleLlmAgent,
    LoopAgent as GoogleLoopAgent,
    ParallelAgent as GoogleParallelAgent,
    SequentialAgent as GoogleSequentialAgent,
)
from google.adk.models import BaseLlm
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

from adknb.adk.answering import Ask, GoogleOwn, Heard, heard, model_shown
from adknb.adk.contexts import Written
from adknb.adk.mirror import AGENT_CALLBACKS, MODEL_CALLBACKS, Mirrored, mirrored, said
from adknb.adk.wire import schema_from
from adknb.core.errors import NotSupported
from adknb.core.protocols import ContextStrategy
from adknb.core.run import Session
from adknb.core.specs import IncludeContents, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from adknb.rules.base import Rules
from adknb.runtime.strategies import AsWritten, Fixed, PerAgent
from adknb.runtime.tree import LlmNode, Node, make_node

_WORKFLOWS: Final = (
    (SequentialAgent, GoogleSequentialAgent),
    (ParallelAgent, GoogleParallelAgent),
    (LoopAgent, GoogleLoopAgent),
)


class Builder:
    """Makes the agents of one run. `complete` finds an agent's model, `ask_of` makes what answers in the model's place.

    `built` maps the path of each node to its agent, `nodes` to the node itself.
    """

    def __init__(
        self,
        strategy: ContextStrategy,
        session: Session,
        complete: Callable[[LlmNode], None],
        ask_of: Callable[[LlmNode, BaseLlm | None], Ask],
        nodes: dict[str, Node],
    ) -> None:
        self._strategy = strategy
        self._session = session
        self._complete = complete
        self._ask_of = ask_of
        self._nodes = nodes
        self.built: dict[str, GoogleAgent] = {}

    def build(self, node: Node) -> GoogleAgent:
        """The agent of a node with all below it. Raises `NotSupported` for what google-adk cannot say."""
        with warnings.catch_warnings():
            # google-adk calls its workflow agents deprecated; whoever wrote the pipeline chose them
            warnings.filterwarnings("ignore", message=r"(Sequential|Parallel|Loop)Agent is deprecated")
            children = [self.build(child) for child in node.children]
            agent = self._copied(node, children) if isinstance(node.agent, Mirrored) else self._written(node, children)
        self.built[node.path] = agent
        self._nodes[node.path] = node
        return agent

    # an agent of google-adk, copied

    def _copied(self, node: Node, children: list[GoogleAgent]) -> GoogleAgent:
        assert isinstance(node.agent, Mirrored)
        original: GoogleAgent = node.agent.original
        update = {"sub_agents": children, **self._edits(node, original)}
        copies = {id(child.agent.original): each for child, each in zip(node.children, children, strict=True)}  # type: ignore[attr-defined]
        update |= _own_fields(original, copies)
        if isinstance(node, LlmNode):
            update |= self._asked(node, original)
            update["include_contents"] = self._include(node)
        return original.clone(update=update)

    def _edits(self, node: Node, original: GoogleAgent) -> dict[str, Any]:
        """The fields in which the description differs from what it was made of: another prompt, callbacks left out."""
        before = said(original)
        update: dict[str, Any] = {}
        for name, value in before.items():
            given = getattr(node.agent, name, value)
            if name in ("model", "include_contents") or _same(given, value):
                continue
            if name in (*AGENT_CALLBACKS, *MODEL_CALLBACKS):
                update[name] = list(given) or None
            elif name in ("instruction", "global_instruction", "name", "description", "output_key", "max_iterations"):
                update[name] = given if given is not None or name != "description" else ""
            else:
                raise NotSupported(f"agent {node.name!r} is google-adk's: change its {name} in the original")
        return update

    def _asked(self, node: LlmNode, original: Any) -> dict[str, Any]:
        self._complete(node)
        return {"model": self._heard(node), "tools": [self._tool(tool, node.rules) for tool in original.tools]}

    def _tool(self, tool: Any, rules: Rules) -> Any:
        """An agent that is used as a tool is heard, too."""
        if not isinstance(tool, AgentTool):
            return tool
        node: Any = make_node(mirrored(tool.agent), None, rules)
        heard = copy.copy(tool)
        heard.agent = self.build(node)
        return heard

    # an agent of adknb's

    def _written(self, node: Node, children: list[GoogleAgent]) -> GoogleAgent:
        agent = node.agent
        own = Written(node, self._session)
        fields: dict[str, Any] = {"name": agent.name, "description": agent.description or "", "sub_agents": children}
        for kind in AGENT_CALLBACKS:
            fields[kind] = [own.agent_callback(kind, function) for function in getattr(agent, kind)]
        for ours, google in _WORKFLOWS:
            if isinstance(agent, ours):
                if isinstance(agent, LoopAgent):
                    fields["max_iterations"] = agent.max_iterations
                return google(**fields)
        if not isinstance(node, LlmNode):
            raise NotSupported(
                f"agent {agent.name!r} is a custom agent of adknb ({type(agent).__name__}), which google-adk cannot run. "
                "Write it as a google.adk BaseAgent, and the pipeline with it."
            )
        return GoogleLlmAgent(**fields, **self._llm_fields(node, own))

    def _llm_fields(self, node: LlmNode, own: Written) -> dict[str, Any]:
        agent = node.agent
        self._complete(node)
        config = agent.generate_content_config
        instructions = {
            name: value if isinstance(value, str) else own.instruction(value)
            for name in ("instruction", "global_instruction")
            if (value := getattr(agent, name))
        }
        return {
            **instructions,
            "model": self._heard(node),
            "include_contents": self._include(node),
            "output_key": agent.output_key,
            "output_schema": schema_from(agent.output_schema, agent.name),
            "tools": [own.tool(tool) for tool in agent.function_tools],
            "generate_content_config": types.GenerateContentConfig(**config.to_dict()) if config is not None else None,
            "disallow_transfer_to_parent": agent.disallow_transfer_to_parent,
            "disallow_transfer_to_peers": agent.disallow_transfer_to_peers,
            "before_model_callback": [own.before_model(function) for function in agent.before_model_callback],  # type: ignore[union-attr]
            "after_model_callback": [own.after_model(function) for function in agent.after_model_callback],  # type: ignore[union-attr]
            "before_tool_callback": [own.before_tool(function) for function in agent.before_tool_callback],  # type: ignore[union-attr]
            "after_tool_callback": [own.after_tool(function) for function in agent.after_tool_callback],  # type: ignore[union-attr]
        }

    # both

    def _heard(self, node: LlmNode) -> BaseLlm:
        shown = model_shown(node)
        own = shown if isinstance(node.model, GoogleOwn) else None
        if own is not None and getattr(own, "use_interactions_api", False):
            raise NotSupported(
                f"agent {node.name!r}: its model {own.model!r} uses the interactions API, which keeps the history on the "
                "server, so that no request says all that was sent. Switch it off (Gemini(use_interactions_api=False))."
            )
        ask = self._ask_of(node, own)
        return heard(shown, ask) if shown is not None else Heard(node.model_name, ask)

    def _include(self, node: LlmNode) -> str:
        """`include_contents` as the context strategy wants it."""
        return included(self._strategy, node.agent).value


def included(strategy: ContextStrategy, agent: LlmAgent) -> IncludeContents:
    """What a strategy makes of an agent's `include_contents`. Raises `NotSupported` for one that chooses contents itself."""
    if isinstance(strategy, PerAgent):
        return included(strategy.strategies.get(agent.name, AsWritten()), agent)
    if isinstance(strategy, Fixed):
        return strategy.include
    if isinstance(strategy, AsWritten):
        return agent.include_contents
    raise NotSupported(
        f"the context strategy {strategy.name!r} chooses the contents itself; under rules='python' google-adk does. There "
        "'as_written', 'default' and 'none' work."
    )


def _own_fields(original: GoogleAgent, copies: Mapping[int, GoogleAgent]) -> dict[str, Any]:
    """Fields of a user's own class that hold its sub-agents, with the copies in their place."""
    update: dict[str, Any] = {}
    for name in type(original).model_fields:
        if name in ("sub_agents", "parent_agent"):
            continue
        value = getattr(original, name)
        if id(value) in copies:
            update[name] = copies[id(value)]
        elif isinstance(value, list) and any(id(item) in copies for item in value):
            update[name] = [copies.get(id(item), item) for item in value]
    return update


def _same(one: Any, other: Any) -> bool:
    """Equal; tools, which have no equality, by their functions."""
    if isinstance(one, tuple) and isinstance(other, list):
        return [tool.func for tool in one] == [tool.func for tool in other]
    return bool(one == other)
