"""ADK Python's rules, as far as they are needed to read a pipeline and what it was sent.

How it runs is not imitated: with `rules="python"` the real google-adk runs. Sources are files of google-adk 2.13.0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, Never

from adknb.core.content import Part
from adknb.core.errors import (
    AdknbError,
    AgentNameError,
    MissingArtifactError,
    MissingKeyError,
    NotSupported,
    near_names,
)
from adknb.core.events import USER, Event
from adknb.core.requests import Segment
from adknb.core.specs import BaseAgent, IncludeContents, LlmAgent
from adknb.core.state import APP_PREFIX, TEMP_PREFIX, USER_PREFIX, check_value
from adknb.core.tools import FunctionTool, Parameter
from adknb.rules.base import Output, Placeholder, Rules, Sections, Sourced, Template
from adknb.rules.placeholders import pieces

_PREFIXES: Final = (APP_PREFIX, USER_PREFIX, TEMP_PREFIX)
_ARTIFACT: Final = "artifact."
_ESCAPES: Final = ("$", "\\")
"""Braces after one of these are no placeholder."""


class PythonRules(Rules):
    """ADK Python. What only running needs raises `NotSupported`: google-adk does it, nobody here guesses."""

    name = "python"
    sdk = "google-adk 2.13.0"
    temp_keys = "discard"
    schema_note = ""
    read_history: Callable[[LlmAgent, str | None, Sequence[Event], IncludeContents], list[Sourced]] | None = None
    """google-adk's own reading of a history, which `defaults` puts here."""

    # names (agents/base_agent.py: validate_name)

    def check_names(self, root: BaseAgent) -> None:
        for agent in root.walk():
            if not agent.name.isidentifier():
                raise AgentNameError(
                    f"agent {agent.name!r}: ADK Python allows identifiers only: letters, digits and underscores, and no "
                    "digit first. Rename it."
                ).as_adk("ValidationError", None)
            if agent.name == USER:
                raise AgentNameError(
                    "an agent may not be named 'user': its replies would count as the person's. Rename it."
                ).as_adk("ValidationError", None)

    # placeholders and values (flows/llm_flows/prompt/_instructions_utils.py)

    def parse(self, instruction: str) -> Template:
        """`_TEMPLATE_VAR_PATTERN`: as in the other ADKs, but a `$` or a backslash before the braces makes them text."""
        found: list[str | Placeholder] = []
        before = ""
        for piece in pieces(instruction, self.placeholder):
            escaped = not isinstance(piece, str) and before.endswith(_ESCAPES)
            found.append(piece.match if escaped and not isinstance(piece, str) else piece)
            before = piece if isinstance(piece, str) else piece.match
        return _joined(found)

    def placeholder(self, match: str) -> Placeholder | None:
        """`_is_valid_state_name`. None when the match passes through as text."""
        name = match.strip("{}").strip()
        optional = name.endswith("?")
        name = name.removesuffix("?")
        if name.startswith(_ARTIFACT):
            return Placeholder(match, name.removeprefix(_ARTIFACT), optional, artifact=True)
        prefix, colon, rest = name.partition(":")
        key = rest if prefix + colon in _PREFIXES else name
        return Placeholder(match, name, optional) if key.isidentifier() else None

    def text_of(self, value: object) -> str:
        return "" if value is None else str(value)

    def artifact_text(self, artifact: Part) -> str:
        if artifact.text is None:
            self._only_runs("an artifact without text in an instruction")
        return artifact.text

    def check_state_value(self, key: str, value: object) -> None:
        check_value(key, value)

    def start_state(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """`sessions/_session_util.py`: `extract_state_delta` leaves `temp:` keys out."""
        return {key: value for key, value in state.items() if not key.startswith(TEMP_PREFIX)}

    strips_temp_keys = True  # sessions/base_session_service.py: _trim_temp_delta_state

    escalate_ends_at_once = False  # agents/loop_agent.py: the current child finishes first

    keeps_unsaid_state = False  # the runner gets a copy of the session; only events reach the original

    def missing(self, placeholder: Placeholder, agent: str, known: Collection[str]) -> AdknbError:
        name = placeholder.name
        if placeholder.artifact:
            return MissingArtifactError(
                f"agent {agent!r}: the instruction needs the artifact {name!r}, which nobody saved. Save it in an earlier "
                f"step, or make it optional: {{{_ARTIFACT}{name}?}}"
            ).as_adk("KeyError", f"\"Artifact '{name}' not found in agent '{agent}'.\"")
        return MissingKeyError(
            f"agent {agent!r}: the instruction needs the state key {name!r}, which nobody wrote.{near_names(name, known)} "
            f"Write it in an earlier step (output_key={name!r}), start with it (state={{{name!r}: …}}), or make it optional: "
            f"{{{name}?}}",
            name,
        ).as_adk("KeyError", f"\"Context variable not found: `{name}` in agent '{agent}'.\"")

    # the system instruction (flows/llm_flows/prompt/_identity.py)

    def identity(self, agent: LlmAgent) -> str | None:
        text = f'You are an agent. Your internal name is "{agent.name}".'
        return f'{text} The description about you is "{agent.description}".' if agent.description else text

    def system(self, sections: Sections) -> list[Segment]:
        """`_build_instructions`, then the identity, then the note on a schema, then transfer."""
        result: list[Segment] = []
        for section in (
            sections.global_instruction, sections.instruction, sections.identity, sections.schema_note, sections.transfer
        ):  # fmt: skip
            if section is not None:
                result.extend([Segment("\n\n", "separator"), *section] if result else section)
        return result

    # what google-adk does itself

    def transfer_text(self, agent: LlmAgent, targets: Sequence[BaseAgent], parent: BaseAgent | None) -> str:
        self._only_runs("the text about transfer")

    def contents(
        self, agent: LlmAgent, model: str, branch: str | None, events: Sequence[Event], include: IncludeContents
    ) -> list[Sourced]:
        if self.read_history is None:
            self._only_runs("a history that was not sent")
        return self.read_history(agent, branch, events, include)

    def schema_by_tool(self, agent: LlmAgent, model: str) -> bool:
        """`flows/llm_flows/basic.py`: with tools, unless the model takes both, which the models of adknb do not say."""
        return agent.output_schema is not None and bool(agent.tools)

    def declaration(self, tool: FunctionTool) -> dict[str, Any]:
        self._only_runs("a tool's declaration")

    def transfer_declaration(self, targets: Sequence[BaseAgent]) -> dict[str, Any]:
        self._only_runs("the declaration of transfer_to_agent")

    def set_model_response_declaration(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        self._only_runs("the declaration of set_model_response")

    def output(self, event: Event, agent: LlmAgent) -> Output | None:
        self._only_runs("what a reply writes")

    def check_model_response(self, args: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        self._only_runs("the check of set_model_response")

    def coerce(self, parameter: Parameter, value: object) -> object:
        self._only_runs("a tool's arguments")

    def tool_error(self, tool: FunctionTool, error: Exception) -> dict[str, Any]:
        self._only_runs("a tool's error")

    def unknown_tool(self, name: str, known: Collection[str]) -> dict[str, Any] | None:
        self._only_runs("a call of an unknown tool")

    def join_values(self, earlier: object, later: object) -> object:
        self._only_runs("two values of one key")

    left_step_runs_on = False
    transfer_ends_delta = False

    def _only_runs(self, what: str) -> Never:
        raise NotSupported(
            f"rules='python' are not imitated: {what} is known only when google-adk runs. Run the pipeline with it."
        )


def _joined(pieces: Sequence[str | Placeholder]) -> Template:
    """Texts that follow each other as one."""
    result: list[str | Placeholder] = []
    for piece in pieces:
        if isinstance(piece, str) and result and isinstance(result[-1], str):
            result[-1] += piece
        else:
            result.append(piece)
    return tuple(result)
