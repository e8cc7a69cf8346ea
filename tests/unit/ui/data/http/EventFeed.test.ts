import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import sinon from 'sinon';
import { EventFeed } from '../../../../../imports/ui/data/http/EventFeed';
import type { EventFeedListener } from '../../../../../imports/ui/data/http/EventFeed';
import { VirtualTime } from '../../../../support/VirtualTime';

interface OpenStream {
  readonly signal: AbortSignal;
  readonly end: () => void;
}

describe('EventFeed', () => {
  let time: VirtualTime;
  let feed: EventFeed;
  /** Whether the server can be reached. */
  let isUp: boolean;
  let attempts: number[];
  let streams: OpenStream[];
  let log: string[];
  beforeEach(() => {
    time = VirtualTime.start(0);
    isUp = true;
    [attempts, streams, log] = [[], [], []];
    feed = new EventFeed({
      connection: {
        openStream: async (_path, _headers, signal) => {
          attempts.push(Date.now());
          if (!isUp) throw new Error('The server is down.');
          return new ReadableStream<Uint8Array>({
            start: (controller) => {
              streams.push({ signal, end: () => controller.close() });
              signal.addEventListener('abort', () => controller.error(signal.reason));
            },
          });
        },
      },
      path: '/events',
      schedule: (flush) => flush(),
      idleTimeoutMs: 3_600_000,
    });
  });
  afterEach(() => {
    sinon.restore();
    time.stop();
  });

  const listener = (name: string): EventFeedListener => ({
    onOpen: () => log.push(`${name} open`),
    onEvents: () => undefined,
    onChanges: () => log.push(`${name} changes`),
    onDisconnected: () => log.push(`${name} disconnected`),
  });
  const waits = (): readonly number[] => attempts.slice(1).map((at, index) => at - attempts[index]!);

  it('has one stream, which ends with the last subscriber, and tells each that it is open', async () => {
    const leave = ['a', 'b'].map((name) => feed.subscribe(listener(name)));
    await time.pass(0);
    leave.push(feed.subscribe(listener('c')));
    expect(log).to.deep.equal(['a open', 'b open', 'c open']);
    leave[0]!();
    leave[1]!();
    expect(streams.map(({ signal }) => signal.aborted)).to.deep.equal([false]);
    leave[2]!();
    expect(streams.map(({ signal }) => signal.aborted)).to.deep.equal([true]);
    await time.pass(60_000);
    expect([attempts.length, time.timers]).to.deep.equal([1, []]);
  });

  it('waits longer before each attempt, up to ten seconds, until one succeeds', async () => {
    isUp = false;
    const leave = feed.subscribe(listener('a'));
    await time.pass(35_000);
    expect(waits()).to.deep.equal([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000]);
    isUp = true;
    await time.pass(10_000);
    attempts = [Date.now()];
    streams[0]!.end();
    await time.pass(250);
    expect(waits()).to.deep.equal([250]);
    expect(log.slice(-3)).to.deep.equal(['a open', 'a disconnected', 'a open']);
    leave();
  });

  it('tries again at once if somebody asks for it', async () => {
    isUp = false;
    const leave = feed.subscribe(listener('a'));
    await time.pass(10_000);
    isUp = true;
    feed.reconnect();
    await time.pass(0);
    expect(log.at(-1)).to.equal('a open');
    leave();
  });

  it('has no stream for a hidden page, which looks for changes now and then and leaves nothing behind', async () => {
    const any = sinon.spy(AbortSignal, 'any');
    const leave = feed.subscribe(listener('a'));
    await time.pass(0);
    feed.setVisible(false);
    await time.pass(0);
    log = [];
    await time.pass(90_000);
    expect(log).to.deep.equal(['a changes', 'a changes', 'a changes']);
    expect([streams.length, streams[0]!.signal.aborted]).to.deep.equal([1, true]);
    for (const { returnValue: signal } of any.getCalls())
      if (!signal.aborted) expect(getEventListeners(signal, 'abort')).to.have.length(1);
    leave.call(undefined);
    const stay = feed.subscribe(listener('b'));
    expect(log.at(-1), 'what is shown while the page is hidden is loaded').to.equal('b open');
    feed.setVisible(true);
    await time.pass(0);
    expect([streams.length, log.at(-1)]).to.deep.equal([2, 'b open']);
    stay();
  });
});
