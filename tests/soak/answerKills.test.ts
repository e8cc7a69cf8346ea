/**
 * Processes that answer messages of conversations and responses in the background are killed, at several moments: the
 * next process, or the same one after its restart, ends every answer, in the history and on the streams.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { EventSourceMessage } from 'eventsource-parser';
import { AnsweringHost, readEvents, textsOf } from '../support/durable/AnsweringHost';
import { answerTo, StallingVendor } from '../support/durable/StallingVendor';
import { startTestMongo } from '../support/startTestMongo';
import { until } from '../support/until';

interface ResponseBody {
  readonly status: string;
  readonly error: { readonly message: string } | null;
  readonly output: readonly { readonly content: readonly { readonly text: string }[] }[];
}

interface Place {
  readonly url: string;
  /** Processes share it. */
  readonly isShared: boolean;
  remove(): Promise<void>;
}

async function openDirectory(): Promise<Place> {
  const url = await mkdtemp(join(tmpdir(), 'bolide-answers-'));
  return { url, isShared: false, remove: () => rm(url, { recursive: true, force: true }) };
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  'SQLite, restarted': openDirectory,
  'MongoDB, two processes': async () => {
    const mongo = await startTestMongo();
    return { url: mongo.url, isShared: true, remove: () => mongo.stop() };
  },
};

/** Milliseconds. A process that pauses on a busy machine is not taken for dead. */
const LEASE = 10_000;
const LATENESS = 60_000;

/** Conversations by the moment at which their process dies. Each is called like its message. */
const MOMENTS = ['halt-before-call', 'stall', 'hang', 'halt-before-storing', 'halt-after-storing'] as const;

