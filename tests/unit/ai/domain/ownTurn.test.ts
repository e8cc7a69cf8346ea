import { expect } from 'chai';
import { ownTurn } from '../../../../imports/business/ai/domain/ownTurn';

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

  it('leaves others several turns after a piece that took long', async () => {
    let turn = 0;
    const count = (): void => {
      turn += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const turns: number[] = [];
    await Promise.all(
      Array.from({ length: 3 }, async () => {
        await ownTurn();
        turns.push(turn);
        const end = performance.now() + 5;
        while (performance.now() < end);
      }),
    );
    clearImmediate(timer);
    const [first = 0, second = 0, third = 0] = turns;
    expect(second - first, 'turns').to.be.greaterThan(5);
    expect(third - second, 'turns').to.be.greaterThan(5);
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
