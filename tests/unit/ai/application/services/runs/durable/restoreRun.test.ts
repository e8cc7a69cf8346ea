/** What a run is restored to after a crash between two of its writes. The crash suites show that it can continue. */
import { expect } from 'chai';
import { restoreRun } from '../../../../../../../imports/business/ai/application/services/runs/durable/restoreRun';
import { initialProgress } from '../../../../../../../imports/business/ai/domain/entities/initialProgress';
import type { RunRules } from '../../../../../../../imports/business/ai/domain/run/ActiveRun';
import type { ToolCall } from '../../../../../../../imports/business/ai/domain/entities/Tool';
import type { Item } from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { RunRecord } from '../../../../../../../imports/business/ai/domain/types/RunRecords';
import { callItem, response } from '../../../../../../../imports/testing/responses';

const CALL = callItem({ name: 't', call_id: 'c' });
const OUTPUT: Item = { type: 'function_call_output', call_id: 'c', output: 'done' };

/** Restores a run whose last recorded response has called a tool. @returns the call's `deliveredIn` */
function deliveredInAfter(transcript: readonly Item[], deliveredIn: string | undefined): string | undefined {
  const call: ToolCall = {
    ...{ id: 'c', call_id: 'c', name: 't', arguments: '{}', blocking: true, createdAt: 0 },
    ...{ state: 'completed', startTime: 0, endTime: 0, executionTime: 0, result: 'done' },
    ...(deliveredIn === undefined ? {} : { deliveredIn }),
  };
  const last = response({ id: 'last', output: [CALL] });
  const progress = { ...initialProgress({ input: [], createdAt: 0 }, 'running'), transcript, response: last };
  // The plan is left out, since it is not read.
  const run = {
    executionId: 'r',
    input: [],
    fence: 2,
    owner: 'me',
    ...progress,
    isCalling: true,
  } as unknown as RunRecord;
  return restoreRun({ run, calls: [call] }, {} as RunRules).state.calls.get('c')?.deliveredIn;
}

describe('A call of a run that was taken over', () => {
  it('was not delivered if the answer to the request that carried its result was lost', () => {
    expect(deliveredInAfter([CALL, OUTPUT], 'lost')).to.equal(undefined);
  });

  it('was not delivered if its result was lost as well', () => {
    expect(deliveredInAfter([CALL], 'lost')).to.equal(undefined);
  });

  it('is not waited for if the turn went on without its result, which is not stored of the call', () => {
    const call: ToolCall = {
      ...{ id: 'c', call_id: 'c', name: 't', arguments: '{}', blocking: true, createdAt: 0 },
      ...{ state: 'executing', startTime: 0 },
    };
    const acknowledged: Item = { ...OUTPUT, status: 'in_progress' };
    const progress = {
      ...initialProgress({ input: [], createdAt: 0 }, 'running'),
      ...{ transcript: [CALL, acknowledged], response: response({ id: 'last', output: [CALL] }) },
    };
    // The plan is left out, since it is not read.
    const run = { executionId: 'r', input: [], fence: 2, owner: 'me', ...progress } as unknown as RunRecord;
    const restored = restoreRun({ run, calls: [call] }, {} as RunRules);
    expect(restored.state.calls.get('c')?.blocking).to.equal(false);
    expect(restored.repaired).to.deep.equal(['c']);
  });
});

describe('The calls of a run that was taken over', () => {
  const fields = { name: 't', arguments: '{}', blocking: true, createdAt: 0 };
  const calls: readonly ToolCall[] = [
    { ...fields, id: 'open', call_id: 'open', state: 'executing', startTime: 0 },
    { ...fields, id: 'recorded', call_id: 'recorded', state: 'pending' },
    {
      ...fields,
      id: 'over',
      call_id: 'over',
      state: 'failed',
      endTime: 0,
      executionTime: 0,
      error: { failure: 'threw', message: '' },
    },
  ];
  const transcript = calls.map(({ id }) => callItem({ name: 't', call_id: id }));
  const progress = { ...initialProgress({ input: [], createdAt: 0 }, 'running'), transcript };
  // The plan is left out, since it is not read.
  const run = { executionId: 'r', input: [], fence: 2, owner: 'me', ...progress } as unknown as RunRecord;

  it('are stored again if only the run’s own write has recorded them', () => {
    const recorded = { withRun: ['open', 'recorded'], onlyWithRun: ['recorded'] };
    const restored = restoreRun({ run, calls, recorded }, {} as RunRules);
    expect(restored).to.deep.include({ recorded, unwritten: ['recorded'] });
  });

  it('are all stored again, but for those that are over, if the store does not say how it has them', () => {
    expect(restoreRun({ run, calls }, {} as RunRules).unwritten).to.deep.equal(['open', 'recorded']);
  });
});
