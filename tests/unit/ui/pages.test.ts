import { expect } from 'chai';
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { DeltaView, RunDetailView, ToolCallView } from '../../../imports/business/ai/domain/types/RunViews';
import { countTools } from '../../../imports/ui/data/meteor/countTools';
import type { ListedRun } from '../../../imports/ui/data/DashboardData';
import { readItems } from '../../../imports/ui/data/reducers/reduceRun';
import { NO_TOKENS } from '../../../imports/ui/data/reducers/runUsage';
import { liveText } from '../../../imports/ui/data/reducers/liveText';
import { ago, count, duration, money, prettyJson } from '../../../imports/ui/format/format';
import { lastDays } from '../../../imports/ui/overview/days';
import { filterRuns, readRunFilter } from '../../../imports/ui/runs/filterRuns';
import { hashArguments } from '../../../imports/ui/runs/hashArguments';
import { eventLogEntries } from '../../../imports/ui/runs/eventLogEntries';
import { ticksOf, buildTimeline, turnsIn } from '../../../imports/ui/runs/buildTimeline';
import { takeToken } from '../../../imports/ui/session/takeToken';
import { linkTo, parseRoute } from '../../../imports/ui/shell/route';
import { argumentsHash } from '../../../imports/business/ai/application/services/argumentsHash';
import { callItem, textItem } from '../../support/responses';

const RUN: RunDetailView = {
  _id: 'r',
  userId: 'ann',
  providerId: 'openai',
  state: 'running',
  createdAt: 1_000,
  startedAt: 1_000,
  iterations: 0,
  usage: NO_TOKENS,
  title: 'Weather in Oslo',
};
const call = (fields: Partial<ToolCallView>): ToolCallView => ({
  _id: 'r:a',
  executionId: 'r',
  callId: 'a',
  name: 'tool',
  blocking: true,
  state: 'executing',
  arguments: '{}',
  ...fields,
});
const output = (call_id: string, fields: object = {}): Item => ({
  type: 'function_call_output',
  call_id,
  output: 'x',
  ...fields,
});

describe('numbers as people read them', () => {
  const cases = [
    [duration(0), '0 ms'],
    [duration(999.4), '999 ms'],
    [duration(1_000), '1.0 s'],
    [duration(59_949), '59.9 s'],
    [duration(59_951), '1 m 00 s'],
    [duration(3_599_400), '59 m 59 s'],
    [duration(3_599_600), '1 h 00 m'],
    [duration(-5), '0 ms'],
    [count(9_999), '9,999'],
    [count(10_000), '10.0k'],
    [count(999_949), '999.9k'],
    [count(999_950), '1.0M'],
    [money(0), '$0'],
    [money(0.00001), '< $0.0001'],
    [money(0.0123), '$0.0123'],
    [money(12.345), '$12.35'],
    [ago(0, 4_000), 'just now'],
    [ago(0, 59_000), '59 s ago'],
    [ago(0, 60_000), '1 min ago'],
    [ago(0, 7_200_000), '2 h ago'],
    [ago(10_000, 0), 'just now'],
    [prettyJson('{"a":1}'), '{\n  "a": 1\n}'],
    [prettyJson('"text"'), '"text"'],
    [prettyJson('{"cut": "of'), '{"cut": "of'],
  ] as const;
  for (const [given, expected] of cases)
    it(`writes ${JSON.stringify(expected)}`, () => expect(given).to.equal(expected));
});

