import { expect } from 'chai';
import { applyToolEvent, createToolCall } from '../../../../../imports/business/ai/domain/entities/Tool';
import type { ToolEvent } from '../../../../../imports/business/ai/domain/entities/Tool';
import { toCallFields } from '../../../../../imports/business/ai/infrastructure/persistence/runs/runDocuments';

const CALL = createToolCall({ id: 'c', call_id: 'c', name: 'pay', arguments: '{}', blocking: true, createdAt: 10 });

function viewAfter(...events: readonly ToolEvent[]) {
  const { createdAt, approvalRequestedAt, startTime, endTime } = toCallFields(
    'r',
    'ann',
    events.reduce(applyToolEvent, CALL),
  );
  return { createdAt, approvalRequestedAt, startTime, endTime };
}

describe('The time at which a person was asked', () => {
  it('stays with an approved call to its end, so that waiting and executing can be told apart', () => {
    expect(
      viewAfter(
        { type: 'tool:approval_required', at: 20 },
        { type: 'tool:executing', at: 90 },
        { type: 'tool:completed', at: 95, result: 'ok' },
      ),
    ).to.deep.equal({ createdAt: 10, approvalRequestedAt: 20, startTime: 90, endTime: 95 });
  });

  it('stays with a rejected call', () => {
    const error = { failure: 'rejected', message: 'no' } as const;
    expect(viewAfter({ type: 'tool:approval_required', at: 20 }, { type: 'tool:failed', at: 70, error })).to.include({
      approvalRequestedAt: 20,
      endTime: 70,
    });
  });

  it('is absent from calls that need no approval', () => {
    expect(viewAfter({ type: 'tool:executing', at: 12 })).to.include({ approvalRequestedAt: undefined, startTime: 12 });
  });
});
