import { expect } from 'chai';
import type { RunDetailView } from '../../../../imports/business/ai/domain/types/RunViews';
import { buildEventLog } from '../../../../imports/ui/runs/buildEventLog';
import type { LogEntry } from '../../../../imports/ui/data/DashboardData';
import { filterEvents } from '../../../../imports/ui/runs/filterEvents';
import { requestView, RUN, toolCall } from '../records';

describe('buildEventLog', () => {
  it('derives the events that were not received from the records', () => {
    const call = toolCall({ state: 'failed', startTime: 1_500, endTime: 1_800, error: 'no' });
    const run: RunDetailView = {
      ...RUN,
      state: 'failed',
      endedAt: 2_000,
      error: { code: 'timeout', message: 'too long' },
    };
    expect(
      buildEventLog({ run, calls: [call], received: [], requests: [] }).map(({ type, detail }) => [type, detail]),
    ).to.deep.equal([
      ['run:started', undefined],
      ['tool:executing', undefined],
      ['tool:failed', 'no'],
      ['run:failed', 'too long'],
    ]);
    const received = [{ seq: 4, at: 1_800, type: 'tool:failed', callId: 'a', detail: 'received' }] as const;
    expect(buildEventLog({ run, calls: [call], received, requests: [] }).map(({ detail }) => detail)).to.deep.equal([
      undefined,
      undefined,
      'received',
      'too long',
    ]);
  });

  it('derives turns, retries and decisions from the request log and the calls', () => {
    const attempt = { at: 100, providerId: 'openai', reason: 'rate-limit', delay: 1 } as const;
    const calls = [
      toolCall({ state: 'completed', createdAt: 1_500, approvalRequestedAt: 1_510, startTime: 9_000, endTime: 9_100 }),
    ];
    const requests = [requestView({ iteration: 1, at: 1_000, duration: 500, attempts: [attempt] })];
    const run: RunDetailView = { ...RUN, state: 'completed', endedAt: 10_000 };
    expect(buildEventLog({ run, calls, received: [], requests }).map(({ at, type }) => [at, type])).to.deep.equal([
      [1_000, 'run:started'],
      [1_000, 'iteration:start'],
      [1_100, 'llm:retry'],
      [1_500, 'llm:response'],
      [1_500, 'tool:pending'],
      [1_510, 'tool:approval_required'],
      [9_000, 'tool:executing'],
      [9_100, 'tool:completed'],
      [10_000, 'run:completed'],
    ]);
  });

  it('shows an event of the model once, whether it was received or derived', () => {
    const received = [{ seq: 3, at: 1_001, type: 'iteration:start', turn: 1 }] as const;
    const requests = [requestView({ iteration: 1, at: 1_000, duration: 5 })];
    const starts = buildEventLog({ run: RUN, calls: [], received, requests }).filter(
      ({ type }) => type === 'iteration:start',
    );
    expect(starts).to.deep.equal(received);
  });
});

describe('filterEvents', () => {
  const entries: readonly LogEntry[] = [
    { at: 1, type: 'run:started' },
    { at: 2, type: 'tool:pending', callId: 'c1', name: 'pay', data: { arguments: '{"to":"Ann"}' } },
    { at: 3, type: 'llm:retry', detail: 'openai: rate-limit' },
  ];
  const typesOf = (found: readonly LogEntry[]): readonly string[] => found.map(({ type }) => type);

  it('finds words in any field and in the JSON, in any case', () => {
    expect(typesOf(filterEvents(entries, undefined, 'ANN pay'))).to.deep.equal(['tool:pending']);
    expect(typesOf(filterEvents(entries, undefined, 'rate-limit'))).to.deep.equal(['llm:retry']);
    expect(typesOf(filterEvents(entries, undefined, 'ann rate-limit'))).to.deep.equal([]);
  });

  it('finds the events of a kind', () => {
    expect(typesOf(filterEvents(entries, 'model', ''))).to.deep.equal(['llm:retry']);
    expect(typesOf(filterEvents(entries, undefined, ' '))).to.have.length(3);
  });
});
