import { expect } from 'chai';
import type { AgentEvent, AgentEventBody } from '../../../../../imports/business/ai/domain/types/AgentEvents';
import { LiveRunEvents } from '../../../../../imports/business/ai/infrastructure/events/LiveRunEvents';
import { NO_USAGE } from '../../../../../imports/business/ai/domain/entities/Response';

const event = (body: AgentEventBody, executionId = 'r'): AgentEvent => ({ executionId, at: 0, seq: 1, ...body });
const started: AgentEventBody = { type: 'run:started', userId: 'ann', model: 'm' };
const step = (iteration: number): AgentEventBody => ({ type: 'iteration:start', iteration });
const text = (delta: string): AgentEventBody => ({ type: 'llm:delta', kind: 'text', delta });

function recorded(...bodies: readonly AgentEventBody[]): LiveRunEvents {
  const events = new LiveRunEvents();
  for (const body of bodies) events.record(event(body));
  return events;
}

describe('LiveRunEvents', () => {
  it('retains the events since the last but one model call, with deltas merged', () => {
    const events = recorded(started, step(1), text('a'), step(2), text('b'), text('c'), step(3), text('d'));
    const { recent } = events.follow('r', () => undefined);
    expect(recent.map((each) => ('delta' in each ? each.delta : each.type))).to.deep.equal([
      'iteration:start',
      'bc',
      'iteration:start',
      'd',
    ]);
  });

  it('delivers what follows to each listener of the run, until it unsubscribes', () => {
    const events = recorded(started);
    const seen: string[] = [];
    const { unsubscribe } = events.follow('r', ({ type }) => seen.push(type));
    events.record(event(step(1)));
    events.record(event(step(1), 'another'));
    unsubscribe();
    events.record(event(step(2)));
    expect(seen).to.deep.equal(['iteration:start']);
  });

  it('retains neither progress nor runs that have ended', () => {
    const events = recorded(started, { type: 'tool:progress', callId: 'c', name: 'n', fraction: 1 });
    expect(events.follow('r', () => undefined).recent).to.have.length(1);
    events.record(event({ type: 'run:cancelled', usage: NO_USAGE }));
    expect(events.follow('r', () => undefined).recent).to.deep.equal([]);
    expect(events.size).to.equal(0);
  });

  it('forgets the runs that were longest without an event when there are too many', () => {
    const events = new LiveRunEvents();
    for (let index = 0; index < 10_050; index += 1) events.record(event(started, `run-${index}`));
    expect(events.size).to.equal(10_000);
  });
});
