/** A server of the official SDK, with a tool for each kind of result. */
import { setTimeout as delay } from 'node:timers/promises';
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import type { RegisteredTool } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** The state of all servers of this process. */
export interface TestServerState {
  readonly calls: string[];
  readonly cancelled: string[];
  /** Description of the tool `change`; undefined: there is no such tool. */
  change: string | undefined;
  /** The tool `change` of each server that was created. */
  readonly changing: RegisteredTool[];
}

/** A PNG of one pixel. */
export const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export function createState(): TestServerState {
  return { calls: [], cancelled: [], change: 'Says one thing.', changing: [] };
}

export function createTestServer(state: TestServerState, supportedProtocolVersions?: string[]): McpServer {
  const server = new McpServer(
    { name: 'test-server', version: '1.2.3' },
    {
      capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
      ...(supportedProtocolVersions === undefined ? {} : { supportedProtocolVersions }),
    },
  );
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers.',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => {
      state.calls.push('add');
      return { content: [{ type: 'text', text: `${a + b}` }], structuredContent: { sum: a + b } };
    },
  );
  server.registerTool('fail', { description: 'Fails.' }, () => ({
    content: [{ type: 'text', text: 'No such file.' }],
    isError: true,
  }));
  server.registerTool('picture', { description: 'Draws.' }, () => ({
    content: [
      { type: 'text', text: 'A dot:' },
      { type: 'image', mimeType: 'image/png', data: Buffer.from('dot').toString('base64') },
      { type: 'resource_link', uri: 'test://notes', name: 'notes' },
      { type: 'resource', resource: { uri: 'test://notes', text: 'Remember the milk.' } },
    ],
  }));
  server.registerTool('photo', { description: 'Takes a photo.' }, () => ({
    content: [
      { type: 'text', text: 'A dot:' },
      { type: 'image', mimeType: 'image/png', data: DOT },
    ],
  }));
  server.registerTool('wait', { description: 'Waits until it is cancelled.' }, async (ctx) => {
    state.calls.push('wait');
    await new Promise<void>((resolve) => ctx.mcpReq.signal.addEventListener('abort', () => resolve()));
    state.cancelled.push('wait');
    return { content: [] };
  });
  server.registerTool('book', { description: 'Books a table.' }, (ctx) => {
    state.calls.push('book');
    const answer = ctx.mcpReq.inputResponses?.table as { action: string; content?: unknown } | undefined;
    if (answer === undefined)
      return inputRequired({
        inputRequests: {
          table: inputRequired.elicit({
            message: 'For how many?',
            requestedSchema: {
              type: 'object',
              properties: { seats: { type: 'integer', minimum: 1 }, outside: { type: 'boolean', default: true } },
              required: ['seats'],
            },
          }),
        },
        requestState: 'table 7',
      });
    state.calls.push(`booked ${JSON.stringify(answer)} ${String(ctx.mcpReq.requestState())}`);
    return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
  });
  server.registerTool('confirm', { description: 'Asks yes or no.' }, (ctx) => {
    const answer = ctx.mcpReq.inputResponses?.sure as { action: string } | undefined;
    if (answer === undefined)
      return inputRequired({
        inputRequests: {
          sure: inputRequired.elicit({ message: 'Sure?', requestedSchema: { type: 'object', properties: {} } }),
        },
      });
    return { content: [{ type: 'text', text: answer.action }] };
  });
  server.registerTool('sign_in', { description: 'Asks to visit a page.' }, (ctx) => {
    const answer = ctx.mcpReq.inputResponses?.page as { action: string } | undefined;
    if (answer === undefined)
      return inputRequired({
        inputRequests: { page: inputRequired.elicitUrl({ message: 'Sign in.', url: 'https://example.com/sign-in' }) },
      });
    return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
  });
  server.registerTool('ask_model', { description: 'Asks the client for its model.' }, () =>
    inputRequired({ inputRequests: { model: inputRequired.createMessage({ messages: [], maxTokens: 1 }) } }),
  );
  server.registerTool('steps', { description: 'Reports progress.' }, async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    if (progressToken !== undefined)
      await ctx.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress: 1, total: 2, message: 'half' },
      });
    await delay(20);
    return { content: [{ type: 'text', text: 'done' }] };
  });
  if (state.change !== undefined)
    state.changing.push(
      server.registerTool('change', { description: state.change }, () => ({ content: [{ type: 'text', text: 'ok' }] })),
    );
  server.registerTool('files.read', { description: 'Reads.' }, () => ({ content: [{ type: 'text', text: 'file' }] }));
  server.registerResource('notes', 'test://notes', { description: 'Notes.' }, (uri) => ({
    contents: [{ uri: uri.href, text: 'Remember the milk.' }],
  }));
  server.registerPrompt('greet', { argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Hello, ${name}` } }],
  }));
  return server;
}
