/** A case's nodes as agents, each LlmAgent with a model that answers with the case's replies. */
import { BaseLlm, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent } from '@google/adk';
import { partOf, requestJson, settingsOf } from './json.mjs';
import { toolNamed } from './tools.mjs';

class Scripted extends BaseLlm {
  constructor(node, requests) {
    super({ model: node.model ?? 'scripted' });
    this.agent = node.name;
    this.replies = [...node.replies];
    this.requests = requests;
  }

  async *generateContentAsync(request) {
    this.requests.push(requestJson(this.agent, request));
    const reply = this.replies.shift();
    if (!reply) throw new Error('script exhausted');
    yield { content: { role: 'model', parts: reply.map(partOf) } };
  }

  async connect() {
    throw new Error('live connections are not recorded');
  }
}

/** Sets the state, and returns the text that stands for the agent's, if the case has one. */
function setState(context, values, text) {
  Object.entries(values ?? {}).forEach(([key, value]) => context.state.set(key, value));
  return text === undefined || text === null ? undefined : { role: 'model', parts: [{ text }] };
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

function parsed(value) {
  if (isObject(value)) return value;
  try {
    return JSON.parse(String(value));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function guard(spec, context) {
  const found = parsed(context.state.get(spec.key));
  const fits = isObject(found) && spec.require.every((field) => (found[field] ?? null) !== null);
  return fits ? setState(context, spec.ok_set) : setState(context, spec.fail_set, spec.return);
}

/** On every call of the model, or on the one that `when` counts from 0. */
function modelCallback(spec) {
  let calls = 0;
  return ({ context }) => {
    if ((spec.when ?? calls) !== calls++) return undefined;
    const content = setState(context, spec.set, spec.return);
    return content && { content };
  };
}

function toolCallback(spec) {
  return ({ tool, context }) => {
    if (tool.name !== (spec.tool ?? tool.name)) return undefined;
    setState(context, spec.set);
    return spec.return;
  };
}

function callbacks(node) {
  const made = {};
  const setter = (spec) => (context) => setState(context, spec.set, spec.return);
  if (node.guard) made.beforeAgentCallback = (context) => guard(node.guard, context);
  if (node.before) made.beforeAgentCallback = setter(node.before);
  if (node.after) made.afterAgentCallback = setter(node.after);
  if (node.before_model) made.beforeModelCallback = modelCallback(node.before_model);
  if (node.after_model) made.afterModelCallback = modelCallback(node.after_model);
  if (node.before_tool) made.beforeToolCallback = toolCallback(node.before_tool);
  if (node.after_tool) made.afterToolCallback = toolCallback(node.after_tool);
  return made;
}

export function agentOf(node, requests) {
  const fields = { name: node.name, ...callbacks(node) };
  if (node.description) fields.description = node.description;
  if (node.sub_agents) fields.subAgents = node.sub_agents.map((child) => agentOf(child, requests));
  if (node.type === 'sequential') return new SequentialAgent(fields);
  if (node.type === 'parallel') return new ParallelAgent(fields);
  if (node.type === 'loop') return new LoopAgent({ ...fields, maxIterations: node.max_iterations });
  return new LlmAgent({
    ...fields,
    model: new Scripted(node, requests),
    instruction: node.dynamic_instruction ? () => node.dynamic_instruction : node.instruction,
    globalInstruction: node.global_instruction,
    includeContents: node.include_contents ?? 'default',
    outputKey: node.output_key,
    outputSchema: node.output_schema,
    tools: (node.tools ?? []).map(toolNamed),
    generateContentConfig: settingsOf(node.generate_config),
    disallowTransferToParent: node.disallow_transfer_to_parent,
    disallowTransferToPeers: node.disallow_transfer_to_peers,
  });
}
