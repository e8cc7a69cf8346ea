/** A server with a tool of each kind, whose slow ones end when the test lets them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { RegisteredTool } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { startServer } from '../../imports/host/node/startServer';
import type { RunningServer } from '../../imports/host/node/startServer';
import { deferred } from './deferred';
import { recordEvents } from './recordEvents';
import type { EventRecord } from './recordEvents';
import { simulatedVendors } from './simulatedVendors';

export interface ChatServer extends RunningServer {
  readonly events: EventRecord;
  /** Ends the calls of `wait_for` and `research_topic` in progress, and lets the next ones end at once. */
  release(): void;
  /** Lets the next ones wait again. */
  hold(): void;
  /** Issues a token of the user. */
  tokenOf(userId: string): Promise<string>;
}

const object = (property: string): object => ({
  type: 'object',
  properties: { [property]: { type: 'string' } },
  required: [property],
});

export async function startChatServer(more: readonly RegisteredTool[] = []): Promise<ChatServer> {
  let gate = deferred<undefined>();
  const tools = new ToolRegistry()
    .register({
      name: 'get_weather',
      parameters: object('city'),
      idempotent: true,
      execute: ({ city }: { city: string }) => ({ city, sky: 'clear' }),
    })
    .register({
      name: 'wait_for',
      parameters: object('what'),
      idempotent: true,
      execute: ({ what }: { what: string }) => gate.promise.then(() => `${what} is here`),
    })
    .register({
      name: 'research_topic',
      blocking: false,
      idempotent: true,
      parameters: object('topic'),
      execute: ({ topic }: { topic: string }, { progress }) => {
        progress(0.5, 'half');
        return gate.promise.then(() => ({ findings: [topic] }));
      },
    })
    .register({
      name: 'send_reminder',
      needsApproval: true,
      parameters: object('text'),
      execute: ({ text }: { text: string }) => ({ noted: text }),
    })
    .register({ name: 'ask_browser', kind: 'external', parameters: object('question') });
  for (const tool of more) tools.register(tool);
  const directory = await mkdtemp(join(tmpdir(), 'bolide-chat-'));
  // Without the pauses of the simulator that a server without keys starts.
  const simulator = await startSimulator();
  const server = await startServer({
    env: {
      ...simulatedVendors(simulator),
      PORT: '0',
      DATA_DIR: directory,
    },
    tools,
    dashboard: false,
  });
  return {
    ...server,
    events: recordEvents(server.host.module.loop),
    release: () => gate.resolve(undefined),
    hold: () => {
      gate = deferred();
    },
    tokenOf: async (userId) =>
      (await server.host.apiTokens.tokens.issue({ userId, name: 'test', scopes: ['admin'] })).token,
    async close() {
      gate.resolve(undefined);
      await server.close();
      await simulator.close();
      await rm(directory, { recursive: true });
    },
  };
}
