import { expect } from 'chai';
import type { Item } from '../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { RunDetailView } from '../../../../imports/business/ai/domain/types/RunViews';
import { axisTicks } from '../../../../imports/ui/runs/axisTicks';
import { buildTimeline } from '../../../../imports/ui/runs/buildTimeline';
import { splitTurns } from '../../../../imports/ui/runs/splitTurns';
import { callItem, textItem } from '../../../../imports/testing/responses';
import { callOutput, RUN, toolCall } from '../records';

const ITEMS: readonly Item[] = [
  { type: 'message', role: 'user', content: [] },
  callItem({ name: 'quick', call_id: 'a' }),
  callItem({ name: 'slow', call_id: 's' }),
  callOutput('a'),
  callOutput('s', { status: 'in_progress' }),
  textItem('I wait'),
  callOutput('s', { deferred: true }),
  textItem('done'),
];

describe('splitTurns', () => {
  it('finds the turns in a transcript', () => {
    expect(splitTurns(ITEMS)).to.deep.equal([
      { callIds: ['a', 's'], receivedResults: [] },
      { callIds: [], receivedResults: ['a'] },
      { callIds: [], receivedResults: ['s'] },
    ]);
  });
});

describe('buildTimeline', () => {
  const items = ITEMS;
  const calls = [
    toolCall({ callId: 'a', state: 'completed', startTime: 2_000, endTime: 2_500 }),
    toolCall({ callId: 's', blocking: false, state: 'completed', startTime: 2_000, endTime: 6_000 }),
  ];
  const run: RunDetailView = { ...RUN, state: 'completed', endedAt: 8_000, iterations: 3 };

  it('estimates turns without events from the calls around them', () => {
    const { turns, blocking, nonBlocking, start, end } = buildTimeline({ run, items, calls, turns: new Map() }, 99_999);
    expect([start, end]).to.deep.equal([1_000, 8_000]);
    expect(turns.map((turn) => [turn.turn, turn.start, turn.end])).to.deep.equal([
      [1, 1_000, 2_000],
      [2, 2_500, 6_000],
      [3, 6_000, 8_000],
    ]);
    expect(blocking.map((bar) => bar.call.callId)).to.deep.equal(['a']);
    expect(nonBlocking.map((bar) => [bar.start, bar.end])).to.deep.equal([[2_000, 6_000]]);
  });

  it('prefers the times of events to estimates', () => {
    const { turns } = buildTimeline({ run, items, calls, turns: new Map([[2, { start: 2_600, end: 3_000 }]]) }, 99_999);
    expect(turns.map((turn) => [turn.start, turn.end])).to.deep.equal([
      [1_000, 2_000],
      [2_600, 3_000],
      [6_000, 8_000],
    ]);
  });

  it('ends active bars now, and starts the bar of a waiting call at the end of its turn', () => {
    const waiting = [
      toolCall({ callId: 'a', state: 'awaiting_approval' }),
      toolCall({ callId: 's', state: 'executing', startTime: 2_000, blocking: false }),
    ];
    const timeline = buildTimeline(
      {
        run: { ...RUN, iterations: 1 },
        items: items.slice(0, 3),
        calls: waiting,
        turns: new Map([[1, { start: 1_000, end: 1_900 }]]),
      },
      5_000,
    );
    expect(timeline.blocking[0]).to.include({ start: 1_900, end: 5_000 });
    expect(timeline.nonBlocking[0]).to.include({ start: 2_000, end: 5_000 });
  });

  it('leaves out the turns of an earlier conversation in the input', () => {
    const { turns } = buildTimeline({ run: { ...run, iterations: 1 }, items, calls: [], turns: new Map() }, 9_000);
    expect(turns).to.have.length(1);
  });

  it('starts and ends turns that are estimated when their calls were requested, not when they were approved', () => {
    const approved = [
      toolCall({
        callId: 'a',
        state: 'completed',
        createdAt: 1_400,
        approvalRequestedAt: 1_400,
        startTime: 7_000,
        endTime: 7_500,
      }),
    ];
    const { turns } = buildTimeline(
      { run: { ...run, iterations: 1 }, items: items.slice(0, 2), calls: approved, turns: new Map() },
      99_999,
    );
    expect(turns[0]).to.include({ start: 1_000, end: 1_400, isEstimated: true });
  });

  describe('waiting', () => {
    const approval = toolCall({
      callId: 'a',
      name: 'pay',
      state: 'completed',
      createdAt: 2_000,
      approvalRequestedAt: 2_000,
      startTime: 62_000,
      endTime: 62_500,
      executionTime: 500,
    });
    const expert = toolCall({
      callId: 's',
      name: 'expert',
      blocking: false,
      state: 'completed',
      createdAt: 2_000,
      startTime: 2_000,
      endTime: 92_000,
    });
    const long: RunDetailView = { ...RUN, state: 'completed', endedAt: 93_000, iterations: 3 };
    const turns = new Map([
      [1, { start: 1_000, end: 2_000, failedAttempts: [1_200] }],
      [2, { start: 62_500, end: 63_000 }],
      [3, { start: 92_000, end: 93_000, firstToken: 92_400 }],
    ]);
    const timeline = buildTimeline(
      { run: long, items, calls: [approval, expert], turns, externalTools: new Set(['expert']) },
      99_999,
    );

    it('for a person is drawn apart from executing', () => {
      expect(timeline.blocking[0]?.segments).to.deep.equal([
        { kind: 'approval', start: 2_000, end: 62_000 },
        { kind: 'executing', start: 62_000, end: 62_500 },
      ]);
    });

    it('for another service is no execution', () => {
      expect(timeline.nonBlocking[0]?.segments).to.deep.equal([{ kind: 'external', start: 2_000, end: 92_000 }]);
    });

    it('is what remains of the run without the model and the tools', () => {
      expect(timeline.waits).to.deep.equal([
        { kind: 'approval', start: 2_000, end: 62_000 },
        { kind: 'external', start: 63_000, end: 92_000 },
      ]);
      expect(timeline.totals).to.deep.equal({ model: 2_500, tools: 500, waiting: 89_000, other: 0 });
    });

    it('ends with the decision of a call that never ran', () => {
      const rejected = toolCall({
        callId: 'a',
        state: 'failed',
        createdAt: 2_000,
        approvalRequestedAt: 2_100,
        endTime: 9_000,
      });
      const [bar] = buildTimeline({ run: long, items, calls: [rejected], turns }, 99_999).blocking;
      expect(bar?.segments).to.deep.equal([
        { kind: 'queued', start: 2_000, end: 2_100 },
        { kind: 'approval', start: 2_100, end: 9_000 },
      ]);
    });

    it('lasts until now as long as nobody decides', () => {
      const open = toolCall({ callId: 'a', state: 'awaiting_approval', createdAt: 2_000 });
      const { waits } = buildTimeline(
        { run: { ...RUN, iterations: 1 }, items, calls: [open], turns: new Map([[1, { start: 1_000, end: 2_000 }]]) },
        50_000,
      );
      expect(waits).to.deep.equal([{ kind: 'approval', start: 2_000, end: 50_000 }]);
    });

    it('shows where attempts failed and when the first token came', () => {
      expect(timeline.turns.map((turn) => [turn.failedAttempts, turn.firstToken, turn.isEstimated])).to.deep.equal([
        [[1_200], undefined, false],
        [[], undefined, false],
        [[], 92_400, false],
      ]);
    });
  });

  it('has a positive length and few ticks for every span', () => {
    const empty = buildTimeline({ run: { ...RUN, state: 'queued' }, items: [], calls: [], turns: new Map() }, 1_000);
    expect(empty.end).to.be.above(empty.start);
    for (const span of [1, 7, 999, 12_345, 600_000, 86_400_000, 1e10]) {
      const ticks = axisTicks({ start: 5, end: 5 + span });
      expect(ticks.length).to.be.within(1, 6);
      expect(ticks.at(-1)!).to.be.at.most(span);
    }
  });
});