describe('filterRuns', () => {
  const row = (fields: Partial<ListedRun>): ListedRun => ({ ...RUN, asking: [], ...fields });
  const runs = [
    row({ _id: '1' }),
    row({ _id: '2', state: 'waiting', asking: ['c'] }),
    row({ _id: '3', state: 'failed', providerId: 'groq', error: { code: 'timeout', message: 'It took too long.' } }),
    row({ _id: '4', state: 'completed', model: 'gpt-x' }),
  ];
  const found = (query: string): readonly string[] =>
    filterRuns(runs, readRunFilter(new URLSearchParams(query))).map(({ _id }) => _id);

  it('finds by state, by provider, by words, and by all at once', () => {
    expect(found('')).to.deep.equal(['1', '2', '3', '4']);
    expect(found('state=live')).to.deep.equal(['1', '2']);
    expect(found('state=asking')).to.deep.equal(['2']);
    expect(found('state=completed')).to.deep.equal(['4']);
    expect(found('provider=groq')).to.deep.equal(['3']);
    expect(found('text=OSLO%20weather')).to.deep.equal(['1', '2', '3', '4']);
    expect(found('text=too%20long')).to.deep.equal(['3']);
    expect(found('text=gpt-x&state=live')).to.deep.equal([]);
    expect(found('state=nonsense')).to.deep.equal(['1', '2', '3', '4']);
  });
});

describe('routes', () => {
  it('are read from what they were written as', () => {
    for (const path of [[], ['runs'], ['runs', 'a/b?c#d %'], ['runs', 'ä']]) {
      const { path: read, query } = parseRoute(linkTo(path, { text: 'a b&c', state: '' }));
      expect(read).to.deep.equal(path);
      expect([...query]).to.deep.equal([['text', 'a b&c']]);
    }
  });

  it('take nonsense as it is', () => {
    expect(parseRoute('#/%E0%A4%A').path).to.deep.equal(['%E0%A4%A']);
    expect(parseRoute('').path).to.deep.equal([]);
  });

  it('give the token out once, and keep nothing of it in the address', () => {
    const places: string[] = [];
    const page = (hash: string) =>
      ({
        location: { hash, pathname: '/', search: '' },
        history: { replaceState: (_state: unknown, _title: string, url: string) => places.push(url) },
      }) as unknown as Window;
    expect(takeToken(page('#token=a%2Bb'))).to.equal('a+b');
    expect(places).to.deep.equal(['/#/']);
    expect(takeToken(page('#/runs'))).to.equal(undefined);
    expect(places).to.have.length(1);
  });
});

