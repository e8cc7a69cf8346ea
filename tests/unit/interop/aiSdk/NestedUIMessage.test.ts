/** The size of messages within messages. */
import { expect } from 'chai';
import type { FamilyEvent } from '../../../../imports/business/ai/domain/types/AgentEvents';
import { resultOfNested } from '../../../../imports/interop/aiSdk/NestedUIMessage';
import { ContinuedUIMessage } from '../../../../imports/interop/aiSdk/ContinuedUIMessage';
import { readUIMessages } from '../../../../imports/interop/aiSdk/readUIMessages';
import type { ReadMessage } from '../../../../imports/interop/aiSdk/readUIMessages';
import { applyChunk, reduceUIMessage } from '../../../../imports/interop/aiSdk/reduceUIMessage';
import { toItems } from '../../../../imports/interop/aiSdk/toItems';
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

  it('asks about a call beside it, once the model call of the run above has ended, also for a page that goes on', () => {
    const executionId = 'c'.repeat(32);
    const pay = { ...child, executionId, callId: 'p', name: 'pay' };
    const text = (iteration: number): FamilyEvent => ({
      ...root,
      type: 'llm:response',
      iteration,
      response: answer(`answer ${iteration}`),
    });
    const asking: readonly FamilyEvent[] = [
      { ...pay, type: 'tool:pending', call_id: 'p', arguments: '{"sum":1}', blocking: true },
      { ...pay, type: 'tool:approval_required', arguments: '{"sum":1}', argumentsHash: 'a'.repeat(64) },
    ];
    const encoder = new UIMessageEncoder();
    for (const event of called) encoder.push(event);
    const start: FamilyEvent = { ...root, type: 'iteration:start', iteration: 1 };
    const typesOf = (events: readonly FamilyEvent[]): readonly string[] =>
      events.flatMap((event) => encoder.push(event)).map(({ type }) => type);
    expect(typesOf([start, ...asking])).not.to.include('tool-approval-request');
    const ask = ['start-step', 'tool-input-available', 'tool-approval-request'];
    expect(typesOf([text(1)])).to.deep.equal(['text-start', 'text-delta', 'text-end', ...ask]);
    const second = [{ ...root, type: 'iteration:start', iteration: 2 } as const, text(2)];
    // What is stored has the question at its call, before the answers.
    const chunks = (
      events: readonly FamilyEvent[],
      to: { push: UIMessageEncoder['push'] },
    ): readonly UIMessageChunk[] => events.flatMap((event) => to.push(event));
    const known = reduceUIMessage(chunks([...called, start, ...asking, text(1)], new UIMessageEncoder()));
    const [read] = readUIMessages([known]);
    const continued = new ContinuedUIMessage(read as ReadMessage);
    const executing: FamilyEvent = { ...pay, type: 'tool:executing' };
    for (const chunk of chunks([...called, ...asking, executing, start, text(1), ...second], continued))
      applyChunk(known, chunk);
    expect(
      known.parts.map((part) => ('text' in part ? part.text : 'state' in part ? part.state : part.type)),
    ).to.deep.equal([
      'output-available',
      'step-start',
      'answer 1',
      'step-start',
      'approval-responded',
      'step-start',
      'answer 2',
    ]);
    expect(toItems([read as ReadMessage]).map(({ type }) => type)).to.deep.equal([
      'function_call',
      'function_call_output',
      'message',
    ]);
  });
});
