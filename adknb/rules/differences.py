"""Where the ADKs differ, said for a reader: one row a point, named after the rule in `Rules` that decides it.

`case` is a recorded case whose traces show the difference, or come nearest to it.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Difference(NamedTuple):
    """One point. `sentence` says what it is about, `java`, `go` and `js` what each ADK does, `source` in which files."""

    name: str
    sentence: str
    java: str
    go: str
    js: str
    source: str
    case: str


DIFFERENCES: Final = (
    # names, placeholders, values
    Difference(
        "check_names", "Which names agents may have",
        "letters and digits with single separators; not user; siblings differ",
        "any; once in the whole tree",
        "a JavaScript identifier, hyphens too; not user; twice is fine",
        "Java BaseAgent; Go internal/agent/parentmap; JS agents/base_agent.js", "name-bad",
    ),
    Difference(
        "parse", "Which keys a placeholder can name",
        "Java identifiers", "letters of any script, digits, _", "ASCII letters, digits, _; required once is required at all",
        "Java InstructionUtils; Go instruction_processor.go; JS agents/instructions.js", "placeholder-dollar-ident",
    ),
    Difference(
        "text_of", "How a value reads that is no text",
        "{a=1, b=[x, null]}, 2.0", "map[a:1 b:[x <nil>]], 2", '{"a":1,"b":["x",null]}, 2',
        "Java String.valueOf; Go %v; JS JSON.stringify", "value-nested",
    ),
    Difference(
        "check_state_value", "null as a state value", "an error", "allowed, reads empty", "allowed, reads null",
        "Java ConcurrentHashMap; Go session/inmemory.go; JS sessions/state.js", "value-null",
    ),
    Difference(
        "missing", "The error for a required key that nobody wrote",
        "names the key", "does not name the key", "names the key",
        "Java InstructionUtils; Go instruction_processor.go; JS agents/instructions.js", "placeholder-required-missing",
    ),
    Difference(
        "text_without_value", "A key that nobody wrote, named as what every JavaScript object inherits: toString",
        "is missing", "is missing", "inserts function toString() { [native code] }",
        "JS agents/instructions.js", "x-js-proto-toString",
    ),
    Difference(
        "keys_are_missed_first", "A required artifact that is missing before a required key that is, too",
        "the artifact's error", "the artifact's error", "the key's error",
        "JS agents/instructions.js", "x-js-artifact-before-state",
    ),
    Difference(
        "in_global_instruction", "The error for a required key in a global_instruction",
        "as in an instruction", "says that it is the global one", "as in an instruction",
        "Go instruction_processor.go, appendGlobalInstructions", "go-global-missing",
    ),
    Difference(
        "artifact_text", "How an artifact reads in an instruction",
        "the part as JSON", "its text", "its text; other parts as JSON",
        "Java Part.toJson; Go instruction_processor.go; JS agents/instructions.js", "f-artifact-saved-and-read",
    ),
    # state
    Difference(
        "start_state", "temp: values that a session is given to start with",
        "kept", "kept for ever", "dropped",
        "Go session/inmemory.go; JS sessions/base_session_service.js", "x-js-temp-start",
    ),
    Difference(
        "strips_temp_keys", "temp: keys in events", "stand in them", "stand in them", "are taken out",
        "JS sessions/base_session_service.js", "outkey-temp-prefix",
    ),
    Difference(
        "temp_keys", "temp: keys at a turn's end",
        "discarded by contract; the in-memory service keeps them", "what the session was made with comes back", "gone",
        "Java BaseSessionService; Go session/inmemory.go; JS sessions/in_memory_session_service.js", "temp-across-turns",
    ),
    Difference(
        "keeps_unsaid_state", "State that a callback or tool wrote and no event says",
        "stays", "is gone after the turn", "is gone after the turn",
        "Go session/inmemory.go; JS sessions/in_memory_session_service.js", "x-js-unknown-then-write",
    ),
    # the system instruction
    Difference(
        "identity", "What an agent is told that it is",
        "name and description raw, one paragraph", "both quoted as Go's %q does",
        "two paragraphs, no full stop at the end; nothing for one that can transfer to nobody, as with an output_schema",
        "Java Identity; Go identity_request_processor.go; JS identity_llm_request_processor.js", "description-in-identity",
    ),
    Difference(
        "system", "The order of the system instruction",
        "schema note, global, own, identity, transfer", "global, own, identity, schema note, transfer",
        "identity, global, own, schema note, transfer; what follows an empty text takes its place",
        "Java LlmRequest; Go utils.AppendInstructions; JS models/llm_request.js", "f-global",
    ),
    Difference(
        "own_global_instruction", "The global_instruction of a sub-agent below a workflow root",
        "does not count", "counts for that agent", "does not count",
        "Go instruction_processor.go, instructionsRequestProcessor", "f-global-on-sub",
    ),
    Difference(
        "empty_function_text_counts", "An instruction function that returns no text",
        "leaves nothing", "leaves a part", "leaves a blank line",
        "Go utils.AppendInstructions; JS instructions_llm_request_processor.js", "f-dynamic",
    ),
    # transfer
    Difference(
        "transfer_text", "What an agent is told about its transfer targets",
        "the list, a note of their names", "other line breaks and wording", "no note; a sentence of its own on the parent",
        "Java AgentTransfer; Go agent_transfer.go; JS agent_transfer_llm_request_processor.js", "f-transfer",
    ),
    Difference(
        "transfer_declaration", "How transfer_to_agent is declared",
        "agent_name", "agent_name, an enum of the targets", "agentName",
        "Java AgentTransfer; Go agent_transfer.go; JS agent_transfer_llm_request_processor.js", "f-transfer",
    ),
    Difference(
        "transfer_arguments", "The argument that transfer_to_agent reads", "agent_name", "agent_name",
        "agentName; any other call is answered with zod's error",
        "JS agent_transfer_llm_request_processor.js", "f-transfer",
    ),
    Difference(
        "transfer_answer", "What transfer_to_agent answers", "{}", "{}", '{"result": "Transfer queued"}',
        "JS agent_transfer_llm_request_processor.js", "f-transfer",
    ),
    Difference(
        "may_transfer_to_parent", "Transfer to the parent for an agent with an output_schema",
        "allowed", "allowed", "not allowed", "JS agents/llm_agent.js, the constructor", "x-js-schema-parent",
    ),
    Difference(
        "may_transfer_to_peers", "Transfer to peers for an agent with an output_schema",
        "allowed", "allowed", "not allowed", "JS agents/llm_agent.js, the constructor", "p-schema-and-subs",
    ),
    Difference(
        "carries_out_transfer", "A transfer to an agent of the tree that is not among the targets",
        "is carried out", "ends the run: failed to find agent", "is carried out",
        "Java AgentTransfer; Go base_flow.go, agentToRun", "p-to-deep",
    ),
    Difference(
        "no_target", "A transfer to an agent that there is not",
        "ends the run: Agent not found", "ends the run: failed to find agent",
        "becomes a final event: not found in the agent tree",
        "Java AgentTransfer; Go base_flow.go; JS agents/llm_agent.js", "f-transfer-unknown",
    ),
    Difference(
        "answer_goes_to_asker", "Who runs when the user answers a long-running call",
        "the agent that asked", "the agent that asked, below a workflow agent the root",
        "the root, or the agent that the conversation was transferred to",
        "Java Runner; Go runner.Run; JS runner/runner.js", "f-long-running-default",
    ),
    # history
    Difference(
        "contents", "Another agent's thoughts in the history",
        "left out", "narrated like any text", "passed on as thoughts",
        "Java Contents; Go contents_processor.go; JS content_processor_utils.js", "thought-in-history-default",
    ),
    Difference(
        "contents", "How another agent's tool result is narrated",
        "[A] `f` tool returned result: …", "as Java, keys sorted and HTML escaped", "[A] tool `f` returned result: …",
        "Java Contents; Go contents_processor.go; JS content_processor_utils.js", "tool-then-next-default",
    ),
    Difference(
        "contents", "What an event with empty text leaves",
        "a content; another agent's nothing", "nothing; another agent's For context: alone",
        "nothing, when the empty text comes first",
        "Java Contents; Go contents_processor.go; JS content_processor_utils.js", "outkey-empty-text",
    ),
    Difference(
        "contents", "Where include_contents none begins",
        "the last event of another author, whatever it holds", "as Java",
        "the last visible event of another author, with the calls that are answered after it",
        "Java Contents; Go contents_processor.go; JS content_processor_utils.js", "none-after-thought-only",
    ),
    Difference(
        "contents", "A history that does not end on the user's side",
        "is sent as it is", "gets a made-up user turn", "is sent as it is",
        "Go contents_processor.go", "loop-none",
    ),
    Difference(
        "contents", "How branches are compared", "as text: fan.AB sees fan.A", "name by name", "name by name",
        "Java Contents; Go contents_processor.go; JS utils/branch_trie.js", "par-prefix-bug",
    ),
    Difference(
        "nested_branch", "The branch of an agent inside a sequence inside a parallel",
        "its own: steps there do not see each other", "the sequence's", "the sequence's: steps there see each other",
        "Java BaseAgent; Go parallelagent; JS agents/parallel_agent.js", "par-seq-none",
    ),
    # what goes beside the text
    Difference(
        "declaration", "How a tool is declared",
        "parameters and response as Gemini schemas", "parametersJsonSchema and responseJsonSchema",
        "parameters alone; a long-running one says so in its description",
        "Java FunctionCallingUtils; Go functiontool/function.go; JS tools/function_tool.js", "f-declarations",
    ),
    Difference(
        "schema_by_tool", "When set_model_response asks for the answer: a schema and tools, and",
        "a gemini-2 model", "any gemini model", "any model",
        "Java OutputSchema; Go outputschema_processor.go; JS utils/output_schema_utils.js", "schema-with-tools",
    ),
    Difference(
        "config", "Numbers of the config", "32-bit floats", "32-bit floats, no zero", "as they are",
        "Java GenerateContentConfig; Go genai.GenerateContentConfig; JS basic_llm_request_processor.js", "f-config",
    ),
    Difference(
        "schema_note", "The text that goes with set_model_response", "IMPORTANT: …", "IMPORTANT: …",
        "To output the final result, …", "JS instructions_llm_request_processor.js", "f-schema-and-tools",
    ),
    Difference(
        "set_model_response_declaration", "How set_model_response is declared",
        "parameters", "parametersJsonSchema", "parameters, in other words",
        "Java SetModelResponseTool; Go outputschema_processor.go; JS agents/llm_agent.js", "f-schema-and-tools",
    ),
    # replies
    Difference(
        "reply_as_text", "A call of set_model_response",
        "is a call, a response, then the final text", "is a call, a response, then the final text",
        "is replaced by the final text at once; other calls beside it are gone",
        "JS agents/llm_agent.js, postprocess", "g-schema-tools-set-gemini-2.5-flash",
    ),
    Difference(
        "model_response_text", "How that final text is written",
        "Jackson's JSON", "as Java, keys sorted and HTML escaped", "JSON.stringify",
        "Java SetModelResponseTool; Go go_json; JS agents/llm_agent.js", "g-schema-tools-set-gemini-2.5-flash",
    ),
    Difference(
        "model_response_before_transfer", "That final text beside a transfer in the same reply",
        "comes after the target's events", "comes before them", "is all there is",
        "Java BaseLlmFlow; Go base_flow.go, runOneStep", "go-answer-and-transfer",
    ),
    Difference(
        "check_model_response", "Arguments of set_model_response that do not fit",
        "end the run", "become the final text, as an error", "are the answer",
        "Java SetModelResponseTool; Go outputschema_processor.go; JS agents/llm_agent.js",
        "g-schema-tools-bad-gemini-2.5-flash",
    ),
    Difference(
        "output", "Which events write the output_key",
        "final ones with text", "every one: a call's writes an empty text (go_fixed: final ones)",
        "the agent's own final ones, thoughts included",
        "Java LlmAgent; Go llmagent.go; JS agents/llm_agent.js", "clobber-shared-key-default",
    ),
    Difference(
        "output", "A reply that does not fit the output_schema",
        "is stored raw", "is stored raw, as one that fits is", "is stored parsed; raw when it is no JSON",
        "Java LlmAgent; Go llmagent.go; JS agents/llm_agent.js", "schema-wrong-type",
    ),
    Difference(
        "step_ends", "After a reply of thoughts alone", "the step ends", "the model is called again", "the step ends",
        "Go base_flow.go", "outkey-only-thought",
    ),
    Difference(
        "says_nothing", "A reply without parts", "leaves an event", "leaves an event", "leaves none",
        "JS agents/llm_agent.js, postprocess", "empty-return",
    ),
    Difference(
        "error_event", "A model that fails",
        "ends the run", "ends the run", "leaves a final event without content, and the run goes on",
        "JS agents/llm_agent.js, runAndHandleError", "exhausted",
    ),
    Difference(
        "counts_early_replies", "A request that a before_model_callback answers",
        "counts as a call of the model", "counts as a call of the model", "does not count",
        "JS agents/llm_agent.js, callLlmAsync", "f-before-model-returns",
    ),
    # loops and parallels
    Difference(
        "escalate_ends_at_once", "A loop whose child escalates",
        "ends on that event", "lets the child finish: its model is called again",
        "lets the child finish: its model is called again",
        "Java LoopAgent; Go loopagent; JS agents/loop_agent.js", "f-loop-exit",
    ),
    Difference(
        "escalate_ends_parallel", "A parallel whose child escalates", "ends", "goes on", "goes on",
        "Java ParallelAgent; Go parallelagent; JS agents/parallel_agent.js", "p-par-escalate",
    ),
    Difference(
        "loop_limit", "A loop with max_iterations 0", "never runs", "has no limit", "never runs",
        "Java LoopAgent; Go loopagent; JS agents/loop_agent.js", "go-loop-without-end",
    ),
    Difference(
        "failed_in_parallel", "An error in a parallel's child",
        "is told as it is", "is told with the child's name before it", "becomes an event",
        "Go parallelagent", "go-failed-in-parallel",
    ),
    Difference(
        "left_step_runs_on", "A transfer target that leaves the loop of the agent it came from",
        "is asked once more, and not heard", "does not stop before its end", "does not stop before its end",
        "Java BaseLlmFlow; JS agents/loop_agent.js", "f-loop-exit",
    ),
    Difference(
        "artifacts_make_events", "An agent callback that only saves an artifact",
        "leaves an event", "leaves none", "leaves none",
        "Java BaseAgent; JS agents/base_agent.js", "f-artifact-saved-and-read",
    ),
    # tools
    Difference(
        "coerce", "A tool's argument of the wrong type",
        "is converted, or answered with an error", "is answered with an error", "reaches the tool as it is",
        "Java FunctionTool; Go functiontool/function.go; JS tools/function_tool.js", "p-typed-wrong",
    ),
    Difference(
        "arguments", "An argument that the tool does not have",
        "is ignored", "is answered with an error", "is ignored",
        "Java FunctionTool; Go functiontool/function.go; JS tools/function_tool.js", "p-typed-extra",
    ),
    Difference(
        "missing_argument", "A required argument that is missing",
        "is answered with an error", "is answered with an error", "reaches the tool as undefined (None here)",
        "Java FunctionTool; Go functiontool/function.go; JS tools/function_tool.js", "tool-missing-arg",
    ),
    Difference(
        "tool_result", "A tool that returns a list", "{result: …}", "{result: …}", "{results: …}",
        "JS agents/functions.js", "f-tool-typed",
    ),
    Difference(
        "leaves_unanswered", "A long-running call whose tool raises",
        "is answered with the error", "is answered with the error", "gets no answer",
        "JS agents/functions.js", "f-long-running-none-result-default",
    ),
    Difference(
        "error_beats_after_tool", "An after_tool_callback on a tool that raised",
        "replaces the error", "replaces the error", "does not replace it", "JS agents/functions.js", "x-js-fail-long",
    ),
    Difference(
        "tool_error", "The answer to a call whose tool raised",
        "An internal error occurred.", "the error's text", "Error in tool 'f': and the error's text",
        "Java Functions; Go base_flow.go; JS tools/function_tool.js", "f-tool-raises",
    ),
    Difference(
        "unknown_tool", "A call of a tool that there is not",
        "gets no answer", "is answered with an error", "ends the step's tools with an event; the model is asked again",
        "Java Functions; Go base_flow.go; JS agents/functions.js", "unknown-tool",
    ),
    Difference(
        "transfer_ends_delta", "State that an after_tool_callback sets on a transfer",
        "is missing from the event", "stands in the event", "stands in the event",
        "Java Functions; JS agents/functions.js", "f-transfer",
    ),
    Difference(
        "join_values", "One key that two tools of a reply set to objects",
        "merged field by field", "merged field by field", "the later one wins",
        "Java EventActions; Go base_flow.go; JS events/event_actions.js", "p-merge-maps",
    ),
)  # fmt: skip
"""Every point in which a rule set differs from another."""
