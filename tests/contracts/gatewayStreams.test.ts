/**
 * Streams through the gateway: a client that disconnects aborts the upstream request, one that reads slowly slows it
 * down, and a shutdown lets streams finish.
 */
import { once } from 'node:events';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { deferred } from '../support/deferred';
import { startChatSource } from '../support/chatSource';
import type { ChatSource } from '../support/chatSource';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway, GatewayOptions } from '../support/gateway';
import { itInVirtualTime } from '../support/itInVirtualTime';
import { openSocket } from '../support/responsesSocket';
import { openStream, STREAM_ROUTES, textOf } from '../support/streamRoutes';
import { IS_SOAK, allInSoak, sampled } from '../support/soak';

const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 2 ** 31);
const MODELS = ['openai', 'anthropic', 'google', 'groq'] as const;
const LONG = Array.from({ length: 600 }, (_value, index) => `word${index}`).join(' ');
const SLOWLY = { kind: 'slow', chunkBytes: 512, delayMs: 0 } as const;
const CALLS = STREAM_ROUTES.flatMap((route) => MODELS.map((model) => ({ route, model })));

/** Observes every write to the following responses. */
function spyOnWrites(gateway: Gateway, seen: (chunk: string, response: ServerResponse) => void): void {
  gateway.server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    const write = response.write.bind(response) as (chunk: string, done?: (error?: Error | null) => void) => boolean;
    response.write = ((chunk: string, done?: (error?: Error | null) => void) => {
      const hasRoom = write(chunk, done);
      seen(chunk, response);
      return hasRoom;
    }) as ServerResponse['write'];
  });
}

/** Counts the bytes buffered in this process: read from an upstream port and not yet written to the client. */
function spyOnBytes(gateway: Gateway, port: number): { waiting(): number; stop(): void } {
  let incoming: Socket | undefined;
  let outgoing: Socket | undefined;
  const onRequest = (message: unknown): void => {
    const { request } = message as { readonly request: ClientRequest };
    if (!String(request.getHeader('host')).endsWith(`:${port}`)) return;
    // The socket may be assigned later.
    if (request.socket !== null) incoming = request.socket;
    else request.once('socket', (socket) => (incoming = socket));
  };
  subscribe('http.client.request.start', onRequest);
  spyOnWrites(gateway, (_chunk, response) => {
    outgoing = response.socket ?? outgoing;
  });
  return {
    waiting: () => incoming!.bytesRead - (outgoing!.bytesWritten - outgoing!.writableLength),
    stop: () => unsubscribe('http.client.request.start', onRequest),
  };
}

