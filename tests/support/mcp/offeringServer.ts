/** The plain-Node host with tools of its own, which it offers over MCP, and clients of the official SDK. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { startServer } from '../../../imports/host/node/startServer';
import type { RunningServer } from '../../../imports/host/node/startServer';
import type { Environment } from '../../../imports/host/settings/environment';

export const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18'] as const;

/** What the tools have done. */
export interface OfferedState {
  readonly sent: { readonly text: string; readonly userId: string; readonly callId: string }[];
  readonly aborted: string[];
  /** Called when `wait` begins. */
  onWait: () => void;
}

export function createOfferedTools(): { readonly tools: ToolRegistry; readonly state: OfferedState } {
  const state: OfferedState = { sent: [], aborted: [], onWait: () => undefined };
  const tools = new ToolRegistry()
    .register({
      name: 'add',
      description: 'Adds two numbers.',
      readOnly: true,
      parameters: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
        additionalProperties: false,
      },
      idempotent: true,
      execute: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
    })
    .register({
      name: 'send',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      needsApproval: true,
      execute: ({ text }: { text: string }, { userId, callId }) => {
        state.sent.push({ text, userId, callId });
        return `Sent: ${text}`;
      },
    })
    .register({
      name: 'wait',
      execute: (_: Record<string, never>, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            state.aborted.push('wait');
            reject(new Error('aborted'));
          });
          state.onWait();
        }),
    })
    .register({
      name: 'steps',
      blocking: false,
      execute: async (_: Record<string, never>, { progress }) => {
        progress(0.25, 'a quarter');
        await new Promise((resolve) => setTimeout(resolve, 20));
        return 'done';
      },
    })
    .register({
      name: 'fail',
      execute: () => {
        throw new Error('No such order.');
      },
    })
    .register({ name: 'elsewhere', kind: 'external' })
    .register({ name: 'hidden', execute: () => 'secret' });
  return { tools, state };
}

export interface OfferingServer extends RunningServer {
  readonly tools: ToolRegistry;
  readonly state: OfferedState;
}

export async function startOffering(env: Environment = {}): Promise<OfferingServer> {
  const directory = await mkdtemp(join(tmpdir(), 'bolide-mcp-'));
  const { tools, state } = createOfferedTools();
  const offered = 'add,send,wait,steps,fail,elsewhere,late_*,*_run';
  const server = await startServer({
    env: { PORT: '0', DATA_DIR: directory, MCP_TOOLS: offered, ...env },
    tools,
    dashboard: false,
  });
  return {
    ...server,
    tools,
    state,
    async close() {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}

export interface ConnectOptions {
  readonly revision?: (typeof REVISIONS)[number];
  readonly capabilities?: ClientCapabilities;
  /** Prepares the client before it connects. */
  readonly prepare?: (client: Client) => void;
}

export async function connect(
  { url, token }: { readonly url: string; readonly token: string },
  { revision = '2026-07-28', capabilities = {}, prepare }: ConnectOptions = {},
): Promise<Client> {
  const client = createClient({ revision, capabilities });
  prepare?.(client);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  return client;
}

export function createClient({ revision = '2026-07-28', capabilities = {} }: Omit<ConnectOptions, 'prepare'>): Client {
  const isModern = revision === '2026-07-28';
  return new Client(
    { name: 'test', version: '1' },
    isModern
      ? { capabilities, versionNegotiation: { mode: { pin: revision } } }
      : { capabilities, supportedProtocolVersions: [revision], versionNegotiation: { mode: 'legacy' } },
  );
}
