/** The body that is sent says what the converted request says, however much of its text was written before. */
import { expect } from 'chai';
import fc from 'fast-check';
import { adoptItem } from '../../../../../../imports/business/ai/application/services/ContentNormalizer';
import {
  bodyJson as bodyPieces,
  keepJson,
  keepListJson,
} from '../../../../../../imports/business/ai/domain/util/keptJson';
import type { InputItem } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { toAnthropic } from '../../../../../../imports/business/ai/infrastructure/converters/anthropic/AnthropicConverter';
import { toResponses } from '../../../../../../imports/business/ai/infrastructure/converters/responses/ResponsesConverter';
import { GrowingJson } from '../../../../../../imports/business/ai/infrastructure/converters/shared/GrowingJson';
import { anthropicContext } from '../../../../../support/anthropicRecordings';
import { responsesContext } from '../../../../../support/responsesRecordings';

const bodyJson = (body: object): string => bodyPieces(body).join('');

describe('bodyJson', () => {
  it('is the JSON of a body without kept texts', () => {
    const body = { model: 'm', input: [{ a: 1 }], nothing: undefined, list: [] };
    expect(bodyJson(body)).to.equal(JSON.stringify(body));
  });

  it('writes kept texts last, and also when there are no other fields', () => {
    const input = [{ a: 1 }];
    keepJson(input, '{"a":1}');
    expect(bodyJson({ input, model: 'm' })).to.equal('{"model":"m","input":[{"a":1}]}');
    expect(bodyJson({ input })).to.equal('{"input":[{"a":1}]}');
    expect(bodyJson({ input, other: input })).to.equal('{"input":[{"a":1}],"other":[{"a":1}]}');
  });

  it('writes a long list in short pieces, whatever the size of its elements', () => {
    for (const sizes of [[1], [1, 4_000], [4_000, 1], [300, 0, 20_000]]) {
      const list = Array.from({ length: 300 }, (_, index) => ({ text: 'é'.repeat(sizes[index % sizes.length] ?? 0) }));
      const pieces = bodyPieces({ list, model: 'm', undefinedFields: [undefined] });
      expect(JSON.parse(pieces.join(''))).to.deep.equal({ list, model: 'm', undefinedFields: [null] });
    }
    const even = Array.from({ length: 600 }, () => ({ text: 'x'.repeat(1_000) }));
    expect(Math.max(...bodyPieces({ even }).map(({ length }) => length))).to.be.within(32 * 1_024, 64 * 1_024);
  });

  it('keeps the text of lists with the same elements only', () => {
    const [first, second, third] = [{ a: 1 }, { b: 2 }, { c: 3 }];
    for (const list of [[first, second], [first, second], [first, third], [first], [first, second, third], []]) {
      keepListJson(list);
      expect(bodyJson({ list })).to.equal(JSON.stringify({ list }));
    }
  });
});

describe('GrowingJson', () => {
  it('writes each list of a growing, shrinking and forking sequence', () => {
    const elements = Array.from({ length: 8 }, (_, index) => ({ index, text: `"é${index}\n` }));
    const element = fc.constantFrom(...elements);
    const step = fc.record({ kept: fc.nat(12), added: fc.array(element, { maxLength: 4 }) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
        const growing = new GrowingJson();
        let list: readonly object[] = [];
        for (const { kept, added } of steps) {
          list = [...list.slice(0, kept), ...added];
          expect(`[${growing.write(list)}]`).to.equal(JSON.stringify(list));
        }
      }),
    );
  });
});

describe('the body of a request that repeats a history', () => {
  /** Kinds of items, with a distinct text each. */
  const item = fc
    .tuple(fc.constantFrom('question', 'answer', 'call', 'late', 'reasoning', 'system', 'marked'), fc.nat(30))
    .map(([kind, number]) => itemsOf(kind, number));
  const step = fc.record({
    kept: fc.nat(30),
    added: fc.array(item, { minLength: 1, maxLength: 3 }),
    isStored: fc.boolean(),
  });
  const WIRES = {
    responses: (input: readonly InputItem[], store: boolean) =>
      toResponses({ model: 'gpt-5', input, store, tools: TOOLS }, responsesContext(), false).body,
    anthropic: (input: readonly InputItem[]) =>
      toAnthropic({ model: 'claude-sonnet-4-5', input, tools: TOOLS }, anthropicContext(), false).body,
  };
  for (const [wire, convert] of Object.entries(WIRES))
    it(`is the same on the wire ${wire} as that of a history that was never sent before`, () => {
      fc.assert(
        fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
          const first = itemsOf('question', 99);
          let history: readonly InputItem[] = first;
          for (const { kept, added, isStored } of steps) {
            history = [...first, ...history.slice(1, 1 + kept), ...added.flat()];
            const sent: unknown = JSON.parse(bodyJson(convert(history, isStored)));
            const fresh = structuredClone<readonly InputItem[]>(history);
            expect(sent).to.deep.equal(JSON.parse(JSON.stringify(convert(fresh, isStored))));
          }
        }),
        { numRuns: 150 },
      );
    });

  it('has the new items of a history only once, although another history began with the same item', () => {
    const first = itemsOf('question', 1);
    const [one, other] = [itemsOf('answer', 2), itemsOf('answer', 3)];
    for (const history of [
      first,
      [...first, ...one],
      [...first, ...other],
      [...first, ...one, ...itemsOf('question', 4)],
    ])
      for (const convert of Object.values(WIRES)) {
        const texts = [...bodyJson(convert(history, false)).matchAll(/text \d+/g)].map(([text]) => text);
        expect(texts).to.deep.equal([...JSON.stringify(history).matchAll(/text \d+/g)].map(([text]) => text));
      }
  });
});

const TOOLS = [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }] as const;

function itemsOf(kind: string, number: number): readonly InputItem[] {
  const text = `text ${number}`;
  const id = `call_${number}`;
  const call: InputItem = { type: 'function_call', id: `fc_${number}`, call_id: id, name: 'f', arguments: '{"a":1}' };
  const origin = { wire: 'responses', vendor: 'openai' } as const;
  const items: Record<string, readonly InputItem[]> = {
    question: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }],
    answer: [
      {
        type: 'message',
        id: `m_${number}`,
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    call: [call, { type: 'function_call_output', call_id: id, output: text }],
    late: [
      call,
      { type: 'function_call_output', call_id: id, output: 'running', status: 'in_progress' },
      { type: 'function_call_output', call_id: id, output: text, deferred: true },
    ],
    reasoning: [
      { type: 'reasoning', id: `rs_${number}`, summary: [], encrypted_content: text, origin },
      {
        type: 'message',
        id: `m_${number}`,
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    system: [{ type: 'message', role: 'system', content: [{ type: 'input_text', text }] }],
    marked: [
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text }],
        vendor: { anthropic: { cache_control: { type: 'ephemeral' } } },
      },
    ],
  };
  return (items[kind] ?? []).map((each) => adoptItem(each));
}