describe('A stream through the gateway', () => {
  let gateway: Gateway;
  let source: ChatSource | undefined;
  const start = async (options?: GatewayOptions): Promise<Gateway> => {
    gateway = await startGateway(options);
    return gateway;
  };
  afterEach(async () => {
    await gateway.close();
    await source?.close();
    source = undefined;
    expect(gateway.unexpected).to.deep.equal([]);
  });

  for (const model of MODELS)
    it(`of chat completions from ${model} ends with its usage for a client that asks for it, and for no other`, async () => {
      await start();
      const usages = async (asked: object): Promise<readonly unknown[]> => {
        const body = { model, stream: true, messages: [{ role: 'user', content: 'Hi' }], ...asked };
        const text = await (await gateway.request('/v1/chat/completions', body)).text();
        const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(
          ([, json]) => JSON.parse(json!) as { choices: unknown[]; usage?: { total_tokens: number } },
        );
        return chunks.filter(({ choices }) => choices.length === 0).map(({ usage }) => usage?.total_tokens);
      };
      expect(await usages({})).to.deep.equal([]);
      const [total, ...others] = await usages({ stream_options: { include_usage: true } });
      expect(total).to.be.greaterThan(0);
      expect(others).to.deep.equal([]);
    });

  for (const { route, model } of sampled(CALLS, ({ route, model }) => [route, model]))
    it(`of ${route.name} from ${model} has headers that prevent buffering, and writes whole frames`, async () => {
      await start();
      gateway.simulator.enqueue({ text: LONG, fault: SLOWLY });
      const writes: string[] = [];
      spyOnWrites(gateway, (chunk) => writes.push(chunk));
      const response = await openStream(gateway, route, model);
      expect(response.headers).to.include({ 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' });
      expect(response.headers['content-type']).to.match(
        route.name.includes('array') ? /^application\/json/ : /^text\/event-stream/,
      );
      await textOf(response);
      expect(writes.length).to.be.greaterThan(2);
      const frame = route.name.includes('array')
        ? /^(?:\[|,\r\n)\{[^]*\}$/
        : /^(?:(?:event: [\w.]+\n)?data: [^\n]+\r?\n\r?\n)+$/;
      for (const written of writes) expect(written).to.match(frame);
    });

  for (const route of allInSoak([...STREAM_ROUTES].reverse(), 1))
    it(`of ${route.name} pauses the upstream instead of buffering for a client that stops reading`, async () => {
      const [pieces, size] = [IS_SOAK ? 2_500 : 1_600, 16_384];
      source = await startChatSource(pieces, size);
      const { url, port } = source;
      await start({
        providers: () => [
          { id: 'talker', vendor: 'openai_compatible', baseURL: url, allowPrivateHosts: true, defaultModel: 'talker' },
        ],
      });
      const between = spyOnBytes(gateway, port);
      const response = await openStream(gateway, route, 'talker');
      response.pause();
      // The kernels buffer some megabytes. They are full when nothing moves over many round trips.
      for (let calm = 0, last = -1; calm < 25;) {
        await (await gateway.request('/health')).text();
        calm = source.taken === last ? calm + 1 : 0;
        last = source.taken;
      }
      expect(source.taken, 'bytes read from the upstream').to.be.lessThan((pieces * size * 3) / 4);
      expect(between.waiting(), 'bytes buffered in this process').to.be.lessThan(2 * 1024 * 1024);
      const text = await textOf(response);
      between.stop();
      expect(text.split('x'.repeat(size)).length - 1).to.be.at.least(pieces);
    });

  it(`aborts the upstream request when the client disconnects at any point, and records estimated usage (seed ${SEED})`, async () => {
    await start();
    const calls = new Map<string, number>();
    const fault = fc.constantFrom(SLOWLY, { kind: 'stall', after: { bytes: 6_000 } } as const);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...STREAM_ROUTES),
        fc.constantFrom(...MODELS),
        fault,
        fc.integer({ min: 1, max: 4_000 }),
        async (route, model, how, bytes) => {
          gateway.simulator.enqueue({ text: LONG, fault: how });
          const aborted = gateway.simulator.nextAbort();
          const response = await openStream(gateway, route, model);
          let read = 0;
          response.on('data', (chunk: Buffer) => {
            read += chunk.length;
            // A stalled upstream sends nothing more to wait for.
            if (read >= bytes || how.kind === 'stall') response.destroy();
          });
          response.on('error', () => undefined);
          expect(await aborted).to.include({ aborted: true, finished: false, vendor: model });
          const count = (calls.get(model) ?? 0) + 1;
          calls.set(model, count);
          // Usage is recorded when the stream is released, shortly after the upstream noticed the abort.
          while (entryOf(model)?.calls !== count) await (await gateway.request('/health')).text();
          expect(entryOf(model)).to.include({ userId: 'ann' });
          expect(entryOf(model)?.usage.estimated).to.equal(true);
          expect(entryOf(model)?.usage.input_tokens).to.be.at.least(count);
        },
      ),
      { numRuns: IS_SOAK ? 1_000 : 25, seed: SEED },
    );
  });

  function entryOf(model: string): ReturnType<Gateway['module']['manager']['usage']>[number] | undefined {
    return gateway.module.manager.usage().find(({ providerId }) => providerId === model);
  }

  it('aborts the upstream request when a socket client disconnects', async () => {
    await start();
    gateway.simulator.enqueue({ text: LONG, fault: SLOWLY });
    const aborted = gateway.simulator.nextAbort();
    const client = await openSocket({ url: gateway.url, token: TOKENS.ann });
    client.socket.send(JSON.stringify({ type: 'response.create', model: 'openai', input: 'go' }));
    await client.next();
    client.socket.terminate();
    expect(await aborted).to.include({ aborted: true });
  });

  itInVirtualTime('sends keep-alive comments while the vendor is silent, or whitespace in an array', async () => {
    await start({ api: { limits: { keepAliveAfter: 10 } } });
    for (const route of STREAM_ROUTES) {
      gateway.simulator.enqueue({ text: LONG, fault: { kind: 'stall', after: { events: 5 } } });
      const response = await openStream(gateway, route, 'anthropic');
      const keepAlive = route.name.includes('array') ? '\n\n\n' : ': keep-alive\n\n: keep-alive\n\n: keep-alive\n\n';
      let text = '';
      for await (const chunk of response) {
        text += String(chunk);
        if (text.endsWith(keepAlive)) break;
      }
      expect(text.endsWith(keepAlive)).to.equal(true);
    }
  });

  itInVirtualTime('reports the failure of a vendor that never answers by its status', async () => {
    await start({ api: { limits: { keepAliveAfter: 10 } }, row: { limits: { streamIdleTimeout: 120 } } });
    for (const route of STREAM_ROUTES) {
      gateway.simulator.enqueue({ fault: { kind: 'stall', after: 'nothing' } });
      const response = await openStream(gateway, route, 'openai');
      expect(response.statusCode, route.name).to.equal(504);
      await textOf(response);
    }
  });

  itInVirtualTime(
    'sends keep-alive comments before its first event, too, and then reports an error as an event',
    async () => {
      await start({ api: { limits: { keepAliveAfter: 10 } }, row: { limits: { streamIdleTimeout: 1_000 } } });
      gateway.simulator.enqueue({ fault: { kind: 'stall', after: { bytes: 0 } } });
      const text = await textOf(await openStream(gateway, STREAM_ROUTES[0]!, 'openai'));
      expect(text).to.match(/^: keep-alive\n\n/);
      expect(text).to.match(/\nevent: error\ndata: [^\n]*"code":"timeout"/);
      expect(text).to.match(/\nevent: response\.failed\n/);
    },
  );

  for (const route of STREAM_ROUTES) {
    it(`of ${route.name} finishes during a shutdown, while new requests are rejected`, async () => {
      await start();
      const held = deferred();
      const until = held.promise;
      gateway.simulator.enqueue({ text: LONG, fault: { kind: 'stall', after: { events: 3 }, until } });
      const response = await openStream(gateway, route, 'google');
      const [first] = (await once(response, 'data')) as [Buffer];
      let isClosed = false;
      const closed = gateway.api.close().then(() => {
        isClosed = true;
      });
      const refused = await gateway.request('/v1/responses', { model: 'openai', input: 'x' });
      expect(refused.status).to.equal(503);
      expect(refused.headers.get('connection')).to.equal('close');
      await refused.text();
      expect(isClosed).to.equal(false);
      held.resolve();
      expect(first.toString() + (await textOf(response))).to.include('word599');
      await closed;
    });
  }

  itInVirtualTime('ends with the reason when the grace period of a shutdown is over', async () => {
    await start({ api: { limits: { shutdownGrace: 30 } } });
    gateway.simulator.enqueue({ text: LONG, fault: { kind: 'stall', after: { events: 6 } } });
    const response = await openStream(gateway, STREAM_ROUTES[0]!, 'openai');
    await once(response, 'data');
    const text = textOf(response);
    await gateway.api.close();
    expect(await text).to.match(/event: error\ndata: [^\n]*shutting down/);
  });

  it('on a socket finishes during a shutdown before the socket is closed', async () => {
    await start();
    const held = deferred();
    const until = held.promise;
    gateway.simulator.enqueue({ text: LONG, fault: { kind: 'stall', after: { events: 6 }, until } });
    const busy = await openSocket({ url: gateway.url, token: TOKENS.ann });
    const idle = await openSocket({ url: gateway.url, token: TOKENS.ann });
    const turn = busy.turn({ model: 'openai', input: [{ type: 'message', role: 'user', content: 'go' }] });
    await gateway.simulator.nextRequest();
    const [idleClosed, busyClosed] = [once(idle.socket, 'close'), once(busy.socket, 'close')];
    const closed = gateway.api.close();
    expect((await idleClosed)[0]).to.equal(1001);
    held.resolve();
    expect((await turn).response?.['status']).to.equal('completed');
    expect((await busyClosed)[0]).to.equal(1001);
    await closed;
  });
});
