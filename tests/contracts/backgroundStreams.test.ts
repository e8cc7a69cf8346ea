/** Streams of responses in the background at a provider, over connections that end. */
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { LLMStreamError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { ResponseStreamEvent } from '../../imports/business/ai/domain/types/StreamEvents';
import { createProvider } from '../../imports/business/ai/infrastructure/factories/createProvider';
import { failure } from '../support/failure';
import { itInVirtualTime } from '../support/itInVirtualTime';

const RESPONSE = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [] };
const MESSAGE = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' };
const AT = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const TEXT = { type: 'output_text', text: 'One two three', annotations: [] };
const ITEM = { ...MESSAGE, content: [TEXT] };
const EVENTS = [
  { type: 'response.created', response: { ...RESPONSE, status: 'queued' } },
  { type: 'response.output_item.added', output_index: 0, item: { ...MESSAGE, status: 'in_progress', content: [] } },
  { type: 'response.output_text.delta', ...AT, delta: 'One ' },
  { type: 'response.output_text.delta', ...AT, delta: 'two ' },
  { type: 'response.output_text.delta', ...AT, delta: 'three' },
  { type: 'response.output_item.done', output_index: 0, item: ITEM },
  {
    type: 'response.completed',
    response: {
      ...RESPONSE,
      status: 'completed',
      output: [ITEM],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    },
  },
].map((event, sequence_number) => ({ ...event, sequence_number }));

function frames(first: number, end: number): string {
  return EVENTS.slice(first, end)
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
}

describe('A stream of a response in the background', () => {
  let server: Server;
  let requests: string[];
  /** What each further connection does. */
  let connections: ((response: ServerResponse, next: number) => void)[];
  beforeEach(async () => {
    requests = [];
    server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      request.resume().once('end', () => {
        const after = new URL(request.url ?? '', 'http://x').searchParams.get('starting_after');
        connections.shift()?.(response, after === null ? 0 : Number(after) + 1);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );

  const sends = (end: number, then: 'is cut' | 'ends') => (response: ServerResponse, next: number) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const half = frames(end, end + 1).slice(0, 40);
    response.write(frames(next, end) + (then === 'is cut' ? half : ''), () => {
      if (then === 'is cut') response.destroy();
      else response.end();
    });
  };
  const refuses = (response: ServerResponse) => response.writeHead(503).end('{"error":{"message":"Busy."}}');

  const read = async (background = true): Promise<string> => {
    // The server listens on a TCP port.
    const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const provider = createProvider({ vendor: 'openai', apiKey: 'k', baseURL, allowPrivateHosts: true });
    let text = '';
    let last: ResponseStreamEvent | undefined;
    for await (const event of provider.stream('ann', { model: 'm', input: 'Count.', background })) {
      if (event.type === 'response.output_text.delta') text += event.delta;
      last = event;
    }
    expect(last?.type).to.equal('response.completed');
    return text;
  };

  for (const then of ['is cut', 'ends'] as const)
    it(`goes on after the last event, when its connection ${then}`, async () => {
      connections = [sends(3, then), sends(5, then), sends(7, 'ends')];
      expect(await read()).to.equal('One two three');
      expect(requests).to.deep.equal([
        'POST /responses',
        'GET /responses/resp_1?stream=true&starting_after=2',
        'GET /responses/resp_1?stream=true&starting_after=4',
      ]);
    });

  itInVirtualTime('goes on when the vendor was busy for a while', async () => {
    connections = [sends(4, 'is cut'), refuses, refuses, sends(7, 'ends')];
    expect(await read()).to.equal('One two three');
  });

  itInVirtualTime('fails with the last error when the vendor stays busy', async () => {
    connections = [sends(4, 'is cut'), ...Array.from({ length: 9 }, () => refuses)];
    expect(await failure(read())).to.have.property('status', 503);
    expect(requests).to.have.length(5);
  });

  it('is not gone on with if it is none of the background', async () => {
    connections = [sends(4, 'ends')];
    expect(await failure(read(false))).to.be.instanceOf(LLMStreamError);
    expect(requests).to.have.length(1);
  });

  it('reports an error that the vendor sends as JSON', async () => {
    connections = [
      (response) => response.writeHead(200).end('{"error":{"message":"Slow down.","code":"rate_limit_exceeded"}}'),
    ];
    expect(await failure(read())).to.have.property('code', 'rate-limited');
  });
});
