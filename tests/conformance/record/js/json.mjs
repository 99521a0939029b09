/** Between the SDK's objects and the JSON of cases and traces. */
import { isFinalResponse } from '@google/adk';

/** The settings that cases and traces hold: as they spell them, and as the SDK does. */
const SETTINGS = [
  ['temperature', 'temperature'],
  ['max_output_tokens', 'maxOutputTokens'],
  ['top_p', 'topP'],
  ['stop_sequences', 'stopSequences'],
  ['response_schema', 'responseSchema'],
  ['response_json_schema', 'responseJsonSchema'],
  ['response_mime_type', 'responseMimeType'],
];

export function settingsOf(generateConfig) {
  return renamed(generateConfig ?? {}, SETTINGS);
}

function settingsJson(config) {
  return renamed(config ?? {}, SETTINGS.map(([ours, theirs]) => [theirs, ours]));
}

function renamed(values, pairs) {
  return Object.fromEntries(pairs.filter(([from]) => values[from] !== undefined).map(([from, to]) => [to, values[from]]));
}

/** Only the values that say something: no false, no 0, no empty text. */
function said(values) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value));
}

export function partOf(part) {
  if (part.function_call) {
    return { functionCall: { name: part.function_call.name, args: structuredClone(part.function_call.args) } };
  }
  if (part.executable_code) return { executableCode: { ...part.executable_code } };
  if (part.code_execution_result) return { codeExecutionResult: { ...part.code_execution_result } };
  return part.thought ? { text: part.text, thought: true } : { text: part.text };
}

function partJson(part) {
  const { functionCall: call, functionResponse: response, executableCode: code, codeExecutionResult: result } = part;
  if (call) return { function_call: { name: call.name, args: call.args ?? {} } };
  if (response) return { function_response: { name: response.name, response: response.response } };
  if (code) return { executable_code: { language: code.language, code: code.code } };
  if (result) return { code_execution_result: { outcome: result.outcome, output: result.output } };
  const text = part.text ?? '';
  return part.thought ? { text, thought: true } : { text };
}

function contentJson(content) {
  return content ? { role: content.role, parts: (content.parts ?? []).map(partJson) } : null;
}

/** What the model is sent, now: the SDK goes on to change the request. */
export function requestJson(agent, request) {
  const declared = (request.config?.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
  return structuredClone({
    agent,
    system_instruction: request.config?.systemInstruction ?? null,
    contents: request.contents.map(contentJson),
    tools: Object.keys(request.toolsDict).sort(),
    config: settingsJson(request.config),
    declarations: Object.fromEntries(declared.map((declaration) => [declaration.name, declaration])),
  });
}

export function eventJson(event) {
  const { stateDelta, escalate, skipSummarization, transferToAgent } = event.actions;
  return structuredClone({
    author: event.author,
    content: contentJson(event.content),
    state_delta: { ...stateDelta },
    final: isFinalResponse(event),
    actions: said({ escalate, skip_summarization: skipSummarization, transfer_to_agent: transferToAgent }),
    ...said({ branch: event.branch, long_running: event.longRunningToolIds?.length }),
  });
}

/** The error's class, and at most 300 characters of its message. */
export function errorJson(error) {
  const message = [...String(error?.message ?? error)].slice(0, 300).join('');
  return { type: error?.constructor?.name ?? typeof error, message };
}

/** The value with each object's keys in order, so that two recordings can be compared as text. */
export function ordered(value) {
  if (Array.isArray(value)) return value.map((item) => ordered(item) ?? null);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, ordered(value[key])]));
}
