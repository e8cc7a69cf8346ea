/** The circuit's promises, one state after the other. */
import { expect } from 'chai';
import fc from 'fast-check';
import { CircuitBreaker } from '../../../../../../imports/business/ai/application/services/routing/CircuitBreaker';
import type { CircuitPermit } from '../../../../../../imports/business/ai/application/services/routing/CircuitBreaker';

interface World {
  now: number;
  readonly breaker: CircuitBreaker;
  readonly enter: () => CircuitPermit;
  readonly fail: (times: number) => void;
}

function setUp(): World {
  const world: World = {
    now: 0,
    breaker: new CircuitBreaker(5, 30_000, () => world.now),
    enter: () => {
      const ticket = world.breaker.acquire('ann');
      if (ticket === undefined) throw new Error('the circuit is open');
      return ticket;
    },
    fail: (times) => {
      for (let time = 0; time < times; time += 1) world.enter().failed();
    },
  };
  return world;
}

describe('a circuit breaker', () => {
  it('opens with the fifth consecutive failure, and not before', () => {
    const { breaker, fail } = setUp();
    fail(4);
    expect(breaker.admits('ann')).to.equal(true);
    fail(1);
    expect(breaker.acquire('ann')).to.equal(undefined);
    expect(breaker.remaining('ann')).to.equal(30_000);
  });

  it('resets its count after a success', () => {
    const { breaker, fail, enter } = setUp();
    fail(4);
    enter().succeeded();
    fail(4);
    expect(breaker.admits('ann')).to.equal(true);
  });

  it('ignores an attempt that is no evidence about the provider', () => {
    const { breaker, fail, enter } = setUp();
    fail(4);
    enter().released();
    fail(1);
    expect(breaker.admits('ann')).to.equal(false);
  });

  it('admits exactly one probe after the pause, whatever the number of callers', () => {
    const world = setUp();
    world.fail(5);
    world.now = 29_999;
    expect(world.breaker.acquire('ann')).to.equal(undefined);
    world.now = 30_000;
    const tickets = Array.from({ length: 10 }, () => world.breaker.acquire('ann'));
    expect(tickets.filter((ticket) => ticket !== undefined)).to.have.length(1);
    expect(world.breaker.admits('ann')).to.equal(false);
  });

  it('closes when the probe succeeds', () => {
    const world = setUp();
    world.fail(5);
    world.now = 30_000;
    world.enter().succeeded();
    world.fail(4);
    expect(world.breaker.admits('ann')).to.equal(true);
  });

  it('stays open for another full pause when the probe fails', () => {
    const world = setUp();
    world.fail(5);
    world.now = 40_000;
    world.enter().failed();
    world.now = 69_999;
    expect(world.breaker.acquire('ann')).to.equal(undefined);
    world.now = 70_000;
    expect(world.breaker.acquire('ann')).to.not.equal(undefined);
  });

  it('admits another probe immediately if the first one was released', () => {
    const world = setUp();
    world.fail(5);
    world.now = 30_000;
    world.enter().released();
    expect(world.breaker.acquire('ann')).to.not.equal(undefined);
  });

  it('closes as soon as the probe’s stream starts, and counts a later failure once', () => {
    const world = setUp();
    world.fail(5);
    world.now = 30_000;
    const probe = world.enter();
    probe.responding();
    expect(world.breaker.admits('ann')).to.equal(true);
    probe.failed();
    world.fail(3);
    expect(world.breaker.admits('ann')).to.equal(true);
    world.fail(1);
    expect(world.breaker.admits('ann')).to.equal(false);
  });

  it('ignores the outcome of attempts that started before it opened', () => {
    const world = setUp();
    const [early, late] = [world.enter(), world.enter()];
    world.fail(5);
    early.succeeded();
    expect(world.breaker.admits('ann')).to.equal(false);
    world.now = 20_000;
    late.failed();
    expect(world.breaker.remaining('ann')).to.equal(10_000);
  });

  it('counts one outcome per attempt', () => {
    const world = setUp();
    const ticket = world.enter();
    for (let time = 0; time < 9; time += 1) ticket.failed();
    expect(world.breaker.admits('ann')).to.equal(true);
  });

  it('is opened by one user’s failures for that user alone, whoever has called before', () => {
    for (const bobCalls of ['before', 'after'] as const) {
      const { breaker, fail } = setUp();
      if (bobCalls === 'before') breaker.acquire('bob')?.succeeded();
      fail(5);
      expect(breaker.acquire('ann')).to.equal(undefined);
      expect(breaker.remaining('ann')).to.equal(30_000);
      expect(breaker.state).to.equal('open');
      expect(breaker.remaining('bob')).to.equal(0);
      // A call that shows nothing of the provider changes nothing.
      breaker.acquire('bob')?.released();
      expect(breaker.admits('ann')).to.equal(false);
      // Three of the five that open it for everyone are one user's.
      breaker.acquire('bob')?.failed();
      expect(breaker.admits('bob')).to.equal(true);
      expect(breaker.admits('carl')).to.equal(true);
      breaker.acquire('bob')?.failed();
      expect(breaker.admits('bob')).to.equal(false);
      expect(breaker.admits('carl')).to.equal(false);
    }
  });

  it('that one user has opened is closed by a response to another', () => {
    const { breaker, fail } = setUp();
    fail(5);
    breaker.acquire('bob')?.succeeded();
    expect(breaker.admits('ann')).to.equal(true);
    fail(4);
    expect(breaker.admits('ann')).to.equal(true);
  });

  it('that one user probes admits other users', () => {
    const world = setUp();
    const { breaker } = world;
    world.fail(5);
    world.now = 30_000;
    const probe = world.enter();
    expect(breaker.state).to.equal('probing');
    expect(breaker.acquire('ann')).to.equal(undefined);
    breaker.acquire('bob')?.released();
    probe.failed();
    expect(breaker.remaining('ann')).to.equal(30_000);
    expect(breaker.admits('bob')).to.equal(true);
  });

  it('is not kept open for several users by the probes of one of them', () => {
    const world = setUp();
    const { breaker } = world;
    for (let time = 0; time < 5; time += 1) breaker.acquire(time % 2 === 0 ? 'mallory' : 'bob')?.failed();
    world.now = 30_000;
    breaker.acquire('mallory')?.failed();
    expect(breaker.admits('ann')).to.equal(false);
    world.now = 60_000;
    breaker.acquire('mallory')?.failed();
    breaker.acquire('bob')?.succeeded();
    expect(breaker.state).to.equal('closed');
  });

  it('admits each user after its pause, none before, and refuses nobody for one user’s failures', () => {
    const users = ['ann', 'bob', 'carl'];
    const step = fc.record({
      act: fc.constantFrom('enter', 'enter', 'succeeded', 'failed', 'failed', 'released', 'responding'),
      userId: fc.constantFrom(...users),
      which: fc.nat(5),
      wait: fc.constantFrom(0, 0, 0, 1_000, 30_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const world = setUp();
        const { breaker } = world;
        const failed = new Set<string>();
        let open: { readonly permit: CircuitPermit; readonly userId: string }[] = [];
        for (const { act, userId, which, wait } of steps) {
          world.now += wait;
          if (act === 'enter') {
            const wasOpen = breaker.remaining(userId) > 0;
            const permit = breaker.acquire(userId);
            if (wasOpen) expect(permit).to.equal(undefined);
            if ([...failed].every((each) => each === 'ann') && userId !== 'ann') expect(permit).to.not.equal(undefined);
            if (permit !== undefined) open.push({ permit, userId });
            continue;
          }
          const entered = open[which % Math.max(1, open.length)];
          entered?.permit[act as 'responding']();
          if (act === 'failed' && entered !== undefined) failed.add(entered.userId);
          if (act !== 'responding') open = open.filter((other) => other !== entered);
        }
        for (const { permit } of open) permit.released();
        world.now += 30_000;
        for (const userId of users) expect(breaker.admits(userId)).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });
});
