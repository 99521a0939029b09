"""What a rule set must answer. Everything in which the ADKs differ is one method or attribute here.

Pure functions of their arguments: nothing is read or written. A subclass states each rule once, with its source.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from adknb.core.content import Content, Part
from adknb.core.errors import AdknbError, TransferError
from adknb.core.events import Event
from adknb.core.requests import LlmResponse, Segment
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
    """What happens to `temp:` keys at a turn's end: `discard`, `keep`, or `restore` those that the session was made with."""

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

    def start_state(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a session keeps of the values that it is given to start with."""
        return state

    strips_temp_keys: bool = False
    """Whether events are stored without their `temp:` keys, which what set them has written into the state already."""

    keeps_unsaid_state: bool = True
    """Whether a turn that has ended leaves state that no event of it says."""

    @abstractmethod
    def missing(self, placeholder: Placeholder, agent: str, known: Collection[str]) -> AdknbError:
        """The error for a required placeholder without a value; `known` are the keys that there are."""

    def text_without_value(self, name: str) -> str | None:
        """What a placeholder inserts for a key that nobody wrote; None for nothing, or an error."""
        return None

    keys_are_missed_first: bool = False
    """Whether the error names a missing state key before any missing artifact, wherever they stand."""

    def in_global_instruction(self, error: AdknbError) -> AdknbError:
        """The error for a placeholder without a value, said also as this ADK says it of a global_instruction."""
        return error

    # the system instruction

    @abstractmethod
    def identity(self, agent: LlmAgent) -> str | None:
        """Who the agent is told that it is; None when it is told nothing."""

    @abstractmethod
    def transfer_text(self, agent: LlmAgent, targets: Sequence[BaseAgent], parent: BaseAgent | None) -> str: ...

    @abstractmethod
    def system(self, sections: Sections) -> list[Segment]:
        """The sections in this ADK's order, with what joins them."""

    own_global_instruction: bool = False
    """Whether an agent's own global_instruction counts where the root is no LlmAgent."""

    empty_function_text_counts: bool = False
    """Whether the empty text of an instruction function is a section, with the blank line before it."""

    # transfer

    def may_transfer_to_parent(self, agent: LlmAgent) -> bool:
        return not agent.disallow_transfer_to_parent

    def may_transfer_to_peers(self, agent: LlmAgent) -> bool:
        return not agent.disallow_transfer_to_peers

    def transfer_arguments(self, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """A model's arguments for `transfer_to_agent`, under the name `agent_name`. Raises `ValueError` for others."""
        return args

    transfer_answer: Mapping[str, Any] | None = None
    """What `transfer_to_agent` answers."""

    def carries_out_transfer(self, target: BaseAgent, parent: BaseAgent | None, listed: bool) -> bool:
        """Whether the agent `target`, whose parent is `parent`, takes over. `listed` says that it is among the targets.

        Raises `NotSupported` where what then happens is not known.
        """
        return True

    def no_target(self, error: TransferError, name: str) -> AdknbError:
        """The error for a transfer to an agent that there is not, said also as this ADK says it."""
        return error

    def answer_goes_to_asker(self, root: BaseAgent) -> bool:
        """Whether a turn that answers a long-running call starts with the agent that made the call."""
        return True

    # history

    @abstractmethod
    def contents(
        self, agent: LlmAgent, model: str, branch: str | None, events: Sequence[Event], include: IncludeContents
    ) -> list[Sourced]:
        """The contents of a request: which events it carries, and how each reads."""

    def nested_branch(self, branch: str, name: str) -> str:
        """The branch of an agent that one on `branch` runs, below a parallel."""
        return f"{branch}.{name}"

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

    def reply_as_text(self, content: Content) -> Content | None:
        """What stands in the event instead of a reply that is the agent's answer, and ends its step; else None."""
        return None

    def says_nothing(self, reply: LlmResponse) -> bool:
        """Whether a model's reply leaves no event."""
        return reply.content is None and reply.error_code is None

    def error_event(self, error: Exception) -> tuple[str, str] | None:
        """Code and message of the event that an error of the model, a callback or a tool becomes.

        None when the error ends the run.
        """
        return None

    def step_ends(self, agent: LlmAgent, last: Event, acted: bool) -> bool:
        """Whether the agent's step ends on its `last` event; else its model is called again.

        `acted` says that tools were called since the model's last request.
        """
        return last.is_final_response()

    counts_early_replies: bool = True
    """Whether a request that a before_model_callback answers counts as a call of the model."""

    @abstractmethod
    def output(self, event: Event, agent: LlmAgent) -> Output | None:
        """What `event` writes under the agent's output_key; None when it writes nothing."""

    @abstractmethod
    def check_model_response(self, args: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of `set_model_response` as its answer. Raises `OutputSchemaError` when they do not fit."""

    def model_response_text(self, response: Mapping[str, Any]) -> str:
        """The answer by `set_model_response`, as the text of the final event that follows."""
        return json.dumps(response, ensure_ascii=False, separators=(",", ":"))

    model_response_before_transfer: bool = False
    """Whether that event comes before those of an agent that the same reply transfers to."""

    def loop_limit(self, max_iterations: int | None) -> int | None:
        """How often a loop runs its children at most; None for no limit."""
        return max_iterations

    def failed_in_parallel(self, child: str, error: AdknbError) -> AdknbError:
        """The error of a parallel's child, said also as this ADK says it outside of the parallel."""
        return error

    left_step_runs_on: bool
    """Whether a step in whose middle a transfer target ended the loop runs on, unheard."""

    escalate_ends_at_once: bool = True
    """Whether a loop ends on the event that escalates; else its current child finishes first."""

    escalate_ends_parallel: bool = True
    """Whether an event that escalates ends a parallel, too."""

    artifacts_make_events: bool = True
    """Whether an agent callback that only saves an artifact leaves an event."""

    # tools

    @abstractmethod
    def coerce(self, parameter: Parameter, value: object) -> object:
        """A model's argument as the parameter's type. Raises `ValueError` when it cannot be."""

    def arguments(self, tool: FunctionTool, args: Mapping[str, Any]) -> dict[str, object]:
        """A model's arguments as the tool's parameters; ones that it does not declare are left out.

        Raises `ValueError` when they do not fit.
        """
        arguments = {}
        for parameter in tool.parameters:
            if parameter.name in args:
                arguments[parameter.name] = self.coerce(parameter, args[parameter.name])
            elif parameter.required:
                arguments[parameter.name] = self.missing_argument(parameter)
        return arguments

    def missing_argument(self, parameter: Parameter) -> object:
        """What a tool receives for a required argument that the model left out. Raises `ValueError` for an error answer."""
        raise ValueError(f"the argument {parameter.name!r} is missing")

    def tool_result(self, value: object) -> dict[str, Any]:
        """What a tool returned, as the object that answers the call."""
        return dict(value) if isinstance(value, Mapping) else {} if value is None else {"result": value}

    def leaves_unanswered(self, tool: FunctionTool, result: Mapping[str, Any] | None, failed: bool) -> bool:
        """Whether a call gets no response. `result` is None when the tool returned nothing, or `failed`."""
        return tool.long_running and not result and not failed

    error_beats_after_tool: bool = False
    """Whether a tool's error is the answer whatever an after_tool_callback returns."""

    @abstractmethod
    def tool_error(self, tool: FunctionTool, error: Exception) -> dict[str, Any]:
        """The answer to a call whose arguments did not fit or whose tool raised."""

    @abstractmethod
    def unknown_tool(self, name: str, known: Collection[str]) -> dict[str, Any] | None:
        """The answer to a call of a tool that there is not; None for no answer at all. `known` are those that there are.

        Raises `AgentError` where the whole reply fails.
        """

    @abstractmethod
    def join_values(self, earlier: object, later: object) -> object:
        """What one state key holds when two tools that one reply called have both set it."""

    transfer_ends_delta: bool
    """Whether state that an after_tool_callback sets on a transfer is missing from the event's delta."""
