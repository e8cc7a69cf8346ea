import { expect } from 'chai';
import fc from 'fast-check';
import { FairLruMap } from '../../../../../imports/business/ai/domain/util/FairLruMap';

interface Sized {
  readonly size: number;
  readonly isBusy?: boolean;
}

const open = (limits: Partial<ConstructorParameters<typeof FairLruMap>[0]> = {}): FairLruMap<Sized> =>
  new FairLruMap<Sized>(
    { entries: 100, entriesPerUser: 100, ...limits },
    { sizeOf: ({ size }) => size, canEvict: ({ isBusy }) => isBusy !== true },
  );

describe('a map that users share', () => {
  it("evicts a user's least recently used entries beyond the share of one user", () => {
    const map = open({ entriesPerUser: 2 });
    for (const key of ['a', 'b']) map.set('ann', key, { size: 1 });
    map.get('ann', 'a');
    map.set('ann', 'c', { size: 1 });
    expect(['a', 'b', 'c'].map((key) => map.get('ann', key) !== undefined)).to.deep.equal([true, false, true]);
  });

  it('evicts by size, too', () => {
    const map = open({ size: 100, sizePerUser: 10 });
    map.set('ann', 'a', { size: 6 });
    map.set('ann', 'b', { size: 6 });
    expect(map.get('ann', 'a')).to.equal(undefined);
    const grown = { size: 11 };
    map.set('ann', 'c', grown);
    expect(map.get('ann', 'b'), 'the newest stays, whatever its size').to.equal(undefined);
    expect(map.get('ann', 'c')).to.equal(grown);
  });

  it('never evicts anything of a user who holds less than others', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 9 })), { maxLength: 300 }), (hostile) => {
        const map = open({ entries: 20, entriesPerUser: 15, size: 200, sizePerUser: 100 });
        for (let at = 0; at < 3; at += 1) map.set('good', `${at}`, { size: 5 });
        for (const [at, [user, size]] of hostile.entries()) map.set(`hostile-${user}`, `${at}`, { size: 2 * size });
        expect(map.size).to.be.at.most(20);
        for (let at = 0; at < 3; at += 1) expect(map.get('good', `${at}`)).to.deep.equal({ size: 5 });
      }),
    );
  });

  it('keeps entries that are in use, and evicts nothing of others for them', () => {
    const map = open({ entries: 4, entriesPerUser: 3 });
    map.set('good', 'idle', { size: 1 });
    for (let at = 0; at < 10; at += 1) map.set('hostile', `${at}`, { size: 1, isBusy: true });
    expect(map.size).to.equal(11);
    expect(map.get('good', 'idle')).not.to.equal(undefined);
  });

  it('is bounded for equal values, too, and reports what it evicts', () => {
    const evicted: string[] = [];
    const map = new FairLruMap<string>({ entries: 5 }, { onEvict: (value) => evicted.push(value) });
    map.set('good', 'mine', 'kept');
    for (let at = 0; at < 10; at += 1) map.set('hostile', `${at}`, 'same');
    expect(map.size).to.equal(5);
    expect(map.get('good', 'mine')).to.equal('kept');
    expect(evicted).to.deep.equal(Array.from({ length: 6 }, () => 'same'));
  });

  it('takes from the one who holds most, and from the older of two who hold as much', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(5), fc.nat(9)), { maxLength: 200 }), (sets) => {
        const map = open({ entries: 8 });
        // The keys of each user, in the order in which the shares began, and in which the keys were set.
        let model: (readonly [user: string, keys: readonly string[]])[] = [];
        for (const [userNumber, keyNumber] of sets) {
          const [user, key] = [`user-${userNumber}`, `${keyNumber}`];
          map.set(user, key, { size: 1 });
          const others = (model.find(([name]) => name === user)?.[1] ?? []).filter((each) => each !== key);
          const kept = others.length === 0 ? model.filter(([name]) => name !== user) : model;
          const isNew = !kept.some(([name]) => name === user);
          model = isNew
            ? [...kept, [user, [key]]]
            : kept.map((share) => (share[0] === user ? [user, [...others, key]] : share));
          if (model.flatMap(([, keys]) => keys).length <= 8) continue;
          const most = Math.max(...model.map(([, keys]) => keys.length));
          const heaviest = model.find(([, keys]) => keys.length === most)?.[0];
          model = model
            .map(([name, keys]) => [name, name === heaviest ? keys.slice(1) : keys] as const)
            .filter(([, keys]) => keys.length > 0);
        }
        const found = Array.from({ length: 6 }, (_, user) =>
          Array.from({ length: 10 }, (__, key) => map.get(`user-${user}`, `${key}`) !== undefined),
        );
        const expected = found.map((keys, user) =>
          keys.map((_, key) => model.find(([name]) => name === `user-${user}`)?.[1].includes(`${key}`) === true),
        );
        expect(found).to.deep.equal(expected);
      }),
    );
  });

  it('forgets a user', () => {
    const map = open({ size: 10 });
    map.set('ann', 'a', { size: 9 });
    map.forget('ann');
    map.set('bob', 'b', { size: 9 });
    expect([map.size, map.get('ann', 'a')]).to.deep.equal([1, undefined]);
    expect(map.delete('bob', 'b')).to.equal(true);
    expect(map.delete('bob', 'b')).to.equal(false);
  });
});
