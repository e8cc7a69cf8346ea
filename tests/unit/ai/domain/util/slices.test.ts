/** Long work lets others have their turn between its slices. */
import { expect } from 'chai';
import {
  normalizeOptions,
  normalizeOptionsInTurns,
} from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import { atOnce, inTurns, SLICE } from '../../../../../imports/business/ai/domain/util/slices';
import type { Slices } from '../../../../../imports/business/ai/domain/util/slices';
import {
  readResponsesRequest,
  readResponsesRequestInTurns,
} from '../../../../../imports/business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import { failure } from '../../../../support/failure';

const ITEMS = 3 * SLICE + 5;

/** Items that report their index when they are read. */
function items(onRead: (index: number) => void): readonly object[] {
  return Array.from({ length: ITEMS }, (_, index) => ({
    type: 'message',
    get role() {
      onRead(index);
      return 'user';
    },
    content: [{ type: 'input_text', text: `${index}` }],
  }));
}

/** @returns how many items were read in each turn of the event loop in which any was */
async function itemsByTurn(read: (input: readonly object[]) => unknown): Promise<readonly number[]> {
  const turns = new Map<number, Set<number>>();
  let turn = 0;
  let timer = setImmediate(function count() {
    turn += 1;
    timer = setImmediate(count);
  });
  await read(items((index) => turns.set(turn, (turns.get(turn) ?? new Set()).add(index))));
  clearImmediate(timer);
  return [...turns.values()].map(({ size }) => size);
}

describe('work in slices', () => {
  function* count(slices: number): Slices<number> {
    for (let slice = 1; slice < slices; slice += 1) yield;
    return slices;
  }
  function* failing(): Slices<never> {
    yield;
    throw new RangeError('the second slice');
  }

  it('returns its result at once if it is short, and when it is asked to', () => {
    expect(inTurns(count(1))).to.equal(1);
    expect(atOnce(count(9))).to.equal(9);
    expect(() => atOnce(failing())).to.throw(RangeError);
  });

  it('resolves with its result, or rejects, after several turns', async () => {
    expect(await inTurns(count(9))).to.equal(9);
    expect(await failure(Promise.resolve(inTurns(failing())))).to.be.instanceOf(RangeError);
  });

  const READERS = {
    'normalizes a long input': (input: readonly object[]) => normalizeOptionsInTurns({ model: 'm', input }),
    'reads a long request': (input: readonly object[]) => readResponsesRequestInTurns({ model: 'm', input }),
  };
  for (const [title, read] of Object.entries(READERS))
    it(title, async () => {
      expect(await itemsByTurn(read)).to.deep.equal([SLICE, SLICE, SLICE, 5]);
    });

  it('changes nothing about the result', async () => {
    const input = items(() => undefined);
    expect(await normalizeOptionsInTurns({ model: 'm', input })).to.deep.equal(normalizeOptions({ model: 'm', input }));
    const body = { model: 'm', input };
    expect(await readResponsesRequestInTurns(body)).to.deep.equal(readResponsesRequest(body));
    const wrong = { model: 'm', input: [...input, { type: 'message', role: 'user', content: 5 }] };
    expect(await failure(Promise.resolve(normalizeOptionsInTurns(wrong)))).to.have.property(
      'path',
      `input[${ITEMS}].content`,
    );
  });
});
