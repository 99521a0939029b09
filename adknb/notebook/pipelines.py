"""What the cells describe: prompts with their options, in order. Frozen values; the bench replaces them whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from adknb.core.errors import SpecError, near_names
from adknb.core.specs import BaseAgent, LlmAgent, SequentialAgent

CALLBACKS = ("before_agent", "after_agent", "before_model", "after_model", "before_tool", "after_tool")


class UnresolvedNameError(SpecError):
    """A callback, tool or schema is named that the notebook does not define."""


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """An agent beside its prompt. Callbacks, tools and the schema are names, looked up in the notebook when run."""

    key: str | None = None
    include: str = "default"
    description: str | None = None
    model: str | None = None
    tools: tuple[str, ...] = ()
    schema: str | None = None
    callbacks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    prompt_file: str | None = None

    def names(self) -> list[tuple[str, str]]:
        """Every name that the notebook must define, with the option that it stands in."""
        found = [("--tools", name) for name in self.tools]
        if self.schema is not None:
            found.append(("--schema", self.schema))
        for kind in CALLBACKS:
            found += [(f"--{kind.replace('_', '-')}", name) for name in self.callbacks.get(kind, ())]
        return found


@dataclass(frozen=True, slots=True)
class Version:
    """An earlier form of an agent."""

    prompt: str
    options: AgentOptions


@dataclass(frozen=True, slots=True)
class AgentCell:
    """One agent as its cell says it. `cell` is the front end's id of that cell, where there is one."""

    name: str
    prompt: str
    options: AgentOptions = field(default_factory=AgentOptions)
    cell: str | None = None
    versions: tuple[Version, ...] = ()

    def edited(self, prompt: str, options: AgentOptions, cell: str | None, name: str | None = None) -> AgentCell:
        """This agent with another prompt or options (or name); the form before becomes a version."""
        versions = self.versions
        if (prompt, options) != (self.prompt, self.options):
            versions = (*versions, Version(self.prompt, self.options))
        return AgentCell(name or self.name, prompt, options, cell, versions)

    def text(self) -> str:
        """The prompt as it is now: the cell's body, or the file's text."""
        if self.options.prompt_file is None:
            return self.prompt
        try:
            return Path(self.options.prompt_file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SpecError(f"agent {self.name!r}: --prompt-file {self.options.prompt_file}: {error}") from error

    def build(self, namespace: Mapping[str, Any]) -> LlmAgent:
        """The agent, with its names looked up. Raises `UnresolvedNameError` for the first that is not there."""
        options = self.options

        def look_up(option: str, name: str) -> Any:
            if name not in namespace:
                callables = [known for known, value in namespace.items() if callable(value) and known[:1] != "_"]
                raise UnresolvedNameError(
                    f"agent {self.name!r}: {option} names {name!r}, which the notebook does not define."
                    f"{near_names(name, callables)} Run the cell that defines it first."
                )
            return namespace[name]

        fields: dict[str, Any] = {
            f"{kind}_callback": [look_up(f"--{kind.replace('_', '-')}", name) for name in names]
            for kind, names in options.callbacks.items()
        }
        model = options.model
        return LlmAgent(
            name=self.name,
            instruction=self.text(),
            output_key=options.key,
            include_contents=options.include,
            description=options.description,
            model=namespace.get(model, model) if model is not None else None,
            tools=[look_up("--tools", name) for name in options.tools],
            output_schema=look_up("--schema", options.schema) if options.schema is not None else None,
            generate_content_config=dict(options.config) or None,
            **fields,
        )


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Agents in the order in which they run. `ticket.agents` are the cells; `build` makes the SequentialAgent."""

    name: str
    agents: tuple[AgentCell, ...] = ()

    def names(self) -> list[str]:
        return [agent.name for agent in self.agents]

    def __getitem__(self, name: str) -> AgentCell:
        for agent in self.agents:
            if agent.name == name:
                return agent
        raise SpecError(f"pipeline {self.name!r} has no agent {name!r}.{near_names(name, self.names())}")

    def with_agent(self, agent: AgentCell, place: int | None = None, instead_of: str | None = None) -> Pipeline:
        """The pipeline with `agent` in it: where `instead_of` (or an agent of its name) stood, else at `place` or last.

        `place` counts from 0 and moves an agent that was there already.
        """
        taken = instead_of if instead_of is not None else agent.name
        agents = list(self.agents)
        here = next((index for index, known in enumerate(agents) if known.name == taken), None)
        if here is not None:
            if place is None:
                agents[here] = agent
                return replace(self, agents=tuple(agents))
            del agents[here]
        agents.insert(len(agents) if place is None else place, agent)
        return replace(self, agents=tuple(agents))

    def without(self, name: str) -> Pipeline:
        gone = self[name]
        return replace(self, agents=tuple(agent for agent in self.agents if agent is not gone))

    def ordered(self, names: list[str]) -> Pipeline:
        """The same agents in this order. Raises `SpecError` unless each is named once."""
        for name in names:
            self[name]
        for name in self.names():
            if names.count(name) != 1:
                what = "is missing" if name not in names else "stands twice"
                raise SpecError(f"order of {self.name!r}: {name!r} {what}. Name each agent once: {' '.join(self.names())}")
        return replace(self, agents=tuple(self[name] for name in names))

    def build(self, namespace: Mapping[str, Any] | None = None) -> BaseAgent:
        """The SequentialAgent of this name. Raises `SpecError` when it has no agents."""
        if not self.agents:
            raise SpecError(f"pipeline {self.name!r} has no agents. Add one: %%agent NAME --pipeline {self.name}")
        return SequentialAgent(name=self.name, sub_agents=[agent.build(namespace or {}) for agent in self.agents])
