/** The size of messages within messages. */
import { expect } from 'chai';
import type { FamilyEvent } from '../../../../imports/business/ai/domain/types/AgentEvents';
import { resultOfNested } from '../../../../imports/interop/aiSdk/NestedUIMessage';
import { UIMessageEncoder } from '../../../../imports/interop/aiSdk/UIMessageEncoder';
import type { UIMessageChunk } from '../../../../imports/interop/aiSdk/UIMessages';
import { answer } from '../../../../imports/testing/responses';

const STEP = { executionId: 'root', callId: 'c', name: 'ask' };
const root = { executionId: 'root', at: 1, seq: 1 };
const child = { executionId: 'child', at: 1, seq: 1, path: [STEP] };
const called: readonly FamilyEvent[] = [
  { ...root, type: 'run:started', userId: 'ann', model: 'm' },
  { ...root, type: 'tool:pending', callId: 'c', name: 'ask', call_id: 'c', arguments: '{}', blocking: true },
  { ...child, type: 'run:started', userId: 'ann', model: 'm' },
  { ...child, type: 'iteration:start', iteration: 1 },
];
const outputsOf = (
  events: readonly FamilyEvent[],
): readonly Extract<UIMessageChunk, { readonly output: unknown }>[] => {
  const encoder = new UIMessageEncoder();
  const chunks = [...called, ...events].flatMap((event) => encoder.push(event));
  return chunks.filter((chunk) => chunk.type === 'tool-output-available');
};

describe('a message within a message', () => {
  it('is sent a bounded number of times while it is written', () => {
    const outputs = outputsOf(
      Array.from({ length: 4_000 }, () => ({ ...child, type: 'llm:delta', kind: 'text', delta: 'word ' })),
    );
    expect(outputs.length).to.be.within(20, 120);
  });

  it('has its last parts, of a bounded size, and the whole result', () => {
    const result = 'x'.repeat(50_000);
    const long = 'y'.repeat(100_000);
    const calls = Array.from({ length: 50 }, (_, index): readonly FamilyEvent[] => {
      const call = { ...child, callId: `call ${index}`, name: 'read' };
      return [
        { ...call, type: 'tool:pending', call_id: call.callId, arguments: '{}', blocking: true },
        { ...call, type: 'tool:completed', result: long, executionTime: 1 },
      ];
    }).flat();
    const outputs = outputsOf([
      ...calls,
      { ...child, type: 'llm:response', iteration: 1, response: answer(result) },
      { ...root, type: 'tool:completed', callId: 'c', name: 'ask', result, executionTime: 1 },
    ]);
    const sizes = outputs.map(({ output }) => JSON.stringify(output).length);
    expect(Math.max(...sizes.slice(0, -1))).to.be.lessThan(34_000);
    expect(sizes.at(-1)).to.be.lessThan(34_000 + result.length);
    expect(resultOfNested(outputs.at(-1)?.output)).to.equal(result);
    expect(outputs.at(-1)?.output).to.have.nested.property('metadata.isShortened', true);
  });
});
