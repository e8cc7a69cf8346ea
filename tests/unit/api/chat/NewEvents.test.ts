import { expect } from 'chai';
import { NewEvents } from '../../../../imports/api/chat/NewEvents';
import type { AgentEventBody } from '../../../../imports/business/ai/domain/types/AgentEvents';

const CALL = { callId: 'c', name: 'book' };
const ANSWERED = { type: 'tool:input_received', ...CALL } as const;
const PENDING = { type: 'tool:pending', ...CALL, call_id: 'c', arguments: '{}', blocking: true } as const;

function asked(id: string, expiresAt: number): AgentEventBody {
  return { type: 'tool:input_required', ...CALL, input: { id, message: '?' }, expiresAt };
}

/** Returns which of the events pass. */
function passed(events: readonly AgentEventBody[]): readonly AgentEventBody[] {
  const fresh = new NewEvents();
  return events.filter((event) => fresh.accepts({ executionId: 'run', at: 0, seq: 0, ...event }));
}

describe('NewEvents', () => {
  it('passes questions of the same millisecond once, however often the store is read', () => {
    const stored = [asked('first', 1), ANSWERED, asked('second', 1)];
    expect(passed([PENDING, ...stored, ...stored, ANSWERED, ...stored, ANSWERED])).to.deep.equal([
      PENDING,
      ...stored,
      ANSWERED,
    ]);
  });

  it('passes an answered question once, also where the events begin before it', () => {
    const stored = [asked('first', 1), ANSWERED, asked('second', 2)];
    expect(passed([PENDING, ...stored, ...stored, ANSWERED, ANSWERED])).to.deep.equal([PENDING, ...stored, ANSWERED]);
  });

  it('passes what a tool asks once, also where the store has a later question than the events begin with', () => {
    const earlier = [asked('first', 1), ANSWERED];
    const later = [ANSWERED, asked('third', 3)];
    expect(passed([PENDING, asked('second', 2), ...earlier, asked('second', 2), ...later])).to.deep.equal([
      PENDING,
      asked('second', 2),
      ...later,
    ]);
  });
});
