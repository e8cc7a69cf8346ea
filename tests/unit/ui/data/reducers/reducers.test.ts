import { expect } from 'chai';
import { briefEvent, LEFT_OUT } from '../../../../../imports/api/runs/briefEvent';
import {
  applyToolEvent,
  createToolCall,
  TOOL_CALL_MOVES,
} from '../../../../../imports/business/ai/domain/entities/Tool';
import type { ToolCall, ToolCallState } from '../../../../../imports/business/ai/domain/entities/Tool';
import { IllegalTransitionError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { AgentEvent } from '../../../../../imports/business/ai/domain/types/AgentEvents';
import type { ToolCallView } from '../../../../../imports/business/ai/domain/types/RunViews';
import type { ListedRun } from '../../../../../imports/ui/data/DashboardData';
import { reduceRun, fromSnapshot } from '../../../../../imports/ui/data/reducers/reduceRun';
import type { StreamedRun } from '../../../../../imports/ui/data/reducers/reduceRun';
import { reduceRuns, keepRows, needsList } from '../../../../../imports/ui/data/reducers/reduceRuns';
import { reduceToolCalls } from '../../../../../imports/ui/data/reducers/reduceToolCalls';
import { NO_TOKENS } from '../../../../../imports/ui/data/reducers/runUsage';
import { approvedHash, recordedRun, RUN_ID, snapshotAfter } from '../../../../support/recordedRun';

describe('what a page makes of events', () => {
  let events: readonly AgentEvent[];
  before(async () => {
    events = await recordedRun();
  });

  /** What is shown, without what only those know who saw the events. */
  const shown = ({ run: { isCalling: _isCalling, ...run }, items, calls, live }: StreamedRun): object => ({
    run: { ...run, transcript: undefined },
    items,
    calls,
    live,
  });

  it('is the same after a fetch at any moment and the events from then on', () => {
    const whole = shown(fromSnapshot(snapshotAfter(events)));
    for (let at = 1; at < events.length; at += 1) {
      const middle = fromSnapshot(snapshotAfter(events.slice(0, at)));
      const end = shown(events.slice(at).reduce(reduceRun, middle));
      // A call that was under way when the page was opened is counted by the next fetch.
      const isCutCall = isCalling(events.slice(0, at));
      const usage = isCutCall ? { usage: undefined } : {};
      expect(
        { ...end, run: { ...(end as { run: object }).run, ...usage } },
        `after ${at} of ${events.length}: ${events[at - 1]!.type}`,
      ).to.deep.equal({ ...whole, run: { ...(whole as { run: object }).run, ...usage } });
    }
  });

  it('is the same when events are told again that the fetch knew', () => {
    const whole = shown(fromSnapshot(snapshotAfter(events)));
    for (let at = 1; at <= events.length; at += 1) {
      const snapshot = fromSnapshot(snapshotAfter(events.slice(0, at)));
      for (let from = 0; from < at; from += 1) {
        const told = events.slice(from, at).reduce(reduceRun, snapshot);
        expect(shown(told).valueOf(), `${from} to ${at}`).to.deep.equal(shown(snapshot));
      }
      expect(at === events.length ? shown(snapshot) : whole).to.deep.equal(whole);
    }
  });

  it('counts each answer’s tokens once in the list, however the fetch and the events overlap', () => {
    const total = fromSnapshot(snapshotAfter(events)).run.usage;
    const row = (at: number): ListedRun => ({ ...snapshotAfter(events.slice(0, at)).run, asking: [] });
    for (let at = 0; at < events.length; at += 1) {
      if (isCalling(events.slice(0, at))) continue;
      for (const from of [0, Math.floor(at / 2), at]) {
        const [run] = reduceRuns([row(at)], events.slice(from));
        expect(run!.usage, `fetched after ${at}, told from ${from}`).to.deep.equal(total);
        expect(run!.state).to.equal('completed');
      }
    }
  });

  it('has the calls as the model asked for them, in whatever order they were kept', () => {
    for (let at = 1; at <= events.length; at += 1) {
      const snapshot = snapshotAfter(events.slice(0, at));
      const kept = fromSnapshot({ ...snapshot, toolCalls: snapshot.toolCalls.toReversed() }).calls.map(
        ({ callId }) => callId,
      );
      const asked = fromSnapshot(snapshot).items.flatMap((item) =>
        item.type === 'function_call' ? [item.call_id] : [],
      );
      expect(
        kept.filter((callId) => asked.includes(callId)),
        `after ${at}`,
      ).to.deep.equal(asked.filter((callId) => kept.includes(callId)));
    }
  });

  it('is the same list after what the stream leaves of events for lists', () => {
    const brief = events.flatMap((event) =>
      LEFT_OUT.has(event.type) ? [] : [JSON.parse(briefEvent(event.type, JSON.stringify(event))) as AgentEvent],
    );
    expect(JSON.stringify(brief), 'no text, no argument, no result').not.to.match(
      /"(output_text|arguments|result|delta)":/,
    );
    const row: ListedRun = { ...snapshotAfter([]).run, asking: [] };
    for (let at = 1; at <= events.length; at += 1) {
      const last = brief.findIndex(({ seq }) => seq > events[at - 1]!.seq);
      expect(reduceRuns([row], last === -1 ? brief : brief.slice(0, last)), `after ${at}`).to.deep.equal(
        reduceRuns([row], events.slice(0, at)),
      );
    }
  });

  it('keeps the hash of what is to be approved, and who asks, until it is decided', () => {
    const asked = events.findIndex(({ type }) => type === 'tool:approval_required');
    const before = fromSnapshot(snapshotAfter(events.slice(0, asked)));
    expect(reduceRun(before, events[asked]!).hashes.get('g')).to.equal(approvedHash);
    const row: ListedRun = { ...snapshotAfter(events.slice(0, asked)).run, asking: [] };
    const asking = reduceRuns([row], events.slice(asked, asked + 1));
    expect(asking[0]!.asking).to.deep.equal(['g']);
    expect(reduceRuns(asking, events.slice(asked + 1))[0]!.asking).to.deep.equal([]);
  });

  it('writes the text of the answer under way, and leaves it to the transcript when it is whole', () => {
    let watched = fromSnapshot(snapshotAfter([]));
    const texts = new Set<string>();
    for (const event of events) {
      watched = reduceRun(watched, event);
      if (watched.live.text !== '') texts.add(watched.live.text);
      if (event.type === 'llm:response') expect(watched.live).to.deep.equal({ text: '', reasoning: '' });
    }
    expect([...texts].at(-1)).to.equal('All is there');
  });

  it('gives a turn whose beginning it did not see no time of its own, unless it is the first', () => {
    const answers = events.flatMap((event, index) => (event.type === 'llm:response' ? [index] : []));
    const turnsSeen = (at: number): readonly number[] => [
      ...reduceRun(fromSnapshot(snapshotAfter(events.slice(0, at))), events[at]!).turns.keys(),
    ];
    expect(answers.map(turnsSeen)).to.deep.equal([[1], [], []]);
    const first = reduceRun(fromSnapshot(snapshotAfter(events.slice(0, answers[0]))), events[answers[0]!]!).turns.get(
      1,
    );
    expect(first).to.deep.equal({ start: events[0]!.at, end: events[answers[0]!]!.at });
  });

  it('leaves rows alone that no event is about', () => {
    const other: ListedRun = { ...snapshotAfter([]).run, _id: 'other', asking: [] };
    const row: ListedRun = { ...snapshotAfter([]).run, asking: [] };
    const [first, second] = reduceRuns([other, row], events);
    expect(first).to.equal(other);
    expect(second).not.to.equal(row);
    const runs = [other];
    expect(reduceRuns(runs, [{ ...events[1]!, executionId: 'nobody' }])).to.equal(runs);
  });

  it('adds a run that began, where the event says what its row needs, and asks for the list where it does not', () => {
    const began: AgentEvent = {
      type: 'run:started',
      userId: 'ann',
      model: 'm',
      executionId: 'new',
      at: 7,
      seq: 1,
      providerId: 'openai',
      title: 'hello',
      createdAt: 5,
    };
    const [row] = reduceRuns([], [began]);
    expect(row).to.deep.equal({
      _id: 'new',
      userId: 'ann',
      providerId: 'openai',
      title: 'hello',
      createdAt: 5,
      startedAt: 7,
      state: 'running',
      iterations: 0,
      usage: NO_TOKENS,
      asking: [],
    });
    expect(needsList([row!], [began])).to.equal(false);
    const { providerId: _providerId, title: _title, createdAt: _createdAt, ...bare } = began;
    expect(reduceRuns([], [bare])).to.deep.equal([]);
    expect(needsList([], [bare])).to.equal(true);
    expect(needsList([row!], [{ ...began, type: 'run:cancelled', usage: { ...events[0]! } as never }])).to.equal(true);
  });

  it('keeps the rows of a fetched list that say what is shown already, in whatever order they say it', () => {
    const row = (fields: Partial<ListedRun>): ListedRun => ({ ...snapshotAfter([]).run, asking: [], ...fields });
    const shown = [row({ _id: '1', isCalling: true }), row({ _id: '2' })];
    const { usage, ...rest } = row({ _id: '1' });
    const kept = keepRows(shown, [row({ _id: '0' }), { usage, ...rest }, row({ _id: '2', iterations: 1 })]);
    expect(kept.map(({ _id }) => _id)).to.deep.equal(['0', '1', '2']);
    expect(kept[1]).to.equal(shown[0]);
    expect(kept[2]).not.to.equal(shown[1]);
  });

  it('keeps at most 500 rows', () => {
    const began = Array.from({ length: 700 }, (_, index): AgentEvent => ({
      type: 'run:started',
      userId: 'ann',
      model: 'm',
      executionId: `r${index}`,
      at: index,
      seq: 1,
      providerId: 'p',
      title: 't',
      createdAt: index,
    }));
    const rows = reduceRuns([], began);
    expect(rows).to.have.length(500);
    expect(rows[0]!._id, 'the newest first').to.equal('r699');
  });

  it('logs each event once, pieces of text and steps of progress never', () => {
    const watched = [...events, ...events].reduce(reduceRun, fromSnapshot(snapshotAfter([])));
    expect(watched.log.map(({ type }) => type)).to.deep.equal(
      events.map(({ type }) => type).filter((type) => type !== 'llm:delta' && type !== 'tool:progress'),
    );
  });
});

describe('foldToolCalls', () => {
  const STATES = Object.keys(TOOL_CALL_MOVES) as ToolCallState[];
  const EVENTS = [
    { type: 'tool:approval_required', argumentsHash: '', arguments: '{}' },
    { type: 'tool:executing' },
    { type: 'tool:needs_review' },
    { type: 'tool:progress', fraction: 0.25, note: 'quarter' },
    { type: 'tool:completed', result: 'done', executionTime: 3 },
    { type: 'tool:failed', error: { failure: 'threw', message: 'no' }, executionTime: 3 },
    { type: 'tool:timeout', error: { failure: 'timeout', message: 'late' }, executionTime: 3 },
    { type: 'tool:cancelled', error: { failure: 'cancelled', message: 'stop' } },
    { type: 'tool:late', result: 'too late' },
  ] as const;

  const eventOf = (body: (typeof EVENTS)[number]): AgentEvent => ({
    ...body,
    executionId: RUN_ID,
    callId: 'c',
    name: 'tool',
    at: 50,
    seq: 9,
  });

  for (const state of STATES) {
    it(`does with a call that is ${state} what the domain's table says, and nothing else`, () => {
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

  it('ignores calls and events that it does not know', () => {
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

/** Undefined for a move that the domain refuses. */
function afterDomain(call: ToolCall, event: AgentEvent): ToolCall | undefined {
  try {
    return applyToolEvent(call, event as Parameters<typeof applyToolEvent>[1]);
  } catch (error) {
    if (error instanceof IllegalTransitionError) return undefined;
    throw error;
  }
}

function viewOf(call: ToolCall): ToolCallView {
  return {
    _id: `${RUN_ID}:c`,
    executionId: RUN_ID,
    callId: 'c',
    name: 'tool',
    blocking: true,
    arguments: '{}',
    state: call.state,
    ...('startTime' in call ? { startTime: call.startTime } : {}),
    ...('endTime' in call ? { endTime: call.endTime, executionTime: call.executionTime } : {}),
    ...(call.progress === undefined ? {} : { progress: call.progress.fraction, note: call.progress.note! }),
    ...('result' in call ? { result: call.result } : {}),
    ...('error' in call ? { error: call.error.message } : {}),
  };
}
