import { expect } from 'chai';
import { EventStream } from '../../../../../imports/business/ai/domain/events/EventStream';
import type { EventBatch, EventBatches } from '../../../../../imports/business/ai/domain/events/EventBatches';
import type { EventStage } from '../../../../../imports/business/ai/domain/events/EventStream';
import type { ResponseStreamEvent } from '../../../../../imports/business/ai/domain/types/StreamEvents';
import { deferred } from '../../../../support/deferred';

const delta = (text: string): ResponseStreamEvent => ({
  type: 'response.output_text.delta',
  output_index: 0,
  delta: text,
});
const textOf = (event: ResponseStreamEvent | undefined): string =>
  event?.type === 'response.output_text.delta' ? event.delta : '';
const textsOf = (batch: EventBatch | undefined): readonly string[] => (batch ?? []).map(textOf);

/** Batches of deltas, `Error`s that reading throws, and whether the source was closed. */
class Source implements EventBatches {
  readonly steps: (string | Error)[];
  closed = 0;

  constructor(...steps: (string | Error)[]) {
    this.steps = steps;
  }

  read(): Promise<EventBatch | undefined> {
    const step = this.steps.shift();
    if (step instanceof Error) return Promise.reject(step);
    return Promise.resolve(step === undefined ? undefined : Array.from(step, delta));
  }

  close(): Promise<void> {
    this.closed += 1;
    this.steps.length = 0;
    return Promise.resolve();
  }
}

/** Records what happens to a stage that passes events on in capitals, and throws at an exclamation mark. */
function stage(log: string[], name = ''): EventStage {
  return {
    push(event, out) {
      const text = textOf(event);
      if (text === '!') throw new Error(`${name}bang`);
      out.push(delta(name === '' ? text.toUpperCase() : `${text}${name}`));
    },
    fail: (error) => new Error(`${name}(${(error as Error).message})`),
    close: () => log.push(`${name}closed`),
  };
}

async function readAll(stream: AsyncIterable<ResponseStreamEvent>): Promise<{ text: string; error?: string }> {
  let text = '';
  try {
    for await (const event of stream) text += textOf(event);
  } catch (error) {
    return { text, error: (error as Error).message };
  }
  return { text };
}

