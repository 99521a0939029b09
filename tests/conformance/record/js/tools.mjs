/** The tools that a case may name. */
import { FunctionTool, LongRunningFunctionTool } from '@google/adk';

const texts = (...names) => ({
  type: 'OBJECT',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'STRING' }])),
  required: names,
});

const typed = {
  type: 'OBJECT',
  properties: {
    n: { type: 'INTEGER' },
    x: { type: 'NUMBER' },
    flag: { type: 'BOOLEAN' },
    items: { type: 'ARRAY', items: { type: 'STRING' } },
    opts: { type: 'OBJECT' },
  },
  required: ['n', 'items', 'opts'],
};

const TOOLS = {
  read_state: {
    description: 'Read a value from session state by key.',
    parameters: texts('key'),
    execute: ({ key }, context) => ({ value: String(context.state.get(key) ?? '') }),
  },
  write_state: {
    description: 'Write a value to session state.',
    parameters: texts('key', 'value'),
    execute: ({ key, value }, context) => {
      context.state.set(key, value);
      return { ok: true };
    },
  },
  echo: { description: 'Echo the text.', parameters: texts('text'), execute: ({ text }) => ({ echo: text }) },
  exit_loop: {
    description: 'Leave the loop.',
    execute: (_, context) => {
      context.actions.escalate = true;
      return {};
    },
  },
  finish: {
    description: 'Finish with a result.',
    parameters: texts('text'),
    execute: ({ text }, context) => {
      context.actions.skipSummarization = true;
      return { result: text };
    },
  },
  fail: {
    description: 'Fail.',
    parameters: texts('text'),
    execute: ({ text }) => {
      throw new Error(`tool failed: ${text}`);
    },
  },
  typed: {
    description: 'Typed arguments.',
    parameters: typed,
    execute: ({ n, x = 1.5, flag = false, items, opts }) => ({ n, x, flag, items, opts }),
  },
  save_note: {
    description: 'Save a note.',
    parameters: texts('name', 'text'),
    execute: async ({ name, text }, context) => {
      await context.saveArtifact(name, { text });
      return { ok: true };
    },
  },
};

const LONG_RUNNING = {
  ask: { description: 'Ask a person.', parameters: texts('question'), execute: () => ({ status: 'pending' }) },
  ask_none: { description: 'Ask a person later.', parameters: texts('question'), execute: () => undefined },
};

export function toolNamed(name) {
  if (name in LONG_RUNNING) return new LongRunningFunctionTool({ name, ...LONG_RUNNING[name] });
  if (name in TOOLS) return new FunctionTool({ name, ...TOOLS[name] });
  throw new Error(`no case may name the tool ${name}`);
}
