/** Events are published in order, with deltas merged, and a timer runs only while a delta is buffered. */
import { expect } from 'chai';
import sinon from 'sinon';
import { RunEventBus } from '../../../../../../imports/business/ai/application/services/runs/RunEventBus';
import type { AgentEvent } from '../../../../../../imports/business/ai/domain/types/AgentEvents';
import { countTimers } from '../../../../../support/countTimers';

describe('RunEventBus', () => {
  let clock: sinon.SinonFakeTimers;
  let published: AgentEvent[];
  let seq: number;
  beforeEach(() => {
    clock = sinon.useFakeTimers();
    published = [];
    seq = 0;
  });
  afterEach(() => clock.restore());

  const delta = (text: string, executionId = 'a', kind: 'text' | 'reasoning' = 'text'): AgentEvent => ({
    type: 'llm:delta',
    kind,
    delta: text,
    executionId,
    at: 0,
    seq: (seq += 1),
  });
  const started = (executionId = 'a'): AgentEvent => ({
    type: 'iteration:start',
    iteration: 1,
    executionId,
    at: 0,
    seq: (seq += 1),
  });
  const feedOf = (...sinks: ((event: AgentEvent) => void)[]): RunEventBus =>
    new RunEventBus({
      sinks: [...sinks, (event) => published.push(event)],
      flushAfterMs: 150,
      logger: { error: () => undefined },
    });
  const lines = (): readonly string[] =>
    published.map((event) =>
      event.type === 'llm:delta'
        ? `${event.executionId} ${event.kind} ${event.delta} ${event.seq}`
        : `${event.executionId} ${event.type}`,
    );

  it('merges consecutive deltas under the seq of the last one', () => {
    const feed = feedOf();
    for (const piece of ['one ', 'two ', 'three']) feed.publish(delta(piece));
    expect(published).to.deep.equal([]);
    clock.tick(150);
    expect(lines()).to.deep.equal(['a text one two three 3']);
    expect(countTimers(clock)).to.equal(0);
  });

  it('dispatches every other event at once, after the deltas that preceded it', () => {
    const feed = feedOf();
    feed.publish(delta('before'));
    feed.publish(delta('other', 'b'));
    feed.publish(started());
    expect(lines()).to.deep.equal(['a text before 1', 'a iteration:start']);
    clock.tick(150);
    expect(lines()).to.deep.equal(['a text before 1', 'a iteration:start', 'b text other 2']);
  });

  it('does not merge deltas of different kinds, and preserves their order', () => {
    const feed = feedOf();
    feed.publish(delta('think', 'a', 'reasoning'));
    feed.publish(delta('hello'));
    feed.flushAll();
    expect(lines()).to.deep.equal(['a reasoning think 1', 'a text hello 2']);
  });

  it('uses one timer for all runs, and none while nothing is buffered', () => {
    const feed = feedOf();
    expect(countTimers(clock)).to.equal(0);
    for (let run = 0; run < 50; run += 1) feed.publish(delta('x', `run${run}`));
    expect(countTimers(clock)).to.equal(1);
    for (let run = 0; run < 50; run += 1) feed.publish(started(`run${run}`));
    expect(countTimers(clock)).to.equal(0);
    expect(published).to.have.length(100);
  });

  it('continues when a sink throws', () => {
    feedOf(() => {
      throw new Error('a sink');
    }).publish(started());
    expect(published).to.have.length(1);
  });
});