describe('EventStream', () => {
  it('is read one by one', async () => {
    expect(await readAll(new EventStream(new Source('ab', '', 'c')))).to.deep.equal({ text: 'abc' });
  });

  it('is read in batches, beginning with the rest of one', async () => {
    const stream = new EventStream(new Source('abc', 'de'));
    expect(textOf((await stream.next()).value)).to.equal('a');
    expect(textsOf(await stream.read())).to.deep.equal(['b', 'c']);
    expect(textsOf(await stream.read())).to.deep.equal(['d', 'e']);
    expect(await stream.read()).to.equal(undefined);
    expect(await stream.next()).to.deep.equal({ value: undefined, done: true });
  });

  it('answers calls of next that were not awaited in order', async () => {
    const stream = new EventStream(new Source('ab', 'c'));
    const steps = await Promise.all([stream.next(), stream.next(), stream.next(), stream.next()]);
    expect(steps.map(({ value }) => textOf(value))).to.deep.equal(['a', 'b', 'c', '']);
    expect(steps.map(({ done }) => done)).to.deep.equal([false, false, false, true]);
  });

  it('continues after a failed call of next was followed by another', async () => {
    const stream = new EventStream(new Source(new Error('lost')));
    const [first, second] = await Promise.allSettled([stream.next(), stream.next()]);
    expect(first.status).to.equal('rejected');
    expect(second).to.deep.equal({ status: 'fulfilled', value: { value: undefined, done: true } });
  });

  it('drops the rest of the batch when its consumer leaves', async () => {
    const source = new Source('abc', 'd');
    const stream = new EventStream(source);
    for await (const event of stream) if (textOf(event) === 'b') break;
    expect(source.closed).to.equal(1);
    expect(await stream.next()).to.deep.equal({ value: undefined, done: true });
  });

  it('starts nothing before the first read', async () => {
    let opened = 0;
    const open = (): Promise<EventBatches> => {
      opened += 1;
      return Promise.resolve(new Source('a'));
    };
    const unread = EventStream.opening(open);
    await unread.return();
    expect(await unread.next()).to.deep.equal({ value: undefined, done: true });
    expect(opened).to.equal(0);
    expect(await readAll(EventStream.opening(open))).to.deep.equal({ text: 'a' });
    expect(opened).to.equal(1);
  });

  it('throws what opening throws, once', async () => {
    const stream = EventStream.opening(() => Promise.reject(new Error('refused')));
    expect(await readAll(stream)).to.deep.equal({ text: '', error: 'refused' });
    expect(await readAll(stream)).to.deep.equal({ text: '' });
  });

  it('cancels an opening when its consumer leaves, and ends the pending read', async () => {
    const opening = deferred<EventBatches>();
    const source = new Source('a');
    let cancelled = 0;
    const stream = EventStream.opening(
      () => opening.promise,
      () => (cancelled += 1),
    );
    const pending = stream.next();
    const left = stream.return();
    expect(cancelled).to.equal(1);
    opening.resolve(source);
    await left;
    expect(source.closed).to.equal(1);
    expect(await pending).to.deep.equal({ value: undefined, done: true });
  });

  describe('through a stage', () => {
    it('changes events, and closes the stage once', async () => {
      const log: string[] = [];
      expect(await readAll(new EventStream(new Source('ab', 'c')).through(stage(log)))).to.deep.equal({ text: 'ABC' });
      expect(log).to.deep.equal(['closed']);
    });

    it('passes events on that came before what the stage throws', async () => {
      const log: string[] = [];
      const source = new Source('ab!c', 'd');
      const stream = new EventStream(source).through(stage(log));
      expect(await readAll(stream)).to.deep.equal({ text: 'AB', error: '(bang)' });
      expect(log).to.deep.equal(['closed']);
      expect(source.closed).to.equal(1);
      expect(await stream.read()).to.equal(undefined);
    });

    it('reports a failure of the source to every stage, the inner ones first', async () => {
      const log: string[] = [];
      const stream = new EventStream(new Source('a', new Error('lost')))
        .through(stage(log, 'x'))
        .through(stage(log, 'y'));
      expect(await readAll(stream)).to.deep.equal({ text: 'axy', error: 'y(x(lost))' });
      expect(log).to.deep.equal(['xclosed', 'yclosed']);
    });

    it('does not report the failure of a stage to those before it', async () => {
      const log: string[] = [];
      const outer: EventStage = {
        push: () => {
          throw new Error('bang');
        },
      };
      const stream = new EventStream(new Source('a')).through(stage(log, 'x')).through(outer);
      expect(await readAll(stream)).to.deep.equal({ text: '', error: 'bang' });
      expect(log).to.deep.equal(['xclosed']);
    });

    it('ends with what the end of a stage throws', async () => {
      const stream = new EventStream(new Source('a')).through({
        push: (event, out) => out.push(event),
        end: () => {
          throw new Error('incomplete');
        },
      });
      expect(await readAll(stream)).to.deep.equal({ text: 'a', error: 'incomplete' });
    });

    it('closes the stage when the consumer leaves, and hides what that causes', async () => {
      const log: string[] = [];
      const read = deferred<EventBatch | undefined>();
      const stream = new EventStream({
        read: () => read.promise,
        close: () => {
          read.reject(new Error('aborted'));
          return Promise.resolve();
        },
      }).through(stage(log));
      const pending = stream.next();
      await stream.return();
      expect(await pending).to.deep.equal({ value: undefined, done: true });
      expect(log).to.deep.equal(['closed']);
    });

    it('does not skip events that were read and put back', async () => {
      const log: string[] = [];
      const inner = new EventStream(new Source('ab', 'c')).through(stage(log, 'x'));
      inner.unread((await inner.read()) ?? []);
      const outer = inner.through(stage(log, 'y')).through(stage(log, 'z'));
      expect(await readAll(outer)).to.deep.equal({ text: 'axyzbxyzcxyz' });
      expect(log).to.deep.equal(['xclosed', 'yclosed', 'zclosed']);
    });

    it('does not lose a failure that followed events which were put back', async () => {
      const inner = new EventStream(new Source('a!', 'b')).through(stage([], 'x'));
      inner.unread((await inner.read()) ?? []);
      expect(await readAll(inner.through(stage([], 'y')))).to.deep.equal({ text: 'axy', error: 'y(x(xbang))' });
    });
  });
});