for (const [place, open] of Object.entries(PLACES))
  // Starts five processes.
  describe(`answers whose process is killed (${place})`, () => {
    let vendor: StallingVendor;
    let opened: Place;
    const hosts: AnsweringHost[] = [];
    beforeEach(async () => {
      vendor = await StallingVendor.start();
      opened = await open();
    });
    afterEach(async () => {
      for (const host of hosts.splice(0)) await host.kill();
      await vendor.close();
      await opened.remove();
    });

    const start = async (halts: boolean): Promise<AnsweringHost> => {
      const host = await AnsweringHost.start({
        place: opened.url,
        vendor: vendor.url,
        lease: LEASE,
        lateness: LATENESS,
        halts,
      });
      hosts.push(host);
      return host;
    };
    /** The process that lives on, or takes the place of the victim: started before or after the victim dies. */
    const pair = async (): Promise<{ victim: AnsweringHost; next: () => Promise<AnsweringHost> }> => {
      const victim = await start(true);
      const survivor = opened.isShared ? await start(false) : undefined;
      return { victim, next: async () => survivor ?? start(false) };
    };

    it('reach history and stream once, whenever it was, with those that waited behind them', async () => {
      const { victim, next } = await pair();
      for (const conversation of MOMENTS) {
        await victim.request('/input', { conversation, message: conversation });
        await victim.request('/input', { conversation, message: `after ${conversation}` });
      }
      await Promise.all(['stall', 'hang'].map((message) => vendor.hasBeenAsked(message)));
      await victim.halts(3);
      const seen = await victim.read('/output/stream?conversation=stall', (events) => events.length >= 2);
      await victim.kill();
      vendor.isWell = true;
      const survivor = await next();
      await Promise.all(
        MOMENTS.map(async (conversation) => {
          // The second answer is the latest, once it is there.
          const message = `after ${conversation}`;
          const heard = await survivor.read(
            `/output/stream?conversation=${conversation}`,
            (events) => textsOf(events).at(-1) === answerTo(message),
          );
          expect(textsOf(heard).at(-2) ?? answerTo(conversation)).to.equal(answerTo(conversation));
          await survivor.request('/input', { conversation, message: `last ${conversation}` });
          await survivor.read(
            `/output/stream?conversation=${conversation}`,
            (events) => textsOf(events).at(-1) === answerTo(`last ${conversation}`),
          );
        }),
      );
      // The model of the last message has received the whole history.
      for (const conversation of MOMENTS)
        expect(vendor.historyOf(`last ${conversation}`), conversation).to.deep.equal([
          conversation,
          answerTo(conversation),
          `after ${conversation}`,
          answerTo(`after ${conversation}`),
          `last ${conversation}`,
        ]);
      for (const [message, times] of [
        ['halt-before-call', 1],
        ['halt-before-storing', 1],
        ['halt-after-storing', 1],
        ['stall', 2],
        ['hang', 2],
      ] as const)
        expect(vendor.timesAsked(message), message).to.equal(times);
      for (const conversation of MOMENTS) expect(vendor.timesAsked(`after ${conversation}`)).to.equal(1);
      // A client that was disconnected by the crash goes on where it was.
      const rest = await survivor.read(
        `/output/stream?conversation=stall&lastEventId=${encodeURIComponent(seen.at(-1)?.id ?? '')}`,
        (events) => textsOf(events).length === 3,
      );
      expect(textsOf([...seen, ...rest])).to.deep.equal(['stall', 'after stall', 'last stall'].map(answerTo));
      expect(rest.map(({ event }) => event)).not.to.include('restarted');
    });

    async function cancelFromAnotherProcess(): Promise<void> {
      const [first, second] = [await start(false), await start(false)];
      const { executionId } = await first.request<{ readonly executionId: string }>('/input', {
        conversation: 'c',
        message: 'hang in a conversation',
      });
      const { id } = await first.request<{ readonly id: string }>('/v1/responses', {
        model: 'v',
        input: 'hang in the background',
        background: true,
      });
      const chatted = fetch(`${first.url}/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          id: 'chat',
          trigger: 'submit-message',
          messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hang in a chat' }] }],
        }),
      }).then((response) => response.text());
      await Promise.all(
        ['hang in a conversation', 'hang in the background', 'hang in a chat'].map((text) => vendor.hasBeenAsked(text)),
      );
      const heard = second.read('/output/stream?conversation=c', (events) => textsOf(events).length > 0);
      await second.request(`/runs/${executionId}/cancel`, {});
      expect(await second.request(`/v1/responses/${id}/cancel`, {})).to.include({ status: 'cancelled' });
      await second.request('/chat/chat/stop', {});
      expect(textsOf(await heard)).to.deep.equal(['ERROR: The run was cancelled.']);
      expect(await chatted).to.contain('abort');
    }
    // Only one process at a time uses an embedded database.
    if (place.startsWith('MongoDB')) it('are cancelled from any process', cancelFromAnotherProcess);

    it('end in the background: begun again, or failed if a part was streamed, on the stream of every process', async () => {
      const { victim, next } = await pair();
      const create = (input: string, stream = false): Promise<Response> =>
        fetch(`${victim.url}/v1/responses`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'v', input, background: true, stream }),
        });
      const ids = new Map<string, string>();
      for (const moment of MOMENTS) {
        const { id } = (await (await create(moment)).json()) as { readonly id: string };
        ids.set(moment, id);
      }
      const streams = new Map<string, readonly EventSourceMessage[]>();
      for (const message of ['hang as a stream', 'stall as a stream']) {
        const events = await readEvents(await create(message, true), (all) =>
          all.some(({ data }) => data.includes(message.startsWith('stall') ? 'said' : 'response.in_progress')),
        );
        streams.set(message, events);
        ids.set(message, (JSON.parse(events[0]?.data ?? '') as { response: { id: string } }).response.id);
      }
      await Promise.all(['stall', 'hang'].map((message) => vendor.hasBeenAsked(message)));
      await victim.halts(3);
      await victim.kill();
      vendor.isWell = true;
      const survivor = await next();
      for (const [message, id] of ids) {
        const isLost = message === 'stall as a stream';
        await until(async () => {
          const { status } = await survivor.request<{ readonly status: string }>(`/v1/responses/${id}`);
          return status !== 'queued' && status !== 'in_progress';
        });
        const response = await survivor.request<ResponseBody>(`/v1/responses/${id}`);
        expect(response.status, message).to.equal(isLost ? 'failed' : 'completed');
        expect(response.error?.message ?? response.output[0]?.content[0]?.text, message).to.equal(
          isLost ? 'The server stopped before the response was complete.' : answerTo(message),
        );
        const seen = streams.get(message);
        if (seen === undefined) continue;
        const after = `starting_after=${seen.length - 1}`;
        const rest = await survivor.read(`/v1/responses/${id}?stream=true&${after}`);
        const all = [...seen, ...rest.filter(({ data }) => data !== '[DONE]')];
        expect(all.map(({ data }) => (JSON.parse(data) as { sequence_number: number }).sequence_number)).to.deep.equal(
          all.map((_event, index) => index),
        );
        expect(all.at(-1)?.event).to.equal(isLost ? 'response.failed' : 'response.completed');
      }
      // Answers that were stored are not asked for again.
      expect(vendor.timesAsked('halt-after-storing')).to.equal(1);
    });
  });
