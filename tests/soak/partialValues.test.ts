/** What a value costs while it is streamed, compared with what it costs when it is complete. */
import { expect } from 'chai';
import { parseStructured } from '../../imports/business/ai/application/services/structured/StructuredOutput';
import { PartialJson } from '../../imports/business/ai/domain/util/PartialJson';
import { answer } from '../../imports/testing/responses';

const NOTE = 'the quick brown fox jumps over a lazy dog';
const ITEMS = Array.from({ length: 8_800 }, (_, id) => ({
  id,
  name: `Item ${id}`,
  price: id * 1.25,
  tags: ['red', 'green'],
  isSold: id % 2 === 0,
  note: NOTE.slice(0, id % NOTE.length),
}));

/** Milliseconds of CPU time, of the fastest of several rounds. */
async function cpuTime(work: () => unknown): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < 9; round += 1) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

describe('The partial values of a value of 1 MB', () => {
  it('cost no more than twice its final parse', async () => {
    const text = JSON.stringify({ items: ITEMS });
    const pieces = text.match(/[^]{1,40}/g) ?? [];
    const response = answer(text);
    const final = await cpuTime(() =>
      parseStructured(response, { jsonSchema: { type: 'object' } }, { lenient: false }),
    );
    let values = 0;
    const partial = await cpuTime(() => {
      const json = new PartialJson();
      values = pieces.filter((piece) => json.push(piece)).length;
      json.end();
      expect((json.value as { items: unknown[] }).items).to.have.lengthOf(ITEMS.length);
    });
    console.log(`      ${text.length} characters: final parse ${final} ms, ${values} partial values ${partial} ms`);
    expect(values).to.be.greaterThan(500);
    expect(partial).to.be.lessThan(2 * final);
  }).timeout(60_000);
});
