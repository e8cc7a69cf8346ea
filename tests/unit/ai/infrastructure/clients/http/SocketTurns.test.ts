import { expect } from 'chai';
import { SocketTurns } from '../../../../../../imports/business/ai/infrastructure/clients/http/SocketTurns';
import type { ReleaseSocket } from '../../../../../../imports/business/ai/infrastructure/clients/http/SocketTurns';
import { failure } from '../../../../../support/failure';

describe('SocketTurns', () => {
  /** Who has a socket, in the order in which they got it. */
  let served: string[];
  let releases: ReleaseSocket[];
  let turns: SocketTurns;
  const ask = (userId: string, signal = new AbortController().signal): Promise<void> => {
    const take = async (): Promise<void> => {
      releases.push(turns.takeFree('host', userId) ?? (await turns.wait('host', userId, signal)));
      served.push(userId);
    };
    return take();
  };
  /** Ends the use that began first, and lets the next begin. */
  const end = async (): Promise<void> => {
    releases.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  beforeEach(() => {
    served = [];
    releases = [];
    turns = new SocketTurns(2);
  });

  it('serves a user who has no socket before one whose many requests have waited longer', async () => {
    const all = Array.from({ length: 22 }, () => ask('ann'));
    all.push(ask('bob'));
    await Promise.all(all.slice(0, 2));
    expect(served).to.deep.equal(['ann', 'ann']);
    await end();
    expect(served).to.deep.equal(['ann', 'ann', 'bob']);
    while (releases.length > 0) await end();
    await Promise.all(all);
    expect(served).to.have.length(23);
  });

  it('serves users in turn who have as many sockets, and the requests of each in their order', async () => {
    turns = new SocketTurns(1);
    const order: string[] = [];
    const one = async (userId: string, name: string): Promise<void> => {
      const { signal } = new AbortController();
      const release = turns.takeFree('host', userId) ?? (await turns.wait('host', userId, signal));
      order.push(name);
      releases.push(release);
    };
    const all = [
      one('ann', 'a1'),
      one('ann', 'a2'),
      one('ann', 'a3'),
      one('bob', 'b1'),
      one('bob', 'b2'),
      one('cem', 'c1'),
    ];
    await all[0];
    while (releases.length > 0) await end();
    await Promise.all(all);
    expect(order).to.deep.equal(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  it('leaves sockets to one user while no other wants them', async () => {
    const all = Array.from({ length: 5 }, () => ask('ann'));
    await Promise.all(all.slice(0, 2));
    while (releases.length > 0) await end();
    await Promise.all(all);
    expect(served).to.have.length(5);
  });

  it('counts the sockets of each host for themselves', () => {
    for (const host of ['first', 'second'])
      expect([1, 2, 3].map(() => turns.takeFree(host, 'ann') !== undefined)).to.deep.equal([true, true, false]);
  });

  it('passes over requests that no longer wait', async () => {
    const leave = new AbortController();
    await Promise.all([ask('ann'), ask('ann')]);
    const left = ask('bob', leave.signal);
    const next = ask('cem');
    leave.abort(new Error('gone'));
    expect(await failure(left)).to.have.property('message', 'gone');
    await end();
    await next;
    expect(served).to.deep.equal(['ann', 'ann', 'cem']);
  });
});
