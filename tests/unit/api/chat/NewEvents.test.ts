import { expect } from 'chai';
import { NewEvents } from '../../../../imports/api/chat/NewEvents';
import type { AgentEventBody } from '../../../../imports/business/ai/domain/types/AgentEvents';

describe('NewEvents', () => {
  it('passes an answered question once, also where the events begin before it', () => {
    const call = { callId: 'c', name: 'book' };
    const asked = (id: string, expiresAt: number): AgentEventBody => ({
      type: 'tool:input_required',
      ...call,
      input: { id, message: '?' },
      expiresAt,
    });
    const answered = { type: 'tool:input_received', ...call } as const;
    const stored = [asked('first', 1), answered, asked('second', 2)];
    const events: readonly AgentEventBody[] = [
      { type: 'tool:pending', ...call, call_id: 'c', arguments: '{}', blocking: true },
      ...stored,
      ...stored,
      answered,
      answered,
    ];
    const fresh = new NewEvents();
    const passed = events.filter((event) => fresh.accepts({ executionId: 'run', at: 0, seq: 0, ...event }));
    expect(passed.slice(1)).to.deep.equal([...stored, answered]);
  });

  it('passes what a tool asks once, also where the store has a later question than the events begin with', () => {
    const call = { callId: 'c', name: 'book' };
    const asked = (id: string, expiresAt: number): AgentEventBody => ({
      type: 'tool:input_required',
      ...call,
      input: { id, message: '?' },
      expiresAt,
    });
    const events: readonly AgentEventBody[] = [
      { type: 'tool:pending', ...call, call_id: 'c', arguments: '{}', blocking: true },
      asked('second', 2),
      asked('first', 1),
      { type: 'tool:input_received', ...call },
      asked('second', 2),
      { type: 'tool:input_received', ...call },
      asked('third', 3),
    ];
    const fresh = new NewEvents();
    const passed = events.filter((event) => fresh.accepts({ executionId: 'run', at: 0, seq: 0, ...event }));
    expect(passed.map((event) => ('input' in event ? event.input.id : event.type))).to.deep.equal([
      'tool:pending',
      'second',
      'tool:input_received',
      'third',
    ]);
  });
});
