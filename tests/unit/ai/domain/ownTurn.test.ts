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
    expect(turns.slice(0, 20).map(([name]) => name)).to.deep.equal(Array.from({ length: 20 }, (_, name) => name));
  });
});
