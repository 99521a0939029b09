"""ADK Java's rules, read off traces recorded from `com.google.adk:google-adk` 1.8.0."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from adknb.core.content import Content, Part
from adknb.core.errors import (
    AdknbError,
    AgentNameError,
    OutputSchemaError,
    StateValueError,
    TransferError,
)
from adknb.core.events import USER, Event
from adknb.core.requests import Segment
from adknb.core.specs import BaseAgent, IncludeContents, LlmAgent
from adknb.core.state import APP_PREFIX, TEMP_PREFIX, USER_PREFIX, check_value
from adknb.core.tools import FunctionTool, Parameter, ValueType
from adknb.rules import history, texts
from adknb.rules.base import Output, Placeholder, Rules, Sections, Sourced, Template
from adknb.rules.java_arguments import coerce
from adknb.rules.java_schema import as_sent
from adknb.rules.output_schema import DoesNotFit, parse_and_validate, validate
from adknb.rules.placeholders import missing, pieces
from adknb.rules.values import (
    java_concurrent_merge_order,
    java_float,
    java_hash_copy_order,
    java_hash_order,
    java_is_blank,
    java_is_identifier,
    java_json,
    java_text,
    java_trim,
)

_NAME: Final = re.compile(r"_?[a-zA-Z0-9]*([. _-][a-zA-Z0-9]+)*")
_GEMINI_2: Final = re.compile(r"gemini-2\..*")
_MODEL_PATH: Final = re.compile(
    r"projects/[^/]+/locations/[^/]+/publishers/[^/]+/models/(.+)|apigee/(?:[^/]+/){0,2}(.+)"
)
_ARTIFACT: Final = "artifact."


class JavaRules(Rules):
    """ADK Java. Each method names the class of the SDK that it follows."""

    name = "java"
    sdk = "com.google.adk:google-adk 1.8.0"
    temp_keys = "discard"
    schema_note = texts.JAVA_SCHEMA_NOTE

    def check_names(self, root: BaseAgent) -> None:
        """`BaseAgent.validateAgentName`, `validateSubAgents`: checked agent by agent, children before parents."""
        for agent in root.sub_agents:
            self.check_names(agent)
        name = root.name
        if not name:
            raise AgentNameError("an agent needs a name").as_adk(
                "IllegalArgumentException", "Agent name cannot be null or empty."
            )
        if not _NAME.fullmatch(name):
            raise AgentNameError(
                f"agent {name!r}: ADK Java allows letters and digits, joined by single dots, spaces, hyphens or "
                "underscores (one underscore may lead). Rename it."
            ).as_adk(
                "IllegalArgumentException", f"Agent name '{name}' does not match regex '{texts.JAVA_NAME_PATTERN}'."
            )
        if name == USER:
            raise AgentNameError(
                "an agent may not be named 'user': its replies would count as the person's. Rename it."
            ).as_adk("IllegalArgumentException", "Agent name cannot be 'user'; reserved for end-user input.")
        names = [agent.name for agent in root.sub_agents]
        doubled = java_hash_order(sub_name for sub_name in names if names.count(sub_name) > 1)
        if doubled:
            raise AgentNameError(f"agent {name!r} has two sub-agents named {doubled[0]!r}. Rename one.").as_adk(
                "IllegalArgumentException",
                f"Agent named '{name}' has sub-agents with duplicate names: [{', '.join(doubled)}].",
            )

    # placeholders and values (InstructionUtils)

    def parse(self, instruction: str) -> Template:
        return pieces(instruction, self.placeholder)

    def placeholder(self, match: str) -> Placeholder | None:
        """What a match stands for, or None when it passes through as text."""
        name = java_trim(match.strip("{}"))
        optional = name.endswith("?")
        if optional:
            name = name[:-1]
        if name.startswith(_ARTIFACT):
            return Placeholder(match, name[len(_ARTIFACT) :], optional, artifact=True)
        prefix, colon, rest = name.partition(":")
        if colon and prefix + colon in (APP_PREFIX, USER_PREFIX, TEMP_PREFIX):
            valid = java_is_identifier(rest)
        else:
            valid = not colon and java_is_identifier(name)
        return Placeholder(match, name, optional) if valid else None

    def text_of(self, value: object) -> str:
        return java_text(value)

    def artifact_text(self, artifact: Part) -> str:
        """`Part.toJson`: `{"text":"…"}`."""
        return java_json(_camel_case(artifact.to_dict()))

    def check_state_value(self, key: str, value: object) -> None:
        """A `ConcurrentHashMap` holds no null at its top level; inside lists and maps nulls are fine."""
        if value is None:
            raise StateValueError(
                f"state key {key!r}: ADK Java's state cannot hold null. Leave the key out, or store an empty text."
            ).as_adk("NullPointerException", None)
        check_value(key, value)

    def missing(self, placeholder: Placeholder, agent: str, known: Collection[str]) -> AdknbError:
        name = placeholder.name
        message = f"Artifact {name} not found." if placeholder.artifact else f"Context variable not found: `{name}`."
        return missing(placeholder, agent, known).as_adk("IllegalArgumentException", message)

    # the system instruction (Instructions, Identity, AgentTransfer, LlmRequest.appendInstructions)

    def identity(self, agent: BaseAgent) -> str:
        text = f'You are an agent. Your internal name is "{agent.name}".'
        return f'{text} The description about you is "{agent.description}".' if agent.description else text

    def transfer_text(self, agent: LlmAgent, targets: Sequence[BaseAgent], parent: BaseAgent | None) -> str:
        may_return = parent is not None and not agent.disallow_transfer_to_parent
        return texts.java_transfer(
            [(target.name, target.description) for target in targets], parent.name if parent and may_return else None
        )

    def system(self, sections: Sections) -> list[Segment]:
        """A section that came out empty keeps its blank line (trace `optional-resolves-empty-instr`)."""
        result: list[Segment] = []
        is_first = True
        for section in sections:
            if section is None:
                continue
            if not is_first:
                result.append(_BLANK_LINE)
            result += section
            is_first = False
        return result

    # history (Contents)

    def contents(
        self, agent: LlmAgent, model: str, branch: str | None, events: Sequence[Event], include: IncludeContents
    ) -> list[Sourced]:
        if include is IncludeContents.NONE:
            events = events[history.current_turn(events, agent.name) :]
        rules, own_words = self.name, (agent.name, USER)
        pairs: list[Sourced] = []
        has_responses = False
        for event in events:
            readings = event.readings
            reading = readings.get(rules) if readings is not None else None
            if reading is None:
                reading = history.read(event, rules, _is_visible, self.narrate)
            pair = reading.own if event.author in own_words else reading.foreign
            if pair is None or (event.branch and branch and not self.is_on_branch(event.branch, branch)):
                continue
            if reading.has_responses:
                has_responses = True
            pairs.append(pair)
        if has_responses:
            pairs = history.answers_after_calls(history.latest_answer_moved(pairs), group="gemini-3" in model)
        return pairs

    def is_on_branch(self, event_branch: str, branch: str) -> bool:
        """A plain string prefix: the sibling `fan.AB` sees `fan.A`."""
        return branch.startswith(event_branch)

    def narrate(self, event: Event) -> Content | None:
        """`convertForeignEvent`: how another agent reads the event."""
        assert event.content is not None
        author = event.author
        parts = [_FOR_CONTEXT]
        for part in event.content.parts:
            if part.thought:
                continue
            if part.text is not None and not java_is_blank(part.text):
                parts.append(Part(text=f"[{author}] said: {part.text}"))
            elif part.function_call is not None:
                call = part.function_call
                parts.append(Part(text=f"[{author}] called tool `{call.name}` with parameters: {java_json(call.args)}"))
            elif part.function_response is not None:
                answer = part.function_response
                parts.append(
                    Part(text=f"[{author}] `{answer.name}` tool returned result: {java_json(answer.response)}")
                )
            elif part.text is None and part != _NOTHING:
                parts.append(part)
        return Content("user", tuple(parts)) if len(parts) > 1 else None

    # what goes beside the text (Basic, OutputSchema, FunctionCallingUtils)

    def schema_by_tool(self, agent: LlmAgent, model: str) -> bool:
        return bool(agent.output_schema is not None and agent.tools and _GEMINI_2.fullmatch(_bare_model_name(model)))

    def config(self, agent: LlmAgent, model: str) -> dict[str, Any]:
        """`GenerateContentConfig` holds 32-bit floats."""
        config = super().config(agent, model)
        for name, value in config.items():
            if isinstance(value, float):
                config[name] = java_float(value)
            elif name == "response_schema":
                config[name] = as_sent(value)
        return config

    def declaration(self, tool: FunctionTool) -> dict[str, Any]:
        return {
            "name": tool.name,
            "description": tool.description,
            "parameters": {
                "type": "OBJECT",
                "properties": {parameter.name: _schema(parameter.type) for parameter in tool.parameters},
                "required": [parameter.name for parameter in tool.parameters if parameter.required],
            },
            "response": {"type": "NULL"} if tool.returns is None else _schema(tool.returns),
        }

    def transfer_declaration(self, targets: Sequence[BaseAgent]) -> dict[str, Any]:
        return texts.JAVA_TRANSFER_DECLARATION

    def set_model_response_declaration(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {**texts.JAVA_SET_MODEL_RESPONSE, "parameters": as_sent(schema)}

    # replies (LlmAgent.maybeSaveOutputToState, SetModelResponseTool)

    def output(self, event: Event, agent: LlmAgent) -> Output | None:
        if agent.output_key is None or event.content is None or not event.is_final_response():
            return None
        said = [part.text for part in event.content.parts if part.text is not None and not part.thought]
        if not said:
            return None
        text = "".join(said)
        if agent.output_schema is None:
            return Output(text)
        try:
            return Output(parse_and_validate(text, agent.output_schema))
        except DoesNotFit as reason:
            return Output(text, f"output_schema: stored as raw text, because it is {reason}")

    def check_model_response(self, args: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        ordered = {key: args[key] for key in java_hash_copy_order(args)}
        try:
            validate(ordered, schema, ordered)
        except DoesNotFit as reason:
            raise OutputSchemaError(
                f"set_model_response was called with arguments that do not fit the output_schema: {reason}."
            ).as_adk("IllegalArgumentException", reason.adk_message) from None
        return ordered

    def model_response_text(self, response: Mapping[str, Any]) -> str:
        return java_json(response)

    def no_target(self, error: TransferError, name: str) -> AdknbError:
        return error.as_adk("IllegalStateException", f"Agent not found: {name}")

    left_step_runs_on = True

    # tools (FunctionTool, Functions)

    def coerce(self, parameter: Parameter, value: object) -> object:
        result = coerce(value, parameter.type, boxed=not parameter.required)
        if parameter.type.choices and result is not None and result not in parameter.type.choices:
            raise ValueError(f"{value!r} is not one of {', '.join(parameter.type.choices)}")
        return result

    def tool_error(self, tool: FunctionTool, error: Exception) -> dict[str, Any]:
        return {"status": "error", "message": "An internal error occurred."}

    def unknown_tool(self, name: str, known: Collection[str]) -> dict[str, Any] | None:
        return None

    transfer_ends_delta = True  # the tool sets a copy of its actions, while the callback's state writes to the old ones

    def join_values(self, earlier: object, later: object) -> object:
        """`EventActions.Builder.deepMerge`: objects are merged field by field, in the order of a ConcurrentHashMap."""
        if not isinstance(earlier, Mapping) or not isinstance(later, Mapping):
            return later
        for value in (*earlier.values(), *later.values()):
            self.check_state_value("merged by two tools", value)
        merged = dict(earlier)
        for key, value in later.items():
            merged[key] = self.join_values(merged[key], value) if key in merged else value
        return {key: merged[key] for key in java_concurrent_merge_order(earlier, later)}


_BLANK_LINE: Final = Segment("\n\n", "separator")
_FOR_CONTEXT: Final = Part(text="For context:")
_NOTHING: Final = Part()


def _is_visible(event: Event) -> bool:
    """`Contents.isEmptyContent`: whether any part is more than a thought."""
    content = event.content
    if content is None or not content.role:
        return False
    for part in content.parts:
        if part.function_call is not None or part.function_response is not None:
            return True
        if not part.thought and part != _NOTHING:
            return True
    return False


def _bare_model_name(model: str) -> str:
    match = _MODEL_PATH.fullmatch(model)
    return (match.group(1) or match.group(2)) if match else model


def _schema(value_type: ValueType) -> dict[str, Any]:
    if value_type.items is not None:
        return {"type": "ARRAY", "items": _schema(value_type.items)}
    if value_type.choices:
        return {"type": "STRING", "format": "enum", "enum": list(value_type.choices)}
    return {"type": value_type.kind}


def _camel_case(value: Any) -> Any:
    """A part's JSON in the spelling of the Java SDK: `inlineData`, `mimeType`."""
    if isinstance(value, dict):
        return {
            re.sub(r"_([a-z])", lambda match: match.group(1).upper(), key): _camel_case(item)
            for key, item in value.items()
        }
    return value
