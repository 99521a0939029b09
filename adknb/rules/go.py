"""ADK Go's rules, read off its source and traces recorded from `google.golang.org/adk/v2` v2.2.0."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from adknb.core.content import Part
from adknb.core.errors import (
    AdknbError,
    AgentNameError,
    MissingArtifactError,
    MissingKeyError,
    NotSupported,
    TransferError,
    near_names,
)
from adknb.core.events import Event
from adknb.core.requests import Segment
from adknb.core.specs import BaseAgent, IncludeContents, LlmAgent
from adknb.core.state import APP_PREFIX, TEMP_PREFIX, USER_PREFIX, check_value
from adknb.core.tools import FunctionTool, Parameter
from adknb.rules import go_history, texts_go
from adknb.rules.base import Output, Placeholder, Rules, Sections, Sourced, Template
from adknb.rules.go_schema import as_decoded, as_sent, checked_arguments, parameters_schema, validate_map, value_schema
from adknb.rules.go_values import go_is_identifier, go_json, go_quote, go_text, go_trim
from adknb.rules.placeholders import pieces
from adknb.rules.values import java_float

_ARTIFACT: Final = "artifact."
_PREFIXES: Final = (APP_PREFIX, USER_PREFIX, TEMP_PREFIX)
_PLAIN_INTEGERS: Final = ("max_output_tokens", "candidate_count")
"""Fields of `genai.GenerateContentConfig` that are no pointers: 0 is left out."""

_TRANSFER: Final = "transfer_to_agent"
_IN_INSTRUCTION: Final = "failed to append instructions: failed to inject session state into instruction: "
_IN_GLOBAL: Final = "failed to append global instructions: failed to inject session state into global instruction: "
_BLANK_LINE: Final = Segment("\n\n", "separator")
_NEXT_PART: Final = Segment("", "separator")


class GoRules(Rules):
    """ADK Go. Each method names the file of the SDK that it follows."""

    name = "go"
    sdk = "google.golang.org/adk/v2 v2.2.0"
    temp_keys = (
        "restore"  # `session/inmemory.go`: every turn starts from what was stored, which lacks deltas of `temp:`
    )
    keeps_unsaid_state = False
    schema_note = texts_go.GO_SCHEMA_NOTE

    def check_names(self, root: BaseAgent) -> None:
        """`internal/agent/parentmap`: every name once in the whole tree; any name will do."""
        seen = {root.name}
        if not all(agent.name for agent in root.walk()):
            raise NotSupported(
                "an agent without a name: ADK Go takes its events for its parent's. That is not reproduced. Name it."
            )
        for agent in list(root.walk())[1:]:
            if agent.name in seen:
                message = f"agent names must be unique in the agent tree, found duplicate: {go_quote(agent.name)}"
                raise AgentNameError(
                    f"two agents of {root.name!r} are named {agent.name!r}: ADK Go wants every name once in the whole tree. "
                    "Rename one."
                ).as_adk("*fmt.wrapError", f"failed to create agent tree: {message}")
            seen.add(agent.name)

    # placeholders and values (internal/llminternal/instruction_processor.go)

    def parse(self, instruction: str) -> Template:
        return pieces(instruction, self.placeholder)

    def placeholder(self, match: str) -> Placeholder | None:
        """`replaceMatch`: what a match stands for, or None when it passes through as text."""
        name = go_trim(match.strip("{}"))
        optional = name.endswith("?")
        name = name.removesuffix("?")
        if name.startswith(_ARTIFACT):
            return Placeholder(match, name[len(_ARTIFACT) :], optional, artifact=True)
        prefix, colon, rest = name.partition(":")
        valid = go_is_identifier(rest) if colon and prefix + colon in _PREFIXES else go_is_identifier(name)
        return Placeholder(match, name, optional) if valid else None

    def text_of(self, value: object) -> str:
        return "" if value is None else go_text(value)

    def artifact_text(self, artifact: Part) -> str:
        return artifact.text or ""

    def check_state_value(self, key: str, value: object) -> None:
        check_value(key, value)

    def missing(self, placeholder: Placeholder, agent: str, known: Collection[str]) -> AdknbError:
        """Go's own message does not name the key."""
        if placeholder.artifact:
            return MissingArtifactError(
                f"agent {agent!r}: the instruction needs the artifact {placeholder.name!r}, which nobody saved. Save it in "
                f"an earlier step, or make it optional: {{{_ARTIFACT}{placeholder.name}?}}"
            ).as_adk(
                "*fmt.wrapError",
                f"{_IN_INSTRUCTION}failed to load artifact {placeholder.name}: artifact not found: file does not exist",
            )
        return MissingKeyError(
            f"agent {agent!r}: the instruction needs the state key {placeholder.name!r}, which nobody wrote."
            f"{near_names(placeholder.name, known)} Write it in an earlier step (output_key={placeholder.name!r}), start with it "
            f"(state={{{placeholder.name!r}: …}}), or make it optional: {{{placeholder.name}?}}",
            placeholder.name,
        ).as_adk("*fmt.wrapError", f"{_IN_INSTRUCTION}state key does not exist")

    def in_global_instruction(self, error: AdknbError) -> AdknbError:
        if error.adk_type is None or error.adk_message is None:
            return error
        return error.as_adk(error.adk_type, error.adk_message.replace(_IN_INSTRUCTION, _IN_GLOBAL))

    # the system instruction (identity_request_processor.go, utils.AppendInstructions)

    own_global_instruction = True
    empty_function_text_counts = True

    def identity(self, agent: LlmAgent) -> str:
        text = f"You are an agent. Your internal name is {go_quote(agent.name)}."
        return f"{text} The description about you is {go_quote(agent.description)}." if agent.description else text

    def transfer_text(self, agent: LlmAgent, targets: Sequence[BaseAgent], parent: BaseAgent | None) -> str:
        may_return = parent is not None and self.may_transfer_to_parent(agent)
        return texts_go.go_transfer(
            [(target.name, target.description or "") for target in targets],
            parent.name if parent is not None and may_return else None,
        )

    def system(self, sections: Sections) -> list[Segment]:
        """What follows an empty part is a part of its own (trace `optional-resolves-empty-instr`)."""
        given, result = sections, list[Segment]()
        last_part = None
        for section in (given.global_instruction, given.instruction, given.identity, given.schema_note, given.transfer):
            if section is None:
                continue
            text = "".join(segment.text for segment in section)
            if last_part is not None:
                result.append(_BLANK_LINE if last_part else _NEXT_PART)
            result += section
            last_part = f"{last_part}\n\n{text}" if last_part else text
        return result

    # transfer (agent_transfer.go, base_flow.go)

    def arguments(self, tool: FunctionTool, args: Mapping[str, Any]) -> dict[str, object]:
        if tool.name != _TRANSFER:
            return checked_arguments(tool, args)
        name = args.get("agent_name")
        if not isinstance(name, str) or not name:
            raise ValueError(f"empty agent_name: {go_text(args)}")
        return {"agent_name": name}

    def carries_out_transfer(self, target: BaseAgent, parent: BaseAgent | None, listed: bool) -> bool:
        """`agentToRun`: only a listed target. `RunLLMAgentAsNode` makes an agent single-turn that has no LLM parent."""
        if listed and isinstance(target, LlmAgent) and parent is not None and not isinstance(parent, LlmAgent):
            raise NotSupported(
                f"a transfer back to {target.name!r}, below the workflow agent {parent.name!r}: ADK Go turns it into a "
                "single-turn agent, without identity and history, from then on. That is not reproduced. Make it the root, or "
                "disallow_transfer_to_parent in its sub-agents."
            )
        return listed

    def no_target(self, error: TransferError, name: str) -> AdknbError:
        return error.as_adk("*errors.errorString", f"failed to find agent: {name}")

    def answer_goes_to_asker(self, root: BaseAgent) -> bool:
        """`runner.Run`: below a workflow agent every turn starts over at the root (traces `f-long-running-*`)."""
        return isinstance(root, LlmAgent)

    # history (contents_processor.go)

    def contents(
        self, agent: LlmAgent, model: str, branch: str | None, events: Sequence[Event], include: IncludeContents
    ) -> list[Sourced]:
        return go_history.contents(self.name, agent.name, branch, events, include)

    def nested_branch(self, branch: str, name: str) -> str:
        """Only parallels add to it (`parallelagent`; trace `par-nested-seq`)."""
        return branch

    # what goes beside the text (basic_processor.go, outputschema_processor.go, functiontool/function.go)

    def schema_by_tool(self, agent: LlmAgent, model: str) -> bool:
        """`NeedsOutputSchemaProcessor`, for the Gemini API: any Gemini model."""
        is_gemini = model.rpartition("/")[2].lower().startswith("gemini-")
        return agent.output_schema is not None and bool(agent.tools) and is_gemini

    def config(self, agent: LlmAgent, model: str) -> dict[str, Any]:
        """`genai.GenerateContentConfig` holds 32-bit floats, and tells no 0 or empty list from what is not set."""
        sent: dict[str, Any] = {}
        for name, value in super().config(agent, model).items():
            if name == "response_schema":
                sent[name] = as_sent(value)
            elif isinstance(value, float):
                sent[name] = _single(value)
            elif value not in ("", [], {}) and not (name in _PLAIN_INTEGERS and value == 0):
                sent[name] = value
        return sent

    def declaration(self, tool: FunctionTool) -> dict[str, Any]:
        note = f"\n\n{texts_go.GO_LONG_RUNNING}" if tool.long_running else ""
        answer = (
            {"type": "object", "additionalProperties": True} if tool.returns is None else value_schema(tool.returns)
        )
        return {
            "name": tool.name,
            "description": tool.description + note,
            "parametersJsonSchema": parameters_schema(tool),
            "responseJsonSchema": answer,
        }

    def transfer_declaration(self, targets: Sequence[BaseAgent]) -> dict[str, Any]:
        agent_name = {
            "type": "STRING",
            "description": "the agent name to transfer to",
            "enum": [target.name for target in targets],
        }
        return {
            "name": _TRANSFER,
            "description": texts_go.GO_TRANSFER,
            "parameters": {"type": "OBJECT", "properties": {"agent_name": agent_name}, "required": ["agent_name"]},
        }

    def set_model_response_declaration(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "name": "set_model_response",
            "description": texts_go.GO_SET_MODEL_RESPONSE,
            "parametersJsonSchema": as_sent(schema),
        }

    # replies (llmagent.go, base_flow.go)

    def step_ends(self, agent: LlmAgent, last: Event, acted: bool) -> bool:
        """`Flow.Run`, `isThoughtOnlyTurn`: after thoughts alone the model is called again (trace `outkey-only-thought`)."""
        if not last.is_final_response():
            return False
        parts = last.content.parts if last.content is not None else ()
        return not parts or not all(part.thought for part in parts)

    def output(self, event: Event, agent: LlmAgent) -> Output | None:
        """`maybeSaveOutputToState`: every event of the agent writes, a call's and a response's too: then an empty text.

        With an output_schema blank text is not written, and nothing is checked.
        """
        if agent.output_key is None or event.author != agent.name or event.content is None or not event.content.parts:
            return None
        text = event.text
        return Output(text) if agent.output_schema is None or go_trim(text) else None

    def check_model_response(self, args: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
        """What does not fit is answered with an error, which then is the final text (trace `g-schema-tools-bad-*`)."""
        try:
            validate_map(args, schema)
        except ValueError as error:
            return {"error": f"invalid output schema: {error}"}
        return dict(args)

    def model_response_text(self, response: Mapping[str, Any]) -> str:
        return go_json(response)

    model_response_before_transfer = True
    left_step_runs_on = False
    escalate_ends_at_once = False
    escalate_ends_parallel = False
    artifacts_make_events = False

    def loop_limit(self, max_iterations: int | None) -> int | None:
        """`loopagent`: 0 means no limit."""
        return max_iterations or None

    def failed_in_parallel(self, child: str, error: AdknbError) -> AdknbError:
        """`parallelagent`, `run`."""
        if error.adk_type is None:
            return error
        return error.as_adk("*fmt.wrapError", f"failed to run sub-agent {go_quote(child)}: {error.adk_message}")

    # tools (base_flow.go)

    def coerce(self, parameter: Parameter, value: object) -> object:
        """Go does not: `arguments` checks them all at once, as they are."""
        return value

    def tool_result(self, value: object) -> dict[str, Any]:
        """`typeutil.ConvertToWithJSONSchema`: the result's way through JSON leaves a float64 of a number."""
        return {name: as_decoded(item) for name, item in super().tool_result(value).items()}

    def leaves_unanswered(self, tool: FunctionTool, result: Mapping[str, Any] | None, failed: bool) -> bool:
        """An empty answer is one; only none at all leaves a long-running call open."""
        return tool.long_running and result is None and not failed

    def tool_error(self, tool: FunctionTool, error: Exception) -> dict[str, Any]:
        return {"error": str(error)}

    def unknown_tool(self, name: str, known: Collection[str]) -> dict[str, Any] | None:
        return {"error": texts_go.go_unknown_tool(name, known)}

    transfer_ends_delta = False

    def join_values(self, earlier: object, later: object) -> object:
        """`deepMergeMap`: objects are merged field by field."""
        if not isinstance(earlier, Mapping) or not isinstance(later, Mapping):
            return later
        merged = dict(earlier)
        for key, value in later.items():
            merged[key] = self.join_values(merged[key], value) if key in merged else value
        return merged


class GoFixedRules(GoRules):
    """ADK Go with one line changed: `IsFinalResponse()` in place of `!Partial` in `maybeSaveOutputToState`."""

    name = "go_fixed"
    sdk = "google.golang.org/adk/v2 v2.2.0, output_key on final events only"

    def output(self, event: Event, agent: LlmAgent) -> Output | None:
        return super().output(event, agent) if event.is_final_response() else None


def _single(value: float) -> float | int:
    single = java_float(value)
    return int(single) if single.is_integer() else single
