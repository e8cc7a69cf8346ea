import { expect } from 'chai';
import type { RunDetailView } from '../../../../imports/business/ai/domain/types/RunViews';
import { buildEventLog } from '../../../../imports/ui/runs/buildEventLog';
import { RUN, toolCall } from '../records';

describe('buildEventLog', () => {
  it('derives the events that were not received from the records', () => {
    const call = toolCall({ state: 'failed', startTime: 1_500, endTime: 1_800, error: 'no' });
    const run: RunDetailView = {
      ...RUN,
      state: 'failed',
      endedAt: 2_000,
      error: { code: 'timeout', message: 'too long' },
    };
    expect(buildEventLog(run, [call], []).map(({ type, detail }) => [type, detail])).to.deep.equal([
      ['run:started', undefined],
      ['tool:executing', undefined],
      ['tool:failed', 'no'],
      ['run:failed', 'too long'],
    ]);
    const received = [{ seq: 4, at: 1_800, type: 'tool:failed', callId: 'a', detail: 'received' }] as const;
    expect(buildEventLog(run, [call], received).map(({ detail }) => detail)).to.deep.equal([
      undefined,
      undefined,
      'received',
      'too long',
    ]);
  });
});
