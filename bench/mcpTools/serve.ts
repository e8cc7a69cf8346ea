/**
 * Ten MCP servers over HTTP, and a vendor that has the weather asked for, a city a turn: it searches for the tool where
 * it is not offered. What it is sent is counted by the first part of the path.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveManyTools, WANTED } from '../../tests/support/mcp/manyServers';
import { MODELS } from '../Contender';
import { RESULT_MARK, textOf } from '../responses';

/** Calls of the tool in a run. */
export const TURNS = 5;

export interface Served {
  readonly vendor: string;
  readonly servers: readonly { readonly name: string; readonly url: string }[];
}

export interface Sent {
  readonly requests: number;
  readonly bytes: number;
}

const sent = new Map<string, Sent>();

function answer(body: string): Buffer {
  const searches = body.includes('"name":"search_tools"');
  const results = body.split(RESULT_MARK.openai).length - 1;
  if (searches && results === 0) return callOf(0, 'search_tools', { query: WANTED.query });
  const done = searches ? results - 1 : results;
  if (done >= TURNS) return textOf('openai');
  return callOf(results, `weather_${WANTED.tool}`, { city: `City ${done}`, unit: 'celsius' });
}

function callOf(index: number, name: string, args: object): Buffer {
  const call = { type: 'function_call', status: 'completed', name, arguments: JSON.stringify(args) };
  const response = JSON.parse(textOf('openai').toString()) as object;
  const output = [{ id: `fc_${index}`, call_id: `call_${index}`, ...call }];
  return Buffer.from(JSON.stringify({ ...response, id: `resp_${index}`, model: MODELS.openai, output }));
}

async function main(): Promise<void> {
  const vendor = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const [, name = ''] = (request.url ?? '').split('/');
      const { requests, bytes } = sent.get(name) ?? { requests: 0, bytes: 0 };
      sent.set(name, { requests: requests + 1, bytes: bytes + body.length });
      const json = answer(body.toString());
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': json.length }).end(json);
    });
  });
  vendor.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
  const { servers } = await serveManyTools({ servers: 10, perServer: 20 });
  const { port } = vendor.address() as AddressInfo;
  process.on('disconnect', () => process.exit());
  process.on('message', (name: string) => process.send?.(sent.get(name) ?? { requests: 0, bytes: 0 }));
  process.send?.({ vendor: `http://127.0.0.1:${port}`, servers } satisfies Served);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
