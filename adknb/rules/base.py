"""What a rule set must answer. Everything in which the ADKs differ is one method or attribute here.

Pure functions of their arguments: nothing is read or written. A subclass states each rule once, with its source.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from adknb.core.content import Content, Part
from adknb.core.errors import AdknbError
from adknb.core.events import Event
from adknb.core.requests import Segment
from adknb.core.specs import BaseAgent, IncludeContents, LlmAgent
from adknb.core.tools import FunctionTool, Parameter

Sourced = tuple[Content, Event | None]
"""A content and the event that it came from."""


class Placeholder(NamedTuple):
    """A `{…}` that is substituted. `match` is the whole match, braces included; `name` the key or artifact name."""

    match: str
    name: str
    optional: bool
    artifact: bool = False


Template = tuple[str | Placeholder, ...]
"""An instruction cut into literal text and placeholders."""


class Output(NamedTuple):
    """What an event writes under its agent's output_key. `note` says when a schema's reply was stored raw."""

    value: Any
    note: str | None = None


class Sections(NamedTuple):
    """The parts that a system instruction may be made of; an absent one is None."""

    schema_note: list[Segment] | None
    global_instruction: list[Segment] | None
    instruction: list[Segment] | None
    identity: list[Segment] | None
    transfer: list[Segment] | None


class Rules(ABC):
    """One ADK's rules. `name` is `java`, `go` or `js`; `sdk` names the published version that they were read off."""

    name: str
    sdk: str
    temp_keys: str
    """What happens to `temp:` keys at a turn's end: `discard` or `keep`."""

    # names

    @abstractmethod
    def check_names(self, root: BaseAgent) -> None:
        """Raise `AgentNameError` for the first agent whose name is not allowed, or is taken."""

    # placeholders and values

    @abstractmethod
    def parse(self, instruction: str) -> Template:
        """Cut an instruction at its placeholders. Braces that are never substituted stay literal text."""

    @abstractmethod
    def text_of(self, value: object) -> str:
        """A state value as the text that a placeholder inserts."""

    @abstractmethod
    def artifact_text(self, artifact: Part) -> str:
        """An artifact as the text that a placeholder inserts."""

    @abstractmethod
    def check_state_value(self, key: str, value: object) -> None:
        """Raise `StateValueError` for a value that a state of this ADK cannot hold."""

    @abstractmethod
    def missing(self, placeholder: Placeholder, agent: str, known: Collection[str]) -> AdknbError:
        """The error for a required placeholder without a value; `known` are the keys that there are."""

    # the system instruction

    @abstractmethod
    def identity(self, agent: BaseAgent) -> str: ...

    @abstractmethod
    def transfer_text(self, agent: LlmAgent, targets: Sequence[BaseAgent], parent: BaseAgent | None) -> str: ...

    @abstractmethod
    def system(self, sections: Sections) -> list[Segment]:
        """The sections in this ADK's order, with what joins them."""

    # history

    @abstractmethod
    def contents(
        self, agent: LlmAgent, model: str, branch: str | None, events: Sequence[Event], include: IncludeContents
    ) -> list[Sourced]:
        """The contents of a request: which events it carries, and how each reads."""

    # what goes beside the text

    @abstractmethod
    def schema_by_tool(self, agent: LlmAgent, model: str) -> bool:
        """Whether the answer is asked for by the tool `set_model_response` instead of a response schema."""

    def config(self, agent: LlmAgent, model: str) -> dict[str, Any]:
        """The agent's generate_content_config and response schema, as this ADK's types hold their values."""
        config = agent.generate_content_config.to_dict() if agent.generate_content_config is not None else {}
        if agent.output_schema is not None and not self.schema_by_tool(agent, model):
            config |= {"response_schema": agent.output_schema, "response_mime_type": "application/json"}
        return config

    @abstractmethod
    def declaration(self, tool: FunctionTool) -> dict[str, Any]: ...

    @abstractmethod
    def transfer_declaration(self, targets: Sequence[BaseAgent]) -> dict[str, Any]: ...

    @abstractmethod
    def set_model_response_declaration(self, schema: Mapping[str, Any]) -> dict[str, Any]: ...

    schema_note: str
    """The text that goes with `set_model_response`."""

    # replies

    @abstractmethod
    def output(self, event: Event, agent: LlmAgent) -> Output | None:
        """What `event` writes under the agent's output_key; None when it writes nothing."""

    @abstractmethod
    def check_model_response(self, args: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of `set_model_response` as its answer. Raises `OutputSchemaError` when they do not fit."""

    left_step_runs_on: bool
    """Whether a step in whose middle a transfer target ended the loop runs on, unheard."""

    # tools

    @abstractmethod
    def coerce(self, parameter: Parameter, value: object) -> object:
        """A model's argument as the parameter's type. Raises `ValueError` when it cannot be."""

    @abstractmethod
    def tool_error(self, tool: FunctionTool, error: Exception) -> dict[str, Any]:
        """The answer to a call whose arguments did not fit or whose tool raised."""

    @abstractmethod
    def unknown_tool(self, name: str) -> dict[str, Any] | None:
        """The answer to a call of a tool that there is not; None for no answer at all."""

    @abstractmethod
    def join_values(self, earlier: object, later: object) -> object:
        """What one state key holds when two tools that one reply called have both set it."""

    transfer_ends_delta: bool
    """Whether state that an after_tool_callback sets on a transfer is missing from the event's delta."""
