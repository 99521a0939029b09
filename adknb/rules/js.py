"""ADK JavaScript's rules, read off traces recorded from `@google/adk` 2.0.0."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from adknb.core.content import Content, Part
from adknb.core.errors import (
    AdknbError,
    AgentError,
    AgentNameError,
    CassetteMissError,
    ModelError,
    ReplyMissingError,
    TransferError,
    near_names,
)
from adknb.core.events import USER, Event
from adknb.core.requests import LlmResponse, Segment
from adknb.core.specs import BaseAgent, IncludeContents, LlmAgent
from adknb.core.state import APP_PREFIX, TEMP_PREFIX, USER_PREFIX, check_value
from adknb.core.tools import FunctionTool, Parameter, ValueType
from adknb.rules import history, js_history, texts_js
from adknb.rules.base import Output, Placeholder, Rules, Sections, Sourced, Template
from adknb.rules.js_schema import Misfit, stored
from adknb.rules.js_values import (
    js_error_code,
    js_inherited,
    js_is_agent_name,
    js_json,
    js_kind,
    js_parse,
    js_text,
    js_trim,
)
from adknb.rules.placeholders import missing, pieces

_IDENTIFIER: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_PREFIXES: Final = (APP_PREFIX, USER_PREFIX, TEMP_PREFIX)
_ARTIFACT: Final = "artifact."
_ERROR: Final = "Error"
_SET_MODEL_RESPONSE: Final = texts_js.SET_MODEL_RESPONSE["name"]


class JsRules(Rules):
    """ADK JavaScript. Each rule names the file of the SDK that it follows."""

    name = "js"
    sdk = "@google/adk 2.0.0"
    temp_keys = "discard"
    schema_note = texts_js.SCHEMA_NOTE

    # names (agents/base_agent.js: validateAgentName)

    def check_names(self, root: BaseAgent) -> None:
        """Children before parents. Two agents may share a name."""
        for agent in root.sub_agents:
            self.check_names(agent)
        name = root.name
        if not js_is_agent_name(name):
            raise AgentNameError(
                f"agent {name!r}: ADK JavaScript allows letters, digits, underscores, hyphens and $, and no digit or hyphen "
                "first. Rename it."
            ).as_adk(_ERROR, texts_js.INVALID_NAME.format(name=name))
        if name == USER:
            raise AgentNameError(
                "an agent may not be named 'user': its replies would count as the person's. Rename it."
            ).as_adk(_ERROR, texts_js.RESERVED_NAME)

    # placeholders and values (agents/instructions.js)

    def parse(self, instruction: str) -> Template:
        """A key that is required at one place is required at all (`injectSessionState`: `uniqueKeys`)."""
        template = pieces(instruction, self.placeholder)
        required = {
            (piece.name, piece.artifact) for piece in template if not isinstance(piece, str) and not piece.optional
        }
        return tuple(
            piece._replace(optional=False)
            if not isinstance(piece, str) and (piece.name, piece.artifact) in required
            else piece
            for piece in template
        )

    def placeholder(self, match: str) -> Placeholder | None:
        """`isValidStateName`: ASCII identifiers. None when the match passes through as text."""
        name = js_trim(match.strip("{}"))
        optional = name.endswith("?")
        if optional:
            name = name[:-1]
        if name.startswith(_ARTIFACT):
            return Placeholder(match, name[len(_ARTIFACT) :], optional, artifact=True)
        prefix, colon, rest = name.partition(":")
        key = rest if prefix + colon in _PREFIXES else name
        return Placeholder(match, name, optional) if _IDENTIFIER.fullmatch(key) else None

    def text_of(self, value: object) -> str:
        return js_text(value)

    def artifact_text(self, artifact: Part) -> str:
        """`formatValue`: an artifact's text as it is, another one as JSON."""
        if artifact.text is not None:
            return artifact.text
        return js_json({_CAMEL.get(name, name): _camel_case(value) for name, value in artifact.to_dict().items()})

    def check_state_value(self, key: str, value: object) -> None:
        check_value(key, value)

    def start_state(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """`sessions/base_session_service.js`: `trimTempState` (trace `temp-across-turns`)."""
        return {key: value for key, value in state.items() if not key.startswith(TEMP_PREFIX)}

    strips_temp_keys = True  # trimTempDeltaState; trace outkey-temp-prefix

    keeps_unsaid_state = False  # the runner gets a copy of the session for each turn; only events reach the original

    def missing(self, placeholder: Placeholder, agent: str, known: Collection[str]) -> AdknbError:
        name = placeholder.name
        message = f"Artifact {name} not found." if placeholder.artifact else f"Context variable not found: `{name}`."
        return missing(placeholder, agent, known).as_adk(_ERROR, message)

    def text_without_value(self, name: str) -> str | None:
        """`resolveKey` asks `key in state`, which is true of what every object inherits."""
        return js_inherited(name)

    keys_are_missed_first = True  # injectSessionState: loading an artifact takes longer

    # the system instruction (agents/processors, models/llm_request.js)

    def identity(self, agent: LlmAgent) -> str | None:
        """`identity_llm_request_processor.js`. An agent that can transfer to nobody is not told its name."""
        if not (self.may_transfer_to_parent(agent) or self.may_transfer_to_peers(agent) or agent.sub_agents):
            return None
        text = f'You are an agent. Your internal name is "{agent.name}".'
        return f'{text}\n\nThe description about you is "{agent.description}"' if agent.description else text

    def system(self, sections: Sections) -> list[Segment]:
        """`appendInstructions`: what follows an empty text takes its place."""
        result: list[Segment] = []
        for section in (
            sections.identity, sections.global_instruction, sections.instruction, sections.schema_note, sections.transfer
        ):  # fmt: skip
            if section is None:
                continue
            if any(segment.text for segment in result):
                result += [_BLANK_LINE, *section]
            else:
                result = list(section) or [Segment("", "instruction")]
        return result

    empty_function_text_counts = True  # instructions_llm_request_processor.js

    # transfer (agents/processors/agent_transfer_llm_request_processor.js, runner/runner.js)

    def may_transfer_to_parent(self, agent: LlmAgent) -> bool:
        """An output_schema forbids it (the constructor in `agents/llm_agent.js`)."""
        return not agent.disallow_transfer_to_parent and agent.output_schema is None

    def may_transfer_to_peers(self, agent: LlmAgent) -> bool:
        """An output_schema forbids it (the constructor in `agents/llm_agent.js`)."""
        return not agent.disallow_transfer_to_peers and agent.output_schema is None

    def transfer_text(self, agent: LlmAgent, targets: Sequence[BaseAgent], parent: BaseAgent | None) -> str:
        may_return = parent is not None and self.may_transfer_to_parent(agent)
        return texts_js.transfer(
            [(target.name, target.description or "") for target in targets],
            parent.name if parent and may_return else None,
        )

    def transfer_declaration(self, targets: Sequence[BaseAgent]) -> dict[str, Any]:
        return texts_js.TRANSFER_DECLARATION

    def transfer_arguments(self, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """The argument is `agentName`, which zod checks."""
        target = args.get("agentName")
        if not isinstance(target, str):
            raise ValueError(texts_js.not_text(js_kind(target) if "agentName" in args else "undefined"))
        return {"agent_name": target}

    transfer_answer: Mapping[str, Any] | None = MappingProxyType({"result": "Transfer queued"})

    def no_target(self, error: TransferError, name: str) -> AdknbError:
        return error.as_adk(_ERROR, f"Agent {name} not found in the agent tree.")

    def answer_goes_to_asker(self, root: BaseAgent) -> bool:
        """`determineAgentForResumption`: only in a resumable app."""
        return False

    # history (agents/processors/content_processor_utils.js)

    def contents(
        self, agent: LlmAgent, model: str, branch: str | None, events: Sequence[Event], include: IncludeContents
    ) -> list[Sourced]:
        if include is IncludeContents.NONE:
            start = js_history.current_turn(
                events, agent.name, lambda event: _is_visible(event) and self.is_on_branch(event.branch, branch)
            )
            events = events[start:]
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
            pairs = history.answers_after_calls(js_history.latest_answer_moved(pairs), group=False, again=True)
        return pairs

    def is_on_branch(self, event_branch: str | None, branch: str | None) -> bool:
        """`isSegmentPrefix`: whole names are compared."""
        return not event_branch or not branch or branch == event_branch or branch.startswith(f"{event_branch}.")

    def nested_branch(self, branch: str, name: str) -> str:
        """Only a ParallelAgent lengthens the branch (`agents/parallel_agent.js`)."""
        return branch

    def narrate(self, event: Event) -> Content | None:
        """`convertForeignEvent`: thoughts, empty texts and code pass as they are."""
        assert event.content is not None
        if not event.content.parts:
            return event.content
        author = event.author
        parts = [_FOR_CONTEXT]
        for part in event.content.parts:
            if part.text and not part.thought:
                parts.append(Part(text=f"[{author}] said: {part.text}"))
            elif part.function_call is not None:
                call = part.function_call
                parts.append(Part(text=f"[{author}] called tool `{call.name}` with parameters: {js_json(call.args)}"))
            elif part.function_response is not None:
                answer = part.function_response
                parts.append(Part(text=f"[{author}] tool `{answer.name}` returned result: {js_json(answer.response)}"))
            else:
                parts.append(part)
        return Content(USER, tuple(parts))

    # what goes beside the text (agents/processors/basic_llm_request_processor.js, tools)

    def schema_by_tool(self, agent: LlmAgent, model: str) -> bool:
        """`utils/output_schema_utils.js`: whatever the model, unless the environment names Vertex AI."""
        return bool(agent.output_schema is not None and agent.tools)

    def declaration(self, tool: FunctionTool) -> dict[str, Any]:
        """`tools/function_tool.js`: the parameters as they are written; nothing about the result."""
        parameters: dict[str, Any] = {
            "type": "OBJECT",
            "properties": {parameter.name: _schema(parameter.type) for parameter in tool.parameters},
        }
        if tool.parameters:
            parameters["required"] = [parameter.name for parameter in tool.parameters if parameter.required]
        description = tool.description + (texts_js.LONG_RUNNING_NOTE if tool.long_running else "")
        return {"name": tool.name, "description": description, "parameters": parameters}

    def set_model_response_declaration(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {**texts_js.SET_MODEL_RESPONSE, "parameters": schema}

    # replies (agents/llm_agent.js)

    def reply_as_text(self, content: Content) -> Content | None:
        """`postprocess`: the arguments of `set_model_response`, declared or not, are the answer; other calls are gone."""
        for call in content.function_calls:
            if call.name == _SET_MODEL_RESPONSE:
                return Content(content.role, (Part(text=js_json(call.args)),))
        return None

    def says_nothing(self, reply: LlmResponse) -> bool:
        """`postprocess`: a content without parts is dropped; usage alone leaves an event."""
        if reply.error_code is not None or (reply.content is None and reply.usage is not None):
            return False
        return reply.content is None or not reply.content.parts

    def error_event(self, error: Exception) -> tuple[str, str] | None:
        """`runAndHandleError`: what fails once the request is built becomes a final event of the agent.

        Not so a reply that a script or a file of recorded replies lacks: no model failed.
        """
        if isinstance(error, (ReplyMissingError, CassetteMissError)):
            return None
        if isinstance(error, AgentError) and error.__cause__ is not None:
            return js_error_code(str(error.__cause__))
        if isinstance(error, AdknbError) and error.adk_message is not None:
            return js_error_code(error.adk_message)
        is_event = isinstance(error, _EVENTS) or not isinstance(error, AdknbError)
        return js_error_code(str(error)) if is_event else None

    def step_ends(self, agent: LlmAgent, last: Event, acted: bool) -> bool:
        """`runAsyncImpl`: an event without parts (an error's) after tool calls lets the model be asked again."""
        says_nothing = (
            last.author == agent.name and not last.partial and (last.content is None or not last.content.parts)
        )
        return last.is_final_response() and not (says_nothing and acted)

    counts_early_replies = False  # callLlmAsync

    def output(self, event: Event, agent: LlmAgent) -> Output | None:
        """`maybeSaveOutputToState`: of the agent's own final events, thoughts included."""
        if agent.output_key is None or event.author != agent.name or not event.is_final_response():
            return None
        if event.content is None or not event.content.parts:
            return None
        text = "".join(part.text for part in event.content.parts if part.text)
        if agent.output_schema is None:
            return Output(text)
        if not js_trim(text):
            return None
        try:
            value = js_parse(text)
        except ValueError as error:
            return Output(text, f"output_schema: stored as raw text, because it is no JSON ({error})")
        try:
            return Output(stored(value, agent.output_schema))
        except Misfit as reason:
            return Output(value, f"output_schema: stored although it does not fit: {reason}")

    def check_model_response(self, args: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing is checked; `reply_as_text` has made the arguments the answer."""
        return dict(args)

    left_step_runs_on = False

    escalate_ends_at_once = False  # agents/loop_agent.js; trace f-loop-exit

    escalate_ends_parallel = False  # agents/parallel_agent.js; trace p-par-escalate

    artifacts_make_events = False  # handleBeforeAgentCallback in agents/base_agent.js asks for a state delta alone

    # tools (agents/functions.js, tools/function_tool.js)

    def coerce(self, parameter: Parameter, value: object) -> object:
        """A schema in Gemini's words is not checked: the tool receives what the model wrote (`validateArgs`)."""
        return value

    def missing_argument(self, parameter: Parameter) -> object:
        """`undefined`, which is None here."""
        return None

    def tool_result(self, value: object) -> dict[str, Any]:
        """`normalizeCallbackResponse`: a list is named `results`."""
        return {"results": value} if isinstance(value, (list, tuple)) else super().tool_result(value)

    def leaves_unanswered(self, tool: FunctionTool, result: Mapping[str, Any] | None, failed: bool) -> bool:
        """A long-running tool that returned nothing, or raised."""
        return tool.long_running and result is None

    error_beats_after_tool = True  # handleFunctionCallList

    def tool_error(self, tool: FunctionTool, error: Exception) -> dict[str, Any]:
        return {"error": f"Error in tool '{tool.name}': {error}"}

    def unknown_tool(self, name: str, known: Collection[str]) -> dict[str, Any] | None:
        """`getToolAndContext`; the answers to calls before it are lost."""
        error = AgentError(f"the model called {name!r}, a tool that there is not.{near_names(name, known)}")
        raise error.as_adk(_ERROR, f"Function {name} is not found in the toolsDict.")

    transfer_ends_delta = False

    def join_values(self, earlier: object, later: object) -> object:
        return later


_BLANK_LINE: Final = Segment("\n\n", "separator")
_FOR_CONTEXT: Final = Part(text="For context:")
_CAMEL: Final = {"inline_data": "inlineData", "mime_type": "mimeType"}
_EVENTS: Final = (ModelError, AgentError)


def _is_visible(event: Event) -> bool:
    """`shouldIncludeEventInContext`: a content whose first part is not the empty text."""
    content = event.content
    if content is None or not content.role:
        return False
    return not content.parts or content.parts[0].text != ""


def _schema(value_type: ValueType) -> dict[str, Any]:
    if value_type.items is not None:
        return {"type": "ARRAY", "items": _schema(value_type.items)}
    if value_type.choices:
        return {"type": "STRING", "enum": list(value_type.choices)}
    return {"type": value_type.kind}


def _camel_case(value: Any) -> Any:
    if isinstance(value, dict):
        return {_CAMEL.get(name, name): _camel_case(item) for name, item in value.items()}
    return value
