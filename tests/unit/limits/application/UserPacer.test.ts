import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import type { SinonFakeTimers } from 'sinon';
import { LLMRateLimitError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { UserPacer } from '../../../../imports/business/limits/application/UserPacer';
import type { EndTurn } from '../../../../imports/business/limits/application/UserPacer';

const LARGE_BODY = 8 * 1024 * 1024;

describe('UserPacer', () => {
  let clock: SinonFakeTimers;
  let pacer: UserPacer;
  let now: number;
  let active: number;
  let begun: string[];
  beforeEach(() => {
    clock = useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    now = 0;
    active = 0;
    begun = [];
    pacer = new UserPacer({ now: () => now, loopTimes: () => ({ active, idle: now - active }) });
  });
  afterEach(() => clock.restore());

  /** Time passes, during which the loop works for a part of it. */
  const pass = async (milliseconds: number, utilization: number): Promise<void> => {
    for (let rest = milliseconds; rest > 0; rest -= 1) {
      now += 1;
      active += utilization;
      await clock.tickAsync(1);
    }
  };
  const enter = async (userId: string, bytes = 0, signal?: AbortSignal): Promise<EndTurn> => {
    const end = await pacer.enter(userId, bytes, signal);
    begun.push(userId);
    return end;
  };
  /** A user who keeps the loop busy, beside another one who does next to nothing. */
  const makeBusy = async (): Promise<void> => {
    const ends = [pacer.enter('bob', 0), ...Array.from({ length: 60 }, () => pacer.enter('eve', 0))];
    await pass(500, 1);
    for (const end of ends) (await end)();
    begun = [];
  };

  it('lets a lone user begin everything at once, however busy the loop is', async () => {
    void pacer.enter('eve', 0);
    await pass(500, 1);
    for (let count = 0; count < 100; count += 1) expect(pacer.enter('eve', LARGE_BODY)).to.be.a('function');
  });

  it('lets everybody begin at once while the loop is not busy', async () => {
    await makeBusy();
    void pacer.enter('bob', 0);
    await pass(50, 0.1);
    for (let count = 0; count < 100; count += 1) expect(pacer.enter('eve', 0)).to.be.a('function');
  });

  it('has who takes most of a busy loop wait, and nobody else', async () => {
    await makeBusy();
    expect(pacer.enter('eve', 0)).to.be.a('promise');
    expect(pacer.enter('bob', 0)).to.be.a('function');
    expect(pacer.enter('new', 0)).to.be.a('function');
  });

  it('has nobody wait where all take the same', async () => {
    const ends = ['ann', 'bob', 'cleo'].flatMap((user) => Array.from({ length: 10 }, () => pacer.enter(user, 0)));
    await pass(500, 1);
    for (const end of ends) (await end)();
    await pass(10, 1);
    for (const user of ['ann', 'bob', 'cleo']) expect(pacer.enter(user, 0), user).to.be.a('function');
  });

  it('takes work for strangers for nobody’s', async () => {
    void pacer.enter('bob', 0);
    for (let count = 0; count < 50; count += 1) {
      for (let arrived = 0; arrived < 20; arrived += 1) pacer.countUnidentified(1);
      expect(pacer.enter('eve', 0), String(count)).to.be.a('function');
      await pass(10, 1);
    }
  });

  it('has nobody wait whose few requests follow one another, although the loop works for others', async () => {
    void pacer.enter('bob', 0);
    for (let count = 0; count < 50; count += 1) {
      const end = pacer.enter('eve', 0);
      expect(end, String(count)).to.be.a('function');
      await pass(60, 1);
      (await end)();
    }
  });

  it('begins one request that waits each time the loop has rested as long as it worked', async () => {
    await makeBusy();
    const waiting = [enter('eve'), enter('eve'), enter('eve')];
    await pass(10, 0);
    expect(begun.length).to.be.within(1, 3);
    await Promise.all([...waiting, pass(20, 0)]);
    const more = Array.from({ length: 50 }, () => pacer.enter('eve', 0));
    expect(more.filter((each) => typeof each === 'function')).to.have.length(50);
  });

  it('keeps the loop half free for others', async () => {
    await makeBusy();
    // Each request makes the loop work for 8 ms.
    let work = 0;
    for (let count = 0; count < 200; count += 1)
      void enter('eve').then((end) => {
        work += 8;
        end();
      });
    const busyAt = active;
    for (let count = 0; count < 1_000; count += 1) {
      const works = work > 0 ? 1 : 0;
      work -= works;
      await pass(1, works);
    }
    expect((active - busyAt) / 1_000).to.be.within(0.3, 0.6);
  });

  it('reads large bodies of a user one after another, and of others at the same time', async () => {
    void pacer.enter('bob', 0);
    expect(pacer.enter('eve', LARGE_BODY)).to.be.a('function');
    const waiting = [enter('eve', LARGE_BODY), enter('eve', LARGE_BODY)];
    expect(pacer.enter('bob', LARGE_BODY)).to.be.a('function');
    await pass(500, 0.1);
    expect(begun).to.deep.equal([]);
    await pass(500, 0.1);
    expect(begun).to.deep.equal(['eve']);
    await Promise.all([...waiting, pass(1_000, 0.1)]);
  });

  it('begins four requests of each user in a second although the loop stays busy', async () => {
    const users = ['eve', 'mallory'];
    for (const user of ['bob', ...Array.from({ length: 6 }, () => users).flat()]) void pacer.enter(user, 0);
    await pass(500, 1);
    for (const user of users) for (let count = 0; count < 20; count += 1) void enter(user);
    await pass(2_200, 1);
    for (const user of users) expect(begun.filter((each) => each === user).length, user).to.be.within(8, 10);
    await pass(200, 0);
  });

  it('refuses what has waited for ten seconds, and what comes after 256 others', async () => {
    await makeBusy();
    const refused: unknown[] = [];
    for (let count = 0; count < 256; count += 1) void enter('eve').catch((error: unknown) => refused.push(error));
    expect(() => pacer.enter('eve', 0)).to.throw(LLMRateLimitError, '256 wait already');
    await pass(10_100, 1);
    expect(refused.length).to.be.within(200, 230);
    expect(refused[0])
      .to.be.instanceOf(LLMRateLimitError)
      .with.property(
        'message',
        'The server is busy, and your requests take more than an equal share of it; this one waited 10 s. Send fewer at a time.',
      );
    expect(pacer.enter('bob', 0)).to.be.a('function');
  });

  it('forgets a request whose client leaves', async () => {
    await makeBusy();
    const controller = new AbortController();
    const left: unknown = enter('eve', 0, controller.signal).catch((error: unknown) => error);
    const stays = enter('eve');
    controller.abort(new Error('left'));
    expect(await left).to.have.property('message', 'left');
    await Promise.all([stays, pass(20, 0)]);
    expect(begun).to.deep.equal(['eve']);
    await makeBusy();
    expect(() => pacer.enter('eve', 0, controller.signal)).to.throw('left');
  });

  it('takes requests that are in progress for long to wait for a vendor', async () => {
    const streams = Array.from({ length: 30 }, () => pacer.enter('ann', 0));
    await pass(1_100, 0.05);
    void pacer.enter('eve', 0);
    await pass(500, 1);
    expect(pacer.enter('eve', 0), 'works').to.be.a('promise');
    expect(pacer.enter('ann', 0), 'waits').to.be.a('function');
    expect(streams).to.have.length(30);
  });

  it('forgets users who are not active any more', async () => {
    await makeBusy();
    for (let count = 0; count < 3; count += 1) {
      const end = pacer.enter('eve', 0);
      await pass(5_000, 0.01);
      (await end)();
    }
    void pacer.enter('eve', 0);
    await pass(500, 1);
    expect(pacer.enter('eve', 0)).to.be.a('function');
  });
});