describe('the timeline of a run', () => {
  const items: readonly Item[] = [
    { type: 'message', role: 'user', content: [] },
    callItem({ name: 'quick', call_id: 'a' }),
    callItem({ name: 'slow', call_id: 's' }),
    output('a'),
    output('s', { status: 'in_progress' }),
    textItem('I wait'),
    output('s', { deferred: true }),
    textItem('done'),
  ];
  const calls = [
    call({ callId: 'a', state: 'completed', startTime: 2_000, endTime: 2_500 }),
    call({ callId: 's', blocking: false, state: 'completed', startTime: 2_000, endTime: 6_000 }),
  ];
  const run: RunDetailView = { ...RUN, state: 'completed', endedAt: 8_000, iterations: 3 };

  it('finds the turns in the transcript', () => {
    expect(turnsIn(items)).to.deep.equal([
      { calls: ['a', 's'], told: [] },
      { calls: [], told: ['a'] },
      { calls: [], told: ['s'] },
    ]);
  });

  it('places turns that no event told by the calls around them', () => {
    const { turns, blocking, background, start, end } = buildTimeline({ run, items, calls, turns: new Map() }, 99_999);
    expect([start, end]).to.deep.equal([1_000, 8_000]);
    expect(turns.map((turn) => [turn.turn, turn.start, turn.end])).to.deep.equal([
      [1, 1_000, 2_000],
      [2, 2_500, 6_000],
      [3, 6_000, 8_000],
    ]);
    expect(blocking.map((bar) => bar.call.callId)).to.deep.equal(['a']);
    expect(background.map((bar) => [bar.start, bar.end])).to.deep.equal([[2_000, 6_000]]);
  });

  it('believes events more than guesses', () => {
    const { turns } = buildTimeline({ run, items, calls, turns: new Map([[2, { start: 2_600, end: 3_000 }]]) }, 99_999);
    expect(turns.map((turn) => [turn.start, turn.end])).to.deep.equal([
      [1_000, 2_000],
      [2_600, 3_000],
      [6_000, 8_000],
    ]);
  });

  it('lets what goes on end now, and a call that waits begin with its turn’s end', () => {
    const waiting = [
      call({ callId: 'a', state: 'awaiting_approval' }),
      call({ callId: 's', state: 'executing', startTime: 2_000, blocking: false }),
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
    expect(timeline.background[0]).to.include({ start: 2_000, end: 5_000 });
  });

  it('does not take the turns of an earlier conversation for its own', () => {
    const { turns } = buildTimeline({ run: { ...run, iterations: 1 }, items, calls: [], turns: new Map() }, 9_000);
    expect(turns).to.have.length(1);
  });

  it('is never without length, and its ticks stay few and round', () => {
    const empty = buildTimeline({ run: { ...RUN, state: 'queued' }, items: [], calls: [], turns: new Map() }, 1_000);
    expect(empty.end).to.be.above(empty.start);
    for (const span of [1, 7, 999, 12_345, 600_000, 86_400_000, 1e10]) {
      const ticks = ticksOf({ start: 5, end: 5 + span });
      expect(ticks.length).to.be.within(1, 6);
      expect(ticks.at(-1)!).to.be.at.most(span);
    }
  });
});

describe('what a page shows of records', () => {
  it('is the text that the transcript does not hold yet', () => {
    const piece = (seq: number, text: string, kind: DeltaView['kind'] = 'text'): DeltaView => ({
      _id: String(seq),
      executionId: 'r',
      seq,
      kind,
      text,
    });
    const pieces = [piece(3, ' world, '), piece(1, 'hello'), piece(5, 'and more'), piece(2, 'hm', 'reasoning')];
    expect(liveText(pieces, [], 'running')).to.deep.equal({ text: 'hello world, and more', reasoning: 'hm' });
    expect(liveText(pieces, [textItem('hello world, ')], 'running').text).to.equal('and more');
    expect(liveText(pieces, [], 'completed')).to.deep.equal({ text: '', reasoning: '' });
  });

  it('is the events that the records prove, where none was seen', () => {
    const done = call({ state: 'failed', startTime: 1_500, endTime: 1_800, error: 'no' });
    const run: RunDetailView = {
      ...RUN,
      state: 'failed',
      endedAt: 2_000,
      error: { code: 'timeout', message: 'too long' },
    };
    expect(eventLogEntries(run, [done], []).map(({ type, detail }) => [type, detail])).to.deep.equal([
      ['run:started', undefined],
      ['tool:executing', undefined],
      ['tool:failed', 'no'],
      ['run:failed', 'too long'],
    ]);
    const seen = [{ seq: 4, at: 1_800, type: 'tool:failed', callId: 'a', detail: 'seen' }] as const;
    expect(eventLogEntries(run, [done], seen).map(({ detail }) => detail)).to.deep.equal([
      undefined,
      undefined,
      'seen',
      'too long',
    ]);
  });

  it('is nothing where a transcript is cut', () => {
    expect(readItems('[{"type":"mess')).to.deep.equal([]);
    expect(readItems('{"a":1}')).to.deep.equal([]);
    expect(readItems(undefined)).to.deep.equal([]);
  });

  it('counts calls by tool and state', () => {
    const tool = { name: 'tool', description: '', blocking: true, needsApproval: false, external: false };
    expect(
      countTools(
        [tool, { ...tool, name: 'idle' }],
        [call({}), call({}), call({ state: 'failed' }), call({ name: 'gone' })],
      ).map(({ counts }) => counts),
    ).to.deep.equal([{ executing: 2, failed: 1 }, {}]);
  });

  it('names the days as the statistics do', () => {
    expect(lastDays(Date.UTC(2026, 2, 1, 23, 59), 3)).to.deep.equal(['2026-02-27', '2026-02-28', '2026-03-01']);
  });

  it('approves by the hash that the loop asks for', async () => {
    for (const text of ['{}', '{"to":"ännä 🚀"}']) expect(await hashArguments(text)).to.equal(argumentsHash(text));
  });
});
