/** Streams of background responses: resumed from any event, while they run and afterwards, in any process. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import OpenAI from 'openai';
import { createHttpApi } from '../../imports/api/createHttpApi';
import type { HttpApiPorts } from '../../imports/api/createHttpApi';
import type { ResponseEventStore, ResponseKey } from '../../imports/business/ai/domain/interfaces/ResponseEventStore';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';
import { openResponseEvents } from '../../imports/business/ai/infrastructure/persistence/responses/DocumentResponseEvents';
import { MemoryResponseEvents } from '../../imports/business/ai/infrastructure/persistence/responses/MemoryResponseEvents';
import { deferred } from '../support/deferred';
import { QUICK_DATABASES } from '../support/documentDatabases';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { itInVirtualTime } from '../support/itInVirtualTime';
import { checkEvents, eventsOfStream } from '../support/openResponses';
import type { OpenResponsesEvent } from '../support/openResponses';
import { SDK_VENDORS } from '../support/sdks/SdkCase';

const BOB = { headers: { authorization: `Bearer ${TOKENS.bob}` } };
const WORDS = 'word '.repeat(200);
/** A turn of which some events are sent, and the rest when the promise resolves. */
const heldUntil = (until: Promise<void>) =>
  ({ text: WORDS, fault: { kind: 'stall', after: { events: 12 }, until } }) as const;
const STALLED = { text: 'one two three four five six', fault: { kind: 'stall', after: { events: 4 } } } as const;

async function eventsOf(response: Response): Promise<readonly OpenResponsesEvent[]> {
  const text = await response.text();
  expect(response.status, text).to.equal(200);
  return text === 'data: [DONE]\n\n' ? [] : eventsOfStream(text);
}

/** Reads events until one is as expected, then leaves. */
async function readUntil(
  response: Response,
  isLast: (event: OpenResponsesEvent) => boolean,
): Promise<readonly OpenResponsesEvent[]> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    expect(done, `ended before the expected event: ${text}`).to.equal(false);
    text += decoder.decode(value, { stream: true });
    const complete = text.slice(0, text.lastIndexOf('\n\n') + 2);
    const end = complete.endsWith('data: [DONE]\n\n') ? '' : 'data: [DONE]\n\n';
    const events = complete === '' ? [] : eventsOfStream(complete + end);
    if (!events.some(isLast)) continue;
    await reader.cancel();
    return events;
  }
}

const isDelta = ({ type }: OpenResponsesEvent): boolean => type === 'response.output_text.delta';
const idOf = ([first]: readonly OpenResponsesEvent[]): string => String((first?.response as JsonObject).id);

