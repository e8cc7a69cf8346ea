import { expect } from 'chai';
import { stub } from 'sinon';
import { ownTurn } from '../../../../../imports/business/ai/domain/util/ownTurn';

describe('ownTurn', () => {
  it('gives each of many a turn of its own, in their order', async () => {
    let turn = 0;
    const count = (): void => {
      turn += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const turns: (readonly [name: number, turn: number])[] = [];
    await Promise.all(
      Array.from({ length: 20 }, async (_, name) => {
        await ownTurn();
        turns.push([name, turn]);
        if (name % 3 === 0) {
          await ownTurn();
          turns.push([name, turn]);
        }
      }),
    );
    clearImmediate(timer);
    expect(new Set(turns.map(([, at]) => at)).size, JSON.stringify(turns)).to.equal(turns.length);
    const firsts = turns.filter(([name], at) => turns.findIndex(([each]) => each === name) === at);
    expect(firsts.map(([name]) => name)).to.deep.equal(Array.from({ length: 20 }, (_, name) => name));
  });

  for (const [takes, rests] of [
    [0, 0],
    [3, 3],
    [40, 5],
  ] as const)
    it(`leaves others ${rests} ms after a piece that took ${takes}`, async () => {
      let now = 0;
      const delays: number[] = [];
      const stubs = [
        stub(performance, 'now').callsFake(() => now),
        stub(globalThis, 'setTimeout').callsFake(((callback: () => void, delay: number) => {
          delays.push(delay);
          return setImmediate(callback);
        }) as unknown as (typeof globalThis)['setTimeout']),
      ];
      try {
        await Promise.all(
          Array.from({ length: 3 }, async () => {
            await ownTurn();
            now += takes;
          }),
        );
        expect(delays).to.deep.equal([rests, rests]);
      } finally {
        for (const each of stubs) each.restore();
      }
    });

  it('lets what has begun continue before anything else begins', async () => {
    const order: string[] = [];
    const work = async (name: string): Promise<void> => {
      await ownTurn('first');
      order.push(`${name} begins`);
      await ownTurn();
      order.push(`${name} continues`);
      await ownTurn();
      order.push(`${name} ends`);
    };
    await Promise.all(['a', 'b', 'c'].map(work));
    expect(order).to.deep.equal(
      ['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} continues`, `${name} ends`]),
    );
  });
});
