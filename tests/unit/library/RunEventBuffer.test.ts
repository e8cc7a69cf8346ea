import { expect } from 'chai';
import fc from 'fast-check';
import type { AgentEventBody, LocalAgentEvent } from '../../../imports/business/ai/domain/types/AgentEvents';
import { RunEventBuffer } from '../../../imports/library/RunEventBuffer';
import { failure } from '../../support/failure';
import { answer } from '../../../imports/testing/responses';

/** Numbers events as a run does. */
function emitter(buffer: RunEventBuffer): (body: AgentEventBody) => void {
  let seq = 0;
  return (body) => {
    seq += 1;
    buffer.append({ executionId: 'run', at: 0, seq, ...body } as LocalAgentEvent);
  };
}

const text = (delta: string): AgentEventBody => ({ type: 'llm:delta', kind: 'text', delta });
const reasoning = (delta: string): AgentEventBody => ({ type: 'llm:delta', kind: 'reasoning', delta });
const progress = (callId: string, fraction: number): AgentEventBody => ({
  type: 'tool:progress',
  callId,
  name: 'import',
  fraction,
});
const start = (iteration: number): AgentEventBody => ({ type: 'iteration:start', iteration });

/** What an event says, on one line. */
function line(event: LocalAgentEvent): string {
  switch (event.type) {
    case 'llm:delta':
      return `${event.kind} ${event.delta} #${event.seq}`;
    case 'tool:progress':
      return `${event.callId} ${event.fraction} #${event.seq}`;
    default:
      return `${event.type} #${event.seq}`;
  }
}

async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of iterable) values.push(value);
  return values;
}