describe('A background stream', () => {
  let gateway: Gateway;
  let events: ResponseEventStore;
  const servers: (() => Promise<void>)[] = [];
  let closeDatabase: (() => Promise<void>) | undefined;
  beforeEach(async () => {
    events = new MemoryResponseEvents();
    gateway = await startGateway({ api: { responseEvents: events } });
  });
  afterEach(async () => {
    for (const close of servers.splice(0)) await close();
    await gateway.close();
    await closeDatabase?.();
    closeDatabase = undefined;
    expect(gateway.unexpected).to.deep.equal([]);
  });

  const start = (model: string): Promise<Response> =>
    gateway.request('/v1/responses', { model, input: 'Tell me', background: true, stream: true });
  const resume = (id: string, after?: number | string, url = gateway.url): Promise<Response> =>
    fetch(`${url}/v1/responses/${id}?stream=true${after === undefined ? '' : `&starting_after=${after}`}`, {
      headers: { authorization: `Bearer ${TOKENS.ann}` },
    });

  /** The API of another process that shares the stores. @returns its URL */
  async function startOther(ports: Partial<HttpApiPorts>): Promise<string> {
    const api = createHttpApi(gateway.module, {
      authenticate: ({ headers }) => (headers.authorization === `Bearer ${TOKENS.ann}` ? { userId: 'ann' } : undefined),
      responseEvents: events,
      ...ports,
    });
    const server = createServer(express().use(api.router)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(async () => {
      await api.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  for (const model of SDK_VENDORS) {
    itInVirtualTime(`is complete, and can be read again from any of its events, with ${model}`, async () => {
      gateway.simulator.enqueue({ text: 'Hello there.', reasoning: 'A greeting.' });
      const all = await eventsOf(await start(model));
      const final = checkEvents(all);
      expect(final).to.include({ status: 'completed', background: true, id: idOf(all) });
      expect(JSON.stringify(final.output)).to.include('Hello there.');
      expect(await (await gateway.request(`/v1/responses/${idOf(all)}`)).json()).to.deep.equal(final);
      for (let after = -1; after < all.length + 1; after += 1)
        expect(await eventsOf(await resume(idOf(all), after === -1 ? undefined : after))).to.deep.equal(
          all.slice(after + 1),
        );
    });

    itInVirtualTime(`goes on after its client has left, and is resumed where it was left, with ${model}`, async () => {
      const held = deferred();
      gateway.simulator.enqueue(heldUntil(held.promise));
      const before = await readUntil(await start(model), isDelta);
      const last = before.at(-1)!.sequence_number;
      const arrived = once(gateway.server, 'request');
      const resumed = resume(idOf(before), last);
      await arrived;
      held.resolve();
      const middle = await readUntil(await resumed, isDelta);
      const after = await eventsOf(await resume(idOf(before), middle.at(-1)!.sequence_number));
      const response = checkEvents([...before, ...middle, ...after]);
      expect(JSON.stringify(response.output)).to.include(WORDS);
      const next = { model, input: 'And?', previous_response_id: idOf(before) };
      expect((await gateway.request('/v1/responses', next)).status).to.equal(200);
    });
  }

  itInVirtualTime('is refused while requests of unknown or great size run, to their user only', async () => {
    const held = deferred();
    const startUnknown = (token: string): Promise<Response> => {
      gateway.simulator.enqueue(heldUntil(held.promise));
      const body = JSON.stringify({ model: 'anthropic', input: 'Tell me', background: true });
      return fetch(`${gateway.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        // Without a length, since it is a stream.
        body: new Blob([body]).stream(),
        duplex: 'half',
      } as RequestInit);
    };
    const ids: string[] = [];
    for (let count = 0; count < 2; count += 1) {
      const queued = (await (await startUnknown(TOKENS.ann)).json()) as { readonly id: string };
      ids.push(queued.id);
    }
    const refused = await startUnknown(TOKENS.ann);
    expect(refused.status).to.equal(400);
    expect(await refused.text()).to.contain('2 unfinished background responses, with 67108864 bytes');
    expect((await startUnknown(TOKENS.bob)).status).to.equal(200);
    const [first = ''] = ids;
    await gateway.request(`/v1/responses/${first}/cancel`, {});
    expect((await startUnknown(TOKENS.ann)).status).to.equal(200);
    held.resolve();
  });

  itInVirtualTime("is read by OpenAI's SDK", async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: TOKENS.ann, maxRetries: 0 });
    const held = deferred();
    gateway.simulator.enqueue(heldUntil(held.promise));
    const stream = await client.responses.create({ model: 'anthropic', input: 'Hi', background: true, stream: true });
    let [id, cursor, text] = ['', -1, ''];
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id;
      cursor = event.sequence_number;
      if (event.type !== 'response.output_text.delta') continue;
      text += event.delta;
      break;
    }
    const arrived = once(gateway.server, 'request');
    const resumed = client.responses.retrieve(id, { stream: true, starting_after: cursor });
    await Promise.race([arrived, resumed]);
    held.resolve();
    for await (const event of await resumed) {
      expect(event.sequence_number).to.equal((cursor += 1));
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    expect(text).to.equal(WORDS);
    expect((await client.responses.retrieve(id)).output_text).to.equal(text);
  });

  itInVirtualTime('has several readers at once', async () => {
    const held = deferred();
    gateway.simulator.enqueue(heldUntil(held.promise));
    const response = await start('google');
    const id = idOf(await readUntil(response, isDelta));
    const resumed = await Promise.all([0, 1, 2, 3].map((after) => resume(id, after)));
    held.resolve();
    const streams = await Promise.all(resumed.map(eventsOf));
    for (const [after, stream] of streams.entries()) expect(stream).to.deep.equal(streams[0]!.slice(after));
  });

  for (const model of ['openai', 'anthropic', 'groq'])
    itInVirtualTime(`ends with an incomplete response if it is cancelled, with ${model}`, async () => {
      gateway.simulator.enqueue(STALLED);
      const aborted = gateway.simulator.nextAbort();
      const id = idOf(await readUntil(await start(model), ({ type }) => type === 'response.in_progress'));
      const running = await resume(id);
      const cancelled = (await (await gateway.request(`/v1/responses/${id}/cancel`, {})).json()) as JsonObject;
      expect(cancelled.status).to.equal('cancelled');
      const all = await eventsOf(running);
      expect(all.at(-1)).to.include({ type: 'response.incomplete' });
      expect(checkEvents(all)).to.deep.equal(cancelled);
      expect(await eventsOf(await resume(id, 0))).to.deep.equal(all.slice(1));
      expect(await aborted).to.include({ aborted: true });
    });

  itInVirtualTime("ends with the vendor's failure, before and after the first event", async () => {
    for (const turn of [
      { status: 400, body: { error: { message: 'That is wrong.', type: 'invalid_request_error' } } },
      { text: 'one two three', fault: { kind: 'reset', after: { events: 3 } } },
    ] as const) {
      gateway.simulator.enqueue(turn);
      const all = await eventsOf(await start('openai'));
      expect(all.map(({ type }) => type).slice(-2)).to.deep.equal(['error', 'response.failed']);
      expect(all.map((event) => event.sequence_number)).to.deep.equal(all.map((_event, index) => index));
      const final = all.at(-1)!.response;
      expect(await (await gateway.request(`/v1/responses/${idOf(all)}`)).json()).to.deep.equal(final);
      expect(await eventsOf(await resume(idOf(all)))).to.deep.equal(all);
    }
  });

  itInVirtualTime('is refused to others like an unknown one, and gone once it is deleted', async () => {
    const id = idOf(await eventsOf(await start('google')));
    const [theirs, unknown] = await Promise.all([
      gateway.request(`/v1/responses/${id}?stream=true`, undefined, BOB),
      gateway.request('/v1/responses/resp_unknown?stream=true', undefined, BOB),
    ]);
    expect([theirs.status, unknown.status]).to.deep.equal([404, 404]);
    expect((await theirs.text()).replace(id, 'resp_unknown')).to.equal(await unknown.text());
    await (await gateway.request(`/v1/responses/${id}`, undefined, { method: 'DELETE' })).text();
    expect((await resume(id)).status).to.equal(404);
    expect(await events.read({ userId: 'ann', id }, -1)).to.deep.equal([]);
  });

  itInVirtualTime('is refused for nonsense, and for responses without events', async () => {
    const id = idOf(await eventsOf(await start('google')));
    for (const after of ['-1', '1.5', 'x', '1e3', '', '9999999999', '1&starting_after=2']) {
      const response = await resume(id, after);
      const { error } = (await response.json()) as { readonly error: JsonObject };
      expect([response.status, error.param], after).to.deep.equal([400, 'starting_after']);
    }
    for (const body of [{}, { background: true }]) {
      const created = await gateway.request('/v1/responses', { model: 'google', input: 'Hi', ...body });
      const response = await resume(((await created.json()) as { readonly id: string }).id);
      const { error } = (await response.json()) as { readonly error: JsonObject };
      expect([response.status, error.param]).to.deep.equal([400, 'stream']);
    }
  });

  for (const [kind, open] of Object.entries(QUICK_DATABASES))
    describe(`of another process (${kind})`, () => {
      let database: DocumentDatabase;
      beforeEach(async () => {
        const opened = await open();
        ({ database } = opened);
        closeDatabase = () => opened.close();
        await gateway.close();
        events = await openResponseEvents(database);
        gateway = await startGateway({ api: { responseEvents: events } });
      });

      itInVirtualTime('is followed while it runs, and read from any event afterwards', async () => {
        const other = await startOther({});
        const held = deferred();
        gateway.simulator.enqueue(heldUntil(held.promise));
        const first = await readUntil(await start('anthropic'), isDelta);
        const streams = await Promise.all([resume(idOf(first)), resume(idOf(first), undefined, other)]);
        held.resolve();
        const [own, followed] = [await eventsOf(streams[0]), await eventsOf(streams[1])];
        expect(followed).to.deep.equal(own);
        checkEvents(followed);
        for (let after = 0; after < followed.length; after += 7)
          expect(await eventsOf(await resume(idOf(first), after, other))).to.deep.equal(followed.slice(after + 1));
      });

      itInVirtualTime('is cancelled there, and ends everywhere', async () => {
        const other = await startOther({});
        gateway.simulator.enqueue(STALLED);
        const id = idOf(await readUntil(await start('anthropic'), isDelta));
        const running = await resume(id);
        const followed = resume(id, undefined, other);
        const cancelled = await fetch(`${other}/v1/responses/${id}/cancel`, {
          method: 'POST',
          headers: { authorization: `Bearer ${TOKENS.ann}` },
        });
        expect(await cancelled.json()).to.include({ id, status: 'cancelled' });
        expect(checkEvents(await eventsOf(running))).to.include({ status: 'cancelled' });
        expect(checkEvents(await eventsOf(await followed))).to.include({ status: 'cancelled' });
      });

      for (const [title, ports] of [
        ['its process has died', { limits: { lostAfter: 300 } }],
        ['its process has died, with nobody else', { isAlone: true }],
      ] as const)
        itInVirtualTime(`fails if ${title}`, async () => {
          gateway.simulator.enqueue(STALLED);
          const started = await readUntil(await start('anthropic'), isDelta);
          const id = idOf(started);
          // From now on it neither writes nor confirms anything.
          const [appended, confirmed] = [deferred<boolean>(), deferred<readonly ResponseKey[]>()];
          Object.assign(events, { append: () => appended.promise, confirm: () => confirmed.promise });
          const other = await startOther({ ...ports, responseEvents: await openResponseEvents(database) });
          const streams = await Promise.all([resume(id, undefined, other), resume(id, 0, other)]);
          const [all, rest] = [await eventsOf(streams[0]), await eventsOf(streams[1])];
          expect(all.at(-1)).to.include({ type: 'response.failed', sequence_number: all.length - 1 });
          expect(rest).to.deep.equal(all.slice(1));
          const read = await fetch(`${other}/v1/responses/${id}`, {
            headers: { authorization: `Bearer ${TOKENS.ann}` },
          });
          expect(await read.json()).to.deep.equal(all.at(-1)!.response);
          appended.resolve(false);
          confirmed.resolve([]);
          await (await gateway.request(`/v1/responses/${id}/cancel`, {})).text();
        });
    });
});
