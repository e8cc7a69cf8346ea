/** Serves a web-standard handler of the MCP server SDK over `node:http`. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { McpServer } from '@modelcontextprotocol/server';

export interface ServedMcp {
  readonly url: string;
  /** Headers of the requests so far. */
  readonly requests: Headers[];
  close(): Promise<void>;
}

export async function serveMcp(handle: (request: Request) => Promise<Response>, port = 0): Promise<ServedMcp> {
  const requests: Headers[] = [];
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, (request) => {
      requests.push(request.headers);
      return handle(request);
    }).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}/mcp`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
  const { method = 'GET', url = '/', headers } = incoming;
  const request = new Request(`http://${headers.host ?? 'localhost'}${url}`, {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]),
    ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    signal: gone.signal,
  });
  const response = await handle(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body as ReadableStream), outgoing);
}

/** A server with sessions, as before the revision 2026-07-28. */
export function withSessions(create: () => McpServer): (request: Request) => Promise<Response> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return async (request) => {
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : sessions.get(id);
    if (known !== undefined) return known.handleRequest(request);
    if (id !== null) return new Response(null, { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
    await create().connect(transport);
    return transport.handleRequest(request);
  };
}

/** The JSON-RPC endpoint of a server that does as it likes: what it returns is sent as the result. */
export function jsonRpc(
  results: Readonly<Record<string, (params: Record<string, unknown>) => unknown>>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method !== 'POST') return new Response(null, { status: 405 });
    const {
      id,
      method,
      params = {},
    } = (await request.json()) as {
      id?: number;
      method: string;
      params?: Record<string, unknown>;
    };
    if (id === undefined) return new Response(null, { status: 202 });
    const result = results[method];
    if (result === undefined)
      return Response.json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
    const value = await result(params);
    return value instanceof Response ? value : Response.json({ jsonrpc: '2.0', id, result: value });
  };
}

export const INITIALIZE = {
  initialize: ({ protocolVersion }: Record<string, unknown>) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'hostile', version: '0' },
  }),
};
