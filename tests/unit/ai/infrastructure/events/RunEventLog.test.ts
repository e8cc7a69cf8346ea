/** Which events subscribers receive, and when they get a gap notice. */
import { expect } from 'chai';
import type { AgentEvent } from '../../../../../imports/business/ai/domain/types/AgentEvents';
import { RunEventLog } from '../../../../../imports/business/ai/infrastructure/events/RunEventLog';

describe('RunEventLog', () => {
  const event = (executionId = 'a', size = 0): AgentEvent => ({
    type: 'run:started',
    userId: 'bob',
    model: 'x'.repeat(size),
    executionId,
    at: 0,
    seq: 1,
  });

  function subscribe(log: RunEventLog, since?: number, accepts: (executionId: string) => boolean = () => true) {
    const received: number[] = [];
    const gaps: number[] = [];
    const stop = log.subscribe(
      {
        accepts: ({ executionId }) => accepts(executionId),
        event: ({ id }) => received.push(id),
        gap: () => gaps.push(log.last),
      },
      since,
    );
    return { received, gaps, stop };
  }

  it('delivers the accepted events to every subscriber until it unsubscribes', () => {
    const log = new RunEventLog();
    const all = subscribe(log);
    const onlyB = subscribe(log, undefined, (executionId) => executionId === 'b');
    log.add(event('a'), 'bob');
    log.add(event('b'), 'bob');
    all.stop();
    log.add(event('b'), 'bob');
    expect(all.received).to.deep.equal([log.last - 2, log.last - 1]);
    expect(onlyB.received).to.deep.equal([log.last - 1, log.last]);
    expect(log.subscriberCount).to.equal(1);
  });

  it('replays exactly the events after the last one received', () => {
    const log = new RunEventLog();
    const start = log.last;
    for (let count = 0; count < 10; count += 1) log.add(event(), 'bob');
    for (let since = start; since <= log.last; since += 1) {
      const { received, gaps } = subscribe(log, since);
      expect(gaps).to.deep.equal([]);
      expect(received).to.deep.equal(Array.from({ length: log.last - since }, (_, at) => since + 1 + at));
    }
  });

  it('reports a gap if it cannot replay every missed event', () => {
    const log = new RunEventLog({ events: 10, characters: 1_000_000 });
    const start = log.last;
    for (let count = 0; count < 50; count += 1) log.add(event(), 'bob');
    for (const since of [0, start - 1, start, start + 30, log.last + 1, Number.MAX_SAFE_INTEGER]) {
      const { received, gaps } = subscribe(log, since);
      expect(gaps, String(since - start)).to.have.length(1);
      expect(received).to.deep.equal([]);
    }
    expect(subscribe(log, log.last - 2)).to.deep.include({ received: [log.last - 1, log.last], gaps: [] });
  });

  it('stays within its limits', () => {
    const log = new RunEventLog({ events: 1_000, characters: 50_000 });
    for (let count = 0; count < 200; count += 1) log.add(event('a', 1_000), 'bob');
    let since = log.last;
    while (subscribe(log, since - 1).gaps.length === 0) since -= 1;
    expect(log.last - since).to.be.within(10, 50);
  });

  it('never mistakes an id of an earlier server for one of its own', async () => {
    const earlier = new RunEventLog();
    earlier.add(event(), 'bob');
    while (Date.now() * 1_000 <= earlier.last) await new Promise((resolve) => setImmediate(resolve));
    const later = new RunEventLog();
    later.add(event(), 'bob');
    expect(subscribe(later, earlier.last).gaps).to.have.length(1);
  });

  describe('with other processes', () => {
    const ORIGIN = 'cccccccc';
    const open = (self: string): RunEventLog =>
      new RunEventLog(undefined, { self, lateness: 3_000, watch: () => () => undefined });
    const hear = (log: RunEventLog, userId: string, number: number): boolean =>
      log.addRemote(ORIGIN, { number, event: { ...event(userId), at: Date.now() - 60_000 } }, userId);

    function subscribeAs(log: RunEventLog, userId: string, since?: string) {
      const received: (number | undefined)[] = [];
      let position = log.positionFor(userId);
      const stop = log.subscribe(
        {
          userId,
          accepts: (logged) => logged.userId === userId,
          event: (logged) => {
            received.push(logged.remote?.number);
            ({ position } = logged);
          },
          gap: () => received.push(-1),
        },
        since,
      );
      return { received, position: () => position, stop };
    }

    for (const to of ['the same process', 'another process'])
      it(`resumes a user in ${to} before events that arrive behind later ones of other users`, () => {
        const [first, second] = [open('aaaaaaaa'), open('bbbbbbbb')];
        hear(first, 'ann', 1);
        const before = subscribeAs(first, 'ann');
        hear(first, 'bob', 5);
        first.add(event(), 'ann');
        before.stop();
        const log = to === 'the same process' ? first : second;
        const { received, stop } = subscribeAs(log, 'ann', before.position());
        for (const number of [1, 3]) hear(log, 'ann', number);
        expect(received).to.deep.equal([3]);
        stop();
      });
  });
});
