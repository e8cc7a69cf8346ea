/** Subagents that an AG-UI run ends before, as AG-UI's own client checks them. */
import { expect } from 'chai';
import type { FamilyEvent } from '../../../../imports/business/ai/domain/types/AgentEvents';
import { AgUiEncoder } from '../../../../imports/interop/agUi/AgUiEncoder';
import { answer, calling, usage } from '../../../../imports/testing/responses';
import { replayAgUi } from '../../../support/agUi/replayAgUi';

const root = { executionId: 'root', at: 1, seq: 1 };
const call = { callId: 'c', name: 'ask' };
const child = { executionId: 'child', at: 1, seq: 1, path: [{ executionId: 'root', ...call }] };
const BEGUN: readonly FamilyEvent[] = [
  { ...root, type: 'run:started', userId: 'ann', model: 'm' },
  { ...root, type: 'iteration:start', iteration: 1 },
  { ...root, type: 'llm:response', iteration: 1, response: calling({ name: 'ask', call_id: 'c' }) },
  { ...root, ...call, type: 'tool:pending', call_id: 'c', arguments: '{}', blocking: true },
  { ...root, ...call, type: 'tool:executing' },
  { ...child, type: 'run:started', userId: 'ann', model: 'm' },
  { ...child, type: 'iteration:start', iteration: 1 },
  { ...child, type: 'llm:delta', kind: 'text', delta: 'Discarded.' },
  { ...child, type: 'llm:retry', iteration: 1, providerId: 'p', reason: 'overloaded', delay: 1 },
  { ...child, type: 'llm:delta', kind: 'text', delta: 'I am' },
];
const ENDS: Readonly<Record<string, readonly FamilyEvent[]>> = {
  'that ends': [{ ...root, type: 'run:cancelled', usage: usage(1, 1) }],
  'whose call fails': [
    { ...root, ...call, type: 'tool:failed', error: { failure: 'threw', message: 'No.' }, executionTime: 1 },
    { ...child, type: 'llm:delta', kind: 'text', delta: ' late' },
    { ...root, type: 'iteration:start', iteration: 2 },
    { ...root, type: 'llm:response', iteration: 2, response: answer('Well.') },
    { ...root, type: 'run:completed', response: answer('Well.'), iterations: 2, usage: usage(1, 1) },
  ],
};

describe('a subagent', () => {
  for (const [what, end] of Object.entries(ENDS))
    it(`is ended within the run ${what}`, async () => {
      const encoder = new AgUiEncoder({ executionId: 'root', threadId: 'thread', runId: 'r', messages: [] });
      const events = [...encoder.start(), ...[...BEGUN, ...end].flatMap((event) => encoder.encode(event))];
      const { error, messages, seen } = await replayAgUi(events);
      expect(error).to.equal(undefined);
      const ofChild = messages.filter(({ subagentRunId }) => subagentRunId === 'child');
      expect(ofChild.map(({ content }) => content)).to.deep.equal(['I am']);
      expect(seen.map(({ type }) => type).filter((type) => type.startsWith('SUBAGENT'))).to.deep.equal([
        'SUBAGENT_STARTED',
        what === 'that ends' ? 'SUBAGENT_FINISHED' : 'SUBAGENT_ERROR',
      ]);
    });
});
