/** What a run's writer writes at once, and what only with the next heartbeat. */
import { expect } from 'chai';
import {
  changedCalls,
  isRunChanged,
} from '../../../../../../../imports/business/ai/application/services/runs/durable/stateChanges';
import { NO_USAGE } from '../../../../../../../imports/business/ai/domain/entities/Response';
import type { ToolCall } from '../../../../../../../imports/business/ai/domain/entities/Tool';
import { newRun } from '../../../../../../../imports/business/ai/domain/run/ActiveRun';
import type { RunRules } from '../../../../../../../imports/business/ai/domain/run/ActiveRun';
import { CallTable } from '../../../../../../../imports/business/ai/domain/run/CallTable';

const STARTED: ToolCall = {
  ...{ id: 'c', call_id: 'c', name: 't', arguments: '{}', blocking: true, createdAt: 0 },
  ...{ state: 'executing', startTime: 1 },
};
const HALFWAY: ToolCall = { ...STARTED, progress: { fraction: 0.5 } };

/** Ids of the calls that are written although only a heartbeat writes progress. */
function writtenAtOnce(before: CallTable, call: ToolCall): readonly string[] {
  return changedCalls(before, before.with(call), false).map(({ id }) => id);
}

describe('A changed call', () => {
  const ofProgress: readonly (readonly [what: string, before: ToolCall, after: ToolCall])[] = [
    ['begins', STARTED, HALFWAY],
    ['goes on', HALFWAY, { ...HALFWAY, progress: { fraction: 0.75 } }],
  ];
  for (const [what, before, after] of ofProgress)
    it(`waits for a heartbeat if only its progress ${what}`, () => {
      const table = CallTable.of([before]);
      expect(writtenAtOnce(table, after)).to.deep.equal([]);
      expect(changedCalls(table, table.with(after), true)).to.deep.equal([after]);
    });

  const written: readonly (readonly [what: string, before: readonly ToolCall[], after: ToolCall])[] = [
    ['is new', [], HALFWAY],
    ['is in another state', [STARTED], { ...HALFWAY, state: 'needs_review' }],
    ['blocks the turn no longer', [HALFWAY], { ...HALFWAY, blocking: false, progress: { fraction: 0.75 } }],
    ['has a field more', [STARTED], { ...HALFWAY, deliveredIn: 'r' }],
    ['has a field less', [{ ...HALFWAY, deliveredIn: 'r' }], { ...HALFWAY, progress: { fraction: 0.75 } }],
    ['has a field more and no progress', [STARTED], { ...STARTED, deliveredIn: 'r' }],
  ];
  for (const [what, before, after] of written)
    it(`is written at once if it ${what}`, () => {
      expect(writtenAtOnce(CallTable.of(before), after)).to.deep.equal(['c']);
    });
});

describe('A run', () => {
  it('is written when its model call is over, although that has failed and changes nothing else', () => {
    const calling = { ...newRun({} as RunRules, [], { usage: NO_USAGE }), phase: 'calling' } as const;
    expect(isRunChanged(calling, { ...calling, phase: 'ending' })).to.equal(true);
  });

  it('is not written for events alone', () => {
    const run = newRun({} as RunRules, [], { usage: NO_USAGE });
    expect(isRunChanged(run, { ...run, seq: 7 })).to.equal(false);
    expect(isRunChanged(run, { ...run, iterations: 1 })).to.equal(true);
  });
});
