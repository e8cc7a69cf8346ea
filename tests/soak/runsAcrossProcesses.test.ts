/**
 * What a client sees of runs is the same in every process: live text, events, resumed streams, waits and decisions,
 * over HTTP, with processes that share a MongoDB.
 */
import { expect } from 'chai';
import type { EventSourceMessage } from 'eventsource-parser';
import { AnsweringHost, readEvents, textsOf } from '../support/durable/AnsweringHost';
import { answerTo, StallingVendor } from '../support/durable/StallingVendor';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';

/** Milliseconds. A process that pauses on a busy machine is not taken for dead. */
const LEASE = 10_000;
/** Milliseconds by which events may be late on a busy machine. */
const LATENESS = 60_000;

/** Returns the text of the last answer. What precedes a `restarted` event is void. */
const textOf = (events: readonly EventSourceMessage[]): string =>
  events
    .slice(events.findLastIndex(({ event }) => event === 'restarted') + 1)
    .filter(({ event }) => event === undefined)
    .map(({ data }) => data)
    .join('');

interface RunEvent {
  readonly executionId: string;
  readonly seq: number;
  readonly delta?: string;
}

const runEventsOf = (events: readonly EventSourceMessage[]): readonly RunEvent[] =>
  events
    .filter(({ event }) => event !== 'resync' && event !== 'changes')
    // Boundary: events of runs.
    .map(({ data }) => JSON.parse(data) as RunEvent);

