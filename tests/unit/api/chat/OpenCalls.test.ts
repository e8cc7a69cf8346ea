import { expect } from 'chai';
import { OpenCalls } from '../../../../imports/api/chat/OpenCalls';
import type { AgentEventBody } from '../../../../imports/business/ai/domain/types/AgentEvents';
import { answer, calling } from '../../../../imports/testing/responses';

const CALLS: readonly AgentEventBody[] = [
  { type: 'iteration:start', iteration: 1 },
  {
    type: 'llm:response',
    iteration: 1,
    response: calling({ name: 'slow', call_id: 's' }, { name: 'guarded', call_id: 'g' }),
  },
  { type: 'tool:pending', callId: 's', call_id: 's', name: 'slow', arguments: '{}', blocking: false },
  { type: 'tool:executing', callId: 's', name: 'slow' },
  { type: 'tool:pending', callId: 'g', call_id: 'g', name: 'guarded', arguments: '{}', blocking: false },
  { type: 'tool:approval_required', callId: 'g', name: 'guarded', arguments: '{}', argumentsHash: '' },
];
const ANSWER: readonly AgentEventBody[] = [
  { type: 'iteration:start', iteration: 2 },
  { type: 'llm:response', iteration: 2, response: answer('Please wait.') },
];
const SETTLED: readonly AgentEventBody[] = [
  { type: 'tool:completed', callId: 's', name: 'slow', result: 'done', executionTime: 1 },
];
const ARRIVED: readonly AgentEventBody[] = [
  ...SETTLED,
  { type: 'result:arrived', callId: 's', name: 'slow', state: 'completed' },
];

function isWaitingAfter(events: readonly AgentEventBody[], isSilent = false): boolean {
  const open = new OpenCalls({ isExternal: () => false, isSilent: () => isSilent });
  for (const event of events) open.push({ executionId: 'run-1', at: 0, seq: 0, ...event });
  return open.isWaitingForPeople;
}

describe('OpenCalls', () => {
  it('does not wait for people while a late result awaits delivery', () => {
    expect(isWaitingAfter([...CALLS, ...ANSWER, ...ARRIVED])).to.equal(false);
    const delivery: readonly AgentEventBody[] = [
      { type: 'nonblocking:result', callIds: ['s'] },
      { type: 'iteration:start', iteration: 3 },
    ];
    expect(isWaitingAfter([...CALLS, ...ANSWER, ...ARRIVED, ...delivery])).to.equal(false);
    const response: AgentEventBody = { type: 'llm:response', iteration: 3, response: answer('It is done.') };
    expect(isWaitingAfter([...CALLS, ...ANSWER, ...ARRIVED, ...delivery, response])).to.equal(true);
  });

  it('waits for people after the late result of a silent tool, for which the model is not called', () => {
    expect(isWaitingAfter([...CALLS, ...ANSWER, ...ARRIVED], true)).to.equal(true);
  });

  it('does not wait for people once nothing blocks the turn', () => {
    expect(isWaitingAfter([...CALLS, ...SETTLED])).to.equal(false);
  });

  it('waits for people as long as their call blocks the turn', () => {
    const blocking = CALLS.map((event) => (event.type === 'tool:pending' ? { ...event, blocking: true } : event));
    expect(isWaitingAfter(blocking)).to.equal(false);
    expect(isWaitingAfter([...blocking, ...SETTLED])).to.equal(true);
  });
});