describe('RunEventBuffer', () => {
  let buffer: RunEventBuffer;
  let emit: (body: AgentEventBody) => void;
  beforeEach(() => {
    buffer = new RunEventBuffer();
    emit = emitter(buffer);
  });

  it('delivers every event as it was emitted to a reader that keeps up', async () => {
    const reader = buffer.events();
    const lines: string[] = [];
    for (const body of [start(1), text('a'), text('b'), progress('c1', 0.1), progress('c1', 0.2)]) {
      const next = reader.next();
      emit(body);
      const { value } = await next;
      lines.push(line(value as LocalAgentEvent));
    }
    expect(lines).to.deep.equal(['iteration:start #1', 'text a #2', 'text b #3', 'c1 0.1 #4', 'c1 0.2 #5']);
  });

  it('joins adjacent deltas of one kind for a reader that is behind, under the number of the last', async () => {
    for (const body of [start(1), text('a'), text('b'), reasoning('c'), reasoning('d'), text('e'), start(2)])
      emit(body);
    buffer.end();
    expect((await all(buffer.events())).map(line)).to.deep.equal([
      'iteration:start #1',
      'text ab #3',
      'reasoning cd #5',
      'text e #6',
      'iteration:start #7',
    ]);
  });

  it('continues in the middle of deltas that were joined for others', async () => {
    const reader = buffer.events();
    emit(text('a'));
    const first = await reader.next();
    for (const body of [text('b'), text('c'), start(1)]) emit(body);
    buffer.end();
    expect(line(first.value as LocalAgentEvent)).to.equal('text a #1');
    expect((await all(reader)).map(line)).to.deep.equal(['text bc #3', 'iteration:start #4']);
    expect((await all(buffer.events())).map(line)).to.deep.equal(['text abc #3', 'iteration:start #4']);
  });

  it('retains only the latest of adjacent progress reports of each call', async () => {
    for (let step = 1; step <= 1_000; step += 1) {
      emit(progress('c1', step / 1_000));
      emit(progress('c2', step / 2_000));
    }
    buffer.end();
    expect((await all(buffer.events())).map(line)).to.deep.equal(['c1 1 #1999', 'c2 0.5 #2000']);
  });

  it('delivers the progress of several calls in the order in which it was last reported', async () => {
    for (const body of [progress('c1', 0.1), progress('c2', 0.2), progress('c1', 0.3)]) emit(body);
    buffer.end();
    expect((await all(buffer.events())).map(line)).to.deep.equal(['c2 0.2 #2', 'c1 0.3 #3']);
  });

  it('loses neither text nor other events, whatever the paces of its readers', async () => {
    const bodies = fc.constantFrom(
      text('x'),
      text('yz'),
      reasoning('r'),
      progress('c1', 0.5),
      progress('c2', 1),
      start(1),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(bodies, fc.boolean(), fc.boolean())), async (steps) => {
        const subject = new RunEventBuffer();
        const send = emitter(subject);
        const readers = [subject.events(), subject.events()];
        const read: LocalAgentEvent[][] = [[], []];
        let sent = 0;
        for (const [body, ...isReading] of steps) {
          send(body);
          sent += 1;
          for (const [index, isNext] of isReading.entries()) {
            if (!isNext || read[index]?.at(-1)?.seq === sent) continue;
            const { value } = await readers[index]!.next();
            read[index]!.push(value as LocalAgentEvent);
          }
        }
        subject.end();
        for (const [index, reader] of readers.entries()) read[index]!.push(...(await all(reader)));
        const textOf = (events: readonly { readonly type: string }[], kind: string): string =>
          events
            .map((event) => ('kind' in event && 'delta' in event && event.kind === kind ? event.delta : ''))
            .join('');
        for (const events of read) {
          for (const kind of ['text', 'reasoning'])
            expect(textOf(events, kind)).to.equal(
              textOf(
                steps.map(([body]) => body),
                kind,
              ),
            );
          const numbers = events.map(({ seq }) => seq);
          expect(numbers).to.deep.equal([...new Set(numbers)].sort((a, b) => a - b));
          const whole = steps.flatMap(([body], at) => (body.type === 'iteration:start' ? [at + 1] : []));
          expect(events.filter(({ type }) => type === 'iteration:start').map(({ seq }) => seq)).to.deep.equal(whole);
        }
      }),
      { seed: 20261122, numRuns: 300 },
    );
  });

  it('replays everything to a reader that starts after the end', async () => {
    for (const body of [text('a'), text('b')]) emit(body);
    buffer.end();
    expect(await all(buffer.text())).to.deep.equal(['ab']);
    expect(await all(buffer.text())).to.deep.equal(['ab']);
  });

  it('gives the text without reasoning, up to the result', async () => {
    const response = answer('ab');
    emit(reasoning('hm'));
    emit(text('a'));
    emit(text('b'));
    emit({ type: 'llm:response', iteration: 1, response });
    emit(text('later'));
    buffer.endText(response.id);
    expect(await all(buffer.text())).to.deep.equal(['ab']);
    buffer.end();
    expect((await all(buffer.events())).map(line)).to.include('text later #5');
  });

  it('ends the text of a waiting reader with the result, and goes on with the events', async () => {
    const response = answer('a');
    const reader = buffer.text();
    emit(text('a'));
    await reader.next();
    const waiting = reader.next();
    emit({ type: 'llm:response', iteration: 1, response });
    buffer.endText(response.id);
    expect(await waiting).to.deep.equal({ value: undefined, done: true });
  });

  it('throws the error after the last event, once for each reader', async () => {
    const error = new Error('broken');
    const [first, second] = [buffer.events(), buffer.text()];
    emit(text('a'));
    const reads = [first.next(), second.next(), first.next(), second.next()];
    buffer.end(error);
    expect((await reads[1])?.value).to.equal('a');
    expect(await failure(reads[2]!)).to.equal(error);
    expect(await failure(reads[3]!)).to.equal(error);
    expect(await first.next()).to.deep.equal({ value: undefined, done: true });
    expect(await failure(all(buffer.events()))).to.equal(error);
  });

  it('joins what a reader missed of one run, and of the progress of each', async () => {
    const path = [{ executionId: 'run', callId: 'c1', name: 'outer' }];
    const below = (seq: number, body: AgentEventBody): void =>
      buffer.append({ executionId: 'below', at: 0, seq, ...body } as LocalAgentEvent, path);
    for (const delta of ['a', 'b']) emit(text(delta));
    below(1, text('c'));
    below(2, text('d'));
    emit(text('e'));
    below(3, progress('c1', 0.5));
    buffer.end();
    const family = await all(buffer.familyEvents());
    expect(family.map((event) => `${event.executionId} ${line(event as LocalAgentEvent)}`)).to.deep.equal([
      'run text ab #2',
      'below text cd #2',
      'run text e #3',
      'below c1 0.5 #3',
    ]);
    expect(family.map((event) => event.path)).to.deep.equal([undefined, path, undefined, path]);
    expect((await all(buffer.events())).map(line)).to.deep.equal(['text ab #2', 'text e #3']);
    expect((await all(buffer.text())).join('')).to.equal('abe');
  });

  it('answers overlapping requests in order', async () => {
    const reader = buffer.text();
    const reads = [reader.next(), reader.next(), reader.next()];
    emit(text('a'));
    emit(text('b'));
    buffer.end();
    expect(await Promise.all(reads)).to.deep.equal([
      { value: 'a', done: false },
      { value: 'b', done: false },
      { value: undefined, done: true },
    ]);
  });

  it('releases a request that waits when its reader leaves', async () => {
    const reader = buffer.events();
    const waiting = reader.next();
    await reader.return?.();
    expect(await waiting).to.deep.equal({ value: undefined, done: true });
    emit(text('a'));
    expect(await reader.next()).to.deep.equal({ value: undefined, done: true });
  });

  it('reads 100,000 small deltas in linear time', async () => {
    const count = 100_000;
    const fast = buffer.text();
    let length = 0;
    for (let step = 0; step < count; step += 1) {
      emit(text('ab'));
      const { value } = await fast.next();
      length += String(value).length;
    }
    buffer.end();
    expect(length).to.equal(2 * count);
    expect((await all(buffer.text())).join('')).to.have.length(2 * count);
  });

  it('leaves out what a run below has written for readers that come after its response', async () => {
    const path = [{ executionId: 'run', callId: 'c', name: 'ask' }];
    const below = (body: AgentEventBody): void =>
      buffer.append({ executionId: 'below', at: 0, seq: 0, ...body } as LocalAgentEvent, path);
    const behind = buffer.familyEvents();
    const types = async (reader: AsyncIterable<{ readonly type: string }>): Promise<readonly string[]> =>
      (await all(reader)).map(({ type }) => type);
    emit(start(1));
    emit(text('own'));
    below(start(1));
    below(text('a'));
    expect((await behind.next()).value).to.include({ type: 'iteration:start' });
    expect((await behind.next()).value).to.include({ type: 'llm:delta', delta: 'own' });
    await behind.next();
    expect((await behind.next()).value).to.include({ type: 'llm:delta', delta: 'a' });
    below(text('b'));
    emit(text('own'));
    below(text('c'));
    below({ type: 'llm:response', iteration: 1, response: answer('abc') });
    below(start(2));
    below(text('d'));
    buffer.end();
    expect(await types(behind)).to.deep.equal([
      'llm:delta',
      'llm:delta',
      'llm:delta',
      'llm:response',
      'iteration:start',
      'llm:delta',
    ]);
    expect(await types(buffer.familyEvents())).to.deep.equal([
      'iteration:start',
      'llm:delta',
      'iteration:start',
      'llm:delta',
      'llm:response',
      'iteration:start',
      'llm:delta',
    ]);
  });

  it('holds nothing of what runs below have written in turns once their responses have come', () => {
    const paths = ['c', 'd'].map((callId) => [{ executionId: 'run', callId, name: 'ask' }]);
    const below = (body: AgentEventBody): void => {
      for (const path of paths)
        buffer.append({ executionId: 'below', at: 0, seq: 0, ...body } as LocalAgentEvent, path);
    };
    below(text('draft'));
    below(text('draft'));
    expect(JSON.stringify(buffer)).to.contain('draft');
    below({ type: 'llm:response', iteration: 1, response: answer('whole') });
    expect(JSON.stringify(buffer)).to.contain('whole').and.not.to.contain('draft');
  });
});