for (const mode of ['polled', 'notified'] as const)
  // Starts up to three processes for each test.
  describe(`runs across processes (MongoDB, ${mode})`, () => {
    let mongo: TestMongo;
    let vendor: StallingVendor;
    /** Each has a database of its own. */
    let test = 0;
    const hosts: AnsweringHost[] = [];
    before(async function () {
      mongo = await startTestMongo({ replicaSet: mode === 'notified' });
      if (!mongo.isStandIn && mode === 'polled') this.skip();
    });
    after(() => mongo.stop());
    beforeEach(async () => {
      test += 1;
      vendor = await StallingVendor.start();
    });
    afterEach(async () => {
      for (const host of hosts.splice(0)) await host.kill();
      await vendor.close();
    });

    const start = async (lateness = LATENESS): Promise<AnsweringHost> => {
      const host = await AnsweringHost.start({
        place: `${mongo.url}_${test}`,
        vendor: vendor.url,
        lease: LEASE,
        lateness,
        halts: false,
      });
      hosts.push(host);
      return host;
    };
    const write = (host: AnsweringHost, conversation: string, message: string): Promise<{ executionId: string }> =>
      host.request('/input', { conversation, message });

    it('streams the text of an answer while another process writes it', async () => {
      const [first, second] = [await start(), await start()];
      const stream = second.read('/output/stream?conversation=live', (events) => textOf(events) === 'You said: ');
      await write(first, 'live', 'stall, live');
      expect(textOf(await stream)).to.equal('You said: ');
      // One who comes later receives the beginning, too.
      const late = await second.read('/output/stream?conversation=live', (events) => textOf(events) === 'You said: ');
      expect(textOf(late)).to.equal('You said: ');
    });

    it('streams the text to one who comes after the process has died, while another one writes it', async () => {
      const [first, second] = [await start(), await start()];
      await write(first, 'taken over', 'stall, taken over');
      await vendor.hasBeenAsked('stall, taken over');
      await first.kill();
      await vendor.hasBeenAsked('stall, taken over', 2);
      const stream = await second.read(
        '/output/stream?conversation=taken%20over',
        (events) => textOf(events) === 'You said: ',
      );
      expect(textOf(stream)).to.equal('You said: ');
    });

    it('goes on where the text was when the process dies and another one begins anew', async () => {
      const [first, second, third] = [await start(), await start(), await start()];
      const heard: EventSourceMessage[] = [];
      let begun = (): void => undefined;
      const hasBegun = new Promise<void>((resolve) => (begun = resolve));
      const stream = third.read('/output/stream?conversation=moved', (events) => {
        heard.splice(0, heard.length, ...events);
        if (textOf(events) === 'You said: ') begun();
        return textsOf(events).length > 0;
      });
      await write(first, 'moved', 'stall, moved');
      await hasBegun;
      vendor.isWell = true;
      await first.kill();
      expect(textsOf(await stream)).to.deep.equal([answerTo('stall, moved')]);
      // The same beginning is not sent again, unless this process itself begins anew.
      if (!heard.some(({ event }) => event === 'restarted'))
        expect(textOf(heard)).to.equal(`${answerTo('stall, moved')}[DONE]`);
      expect(second.halted).to.deep.equal([]);
    });

    it('delivers the events of a run in every process, once and in order', async () => {
      const [first, second, third] = [await start(), await start(), await start()];
      const isEnded = (events: readonly EventSourceMessage[]): boolean =>
        events.filter(({ event }) => event === 'run:completed').length === 3;
      const streams = [first, second, third].map((host) => host.read('/runs/stream', isEnded));
      // Streams have begun when their processes answer.
      await Promise.all([first, second, third].map((host) => host.request('/runs')));
      const runs = [];
      for (const [index, host] of [first, second, third].entries())
        runs.push((await write(host, `events ${index}`, `message ${index}`)).executionId);
      for (const events of await Promise.all(streams))
        for (const executionId of runs) {
          const own = runEventsOf(events).filter((event) => event.executionId === executionId);
          expect(own.map(({ seq }) => seq)).to.deep.equal([...own.map(({ seq }) => seq)].sort((a, b) => a - b));
          expect(new Set(own.map(({ seq }) => seq)).size).to.equal(own.length);
          expect(own.map(({ delta = '' }) => delta).join('')).to.match(/^You said: message \d$/);
        }
    });

    it('resumes a stream of events in another process without loss and without repetition', async () => {
      const [first, second] = [await start(), await start()];
      const isStarted = (events: readonly EventSourceMessage[]): boolean =>
        events.some(({ event }) => event === 'llm:delta');
      const stream = first.read('/runs/stream', isStarted);
      await first.request('/runs');
      const { executionId } = await write(first, 'resumed', 'stall, resumed');
      const seen = await stream;
      // What happens while the client is away.
      await write(first, 'meanwhile', 'meanwhile');
      await write(second, 'elsewhere', 'elsewhere');
      await second.request(`/runs/${executionId}/cancel`, {});
      const rest = await second.read(
        `/runs/stream?lastEventId=${seen.at(-1)?.id ?? ''}`,
        (events) => events.filter(({ event }) => event === 'run:completed').length === 2 && isCancelled(events),
      );
      const all = runEventsOf([...seen, ...rest]);
      expect(new Set(all.map(({ executionId: run, seq }) => `${run}:${seq}`)).size).to.equal(all.length);
      expect(rest.map(({ event }) => event)).not.to.include('resync');
      for (const message of ['meanwhile', 'elsewhere'])
        expect(all.map(({ delta = '' }) => delta).join('')).to.include(answerTo(message));
    });

    it('asks for a new state if the process that has the missing events is dead', async () => {
      const [first, second] = [await start(), await start(1_000)];
      const stream = first.read('/runs/stream', (events) => events.some(({ event }) => event === 'llm:delta'));
      await first.request('/runs');
      await write(first, 'lost', 'stall, lost');
      const seen = await stream;
      await first.kill();
      const rest = await second.read(`/runs/stream?lastEventId=${seen.at(-1)?.id ?? ''}`, (events) =>
        events.some(({ event }) => event === 'resync'),
      );
      expect(rest.map(({ event }) => event)).to.include('resync');
    });

    it('streams a chat of another process with its live text', async () => {
      const [first, second] = [await start(), await start()];
      const chat = fetch(`${first.url}/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          id: 'chat',
          trigger: 'submit-message',
          messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'stall in a chat' }] }],
        }),
      });
      const deltas = (events: readonly EventSourceMessage[]): string =>
        events
          .filter(({ data }) => data !== '[DONE]')
          .map(({ data }) => (JSON.parse(data) as { readonly delta?: string }).delta ?? '')
          .join('');
      const hasBegun = (events: readonly EventSourceMessage[]): boolean => deltas(events) === 'You said: ';
      expect(deltas(await readEvents(await chat, hasBegun))).to.equal('You said: ');
      expect(deltas(await second.read('/chat/chat/stream', hasBegun))).to.equal('You said: ');
    });
  });

function isCancelled(events: readonly EventSourceMessage[]): boolean {
  return events.some(({ event }) => event === 'run:cancelled');
}
