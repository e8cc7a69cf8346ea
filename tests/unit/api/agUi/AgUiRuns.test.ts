import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { AgUiRuns } from '../../../../imports/api/agUi/AgUiRuns';
import type { AgUiRunsPorts } from '../../../../imports/api/agUi/AgUiRuns';
import { argumentsHash } from '../../../../imports/business/ai/application/services/shared/argumentsHash';
import { toInterruptId } from '../../../../imports/interop/agUi/agUiIds';

describe('AgUiRuns', () => {
  it('decides about a call of the run whose id looks like that of a call of another run', async () => {
    const executionId = randomUUID();
    const call = { id: `${'a'.repeat(32)}:b`, name: 'pay', state: 'awaiting_approval', arguments: '{}' };
    const approved: unknown[] = [];
    const ports = {
      runs: {
        load: async (id: string) =>
          id === executionId ? { run: { executionId, userId: 'ann' }, calls: [call] } : undefined,
      },
      loop: { getExecutionContext: () => undefined, local: { whenStored: () => Promise.resolve() } },
      methods: { 'ai.runs.approve': async (_actor: unknown, decision: unknown) => void approved.push(decision) },
      tools: { tools: [] },
    };
    const named = { executionId, callId: call.id, argumentsHash: argumentsHash(call.arguments) };
    const runs = new AgUiRuns(ports as unknown as AgUiRunsPorts);
    const { decided } = await runs.submit(
      { userId: 'ann' },
      {
        threadId: 'thread',
        runId: 'run',
        messages: [],
        tools: [],
        context: [],
        resume: [{ interruptId: toInterruptId(named), status: 'resolved', payload: { approved: true } }],
        forwardedProps: {},
      },
      {},
    );
    expect(approved).to.deep.equal([named]);
    expect([...(decided ?? [])]).to.deep.equal([`${executionId}:${call.id}`]);
  });
});
