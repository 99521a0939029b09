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


def named_model(namespace: Mapping[str, Any], name: str) -> Any:
    """A variable of the notebook that holds a model, else the model's name as it is."""
    value = namespace.get(name)
    return value if hasattr(value, "generate_content_async") else name


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
            return Path(self.options.prompt_file).expanduser().read_bytes().decode("utf-8")
        except (OSError, ValueError) as error:
            why = why_not(error)
        raise SpecError(f"agent {self.name!r}: cannot read --prompt-file {self.options.prompt_file}: {why}")

    def unresolved(self, option: str, name: str, namespace: Mapping[str, Any]) -> UnresolvedNameError:
        """What is to be said of a name that the notebook does not define."""
        callables = [known for known, value in namespace.items() if callable(value) and known[:1] != "_"]
        return UnresolvedNameError(
            f"agent {self.name!r}: {option} names {name!r}, which the notebook does not define."
            f"{near_names(name, callables)} Run the cell that defines it first."
        )

    def build(self, namespace: Mapping[str, Any]) -> LlmAgent:
        """The agent, with its names looked up. Raises `UnresolvedNameError` for the first that is not there."""
        options = self.options

        def look_up(option: str, name: str) -> Any:
            if name not in namespace:
                raise self.unresolved(option, name, namespace)
            return namespace[name]

        fields: dict[str, Any] = {
            f"{kind}_callback": [look_up(f"--{kind.replace('_', '-')}", name) for name in names]
            for kind, names in options.callbacks.items()
        }
        return LlmAgent(
            **self._settled(),
            **fields,
            instruction=self.text(),
            model=named_model(namespace, options.model) if options.model is not None else None,
            tools=[look_up("--tools", name) for name in options.tools],
            output_schema=look_up("--schema", options.schema) if options.schema is not None else None,
        )

    def check(self) -> None:
        """Raise `SpecError` for what is wrong whatever the notebook defines."""
        LlmAgent(**self._settled())

    def _settled(self) -> dict[str, Any]:
        """The fields in which no names are looked up."""
        options = self.options
        return {
            "name": self.name,
            "output_key": options.key,
            "include_contents": options.include,
            "description": options.description,
            "generate_content_config": dict(options.config) or None,
        }


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Agents in the order in which they run. `ticket.agents` are the cells; `build` makes the SequentialAgent."""

    name: str
    agents: tuple[AgentCell, ...] = ()

    def names(self) -> list[str]:
        return [agent.name for agent in self.agents]

    def find(self, name: str) -> AgentCell | None:
        return next((agent for agent in self.agents if agent.name == name), None)

    def __getitem__(self, name: str) -> AgentCell:
        agent = self.find(name)
        if agent is not None:
            return agent
        raise SpecError(f"pipeline {self.name!r} has no agent {name!r}.{near_names(name, self.names())}")

    def with_agent(
        self, agent: AgentCell, instead_of: str | None = None, at: int | None = None, after: str | None = None
    ) -> Pipeline:
        """The pipeline with `agent` in it: where `instead_of` (or an agent of its name) stood, else last.

        `at`, a place from 1, and `after`, the name of another agent, put it there. Raises `SpecError` for a place that
        there is not.
        """
        taken = instead_of if instead_of is not None else agent.name
        others = [known for known in self.agents if known.name != taken]
        names = [known.name for known in others]
        here = self.names().index(taken) if taken in self.names() else len(others)
        if at is not None and after is not None:
            raise SpecError(f"agent {agent.name!r}: say --at or --after, not both")
        if at is not None:
            if not 1 <= at <= len(others) + 1:
                raise SpecError(
                    f"agent {agent.name!r}: --at {at} is no place in pipeline {self.name!r}; it has 1 to {len(others) + 1}"
                )
            here = at - 1
        if after is not None:
            if after not in names:
                raise SpecError(
                    f"agent {agent.name!r}: --after names {after!r}, which is no other agent of pipeline {self.name!r}."
                    f"{near_names(after, names)}"
                )
            here = names.index(after) + 1
        return replace(self, agents=(*others[:here], agent, *others[here:]))

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
                raise SpecError(
                    f"order of {self.name!r}: {name!r} {what}. Name each agent once: {' '.join(self.names())}"
                )
        return replace(self, agents=tuple(self[name] for name in names))

    def build(self, namespace: Mapping[str, Any] | None = None) -> BaseAgent:
        """The SequentialAgent of this name. Raises `SpecError` when it has no agents."""
        if not self.agents:
            raise SpecError(f"pipeline {self.name!r} has no agents. Add one: %%agent NAME --pipeline {self.name}")
        return SequentialAgent(name=self.name, sub_agents=[agent.build(namespace or {}) for agent in self.agents])

    def to_python(self, namespace: Mapping[str, Any] | None = None) -> str:
        """The pipeline as a plain Python module (see `BaseAgent.to_python`); `namespace` holds its callbacks and tools."""
        return self.build(namespace).to_python()


def with_instruction(root: BaseAgent, name: str, instruction: str) -> BaseAgent:
    """A tree of agents in which the LlmAgent `name` has another instruction; a step's name (`DraftAgent#2`) names its agent.

    Raises `SpecError` when there is none.
    """
    name = name.partition("#")[0]
    found = root.find_agent(name)
    if not isinstance(found, LlmAgent):
        known = [agent.name for agent in root.walk() if isinstance(agent, LlmAgent)]
        what = "has no agent" if found is None else "asks no model in its agent"
        raise SpecError(f"pipeline {root.name!r} {what} {name!r}.{near_names(name, known)}")

    def edited(agent: BaseAgent) -> BaseAgent:
        if agent is found:
            return agent.model_copy(update={"instruction": instruction})
        return agent.model_copy(update={"sub_agents": tuple(edited(child) for child in agent.sub_agents)})

    return edited(root)


def why_not(error: OSError | ValueError) -> str:
    """Why a file could not be read or written: the system's reason, a path that cannot be one, or bytes that are no text."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text ({error.reason} at byte {error.start})"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"no file can have this name ({error})"
