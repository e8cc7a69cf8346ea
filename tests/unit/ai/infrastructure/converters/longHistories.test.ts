/** Histories of tens of thousands of items: converted in slices, in a time that grows with their length alone. */
import { expect } from 'chai';
import { adoptInput } from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import { SLICE } from '../../../../../imports/business/ai/domain/util/slices';
import type { InputItem } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { Wire } from '../../../../../imports/business/ai/infrastructure/converters/Wire';
import { anthropicWire } from '../../../../../imports/business/ai/infrastructure/converters/anthropic/anthropicWire';
import { chatCompletionsWire } from '../../../../../imports/business/ai/infrastructure/converters/chat/chatCompletionsWire';
import { googleWire } from '../../../../../imports/business/ai/infrastructure/converters/google/googleWire';
import { responsesWire } from '../../../../../imports/business/ai/infrastructure/converters/responses/responsesWire';
import type { VendorName } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { chatContext } from '../../../../support/chatRecordings';
import { allInSoak, itInSoak } from '../../../../support/soak';

const WIRES: readonly (readonly [VendorName, Wire])[] = [
  ['groq', chatCompletionsWire],
  ['anthropic', anthropicWire],
  ['google', googleWire],
  ['openai', responsesWire],
];

const LENGTH = 8_000;

function history(item: (at: number) => InputItem, length = LENGTH): readonly InputItem[] {
  return adoptInput(Array.from({ length }, (_, at) => item(at)));
}

const message = (role: 'user' | 'system', text = 'a'): InputItem => ({
  type: 'message',
  role,
  content: [{ type: 'input_text', text }],
});
const call = (call_id: string): InputItem => ({ type: 'function_call', call_id, name: 'f', arguments: '{}' });
const result = (call_id: string): InputItem => ({ type: 'function_call_output', call_id, output: 'x' });

/** @returns how many slices there were, and the milliseconds that all took */
function convert([vendor, wire]: (typeof WIRES)[number], input: readonly InputItem[]): readonly [number, number] {
  const startedAt = performance.now();
  const slices = wire.toRequest({ model: 'm', input }, chatContext(vendor), false);
  let count = 1;
  while (slices.next().done !== true) count += 1;
  return [count, performance.now() - startedAt];
}

/** The best of several runs, each with items that no cache knows. */
function timeOf(to: (typeof WIRES)[number], make: () => readonly InputItem[]): number {
  return Math.min(...[1, 2, 3].map(() => convert(to, make())[1]));
}

describe('a long history', () => {
  for (const to of allInSoak(WIRES, 2))
    describe(`over ${to[1].name}`, () => {
      it('is converted in slices, and a short one at once', () => {
        expect(
          convert(
            to,
            history(() => message('user')),
          )[0],
        ).to.be.at.least(LENGTH / SLICE);
        expect(
          convert(
            to,
            history(() => message('user'), 10),
          )[0],
        ).to.equal(1);
        // Results without calls need repair, which takes about as many slices again.
        expect(
          convert(
            to,
            history((at) => result(`${at}`)),
          )[0],
          'with its repair',
        ).to.be.at.least((2 * LENGTH) / SLICE - 1);
      });

      itInSoak('may repeat the id of a call as often as it has items', () => {
        const distinct = timeOf(to, () => history((at) => call(`c${at}`)));
        const inOne = timeOf(to, () => history(() => call('c')));
        expect(inOne, 'in one turn').to.be.lessThan(20 * distinct);
        const inEach = timeOf(to, () => history((at) => (at % 2 === 0 ? message('user') : call('c'))));
        expect(inEach, 'in a turn each').to.be.lessThan(20 * distinct);
      });
    });

  itInSoak('may have many instructions within one turn', () => {
    const [, to] = WIRES;
    if (to === undefined) throw new Error('There is no wire.');
    const user = timeOf(to, () => history(() => message('user'), 5 * LENGTH));
    const mixed = timeOf(to, () => history((at) => message(at === 0 ? 'user' : 'system'), 5 * LENGTH));
    expect(mixed).to.be.lessThan(20 * user);
  });
});
