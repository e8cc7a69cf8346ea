import { expect } from 'chai';
import {
  applyToolEvent,
  createToolCall,
  TOOL_CALL_TRANSITIONS,
  waitOf,
} from '../../../../../imports/business/ai/domain/entities/Tool';
import type { ToolCall, ToolCallState } from '../../../../../imports/business/ai/domain/entities/Tool';
import { IllegalTransitionError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { AgentEvent } from '../../../../../imports/business/ai/domain/types/AgentEvents';
import type { ToolCallView } from '../../../../../imports/business/ai/domain/types/RunViews';
import { reduceRun } from '../../../../../imports/ui/data/reducers/reduceRun';
import type { StreamedRun } from '../../../../../imports/ui/data/reducers/reduceRun';
import { runFromSnapshot } from '../../../../../imports/ui/data/reducers/runFromSnapshot';
import { reduceRunRecord } from '../../../../../imports/ui/data/reducers/reduceRunRecord';
import { reduceToolCalls } from '../../../../../imports/ui/data/reducers/reduceToolCalls';
import { approvedHash, recordedRun, RUN_ID, snapshotAfter } from '../../../../support/recordedRun';

describe('reduceRun', () => {
  let events: readonly AgentEvent[];
  before(async () => {
    events = await recordedRun();
  });

  /** What a page shows, without the fields that snapshots lack. */
  const shown = ({ run: { isCallingModel: _isCalling, ...run }, items, calls, liveText }: StreamedRun): object => ({
    run: { ...run, transcript: undefined },
    items,
    calls,
    liveText,
  });

  it('reach the same state from a snapshot at any moment and the events after it', () => {
    const final = shown(runFromSnapshot(snapshotAfter(events)));
    for (let at = 1; at < events.length; at += 1) {
      const middle = runFromSnapshot(snapshotAfter(events.slice(0, at)));
      const end = shown(events.slice(at).reduce(reduceRun, middle));
      // A model call that was in flight when the page was opened is counted by the next fetch.
      const isCutCall = isCalling(events.slice(0, at));
      const usage = isCutCall ? { usage: undefined } : {};
      expect(
        { ...end, run: { ...(end as { run: object }).run, ...usage } },
        `after ${at} of ${events.length}: ${events[at - 1]!.type}`,
      ).to.deep.equal({ ...final, run: { ...(final as { run: object }).run, ...usage } });
    }
  });

  it('change nothing for events that the snapshot already includes', () => {
    const final = shown(runFromSnapshot(snapshotAfter(events)));
    for (let at = 1; at <= events.length; at += 1) {
      const snapshot = runFromSnapshot(snapshotAfter(events.slice(0, at)));
      for (let from = 0; from < at; from += 1) {
        const replayed = events.slice(from, at).reduce(reduceRun, snapshot);
        expect(shown(replayed).valueOf(), `${from} to ${at}`).to.deep.equal(shown(snapshot));
      }
      expect(at === events.length ? shown(snapshot) : final).to.deep.equal(final);
    }
  });

  it('count the tokens of each response once, however the fetch and the events overlap', () => {
    const total = runFromSnapshot(snapshotAfter(events)).run.usage;
    for (let at = 0; at < events.length; at += 1) {
      if (isCalling(events.slice(0, at))) continue;
      for (const from of [0, Math.floor(at / 2), at]) {
        const run = events.slice(from).reduce(reduceRunRecord, snapshotAfter(events.slice(0, at)).run);
        expect(run.usage, `fetched after ${at}, replayed from ${from}`).to.deep.equal(total);
        expect(run.state).to.equal('completed');
      }
    }
  });

  it('sort calls into the order of the model’s requests, whatever order they were stored in', () => {
    for (let at = 1; at <= events.length; at += 1) {
      const snapshot = snapshotAfter(events.slice(0, at));
      const stored = runFromSnapshot({ ...snapshot, toolCalls: snapshot.toolCalls.toReversed() }).calls.map(
        ({ callId }) => callId,
      );
      const requested = runFromSnapshot(snapshot).items.flatMap((item) =>
        item.type === 'function_call' ? [item.call_id] : [],
      );
      expect(
        stored.filter((callId) => requested.includes(callId)),
        `after ${at}`,
      ).to.deep.equal(requested.filter((callId) => stored.includes(callId)));
    }
  });

  it('store the arguments’ hash of a call that waits for approval', () => {
    const index = events.findIndex(({ type }) => type === 'tool:approval_required');
    const before = runFromSnapshot(snapshotAfter(events.slice(0, index)));
    expect(reduceRun(before, events[index]!).argumentHashes.get('g')).to.equal(approvedHash);
  });

  it('show the text of a response while it streams, and clear it once the transcript has it', () => {
    let details = runFromSnapshot(snapshotAfter([]));
    const texts = new Set<string>();
    for (const event of events) {
      details = reduceRun(details, event);
      if (details.liveText.text !== '') texts.add(details.liveText.text);
      if (event.type === 'llm:response') expect(details.liveText).to.deep.equal({ text: '', reasoning: '' });
    }
    expect([...texts].at(-1)).to.equal('All is there');
  });

  it('record no time for a turn whose start was not seen, unless it is the first', () => {
    const responses = events.flatMap((event, index) => (event.type === 'llm:response' ? [index] : []));
    const turnsSeen = (at: number): readonly number[] => [
      ...reduceRun(runFromSnapshot(snapshotAfter(events.slice(0, at))), events[at]!).turns.keys(),
    ];
    expect(responses.map(turnsSeen)).to.deep.equal([[1], [], []]);
    const first = reduceRun(
      runFromSnapshot(snapshotAfter(events.slice(0, responses[0]))),
      events[responses[0]!]!,
    ).turns.get(1);
    expect(first).to.deep.equal({ start: events[0]!.at, end: events[responses[0]!]!.at });
  });

  it('log every event once, except deltas and progress', () => {
    const details = [...events, ...events].reduce(reduceRun, runFromSnapshot(snapshotAfter([])));
    expect(details.log.map(({ type }) => type)).to.deep.equal(
      events.map(({ type }) => type).filter((type) => type !== 'llm:delta' && type !== 'tool:progress'),
    );
  });
});

describe('reduceToolCalls', () => {
  const STATES = Object.keys(TOOL_CALL_TRANSITIONS) as ToolCallState[];
  const EVENTS = [
    { type: 'tool:approval_required', argumentsHash: '', arguments: '{}' },
    { type: 'tool:executing' },
    { type: 'tool:needs_review', startTime: 12, expiresAt: 90 },
    { type: 'tool:executing', expiresAt: 90 },
    { type: 'tool:progress', fraction: 0.25, note: 'quarter' },
    { type: 'tool:completed', result: 'done', executionTime: 3 },
    { type: 'tool:failed', error: { failure: 'threw', message: 'no' }, executionTime: 3 },
    { type: 'tool:timeout', error: { failure: 'timeout', message: 'late' }, executionTime: 3 },
    { type: 'tool:cancelled', error: { failure: 'cancelled', message: 'stop' } },
    { type: 'tool:late', result: 'too late' },
  ] as const;

  it('take the time of an interrupted attempt from its record, since an approval names it', () => {
    const view = viewOf(callIn('executing'));
    const [after] = reduceToolCalls([view], { ...eventOf(EVENTS[2]), startTime: 11 } as AgentEvent);
    expect(after).to.include({ state: 'needs_review', startTime: 11 });
  });

  const eventOf = (body: (typeof EVENTS)[number]): AgentEvent => ({
    ...body,
    executionId: RUN_ID,
    callId: 'c',
    name: 'tool',
    at: 50,
    seq: 9,
  });

  for (const state of STATES) {
    it(`applies to a call in state "${state}" exactly the transitions of the domain’s table`, () => {
      const call = callIn(state);
      for (const body of EVENTS) {
        const event = eventOf(body);
        const expected = afterDomain(call, event);
        const before = viewOf(call);
        const calls = [before];
        const after = reduceToolCalls(calls, event);
        if (expected === undefined || expected === call || body.type === 'tool:late')
          expect(after[0]!.state, body.type).to.equal(state);
        else expect(after[0], body.type).to.deep.equal(viewOf(expected));
      }
    });
  }

  it('ignores events of other calls and of other types', () => {
    const calls = [viewOf(callIn('executing'))];
    expect(reduceToolCalls(calls, { ...eventOf(EVENTS[1]), callId: 'other' } as AgentEvent)).to.equal(calls);
    expect(
      reduceToolCalls(calls, { type: 'iteration:start', iteration: 1, executionId: RUN_ID, at: 1, seq: 1 }),
    ).to.equal(calls);
  });
});

function isCalling(events: readonly AgentEvent[]): boolean {
  return (
    events.findLastIndex(({ type }) => type === 'iteration:start') >
    events.findLastIndex(({ type }) => type === 'llm:response')
  );
}

const PATHS: Readonly<Record<ToolCallState, readonly Parameters<typeof applyToolEvent>[1][]>> = {
  pending: [],
  awaiting_approval: [{ type: 'tool:approval_required', at: 11 }],
  executing: [{ type: 'tool:executing', at: 12 }],
  needs_review: [
    { type: 'tool:executing', at: 12 },
    { type: 'tool:needs_review', at: 13 },
  ],
  completed: [
    { type: 'tool:executing', at: 12 },
    { type: 'tool:completed', at: 20, result: 'r' },
  ],
  failed: [{ type: 'tool:failed', at: 20, error: { failure: 'threw', message: 'e' } }],
  timeout: [
    { type: 'tool:executing', at: 12 },
    { type: 'tool:timeout', at: 20, error: { failure: 'threw', message: 'e' } },
  ],
  cancelled: [{ type: 'tool:cancelled', at: 20, error: { failure: 'threw', message: 'e' } }],
};

function callIn(state: ToolCallState): ToolCall {
  return PATHS[state].reduce(
    applyToolEvent,
    createToolCall({ id: 'c', call_id: 'c', name: 'tool', arguments: '{}', blocking: true, createdAt: 10 }),
  );
}

/** Undefined for a transition that the domain rejects. */
function afterDomain(call: ToolCall, event: AgentEvent): ToolCall | undefined {
  try {
    return applyToolEvent(call, event as Parameters<typeof applyToolEvent>[1]);
  } catch (error) {
    if (error instanceof IllegalTransitionError) return undefined;
    throw error;
  }
}

function viewOf(call: ToolCall): ToolCallView {
  const waiting = waitOf(call);
  return {
    _id: `${RUN_ID}:c`,
    executionId: RUN_ID,
    callId: 'c',
    name: 'tool',
    blocking: true,
    arguments: '{}',
    state: call.state,
    createdAt: call.createdAt,
    ...(call.approvalRequestedAt === undefined ? {} : { approvalRequestedAt: call.approvalRequestedAt }),
    ...('startTime' in call ? { startTime: call.startTime } : {}),
    ...('endTime' in call ? { endTime: call.endTime, executionTime: call.executionTime } : {}),
    ...(call.progress === undefined ? {} : { progress: call.progress.fraction, note: call.progress.note! }),
    ...('result' in call ? { result: call.result } : {}),
    ...('error' in call ? { error: call.error.message } : {}),
    ...(waiting === undefined ? {} : { waiting }),
    ...('expiresAt' in call ? { expiresAt: call.expiresAt } : {}),
  };
}
