/** node record.mjs CASES.jsonl: prints what @google/adk does with each case, one JSON line a case. */
import { readFileSync } from 'node:fs';
import { InMemoryArtifactService, InMemorySessionService, LogLevel, Runner, setLogLevel } from '@google/adk';
import { agentOf } from './agents.mjs';
import { errorJson, eventJson, ordered } from './json.mjs';

const SESSION = { appName: 'app', userId: 'user-42', sessionId: 's' };

function uses(node, tool) {
  return Boolean(node.tools?.includes(tool) || node.sub_agents?.some((child) => uses(child, tool)));
}

/** A turn's parts; an answer to a long-running call names the call by its number, from the case's first. */
function partsOf(turn, asked) {
  if (typeof turn === 'string') return [{ text: turn }];
  return (turn.function_responses ?? [turn.function_response]).map(({ call, response }) => ({
    functionResponse: { id: asked[call].id, name: asked[call].name, response },
  }));
}

/** Plays the turns in one session, up to the first error. */
async function trace({ id, root, state, turns }) {
  const found = { id, requests: [], events: [], state: {}, error: null };
  const asked = [];
  const sessionService = new InMemorySessionService();
  // An artifact that is read without a service is an error, which some cases show; so only where one is saved.
  const artifactService = uses(root, 'save_note') ? new InMemoryArtifactService() : undefined;
  try {
    const agent = agentOf(root, found.requests);
    const runner = new Runner({ appName: SESSION.appName, agent, sessionService, artifactService });
    await sessionService.createSession({ ...SESSION, state: structuredClone(state ?? {}) });
    for (const turn of turns) {
      const newMessage = { role: 'user', parts: partsOf(turn, asked) };
      for await (const event of runner.runAsync({ ...SESSION, newMessage })) {
        found.events.push(eventJson(event));
        const calls = (event.content?.parts ?? []).flatMap((part) => part.functionCall ?? []);
        asked.push(...calls.filter((call) => event.longRunningToolIds?.includes(call.id)));
      }
    }
  } catch (error) {
    found.error = errorJson(error);
  }
  found.state = (await sessionService.getSession(SESSION))?.state ?? {};
  return found;
}

setLogLevel(LogLevel.ERROR + 1);
for (const line of readFileSync(process.argv[2], 'utf8').split('\n')) {
  if (line.trim()) console.log(JSON.stringify(ordered(await trace(JSON.parse(line)))));
}
